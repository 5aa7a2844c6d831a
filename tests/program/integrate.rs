//! Runs `stereopsis integrate`, which installs manual pages, completions and a menu entry.

use super::start::stereopsis;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

fn files(folder: &Path, found: &mut BTreeSet<String>, root: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found, root);
        } else {
            found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
    }
}

#[test]
fn writes_manual_pages_completions_and_a_menu_entry() {
    let home = tempfile::tempdir().unwrap();
    let share = home.path().join("share of all");
    let output = stereopsis(home.path(), &["integrate", share.to_str().unwrap()]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut found = BTreeSet::new();
    files(&share, &mut found, &share);
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(told.lines().count(), found.len(), "{told}");
    let help = stereopsis(home.path(), &["--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<_> = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    assert!(commands.contains(&"compute") && commands.contains(&"calibration"), "{help}");
    for command in commands.iter().filter(|name| !name.is_empty() && **name != "help") {
        assert!(found.contains(&format!("man/man1/stereopsis-{command}.1")), "{command} has no page: {found:?}");
    }
    assert!(found.contains("man/man1/stereopsis-calibration-show.1"), "{found:?}");
    let page = fs::read_to_string(share.join("man/man1/stereopsis-compute.1")).unwrap();
    assert!(page.starts_with(".ie") || page.contains(".TH stereopsis-compute 1"), "{page}");
    assert!(page.contains("num\\-disparities"), "the flags are explained");

    // each file is accepted by its reader
    let script = share.join("bash-completion/completions/stereopsis");
    let parsed = Command::new("bash").arg("-n").arg(&script).output().unwrap();
    assert!(parsed.status.success() && parsed.stderr.is_empty(), "{parsed:?}");
    assert!(fs::read_to_string(script).unwrap().contains("--num-disparities"));
    assert!(
        found.contains("zsh/site-functions/_stereopsis") && found.contains("fish/vendor_completions.d/stereopsis.fish")
    );
    let entry = fs::read_to_string(share.join("applications/stereopsis.desktop")).unwrap();
    for line in ["[Desktop Entry]", "Exec=stereopsis", "Icon=stereopsis", "StartupWMClass=stereopsis"] {
        assert!(entry.lines().any(|of_entry| of_entry == line), "{entry}");
    }
    let icon = image::open(share.join("icons/hicolor/128x128/apps/stereopsis.png")).unwrap();
    assert_eq!((icon.width(), icon.height()), (128, 128));
    assert!(found.contains("icons/hicolor/scalable/apps/stereopsis.svg"));

    // a second run writes the same files, and no others
    assert!(stereopsis(home.path(), &["integrate", share.to_str().unwrap()]).status().unwrap().success());
    let mut again = BTreeSet::new();
    files(&share, &mut again, &share);
    assert_eq!(again, found);
}

#[test]
fn impossible_folder_is_named() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("share"), "mine").unwrap();
    let output = stereopsis(home.path(), &["integrate", "share"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("share") && said.contains("folder"), "{said}");
    assert_eq!(fs::read_to_string(home.path().join("share")).unwrap(), "mine");
}

#[test]
#[cfg(unix)]
fn nothing_is_written_through_a_link_but_the_folder_may_be_one() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    for folder in ["share/man", "share/applications", "victim"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    fs::write(at("mine"), "mine").unwrap();
    for (link, target) in [("share/man/man1", "victim"), ("share/applications/stereopsis.desktop", "mine")] {
        std::os::unix::fs::symlink(at(target), at(link)).unwrap();
        let output = stereopsis(home.path(), &["integrate", "share"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("{link} is a link")) && said.contains("remove it"), "{said}");
        assert_eq!(fs::read_dir(at("victim")).unwrap().count(), 0);
        assert_eq!(fs::read_to_string(at("mine")).unwrap(), "mine");
        assert!(!at("share/icons").exists() && output.stdout.is_empty(), "it is refused before anything is written");
        fs::remove_file(at(link)).unwrap();
    }
    std::os::unix::fs::symlink(at("share"), at("named")).unwrap();
    assert!(stereopsis(home.path(), &["integrate", "named"]).status().unwrap().success());
    assert!(at("share/man/man1/stereopsis.1").exists());
}
