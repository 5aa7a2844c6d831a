//! Checks the invariants of ARCHITECTURE.md on the sources.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == ending) {
                found.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    assert!(!found.is_empty(), "no .{ending} below {folder}");
    found.sort();
    found
}

/// Lists every Rust file that is compiled into the program.
fn sources() -> Vec<PathBuf> {
    let all = ["src", "crates"].iter().flat_map(|folder| files(folder, "rs"));
    all.filter(|path| path.components().nth(2).is_none_or(|part| part.as_os_str() != "tests")).collect()
}

/// Returns the lines of code, without comments, that contain one of `words`.
fn uses(words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        for (n, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if words.iter().any(|word| code.contains(word)) {
                found.push(format!("{}:{}: {}", path.display(), n + 1, line.trim()));
            }
        }
    }
    found
}

#[test]
fn network_queries_use_callbacks_only() {
    let (replies, others): (Vec<_>, Vec<_>) = uses(&["liveliness().get(", "session.get(", "session().get("])
        .into_iter()
        .partition(|line| line.starts_with("crates/network/src/replies.rs") || line.contains(".callback("));
    assert!(others.is_empty(), "replies that come at once would fill a queue that nobody empties: {others:#?}");
    assert!(!replies.is_empty(), "the search finds what is there");
}

/// Whether a line marks an item that is compiled for tests alone.
fn is_mark(line: &str) -> bool {
    line.trim().starts_with("#[cfg(") && line.contains("test")
}

/// Lists files that are modules of tests alone, as `/name.rs`, and folders of such files, as `/name/`.
fn tests_of_sources() -> Vec<String> {
    let texts = sources().into_iter().map(|path| fs::read_to_string(root().join(path)).unwrap());
    let mut names = Vec::new();
    for text in texts {
        let lines: Vec<_> = text.lines().collect();
        for module in lines.windows(2).filter(|pair| is_mark(pair[0])).map(|pair| pair[1].trim()) {
            let name = module.trim_start_matches("pub ").strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'));
            names.extend(name.into_iter().flat_map(|name| [format!("/{name}.rs"), format!("/{name}/")]));
        }
    }
    names
}

/// Returns the lines of the program's code that contain one of `words`, without those of tests.
fn product_uses(words: &[&str]) -> Vec<String> {
    let mut of_tests = tests_of_sources();
    // the last ones are modules that the tests of other crates take
    of_tests.extend(["/tests/", "/emulated/", "/fixture", "/testing"].map(str::to_owned));
    let in_tests = |line: &String| {
        let (path, rest) = line.split_once(':').unwrap();
        let number: usize = rest.split(':').next().unwrap().parse().unwrap();
        let text = fs::read_to_string(root().join(path)).unwrap();
        text.lines().take(number).any(is_mark)
    };
    let is_product = |line: &String| !of_tests.iter().any(|name| line.contains(name)) && !in_tests(line);
    uses(words).into_iter().filter(is_product).collect()
}

#[test]
fn only_base_files_writes_files_and_only_console_prints() {
    let writers = ["File::create", "fs::write(", "fs::rename(", "fs::copy(", "OpenOptions::new()", "fs::create_dir"];
    let (files, others): (Vec<_>, Vec<_>) =
        product_uses(&writers).into_iter().partition(|line| line.starts_with("crates/base/src/files/"));
    // Linux has files that are switches
    let others: Vec<_> = others.into_iter().filter(|line| !line.contains("\"/proc/")).collect();
    assert!(others.is_empty(), "{others:#?}");
    assert!(!files.is_empty(), "the search finds what is there");

    let speakers = ["println!(", "print!(", "io::stdout()", "io::stderr()"];
    let allowed = ["crates/base/src/console.rs", "is_terminal()", "try_clone_to_owned()"];
    let found: Vec<_> =
        product_uses(&speakers).into_iter().filter(|line| !allowed.iter().any(|word| line.contains(word))).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn faults_are_types_and_no_flag_stands_below_the_faces() {
    let ends = [", String> {", ", String>;", ", String>,"];
    let texts = product_uses(&ends).into_iter().filter(|line| {
        let types = ends.iter().find_map(|end| line.split_once(end)).unwrap().0;
        types.rfind("Result<").is_some_and(|at| !types[at..].contains("Map<"))
    });
    assert_eq!(texts.collect::<Vec<_>>(), [""; 0]);

    let flags = product_uses(&[" --", "\"--", "(--", "`--"]);
    let is_said = |line: &String| {
        line.contains('"') && ["src/", "crates/ui/", "crates/doctor/"].iter().all(|face| !line.starts_with(face))
    };
    // for other programs, in files, and how this one is built
    let others = [
        "crates/calibration/src/formats/foreign.rs",
        "crates/capture/src/video/",
        "crates/capture/src/webcam/device/interface.rs",
        "crates/recording/src/error.rs",
        "crates/recording/src/export/calibration_files.rs",
        "crates/frame/src/source/error.rs",
        "crates/base/src/console.rs",
        "crates/base/src/remedy.rs",
    ];
    let (allowed, found): (Vec<_>, Vec<_>) =
        flags.into_iter().filter(is_said).partition(|line| others.iter().any(|path| line.starts_with(path)));
    assert_eq!(found, [""; 0]);
    assert!(!allowed.is_empty(), "the search finds what is there");
}

#[test]
fn architecture_page_lists_exactly_the_crates() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows: Vec<_> = page.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0)).collect();
    let folders = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().file_name());
    for name in folders.map(|name| name.into_string().unwrap()) {
        assert!(rows.contains(&name.as_str()), "ARCHITECTURE.md does not name `{name}`");
    }
    for name in rows {
        let exists = ["crates/", "src/", ""].iter().any(|folder| root().join(format!("{folder}{name}")).exists());
        assert!(exists, "ARCHITECTURE.md names `{name}`, which is not there");
    }
}
