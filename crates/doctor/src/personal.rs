//! Removal of personal data (user name, home folder) from reports, because users post them publicly.

use super::report::Check;
use super::variables::Variables;
use std::cmp::Reverse;
use std::path::Path;

#[derive(Clone, Debug, Default)]
pub(super) struct PersonalData {
    /// Home folder without a trailing separator, as named and with links resolved.
    homes: Vec<String>,
    user: Option<String>,
}

impl PersonalData {
    /// Finds the personal data of this user.
    pub(super) fn from_environment(variables: &Variables) -> Self {
        let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        let user = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| variables.get(*name).cloned());
        Self::of(home.as_deref(), user.as_deref())
    }

    fn of(home: Option<&Path>, user: Option<&str>) -> Self {
        let named = home.map(Path::to_owned);
        let homes = named.into_iter().chain(home.and_then(|home| home.canonicalize().ok()));
        let homes = homes.map(|home| home.to_string_lossy().trim_end_matches(['/', '\\']).to_owned());
        let mut homes: Vec<_> = homes.filter(|home| !home.is_empty()).collect();
        homes.sort_by_key(|home| Reverse(home.len())); // one may lie in the other
        Self { homes, user: user.filter(|user| !user.is_empty()).map(str::to_owned) }
    }

    /// Replaces the home folder by `~` and folders of the user's name by `USER`.
    pub(super) fn removed(&self, check: Check) -> Check {
        Check { text: self.text(&check.text), todo: check.todo.map(|todo| self.text(&todo)), ..check }
    }

    fn text(&self, text: &str) -> String {
        let text = self.homes.iter().fold(text.to_owned(), |text, home| replaced(&text, home, "~"));
        let Some(user) = &self.user else { return text };
        ['/', '\\']
            .iter()
            .fold(text, |text, separator| replaced(&text, &format!("{separator}{user}"), &format!("{separator}USER")))
    }
}

/// Replaces a path in `text`, except where a longer file name begins with it.
fn replaced(text: &str, path: &str, word: &str) -> String {
    let mut parts = text.split(path);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let goes_on = part.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c));
        out.push_str(if goes_on { path } else { word });
        out.push_str(part);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_and_user_are_not_in_a_report() {
        let personal = PersonalData::of(Some(Path::new("/home/ada/")), Some("ada"));
        let check = Check::note("disk", "/home/ada and /home/ada/walks/a.mcap", "see /media/ada/card");
        let removed = personal.removed(check);
        assert_eq!(removed.text, "~ and ~/walks/a.mcap");
        assert_eq!(removed.todo.as_deref(), Some("see /media/USER/card"));
        assert_eq!(personal.text("/home/ada2/adam, /usr/share/ada-lang"), "/home/ada2/adam, /usr/share/ada-lang");
        let windows = PersonalData::of(Some(Path::new("C:\\Users\\ada")), Some("ada"));
        assert_eq!(windows.text("C:\\Users\\ada\\walks"), "~\\walks");
        assert_eq!(PersonalData::of(Some(Path::new("/")), None).text("/etc"), "/etc");
    }

    #[test]
    #[cfg(unix)]
    fn removes_a_linked_home_by_both_names() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (real, link) = (folder.join("real"), folder.join("real/inside/link"));
        std::fs::create_dir_all(real.join("inside")).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let personal = PersonalData::of(Some(&link), None);
        let text = format!("{} and {}, {}", link.join("a").display(), real.join("a").display(), folder.display());
        assert_eq!(personal.text(&text), format!("~/a and ~/a, {}", folder.display()));
    }
}
