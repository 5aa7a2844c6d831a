//! Checks of the display on Linux: whether a window can connect, and the libraries that it loads.

use super::libraries::Libraries;
use super::report::Check;
use super::variables::Variables;
use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stereopsis_base::console::foreign;
use stereopsis_base::files;

/// Environment of the display checks.
pub(super) struct DisplayEnvironment<'a> {
    pub(super) variables: &'a Variables,
    /// Folder of X server sockets: /tmp/.X11-unix.
    pub(super) x11_sockets: &'a Path,
    pub(super) uid: u32,
    pub(super) libraries: &'a Libraries,
}

/// TCP port of X server 0; server N has the port N above.
const X11_PORT: u16 = 6000;
/// Time limit of a connection to another machine, below that of the whole check.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);

/// Libraries that a window loads, with their Debian packages; tools/setup.sh installs them.
const WAYLAND_LIBRARIES: [(&str, &str); 2] =
    [("libxkbcommon.so.0", "libxkbcommon0"), ("libwayland-client.so.0", "libwayland-client0")];
const X11_LIBRARIES: [(&str, &str); 7] = [
    ("libxkbcommon.so.0", "libxkbcommon0"),
    ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
    ("libX11.so.6", "libx11-6"),
    ("libX11-xcb.so.1", "libx11-xcb1"),
    ("libXcursor.so.1", "libxcursor1"),
    ("libXi.so.6", "libxi6"),
    ("libXrandr.so.2", "libxrandr2"),
];

impl DisplayEnvironment<'_> {
    /// Returns the value of a variable unless it is unset or empty.
    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// Checks the display, its socket folder, and the libraries; prefers Wayland, as the window does.
pub(super) fn checks(environment: &DisplayEnvironment<'_>) -> Vec<Check> {
    let wayland = environment.variable("WAYLAND_DISPLAY");
    let x11 = environment.variable("DISPLAY");
    let (display, libraries) = match (wayland, x11) {
        (Some(name), _) => (wayland_check(name, environment), &WAYLAND_LIBRARIES[..]),
        (None, Some(name)) => (x11_check(name, environment), &X11_LIBRARIES[..]),
        (None, None) => {
            let todo = "nothing, for `compute`, `record` and `live --headless`; with ssh, --publish shows depth elsewhere. \
                        The window needs a graphical session";
            (Check::note("display", "there is none: DISPLAY and WAYLAND_DISPLAY are not set", todo), &[][..])
        }
    };
    let mut checks = vec![display];
    checks.extend(runtime_check(environment, wayland));
    checks.extend(libraries_check(environment.libraries, libraries));
    checks
}

fn runtime_check(environment: &DisplayEnvironment<'_>, wayland: Option<&str>) -> Option<Check> {
    let is_needed = wayland.is_some_and(|name| !name.starts_with('/'));
    let Some(folder) = environment.variable("XDG_RUNTIME_DIR") else {
        let todo = "start the program from the graphical session, which sets it to /run/user/ with your number";
        return is_needed.then(|| Check::wrong("display", "XDG_RUNTIME_DIR is not set, and Wayland needs it", todo));
    };
    let shown = format!("XDG_RUNTIME_DIR={}", foreign(folder));
    let why = match std::fs::metadata(folder) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => format!("{shown} does not exist"),
        Err(err) => format!("{shown}: {}", files::cause(&err)),
        Ok(meta) if !meta.is_dir() => format!("{shown} is no folder"),
        Ok(meta) if meta.uid() != environment.uid => format!("{shown} belongs to another user"),
        Ok(_) => return None,
    };
    let todo = "log in again, or set it to a folder that belongs to you alone (mode 700)";
    Some(if is_needed { Check::wrong("display", why, todo) } else { Check::note("display", why, todo) })
}

fn libraries_check(libraries: &Libraries, needed: &[(&str, &str)]) -> Option<Check> {
    let (names, packages): (Vec<_>, Vec<_>) = needed.iter().copied().filter(|(file, _)| !libraries.has(file)).unzip();
    if names.is_empty() {
        return None;
    }
    let todo = format!("install them; Debian, Ubuntu: `sudo apt-get install {}`", packages.join(" "));
    Some(Check::wrong("display", format!("the window needs libraries that are not there: {}", names.join(", ")), todo))
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Address {
    /// Unix socket, by path or by abstract name.
    Local(PathBuf),
    /// TCP host and port: another machine, or ssh forwarding.
    Remote(String, u16),
}

fn wayland_check(name: &str, environment: &DisplayEnvironment<'_>) -> Check {
    let shown = format!("WAYLAND_DISPLAY={}", foreign(name));
    let folder = environment.variable("XDG_RUNTIME_DIR").unwrap_or_default();
    let socket = Path::new(folder).join(name);
    let instead = if environment.variable("DISPLAY").is_some() { ", or unset it, for DISPLAY" } else { "" };
    let todo = format!("start the program from the graphical session{instead}, or use --headless");
    connected(shown, &Address::Local(socket), &todo)
}

fn x11_check(name: &str, environment: &DisplayEnvironment<'_>) -> Check {
    let todo = "start the program from the graphical session, or use --headless; with ssh give it -X, or use --publish";
    let Some(address) = x11_address(name, environment.x11_sockets) else {
        let text = format!("DISPLAY={} is no name of a display", foreign(name));
        return Check::wrong("display", text, "set it to one such as :0, or unset it");
    };
    // host names are private
    let shown = match &address {
        Address::Local(_) => format!("DISPLAY={}", foreign(name)),
        Address::Remote(host, port) => {
            let host = if host == "localhost" { "localhost" } else { "HOST" };
            format!("DISPLAY={host}:{}", port - X11_PORT)
        }
    };
    connected(shown, &address, todo)
}

/// Parses `:0`, `unix:0.0` or `host:10`.
fn x11_address(name: &str, sockets: &Path) -> Option<Address> {
    let (host, number) = name.rsplit_once(':')?;
    let number: u16 = number.split('.').next()?.parse().ok()?;
    let host = host.rsplit_once('/').map_or(host, |(_, host)| host);
    match host {
        "" | "unix" => Some(Address::Local(sockets.join(format!("X{number}")))),
        _ => Some(Address::Remote(host.to_owned(), X11_PORT.checked_add(number)?)),
    }
}

fn connected(shown: String, address: &Address, todo: &str) -> Check {
    let why = match (connect(address), address) {
        (Ok(()), _) => return Check::ok("display", format!("a server listens at {shown}")),
        (Err(err), Address::Local(socket)) => match err.kind() {
            io::ErrorKind::NotFound => format!("there is no socket {}", foreign(&socket.to_string_lossy())),
            io::ErrorKind::ConnectionRefused => "its server does not run".to_owned(),
            _ => files::cause(&err),
        },
        (Err(err), Address::Remote(..)) => files::cause(&err),
    };
    Check::wrong("display", format!("{shown} cannot be reached: {why}"), todo)
}

fn connect(address: &Address) -> io::Result<()> {
    match address {
        Address::Local(socket) => {
            let connected = UnixStream::connect(socket);
            connected.or_else(|err| connect_abstract(socket).map_err(|_| err)).map(drop)
        }
        Address::Remote(host, port) => {
            let address = (host.as_str(), *port).to_socket_addrs()?.next();
            let address = address.ok_or_else(|| io::Error::other("the machine has no address"))?;
            TcpStream::connect_timeout(&address, CONNECT_LIMIT).map(drop)
        }
    }
}

/// Connects to the abstract socket that X servers open beside the file.
fn connect_abstract(socket: &Path) -> io::Result<UnixStream> {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::ffi::OsStrExt as _;
    UnixStream::connect_addr(&std::os::unix::net::SocketAddr::from_abstract_name(socket.as_os_str().as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
    use std::os::unix::net::UnixListener;

    /// Machine with a socket folder and all libraries except `without`.
    struct Machine {
        folder: tempfile::TempDir,
        libraries: Libraries,
    }

    impl Machine {
        fn new(without: &[&str]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let libraries = folder.path().join("usr/lib");
            std::fs::create_dir_all(&libraries).unwrap();
            for (file, _) in WAYLAND_LIBRARIES.iter().chain(&X11_LIBRARIES).filter(|(file, _)| !without.contains(file))
            {
                std::fs::write(libraries.join(file), "").unwrap();
            }
            let libraries = Libraries::of(folder.path(), &Variables::new());
            Self { folder, libraries }
        }

        fn checks(&self, variables: &[(&str, &str)]) -> Vec<Check> {
            let variables = variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
            let uid = std::fs::metadata(self.folder.path()).unwrap().uid();
            let (x11_sockets, libraries) = (self.folder.path(), &self.libraries);
            checks(&DisplayEnvironment { variables: &variables, x11_sockets, uid, libraries })
        }

        fn path(&self) -> &str {
            self.folder.path().to_str().unwrap()
        }
    }

    fn assert_says(check: &Check, state: State, text: &str, todo: &str) {
        assert_eq!(check.state, state, "{check:?}");
        assert!(check.text.contains(text), "{check:?}");
        assert!(check.todo.as_deref().unwrap_or_default().contains(todo), "{check:?}");
    }

    #[test]
    fn no_display_is_a_note() {
        let machine = Machine::new(&["libxkbcommon.so.0"]);
        let found = machine.checks(&[("DISPLAY", "")]);
        assert_eq!(found.len(), 1, "libraries are for windows: {found:?}");
        assert_says(&found[0], State::Note, "DISPLAY and WAYLAND_DISPLAY are not set", "--headless");
    }

    #[test]
    fn a_display_whose_socket_is_missing_is_wrong() {
        let machine = Machine::new(&[]);
        let x11 = machine.checks(&[("DISPLAY", ":7.0")]);
        assert_says(&x11[0], State::Wrong, "DISPLAY=:7.0 cannot be reached: there is no socket ", "graphical session");
        assert!(x11[0].text.ends_with("/X7"), "{x11:?}");
        let both = [("WAYLAND_DISPLAY", "wayland-0"), ("XDG_RUNTIME_DIR", machine.path()), ("DISPLAY", ":7")];
        let wayland = machine.checks(&both);
        assert_eq!(wayland.len(), 1, "the window prefers Wayland: {wayland:?}");
        assert_says(
            &wayland[0],
            State::Wrong,
            "WAYLAND_DISPLAY=wayland-0 cannot be reached",
            "or unset it, for DISPLAY",
        );
        assert_says(&machine.checks(&[("DISPLAY", "desk")])[0], State::Wrong, "is no name of a display", "such as :0");
    }

    #[test]
    fn a_display_that_listens_is_fine_and_one_that_has_ended_is_wrong() {
        let machine = Machine::new(&[]);
        let server = UnixListener::bind(machine.folder.path().join("X3")).unwrap();
        let found = machine.checks(&[("DISPLAY", "unix:3")]);
        assert_eq!(found, [Check::ok("display", "a server listens at DISPLAY=unix:3")]);
        drop(server);
        assert_says(&machine.checks(&[("DISPLAY", ":3")])[0], State::Wrong, "its server does not run", "--headless");
    }

    #[test]
    fn an_invalid_runtime_folder_is_wrong_for_wayland_and_a_note_otherwise() {
        let machine = Machine::new(&[]);
        let missing = machine.folder.path().join("gone");
        let variables = [("WAYLAND_DISPLAY", "wayland-0"), ("XDG_RUNTIME_DIR", missing.to_str().unwrap())];
        let found = machine.checks(&variables);
        assert_says(&found[1], State::Wrong, "XDG_RUNTIME_DIR=", "mode 700");
        assert_says(&machine.checks(&variables[1..])[1], State::Note, "XDG_RUNTIME_DIR=", "mode 700");
        assert_says(
            &machine.checks(&variables[..1])[1],
            State::Wrong,
            "XDG_RUNTIME_DIR is not set",
            "graphical session",
        );
        let file = machine.folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let found = machine.checks(&[("XDG_RUNTIME_DIR", file.to_str().unwrap())]);
        assert_says(&found[1], State::Note, "is no folder", "mode 700");
        // /proc belongs to another user
        let variables = Variables::from([("XDG_RUNTIME_DIR".to_owned(), "/proc".to_owned())]);
        let (x11_sockets, libraries) = (machine.folder.path(), &machine.libraries);
        let found = checks(&DisplayEnvironment { variables: &variables, x11_sockets, uid: 4321, libraries });
        assert_says(&found[1], State::Note, "belongs to another user", "log in again");
    }

    #[test]
    fn a_missing_library_is_named_with_its_package() {
        let machine = Machine::new(&["libxkbcommon.so.0", "libXi.so.6"]);
        let _server = UnixListener::bind(machine.folder.path().join("X0")).unwrap();
        let found = machine.checks(&[("DISPLAY", ":0")]);
        assert_says(&found[1], State::Wrong, "libxkbcommon.so.0, libXi.so.6", "apt-get install libxkbcommon0 libxi6`");
        let setup = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/setup.sh")).unwrap();
        for (file, package) in WAYLAND_LIBRARIES.iter().chain(&X11_LIBRARIES) {
            assert!(setup.contains(&format!("{file}={package}")), "tools/setup.sh does not install {package}");
        }
    }

    #[test]
    fn names_of_other_machines_are_not_shown() {
        let sockets = Path::new("/sockets");
        let local = |number: &str| Some(Address::Local(sockets.join(number)));
        assert_eq!(x11_address(":0", sockets), local("X0"));
        assert_eq!(x11_address("unix:1.2", sockets), local("X1"));
        assert_eq!(x11_address("localhost:10.0", sockets), Some(Address::Remote("localhost".into(), 6010)));
        assert_eq!(x11_address(":65000.0", sockets), local("X65000"));
        assert_eq!(x11_address("desk:65000", sockets), None);
        let machine = Machine::new(&[]);
        let found = machine.checks(&[("DISPLAY", "adas-desk.invalid:0")]);
        assert_says(&found[0], State::Wrong, "DISPLAY=HOST:0 cannot be reached", "--publish");
        assert!(!found[0].text.contains("adas"), "{found:?}");
    }
}
