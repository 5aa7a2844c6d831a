//! `stereopsis integrate`: installs manual pages, completions and a menu entry for a program that was built or unpacked by hand.

use clap::Command;
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use std::path::{Path, PathBuf};
use stereopsis_base::{console, files};

/// Name of the program, and of its files in other folders.
const NAME: &str = "stereopsis";

/// Arguments of `integrate`.
#[derive(Debug, clap::Args)]
pub(super) struct IntegrateArgs {
    /// ~/.local/share for one user, /usr/local/share for all. Files of an earlier version are replaced
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Runs `integrate` for the program with this command line.
///
/// # Errors
/// A file cannot be written, or a link lies in its way.
pub(super) fn run(args: &IntegrateArgs, command: &Command) -> anyhow::Result<()> {
    let contents = contents(command);
    for (path, _) in &contents {
        refuse_links(&args.folder, path)?;
    }
    for (path, bytes) in contents {
        let path = args.folder.join(path);
        files::make_folder(path.parent().unwrap_or(&args.folder))?;
        files::write(&path, &bytes)?;
        console::print(&format!("{}\n", console::path(&path)))?;
    }
    Ok(())
}

/// Refuses to write through a link below the folder: where others may write, a link could lead anywhere.
fn refuse_links(folder: &Path, file: &Path) -> anyhow::Result<()> {
    let ways = file.ancestors().filter(|way| *way != Path::new("")).map(|way| folder.join(way));
    if let Some(link) = ways.into_iter().find(|way| way.is_symlink()) {
        let (file, link) = (console::path(&folder.join(file)), console::path(&link));
        anyhow::bail!(
            "cannot write {file}: {link} is a link, and nothing is written through it; remove it, or name another folder"
        );
    }
    Ok(())
}

/// Returns the files with their paths below a folder such as /usr/share.
fn contents(command: &Command) -> Vec<(PathBuf, Vec<u8>)> {
    let mut built = command.clone();
    built.build();
    let mut all = Vec::new();
    manual_pages(&built, NAME, &mut all);
    let shells = [
        (Shell::Bash, "bash-completion/completions/stereopsis"),
        (Shell::Zsh, "zsh/site-functions/_stereopsis"),
        (Shell::Fish, "fish/vendor_completions.d/stereopsis.fish"),
    ];
    for (shell, path) in shells {
        let mut script = Vec::new();
        generate(shell, &mut command.clone(), NAME, &mut script);
        all.push((path.into(), script));
    }
    let desktop: [(&str, &[u8]); 3] = [
        ("applications/stereopsis.desktop", include_bytes!("../../assets/desktop/stereopsis.desktop")),
        ("icons/hicolor/scalable/apps/stereopsis.svg", include_bytes!("../../assets/desktop/stereopsis.svg")),
        ("icons/hicolor/128x128/apps/stereopsis.png", include_bytes!("../../assets/desktop/stereopsis.png")),
    ];
    all.extend(desktop.map(|(path, bytes)| (path.into(), bytes.to_vec())));
    all
}

/// Adds a page for a command and one for each below it: `stereopsis-calibration-show.1`, as `man stereopsis calibration show` finds it.
fn manual_pages(command: &Command, name: &str, all: &mut Vec<(PathBuf, Vec<u8>)>) {
    let mut page = Vec::new();
    let titled = command.clone().name(name.to_owned()).version(env!("CARGO_PKG_VERSION"));
    if Man::new(titled).render(&mut page).is_ok() {
        // writing into memory does not fail
        all.push((Path::new("man/man1").join(format!("{name}.1")), page));
    }
    for below in command.get_subcommands().filter(|below| below.get_name() != "help" && !below.is_hide_set()) {
        manual_pages(below, &format!("{name}-{}", below.get_name()), all);
    }
}
