//! Checks of the environment variables that affect the program. Values that may be secret are never reported.

use super::report::{self, Check};
use super::variables::Variables;
use stereopsis_base::console::{closest, foreign};
use stereopsis_cpu::simd;
use stereopsis_cpu::simd::SimdLevel;
use stereopsis_gpu::variant;
use stereopsis_gpu::variant::VariantOverrides;

/// Environment variable that the program reads.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Name.
    pub name: &'static str,
    /// Whether the value must never be shown.
    pub is_secret: bool,
    /// Accepted values and their effect.
    pub effect: &'static str,
}

/// Environment variables of the program: the list of `--help`, of this examination and of the documentation.
pub const VARIABLES: [Variable; 5] = [
    Variable {
        name: simd::VARIABLE,
        is_secret: false,
        effect: "vector instructions of the CPU engine: avx512, avx2, sse4.2 or portable [default: the best of this processor]",
    },
    Variable {
        name: variant::VARIABLE,
        is_secret: false,
        effect: "variant of the GPU engine's kernels, such as exchange=workgroup,words=2; `stereopsis tune` lists them [default: \
                 that of `tune`, else one for the adapter]",
    },
    Variable {
        name: "STEREOPSIS_NETWORK_PASSWORD",
        is_secret: true,
        effect: "password of heads, engines and viewers on the network: 8 to 256 visible ASCII characters without ':'",
    },
    Variable {
        name: "STEREOPSIS_PUBLISH_TOKEN",
        is_secret: true,
        effect: "token that clients of --publish foxglove must present [default: a random one, printed at the start]",
    },
    Variable {
        name: "STEREOPSIS_DATA",
        is_secret: false,
        effect: "folder of the data sets for `stereopsis-lab` and the tests [default: none]",
    },
];
const OWN_PREFIX: &str = "STEREOPSIS_";
/// Prefixes of variables that affect drivers: wgpu, the Vulkan loader and Mesa.
const DRIVER_PREFIXES: [&str; 4] = ["WGPU_", "VK_", "MESA_", "LIBGL_"];
/// Further reported variables, which do not affect results.
const OTHER_VARIABLES: [&str; 2] = ["RUST_LOG", "RUST_BACKTRACE"];

pub(super) fn checks(variables: &Variables) -> Vec<Check> {
    let checks: Vec<_> = variables.iter().filter_map(|(name, value)| check(name, value)).collect();
    if checks.is_empty() {
        return vec![Check::ok("environment", "no variable is set that changes what the program does")];
    }
    report::cut(checks, "variable")
}

fn check(name: &str, value: &str) -> Option<Check> {
    let shown = format!("{}={}", foreign(name), foreign(value));
    let unset = format!("unset {} for the program's own choice", foreign(name));
    if name == simd::VARIABLE
        && let Err(err) = SimdLevel::find(value)
    {
        let said = err.to_string();
        let (text, todo) = said.split_once("; ").unwrap_or((&said, "leave it out for the best"));
        return Some(Check::wrong("environment", text, todo));
    }
    if name == variant::VARIABLE
        && let Err(err) = value.parse::<VariantOverrides>()
    {
        return Some(Check::wrong("environment", format!("{shown}: {err}"), format!("correct it, or unset {name}")));
    }
    if let Some(own) = VARIABLES.iter().find(|own| own.name == name) {
        let shown = if own.is_secret { format!("{name} is set; its value is not shown here") } else { shown };
        let changes = name == simd::VARIABLE || name == variant::VARIABLE;
        return Some(if changes { Check::note("environment", shown, unset) } else { Check::ok("environment", shown) });
    }
    if name.starts_with(OWN_PREFIX) {
        let meant = closest(name, VARIABLES.map(|own| own.name));
        let meant = meant.map_or_else(String::new, |own| format!(": did you mean {own}?"));
        let todo = format!("correct its name, or unset it{meant}");
        // a variable with a misspelt name may contain a secret too
        let text = format!("the program knows no variable {}; its value is not shown here", foreign(name));
        return Some(Check::note("environment", text, todo));
    }
    if DRIVER_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return Some(Check::note("environment", shown, unset));
    }
    OTHER_VARIABLES.contains(&name).then(|| Check::ok("environment", shown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
    use std::path::Path;
    use stereopsis_base::testing::check_table;

    fn only(name: &str, value: &str) -> Check {
        let mut checks = checks(&Variables::from([(name.to_owned(), value.to_owned())]));
        assert_eq!(checks.len(), 1, "{checks:?}");
        checks.remove(0)
    }

    #[test]
    fn the_page_lists_the_variables() {
        let rows = VARIABLES.map(|own| format!("| `{}` | {} |\n", own.name, own.effect));
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/environment.md");
        check_table(&page, &format!("| variable | effect |\n|---|---|\n{}", rows.concat()));
    }

    #[test]
    fn unknown_values_are_wrong_and_known_ones_are_named() {
        for (name, value, said, todo) in [
            (
                simd::VARIABLE,
                "mmx",
                "STEREOPSIS_SIMD=mmx: this processor has ",
                "set it to one of these, or leave it out",
            ),
            (
                variant::VARIABLE,
                "words=3",
                "STEREOPSIS_GPU=words=3: words takes 1, 2, 4, not '3'",
                "correct it, or unset STEREOPSIS_GPU",
            ),
        ] {
            let check = only(name, value);
            assert!(check.state == State::Wrong && check.text.starts_with(said), "{check:?}");
            assert!(check.todo.unwrap().starts_with(todo));
        }
        for (name, value, state) in [
            (simd::VARIABLE, "portable", State::Note),
            (variant::VARIABLE, "words=2", State::Note),
            ("WGPU_VALIDATION", "1", State::Note),
            ("VK_ICD_FILENAMES", "/a.json", State::Note),
            ("RUST_LOG", "debug", State::Ok),
            ("STEREOPSIS_DATA", "/data", State::Ok),
        ] {
            let check = only(name, value);
            assert_eq!((check.state, check.text), (state, format!("{name}={value}")));
        }
    }

    #[test]
    fn suggests_names_and_hides_secrets() {
        let misspelt = only("STEREOPSIS_SMID", "avx2");
        assert_eq!(misspelt.state, State::Note);
        assert!(misspelt.text.contains("STEREOPSIS_SMID") && !misspelt.text.contains("avx2"), "{misspelt:?}");
        assert!(misspelt.todo.unwrap().contains("did you mean STEREOPSIS_SIMD?"));
        let secret = only("STEREOPSIS_PUBLISH_TOKEN", "hush");
        assert!(!secret.text.contains("hush") && secret.text.contains("STEREOPSIS_PUBLISH_TOKEN"), "{secret:?}");
        assert_eq!(only("EDITOR", "ed").text, "no variable is set that changes what the program does");
    }

    #[test]
    fn reports_at_most_twenty_variables() {
        let many = (0..2000).map(|i| (format!("STEREOPSIS_X{i}"), "1".to_owned()));
        let told = checks(&many.chain([(simd::VARIABLE.to_owned(), "mmx".to_owned())]).collect());
        assert_eq!((told.len(), told[0].state), (21, State::Wrong), "the wrong one among them");
        assert!(told[20].text == "and 1981 more variables" && told[20].state == State::Note, "{:?}", told[20]);
    }
}
