//! The order of imports between rooms, and circles of files within a room, found in every `crate::`, `super::` and `self::` path of the
//! sources. Tests may import from everywhere.

use super::{files, root, tests_of_sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The modules of `src/lib.rs`, from the bottom to the top: a room imports from rooms before it only.
const ROOMS: [&str; 32] = [
    "console",
    "process",
    "files",
    "image",
    "parameter",
    "rate",
    "newest",
    "geometry",
    "stereo",
    "calibration",
    "metrics",
    "capture",
    "engine",
    "colormap",
    "reach",
    "export",
    "rig",
    "settings",
    "recording",
    "network",
    "sources",
    "calibrate",
    "live",
    "publish",
    "serve",
    "search",
    "doctor",
    "ui",
    "bench",
    "lab",
    "cli",
    "library",
];

/// A module as the names on the way to it: `capture::webcam::claim`.
type Module = Vec<String>;
/// Imports: from a module to modules.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// Words and signs of a Rust source; comments, strings, characters and lifetimes are left out.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let starts = |at: usize, what: &str| chars[at..].iter().copied().take(what.len()).eq(what.chars());
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        if starts(at, "//") {
            at += chars[at..].iter().take_while(|&&c| c != '\n').count();
        } else if starts(at, "/*") {
            at += (at..chars.len()).position(|k| starts(k, "*/")).unwrap_or(chars.len() - at) + 2;
        } else if c == '"' || ["r\"", "r#", "br", "b\""].iter().any(|&s| starts(at, s)) && is_string(&chars[at..]) {
            at += string_length(&chars[at..]);
        } else if c == '\'' {
            // a character ends with a quote, a lifetime does not
            let escaped = chars.get(at + 1) == Some(&'\\');
            let length = if escaped { 3 + chars[at + 3..].iter().take_while(|&&c| c != '\'').count() } else { 2 };
            at += if chars.get(at + length) == Some(&'\'') { length + 1 } else { 1 };
        } else if is_word(c) {
            let word: String = chars[at..].iter().copied().take_while(|&c| is_word(c)).collect();
            at += word.chars().count();
            found.push(word);
        } else if starts(at, "::") {
            found.push("::".to_owned());
            at += 2;
        } else {
            found.extend((!c.is_whitespace()).then(|| c.to_string()));
            at += 1;
        }
    }
    found
}

/// Whether a word that begins with `r` or `b` begins a string.
fn is_string(chars: &[char]) -> bool {
    let prefix = chars.iter().take_while(|&&c| c == 'r' || c == 'b').count();
    let hashes = chars[prefix..].iter().take_while(|&&c| c == '#').count();
    prefix <= 2 && chars.get(prefix + hashes) == Some(&'"')
}

/// Length of a string with its prefix and quotes.
fn string_length(chars: &[char]) -> usize {
    let prefix = chars.iter().take_while(|&&c| c == 'r' || c == 'b').count();
    let is_raw = chars[..prefix].contains(&'r');
    let hashes = chars[prefix..].iter().take_while(|&&c| c == '#').count();
    let mut at = prefix + hashes + 1;
    while at < chars.len() {
        if chars[at] == '\\' && !is_raw {
            at += 2;
        } else if chars[at] == '"' && chars[at + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes {
            return at + 1 + hashes;
        } else {
            at += 1;
        }
    }
    at
}

/// Index behind the item that follows an attribute at `at`: behind its block, its semicolon, or a comma.
fn behind_item(tokens: &[String], mut at: usize) -> usize {
    let mut depth = 0_usize;
    let mut is_item = false;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "fn" | "impl" | "mod" | "use" | "struct" | "enum" | "const" | "static" => is_item = true,
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 0 => return at,
            ")" | "]" => depth -= 1,
            "}" => {
                depth -= 1;
                if depth == 0 && tokens.get(at + 1).is_none_or(|next| next != ";") {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            "," if depth == 0 && !is_item => return at + 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// The paths of a tree such as `a::{b, c::{d, self}}` whose first name is at `at`.
fn tree(tokens: &[String], at: &mut usize, before: &[String], found: &mut Vec<Module>) {
    let mut path = before.to_vec();
    loop {
        match tokens.get(*at).map(String::as_str) {
            Some("{") => {
                *at += 1;
                while tokens.get(*at).is_some_and(|token| token != "}") {
                    tree(tokens, at, &path, found);
                    *at += usize::from(tokens.get(*at).is_some_and(|token| token == ","));
                }
                *at += 1;
                return;
            }
            Some("*") => *at += 1,
            Some(name) if name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                if name != "self" || path.is_empty() {
                    path.push(name.to_owned());
                }
                *at += 1;
            }
            _ => *at += 1,
        }
        if tokens.get(*at).is_none_or(|token| token != "::") {
            break;
        }
        *at += 1;
    }
    if tokens.get(*at).is_some_and(|token| token == "as") {
        *at += 2;
    }
    found.push(path);
}

/// All relative paths of a source without its tests, as absolute ones; `own` is the module of the file.
fn paths(text: &str, own: &[String]) -> Vec<Module> {
    let tokens = tokens(text);
    let is_at = |at: usize, what: &[&str]| tokens[at..].iter().take(what.len()).eq(what);
    let mut inline: Vec<(String, usize)> = Vec::new();
    let mut depth = 0_usize;
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if is_at(at, &["#", "[", "cfg", "(", "test", ")", "]"])
            || is_at(at, &["#", "[", "cfg", "(", "all", "(", "test"])
        {
            at = behind_item(&tokens, at + 1);
            continue;
        }
        match tokens[at].as_str() {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                inline.pop_if(|(_, outer)| *outer == depth);
            }
            "mod" if tokens.get(at + 2).is_some_and(|token| token == "{") => {
                inline.push((tokens[at + 1].clone(), depth));
            }
            "crate" | "super" | "self"
                if tokens.get(at + 1).is_some_and(|token| token == "::") && (at == 0 || tokens[at - 1] != "::") =>
            {
                let mut trees = Vec::new();
                tree(&tokens, &mut at, &[], &mut trees);
                let here: Module = own.iter().cloned().chain(inline.iter().map(|(name, _)| name.clone())).collect();
                found.extend(trees.into_iter().map(|path| absolute(&path, &here)));
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// A path that begins with `crate`, `super` or `self`, from the root on.
fn absolute(path: &[String], here: &[String]) -> Module {
    let mut base = match path[0].as_str() {
        "crate" => Vec::new(),
        "self" => here.to_vec(),
        _ => here[..here.len() - 1].to_vec(),
    };
    for name in &path[1..] {
        if name == "super" {
            base.pop();
        } else {
            base.push(name.clone());
        }
    }
    base
}

/// The module of a file below `src`.
fn module_of(path: &Path) -> Module {
    let inside = path.strip_prefix("src").unwrap().with_extension("");
    let mut names: Module = inside.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    names.pop_if(|name| ["mod", "lib", "main"].contains(&name.as_str()));
    names
}

/// What each module of these sources imports from other modules.
fn imports(sources: &[(Module, String)]) -> Imports {
    let modules: BTreeSet<&Module> = sources.iter().map(|(module, _)| module).collect();
    let mut imports = Imports::new();
    for (module, text) in sources.iter().filter(|(module, _)| !module.is_empty()) {
        for mut path in paths(text, module) {
            while !path.is_empty() && !modules.contains(&path) {
                path.pop();
            }
            if path != *module && !path.is_empty() {
                imports.entry(module.clone()).or_default().insert(path);
            }
        }
    }
    imports
}

/// Imports from a room above.
fn upward(imports: &Imports) -> Vec<String> {
    let place = |module: &Module| {
        let place = ROOMS.iter().position(|room| *room == module[0]);
        place.unwrap_or_else(|| panic!("the room `{}` is missing in ROOMS", module[0]))
    };
    let all = imports.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
    all.filter(|(from, to)| place(to) > place(from)).map(|(from, to)| said(from) + " imports " + &said(to)).collect()
}

/// Circles of files, where an import between a module and one inside it does not count. Each file is in one circle at most.
fn circles(imports: &Imports) -> Vec<Vec<String>> {
    let reach = |from: &Module| {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            for next in imports.get(module).into_iter().flatten() {
                if !next.starts_with(module) && !module.starts_with(next) && seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&Module, _> = imports.keys().map(|module| (module, reach(module))).collect();
    let circle = |module: &&Module| -> Vec<String> {
        let back = |other: &&&Module| reached.get(**other).is_some_and(|reached| reached.contains(*module));
        reached[*module].iter().filter(back).map(|module| said(module)).collect()
    };
    let all: BTreeSet<_> = reached.keys().map(circle).filter(|circle| !circle.is_empty()).collect();
    all.into_iter().collect()
}

fn said(module: &Module) -> String {
    module.join("/")
}

/// All sources but tests and what only fuzzing builds.
fn sources() -> Vec<(Module, String)> {
    let tests = tests_of_sources();
    let is_test = |path: &Path| {
        path.starts_with("src/attack") || tests.iter().any(|name| format!("/{}", path.display()).contains(name))
    };
    let code = files("src", "rs").into_iter().filter(|path| !is_test(path));
    code.map(|path| (module_of(&path), fs::read_to_string(root().join(&path)).unwrap())).collect()
}

#[test]
fn rooms_import_from_rooms_below_only() {
    let found = upward(&imports(&sources()));
    assert!(found.is_empty(), "{found:#?}");
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(rows.collect::<Vec<_>>(), ROOMS, "the rows of the code map in ARCHITECTURE.md");
}

#[test]
fn files_of_a_room_import_each_other_in_one_direction() {
    let found = circles(&imports(&sources()));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn wrong_imports_and_circles_are_found() {
    let source = |module: &str, text: &str| (module.split('/').map(str::to_owned).collect(), text.to_owned());
    let up =
        |text: &str| upward(&imports(&[source("stereo/cost", text), source("engine/gpu", ""), source("image", "")]));
    assert!(up("use crate::image::Image; // crate::engine::gpu\nconst A: &str = \"crate::engine::gpu\";").is_empty());
    assert!(up("#[cfg(test)]\nmod tests {\n use crate::engine::gpu;\n}").is_empty());
    for text in [
        "use crate::{image::Image, engine::{self, gpu::{Gpu, Fault}}};",
        "fn f<'a>(gpu: &'a crate::engine::gpu::Gpu) -> char { '\"' }",
        "use super::super::engine::gpu;",
        "#[cfg(test)] const A: u8 = 1; impl crate::engine::gpu::Trait for A {}",
        "mod inner { use super::super::super::engine::gpu::*; }",
    ] {
        assert_eq!(up(text), ["stereo/cost imports engine/gpu"], "{text}");
    }
    let round = [
        source("ui", "mod keep; use self::keep::Keep;"),
        source("ui/keep", "use super::session::Session; use super::Ui;"),
        source("ui/session", "use crate::ui::options::Options;"),
        source("ui/options", "fn f() { super::keep::g() }"),
        source("ui/view", "use super::keep::Keep;"),
    ];
    assert_eq!(circles(&imports(&round)), [["ui/keep", "ui/options", "ui/session"]]);
}
