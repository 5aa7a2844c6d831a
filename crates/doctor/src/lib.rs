//! Checks of this machine, for support requests and scripts.
//!
//! Each area is a module whose probes take system folders, variables and driver answers as arguments, so that every fault can be
//! tested on any machine. Probes that may block run on a thread with a time limit; GPU drivers are queried in a child process.

mod adapters;
mod cameras;
mod clock;
mod disk;
#[cfg(target_os = "linux")]
mod display;
pub mod drivers;
mod environment;
mod kept;
#[cfg(target_os = "linux")]
mod libraries;
mod patience;
mod personal;
mod report;
mod self_test;
mod system;
mod variables;

pub use environment::{VARIABLES, Variable};
pub use report::{Check, State, json, line, summary};

use patience::{ProbeFailure, within};
use personal::PersonalData;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};
use stereopsis_capture::webcam;
use variables::{Variables, variables};

/// Time limit of reading system and user files.
const FILES_LIMIT: Duration = Duration::from_secs(5);
/// Time limit of the disk probe, which writes for two seconds and then syncs.
const DISK_LIMIT: Duration = Duration::from_secs(20);
/// Time limit of listing cameras, above that of each camera.
const CAMERAS_LIMIT: Duration = Duration::from_secs(8);
/// Time limit of a GPU driver, which compiles shaders.
const GPU_LIMIT: Duration = Duration::from_secs(20);
/// Time limit of the self-test on the CPU, for slow machines and debug builds.
const CPU_LIMIT: Duration = Duration::from_secs(20);

/// Examines this machine, reports each check as soon as it is known, and returns all. `folder` is that of recordings. `program` is
/// started with `doctor --drivers` to query the GPU drivers; with `None` they are queried in this process.
pub fn examine(folder: &Path, program: Option<&Path>, tell: impl FnMut(&Check)) -> Vec<Check> {
    let variables = variables();
    let mut examination =
        Examination { personal: PersonalData::from_environment(&variables), tell, checks: Vec::new() };
    examination.check_system(&variables);
    examination.check_files(folder);
    examination.check_display(&variables);
    examination.check_cameras();
    examination.run_self_tests();
    examination.check_drivers(program);
    examination.checks
}

struct Examination<T> {
    personal: PersonalData,
    tell: T,
    checks: Vec<Check>,
}

impl<T: FnMut(&Check)> Examination<T> {
    /// Reports checks, after removing personal data.
    fn add(&mut self, checks: impl IntoIterator<Item = Check>) {
        for check in checks {
            let check = self.personal.removed(check);
            (self.tell)(&check);
            self.checks.push(check);
        }
    }

    /// Runs a probe that may block; reports its checks, or its time-out.
    fn probe(
        &mut self,
        (area, limit): (&'static str, Duration),
        todo: &str,
        probe: impl FnOnce() -> Vec<Check> + Send + 'static,
    ) {
        match within(limit, area, probe) {
            Ok(checks) => self.add(checks),
            Err(why) => self.add([unanswered(area, &why, todo)]),
        }
    }

    fn check_system(&mut self, variables: &Variables) {
        self.add([system::program()]);
        let forced = variables.get(stereopsis_cpu::simd::VARIABLE).cloned();
        self.probe(("system", FILES_LIMIT), HANGING_FILES, move || {
            let (etc, proc) = (Path::new("/etc"), Path::new("/proc"));
            let mut checks = vec![system::system(etc, proc), system::processor(proc, forced.as_deref())];
            checks.extend(system::memory(stereopsis_base::process::memory::Places::usual()));
            checks
        });
        self.add([clock::check(SystemTime::now(), Path::new("/run/systemd/timesync/synchronized"))]);
        self.add(environment::checks(variables));
    }

    fn check_files(&mut self, folder: &Path) {
        let folders = kept::SavedFolders::of_user(folder);
        self.probe(("settings", FILES_LIMIT), HANGING_FILES, move || kept::checks(&folders));
        let folder = folder.to_owned();
        let todo = "the disk may hang, or be one of the network: name another folder with --folder";
        self.probe(("disk", DISK_LIMIT), todo, move || disk::checks(&folder, &disk::measure(&folder)));
    }

    #[cfg(target_os = "linux")]
    fn check_display(&mut self, variables: &Variables) {
        let variables = variables.clone();
        let todo = "its server or the folder of its socket may hang: use --headless until it answers";
        self.probe(("display", FILES_LIMIT), todo, move || {
            let libraries = libraries::Libraries::of(Path::new("/"), &variables);
            let uid = rustix::process::getuid().as_raw();
            display::checks(&display::DisplayEnvironment {
                variables: &variables,
                x11_sockets: Path::new("/tmp/.X11-unix"),
                uid,
                libraries: &libraries,
            })
        });
    }

    #[cfg(not(target_os = "linux"))]
    fn check_display(&mut self, _: &Variables) {}

    fn check_cameras(&mut self) {
        let todo = "a driver may hang: unplug the cameras, plug them in again, and run this again";
        self.probe(("camera", CAMERAS_LIMIT), todo, || {
            cameras::checks(&webcam::cameras(), &cameras::holders(Path::new("/proc")))
        });
    }

    fn run_self_tests(&mut self) {
        let todo = "ask with this text, and name the processor";
        self.probe(("self-test", CPU_LIMIT), todo, self_test::cpu);
        let todo = "the disk of temporary files may hang: set TMPDIR to a folder of another one";
        self.probe(("self-test", CPU_LIMIT), todo, self_test::recording);
    }

    fn check_drivers(&mut self, program: Option<&Path>) {
        let asked = program.ok_or_else(|| io::ErrorKind::Unsupported.into()).and_then(|program| {
            let mut process = Command::new(program);
            process.args(drivers::QUERY);
            drivers::query_in_child(process, GPU_LIMIT, |check| self.add([check]))
        });
        match asked {
            Ok(Ok(())) => {}
            Ok(Err(why)) => self.add([unanswered("gpu", &why, HANGING_GPU)]),
            Err(err) => {
                log::debug!("drivers are asked by this process, because another one cannot be started: {err}");
                self.probe(("gpu", GPU_LIMIT), HANGING_GPU, || {
                    let mut checks = Vec::new();
                    drivers::ask(|check| checks.push(check));
                    checks
                });
            }
        }
    }
}

const HANGING_FILES: &str =
    "a disk or a folder of the network may hang: run `mount` to see what your home folder lies on";
const HANGING_GPU: &str = "update the GPU's driver; until then use --engine cpu, with --headless";

fn unanswered(area: &'static str, why: &ProbeFailure, todo: &str) -> Check {
    Check::wrong(area, why.to_string(), todo)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_a_hanging_probe_and_runs_the_next_ones() {
        let mut told = Vec::new();
        let tell = |check: &Check| told.push((check.area.clone(), check.state));
        let mut examination = Examination { personal: PersonalData::default(), tell, checks: Vec::new() };
        let limit = Duration::from_millis(20);
        examination.probe(("gpu", limit), HANGING_GPU, || {
            std::thread::sleep(Duration::from_secs(5));
            Vec::new()
        });
        // time to print the panic
        examination.probe(("disk", Duration::from_secs(20)), "", || panic!("a library gave up"));
        examination.probe(("clock", Duration::from_secs(5)), "", || vec![Check::ok("clock", "fine")]);
        let texts: Vec<_> = examination.checks.iter().map(|check| check.text.clone()).collect();
        assert!(texts[0].contains("no answer within 0.02 s"), "{texts:?}");
        assert_eq!(examination.checks[0].todo.as_deref(), Some(HANGING_GPU));
        assert!(texts[1].contains("failed unexpectedly"), "{texts:?}");
        assert_eq!(told, [("gpu".into(), State::Wrong), ("disk".into(), State::Wrong), ("clock".into(), State::Ok)]);
    }
}
