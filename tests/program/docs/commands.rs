//! Checks every command of the documentation: runs it where possible, else checks the names in it.

use super::pages::{self, Block, Page, root};
use super::sandbox::{Ended, SIZE, Sandbox};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Arguments of commands that are only parsed, each with the reason.
const PARSED_ONLY: &[(&str, &str)] = &[
    ("webcam:", "cameras"),
    ("--rig", "the cameras of a rig"),
    ("zenoh:", "a rig on the network"),
    ("ros2:", "a driver of ROS 2"),
    ("head", "does not end"),
    ("engine --connect", "a router, and does not end"),
    ("router", "does not end"),
    ("net --connect", "a router"),
    ("net pi", "a router"),
    ("--publish", "clients, and does not end"),
    ("--source -", "a recording from a pipe"),
    ("-o -", "a pipe"),
    ("--engine gpu", "a GPU"),
    ("--model-device", "ONNX Runtime"),
    ("tune", "a GPU"),
    ("doctor", "a machine on which nothing is wrong"),
    ("--region", "images that are as large as the region says"),
    ("--points", "images that have these pixels"),
    ("calibrate boards", "images of a board"),
    ("calibrate rig-calibration", "images of a board"),
    ("calibrate pairs/", "images of a board"),
    ("calibrate --check", "images of a board, or of the rig that is checked"),
];

/// Programs that are not run, each with the reason.
const OTHERS: &[(&str, &str)] = &[
    ("apt-get", "changes the machine"),
    ("sudo", "changes the machine"),
    ("pip", "changes the machine"),
    ("tar", "unpacks a package"),
    ("ffmpeg", "needs a video"),
    ("mkdir", "makes what ffmpeg fills"),
    ("git", "changes the checkout"),
    ("cd", "is the shell's"),
    ("Xvfb", "is a display server"),
    ("xvfb-run", "is a display server"),
    ("import", "is ImageMagick's"),
    ("mdbook", "is run by tools/book.sh"),
    ("ros2", "is ROS's"),
    ("rviz2", "is ROS's"),
    ("export", "is the shell's"),
    ("source", "is the shell's"),
    ("docker", "runs a container with ROS"),
    ("rerun", "is another viewer"),
    ("stereo_calib", "is OpenCV's"),
    ("target/fuzz/*/debug/stereopsis-fuzz", "is built by tools/fuzz.sh"),
    ("stereopsis-lab", "is the laboratory, which this test does not build; its own tests parse these commands"),
    ("python3", "runs a script of tools/, which exists"),
];

/// Flags in the prose that belong to other programs.
const FLAGS_OF_OTHERS: &[&str] = &[
    "--example",
    "--features",
    "--ignored",
    "--lib",
    "--locked",
    "--no-default-features",
    "--nocapture",
    "--open",
    "--path",
    "--profile",
    "--release",
    "--test",
];

struct Line {
    place: String,
    words: Vec<String>,
    output: Option<Vec<String>>,
}

struct Call {
    variables: Vec<(String, String)>,
    args: Vec<String>,
}

/// Returns the lines of a page that are commands: all of shell blocks, and elsewhere those that begin with a known program.
fn lines(page: &Page) -> Vec<Line> {
    let blocks = page.blocks();
    let mut found: Vec<Line> = Vec::new();
    for Block { language, lines } in &blocks {
        if language == "output" {
            let last = found.last_mut().unwrap_or_else(|| panic!("{}: output of no command", page.path.display()));
            last.output = Some(lines.iter().map(|(_, line)| line.clone()).collect());
            continue;
        }
        let mut joined: Option<(usize, String)> = None;
        for (number, line) in lines {
            let (first, text) =
                joined.take().map_or((*number, line.clone()), |(n, begun)| (n, begun + line.trim_start()));
            if let Some(begun) = text.strip_suffix('\\') {
                joined = Some((first, begun.to_owned()));
                continue;
            }
            let words = split(&text);
            let is_command = match words.first().map(String::as_str) {
                None => false,
                Some("stereopsis" | "make") => true,
                Some("cargo") => words.get(1).is_some_and(|word| word == "run") || language == "sh",
                Some(_) => language == "sh",
            };
            if is_command {
                found.push(Line { place: format!("{}:{first}", page.path.display()), words, output: None });
            }
        }
    }
    found
}

/// Splits a line of shell into words, without its comment.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Returns the calls of the program in a line, or the error in it.
fn calls(line: &Line) -> Result<Vec<Call>, String> {
    line.words.split(|word| word == "|" || word == "&&").map(call).filter_map(Result::transpose).collect()
}

/// Returns the call of the program in one command; `None` for another program, which is checked here.
fn call(words: &[String]) -> Result<Option<Call>, String> {
    let is_variable = |word: &&String| {
        word.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
    };
    let count = words.iter().take_while(is_variable).count();
    let pair = |word: &String| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let variables: Vec<_> = words[..count].iter().filter_map(pair).collect();
    let words: Vec<_> = words[count..].iter().map(String::as_str).collect();
    let called = |args: &[&str]| {
        Ok(Some(Call { variables: variables.clone(), args: args.iter().map(|&word| word.to_owned()).collect() }))
    };
    match &words[..] {
        ["stereopsis", args @ ..] | ["ssh", _, "stereopsis", args @ ..] => called(args),
        ["cargo", "run", rest @ ..] if rest.contains(&"--example") => example(rest).map(|()| None),
        ["cargo", "run", rest @ ..] => {
            called(rest.iter().position(|&word| word == "--").map_or(&[], |at| &rest[at + 1..]))
        }
        ["cargo", rest @ ..] => cargo(rest).map(|()| None),
        ["make", targets @ ..] => make(targets).map(|()| None),
        [script, ..] if script.starts_with("tools/") || script.starts_with("./tools/") => {
            if root().join(script).exists() { Ok(None) } else { Err("there is no such script".to_owned()) }
        }
        ["python3", script, ..] if !root().join(script).exists() => Err(format!("there is no {script}")),
        [other, ..] if OTHERS.iter().any(|(name, _)| name == other) => Ok(None),
        [other, ..] => Err(format!("{other} is not run by this test: run it, or list it with the reason")),
        [] => Err("there is no command".to_owned()),
    }
}

/// Checks that the named tests exist: crates, and test binaries of crates or of the program.
fn cargo(words: &[&str]) -> Result<(), String> {
    let after = |flag: &str| {
        let pairs = words.windows(2).filter(|pair| pair[0] == flag);
        pairs.map(|pair| pair[1].to_owned()).collect::<Vec<_>>()
    };
    let folder = |package: &String| {
        if package == "stereopsis" {
            return root().to_owned();
        }
        let name = package.strip_prefix("stereopsis-").unwrap_or(package);
        let folders = ["crates", "fuzz", ""].map(|folder| root().join(folder).join(name));
        folders.into_iter().find(|folder| folder.join("Cargo.toml").exists()).unwrap_or_default()
    };
    let packages = after("-p");
    if let Some(package) = packages.iter().find(|package| !folder(package).is_dir()) {
        return Err(format!("there is no crate {package}"));
    }
    let folders: Vec<_> =
        if packages.is_empty() { vec![root().to_owned()] } else { packages.iter().map(folder).collect() };
    let exists = |name: &str| {
        let paths = [format!("tests/{name}.rs"), format!("tests/{name}/main.rs")];
        folders.iter().any(|folder| paths.iter().any(|path| folder.join(path).exists()))
    };
    match after("--test").iter().find(|name| !exists(name)) {
        Some(name) => Err(format!("there is no test {name}")),
        None => Ok(()),
    }
}

/// Checks that the example exists and documents its own command line.
fn example(words: &[&str]) -> Result<(), String> {
    let name = words.iter().skip_while(|&&word| word != "--example").nth(1).copied().unwrap_or_default();
    let text = fs::read_to_string(root().join(format!("examples/{name}.rs")));
    let text = text.map_err(|_| format!("there is no example {name}"))?;
    let command = format!("//! `cargo run {}`", words.join(" "));
    if text.contains(&command) { Ok(()) } else { Err(format!("the example {name} does not say {command}")) }
}

fn make(words: &[&str]) -> Result<(), String> {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let missing = words
        .iter()
        .find(|word| !word.contains('=') && !makefile.lines().any(|line| line.starts_with(&format!("{word}:"))));
    missing.map_or(Ok(()), |word| Err(format!("the makefile has no target {word}")))
}

/// Returns the reason why a call is only parsed.
fn parsed_only(call: &Call) -> Option<&'static str> {
    let line = format!(" {} ", call.args.join(" "));
    PARSED_ONLY.iter().find(|(pattern, _)| line.contains(&format!(" {pattern}"))).map(|(_, why)| *why)
}

fn is_file(word: &str) -> bool {
    let ending = Path::new(word).extension().and_then(|ending| ending.to_str());
    word.ends_with('/') || ending.is_some_and(|ending| ["mcap", "png", "tif"].contains(&ending))
}

/// Returns the call with little work: few small images, and the CPU engine.
fn quick(args: &[String]) -> Vec<String> {
    let mut args = args.to_vec();
    let command = args.first().filter(|word| !word.starts_with('-')).cloned().unwrap_or_default();
    let command = if command.is_empty() || is_file(&command) { "live".to_owned() } else { command };
    let has = |args: &[String], flag: &str| args.iter().any(|word| word == flag);
    let has_images = args.iter().any(|word| is_file(word));
    let small: &[(&str, &str)] = &[
        ("--size", SIZE),
        ("--num-disparities", "16"),
        ("--frames", "2"),
        ("--seconds", "0.5"),
        ("--pairs", "2"),
        // long enough for a debug build
        ("--max-ms", "100000"),
        ("--trials", "3"),
    ];
    let wanted: &[&str] = match command.as_str() {
        "live" => &["--size", "--num-disparities", "--frames"],
        "record" if has(&args, "--seconds") => &["--size", "--num-disparities", "--seconds"],
        "record" => &["--size", "--num-disparities", "--frames"],
        "compute" | "recompute" if has(&args, "--near-m") => &[],
        "compute" | "recompute" => &["--num-disparities"],
        "measure" if has(&args, "--range") => &["--num-disparities"],
        "measure" => &["--num-disparities", "--frames"],
        "eval" => &["--size", "--num-disparities", "--frames"],
        "optimize" if has(&args, "--seconds") => &["--num-disparities", "--pairs", "--seconds"],
        "optimize" if has_images => &["--num-disparities", "--pairs", "--trials"],
        "optimize" => &["--size", "--num-disparities", "--pairs", "--trials"],
        "bench" if has(&args, "--rate") => &["--size", "--num-disparities", "--seconds"],
        "bench" if has_images => &["--num-disparities", "--frames"],
        "bench" => &["--size", "--num-disparities", "--frames"],
        "model" => {
            args.extend(["--size", SIZE].map(str::to_owned));
            return args;
        }
        _ => return args,
    };
    for &(flag, value) in small {
        for at in (0..args.len()).filter(|&at| args[at] == flag).collect::<Vec<_>>() {
            value.clone_into(&mut args[at + 1]);
        }
        if wanted.contains(&flag) && !has(&args, flag) {
            args.extend([flag.to_owned(), value.to_owned()]);
        }
    }
    if !has(&args, "--engine") && !has(&args, "--model") {
        args.extend(["--engine".to_owned(), "cpu".to_owned()]);
    }
    args
}

fn parse(sandbox: &Sandbox, args: &[String]) -> Ended {
    sandbox.run(&[], &[args, &["--help".to_owned()]].concat())
}

fn check(sandbox: &Sandbox, line: &Line) -> Option<String> {
    let calls = match calls(line) {
        Ok(calls) => calls,
        Err(why) => return Some(why),
    };
    for call in calls {
        let ended = match parsed_only(&call) {
            Some(_) => parse(sandbox, &call.args),
            None => sandbox.run(&call.variables, &quick(&call.args)),
        };
        if !ended.succeeded() {
            return Some(format!("{:?}: {}", ended.status, ended.stderr.trim()));
        }
        if let Some(output) = &line.output {
            let mut printed = ended.stdout.lines();
            let missing =
                output.iter().filter(|said| *said != "…").find(|said| !printed.any(|line| line == said.as_str()));
            if let Some(said) = missing {
                return Some(format!("does not print '{said}':\n{}", ended.stdout));
            }
        }
    }
    None
}

/// Returns the errors of the commands of a page, which run one after the other in one folder.
fn check_page(made: &Sandbox, page: &Page) -> Vec<String> {
    let sandbox = made.copied();
    let lines = lines(page);
    let failed =
        |line: &Line| Some(format!("{}: {}\n    {}", line.place, line.words.join(" "), check(&sandbox, line)?));
    lines.iter().filter_map(failed).collect()
}

#[test]
fn every_command_of_the_pages_works() {
    let made = Sandbox::with_files();
    let pages = pages::all();
    let wrong: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = pages.iter().map(|page| scope.spawn(|| check_page(&made, page))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} commands fail:\n{}", wrong.len(), wrong.join("\n"));
}

/// Lists the program's commands and those below them.
fn subcommands(sandbox: &Sandbox, above: &[String]) -> Vec<(Vec<String>, String)> {
    let help = parse(sandbox, above).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    let names: Vec<_> = names.filter(|name| *name != "help").map(str::to_owned).collect();
    let below = names.into_iter().flat_map(|name| subcommands(sandbox, &[above, &[name]].concat()));
    let below: Vec<_> = below.collect();
    std::iter::once((above.to_vec(), help)).chain(below).collect()
}

#[test]
fn every_flag_and_command_in_the_prose_exists() {
    let sandbox = Sandbox::empty();
    let helps = subcommands(&sandbox, &[]);
    let is_flag = |word: &&str| word.starts_with("--") && word.len() > 2;
    let name = |word: &str| word.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect::<String>();
    let known: BTreeSet<_> =
        helps.iter().flat_map(|(_, help)| help.split_whitespace()).filter(is_flag).map(name).collect();
    let mut wrong = Vec::new();
    for page in pages::all() {
        for (number, span) in page.spans() {
            let words = split(span);
            let place = format!("{}:{number}: {span}", page.path.display());
            if words.first().is_some_and(|word| word == "stereopsis") && words.len() > 1 && !span.contains('…') {
                let ended = parse(&sandbox, &words[1..]);
                if !ended.succeeded() {
                    wrong.push(format!("{place}: {}", ended.stderr.trim()));
                }
            } else if ["make", "cargo", "tools/"]
                .iter()
                .any(|start| words.first().is_some_and(|word| word.starts_with(start)))
                && words.len() > 1
            {
                wrong.extend(call(&words).err().map(|why| format!("{place}: {why}")));
            } else if words.first().is_none_or(|word| word != "stereopsis-lab") {
                let flags = span.split([' ', '(', ',']).filter(is_flag).map(name);
                let unknown = flags.filter(|flag| !known.contains(flag) && !FLAGS_OF_OTHERS.contains(&flag.as_str()));
                wrong.extend(unknown.map(|flag| format!("{place}: there is no {flag}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
