//! Checks of the GPU adapters and their drivers, and of the library that finds them.

use super::report::Check;
use stereopsis_base::console::foreign;
use stereopsis_gpu::{AdapterSummary, INSTALL};

/// Conditions that decide the severity of a missing GPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct GpuContext {
    /// Whether a window would open, which needs a GPU.
    pub(super) has_display: bool,
    /// Whether the Vulkan loader is installed.
    pub(super) has_loader: bool,
}

/// Minimum supported driver versions: part of the driver's description, version, product with that version.
const MIN_DRIVERS: [(&str, (u32, u32), &str); 2] =
    [("Mesa ", (22, 3), "that of Debian 12"), ("NVIDIA ", (535, 0), "that of Debian 12")];

/// Checks every adapter, and the parts that are missing.
pub(super) fn checks(adapters: &[AdapterSummary], context: &GpuContext) -> Vec<Check> {
    let mut checks = Vec::new();
    if !context.has_loader {
        let todo = "install libvulkan1 (Debian, Ubuntu) or vulkan-loader (Fedora, Arch: vulkan-icd-loader)";
        checks.push(missing("the Vulkan loader libvulkan.so.1 is not there, so no GPU is found", todo, context));
    } else if adapters.is_empty() {
        checks.push(missing("no adapter can compute", INSTALL, context));
    }
    for adapter in adapters {
        checks.push(adapter_check(adapter));
        checks.extend(old_driver(adapter));
    }
    if !adapters.is_empty() && adapters.iter().all(|adapter| adapter.software) {
        let todo = "nothing, if this machine has no GPU: `auto` takes the cpu engine, which is faster. For a GPU, ";
        checks.push(Check::note("gpu", "there are software adapters only", format!("{todo}{INSTALL}")));
    }
    checks
}

/// Reports a missing GPU, which is wrong only where a window could open: the CPU engine computes identical results.
fn missing(text: &str, todo: &str, context: &GpuContext) -> Check {
    if context.has_display {
        let text = format!("{text}; the window needs one");
        return Check::wrong("gpu", text, format!("{todo}, or use --headless --engine cpu"));
    }
    Check::note("gpu", text, format!("nothing, if you use --engine cpu. For a GPU, {todo}"))
}

/// Reports an adapter: `0: NVIDIA H200 (Vulkan), driver NVIDIA 570.1, buffers of 4095 MiB; it has no timestamps`.
fn adapter_check(adapter: &AdapterSummary) -> Check {
    let heading = foreign(&adapter.heading());
    if let Some(why) = adapter.misfit() {
        let todo = "install a newer driver for the GPU engine; until then `auto` takes the cpu engine, and the window is drawn";
        let check = if adapter.software { Check::note } else { Check::wrong };
        return check("gpu", format!("{heading}; {why}"), todo.to_owned());
    }
    let lacks = [
        (adapter.subgroup == 0, "subgroups, so lanes exchange values through workgroup memory"),
        (!adapter.i16, "16-bit integers, so paths have 32 bits"),
        (!adapter.timestamps, "timestamps, so stages are not timed"),
    ];
    let lacks: Vec<_> = lacks.into_iter().filter_map(|(lacks, what)| lacks.then_some(what)).collect();
    let lacks = if lacks.is_empty() { String::new() } else { format!(". It lacks {}", lacks.join("; ")) };
    Check::ok("gpu", heading + &lacks)
}

/// Reports an outdated driver, if its version is known.
fn old_driver(adapter: &AdapterSummary) -> Option<Check> {
    let (name, version, (major, minor), of) = MIN_DRIVERS.iter().find_map(|&(name, min_version, of)| {
        let version =
            adapter.driver.match_indices(name).find_map(|(at, _)| version(&adapter.driver[at + name.len()..]));
        version.filter(|version| *version < min_version).map(|version| (name.trim(), version, min_version, of))
    })?;
    let text = format!("{}: {name} {}.{} is older than {major}.{minor}, {of}", adapter.index, version.0, version.1);
    Some(Check::note("gpu", text, "update the driver if the GPU fails, or its self-test below differs"))
}

/// Parses a driver version: `25.0` of `25.0.7-2 (LLVM 19.1.7)`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    let major = numbers.next()?.parse().ok()?;
    Some((major, numbers.next().and_then(|minor| minor.parse().ok()).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    fn adapter(driver: &str, software: bool) -> AdapterSummary {
        AdapterSummary {
            index: 0,
            name: "Some GPU".into(),
            backend: "Vulkan".into(),
            driver: driver.into(),
            software,
            largest_binding_mib: 2048,
            subgroup: 32,
            f16: false,
            i16: true,
            timestamps: true,
            storage_buffers: 8,
            workgroup_bytes: 32768,
        }
    }

    #[test]
    fn reports_adapters_with_too_few_buffers() {
        for (software, state) in [(true, State::Note), (false, State::Wrong)] {
            let old = AdapterSummary { storage_buffers: 3, ..adapter("radv Mesa 25.0", software) };
            let check = &checks(&[old], &FINE)[0];
            assert_eq!(check.state, state);
            assert!(check.text.contains("can bind 3 storage buffers") && check.text.contains("needs 8"), "{check:?}");
            assert!(check.todo.as_ref().unwrap().contains("newer driver"), "{check:?}");
        }
    }

    const FINE: GpuContext = GpuContext { has_display: false, has_loader: true };

    #[test]
    fn missing_gpu_is_wrong_only_with_a_display() {
        for (has_display, state) in [(false, State::Note), (true, State::Wrong)] {
            let found = checks(&[], &GpuContext { has_display, has_loader: false });
            assert_eq!((found.len(), found[0].state), (1, state));
            assert!(found[0].text.contains("libvulkan.so.1") && found[0].todo.as_ref().unwrap().contains("libvulkan1"));
            let found = checks(&[], &GpuContext { has_display, has_loader: true });
            assert_eq!((found.len(), found[0].state), (1, state));
            assert!(found[0].text.starts_with("no adapter can compute"), "{found:?}");
            assert!(
                found[0].todo.as_ref().unwrap().contains(INSTALL)
                    && found[0].todo.as_ref().unwrap().contains("--engine cpu")
            );
        }
    }

    #[test]
    fn notes_software_adapters_alone() {
        let software = adapter("llvmpipe Mesa 25.0.7-2 (LLVM 19.1.7)", true);
        let found = checks(std::slice::from_ref(&software), &FINE);
        assert_eq!(found.iter().map(|check| check.state).collect::<Vec<_>>(), [State::Ok, State::Note]);
        assert_eq!(found[1].text, "there are software adapters only");
        assert!(found[1].todo.as_ref().unwrap().contains("cpu engine"));
        assert!(
            checks(&[software, adapter("NVIDIA 570.1", false)], &FINE).iter().all(|check| check.state == State::Ok)
        );
    }

    #[test]
    fn notes_only_old_drivers() {
        let noted = |driver: &str| {
            let found = checks(&[adapter(driver, false)], &FINE);
            found.get(1).map(|check| (check.state, check.text.clone()))
        };
        let old = noted("Intel open-source Mesa driver Mesa 20.3.5").unwrap();
        assert_eq!(old, (State::Note, "0: Mesa 20.3 is older than 22.3, that of Debian 12".to_owned()));
        assert!(noted("NVIDIA 470.82.01").unwrap().1.contains("older than 535.0"));
        for new in ["radv Mesa 22.3.6", "radv Mesa 25.0.7-2 (LLVM 19)", "NVIDIA 535.183.01", "Mesa driver", "31.0.101"]
        {
            assert_eq!(noted(new), None, "{new}");
        }
    }

    #[test]
    fn reports_missing_features() {
        let poor = AdapterSummary { subgroup: 0, i16: false, timestamps: false, ..adapter("radv Mesa 25.0", false) };
        let text = &checks(&[poor], &FINE)[0].text;
        assert!(
            text.starts_with("0: Some GPU (Vulkan), driver radv Mesa 25.0, buffers of 2048 MiB. It lacks "),
            "{text}"
        );
        assert!(["subgroups", "16-bit integers", "timestamps"].iter().all(|what| text.contains(what)), "{text}");
        assert!(!checks(&[adapter("", false)], &FINE)[0].text.contains("lacks"));
    }
}
