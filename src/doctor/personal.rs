//! A report is pasted where strangers read it: it has no name of a user, nor of the home folder.

use super::Variables;
use super::report::Check;

/// What is left out of texts.
#[derive(Clone, Debug, Default)]
pub(super) struct Personal {
    /// The home folder, without a separator at its end.
    home: Option<String>,
    /// The user's name.
    user: Option<String>,
}

impl Personal {
    /// What is personal on this system.
    pub(super) fn of_system(variables: &Variables) -> Self {
        let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().display().to_string());
        let user = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| variables.get(*name).cloned());
        Self::of(home.as_deref(), user.as_deref())
    }

    fn of(home: Option<&str>, user: Option<&str>) -> Self {
        let home = home.map(|home| home.trim_end_matches(['/', '\\']).to_owned());
        let user = user.filter(|user| !user.is_empty()).map(str::to_owned);
        Self { home: home.filter(|home| !home.is_empty()), user }
    }

    /// The check with `~` for the home folder and `USER` for a folder with the user's name.
    pub(super) fn removed(&self, check: Check) -> Check {
        Check { text: self.text(&check.text), todo: check.todo.map(|todo| self.text(&todo)), ..check }
    }

    fn text(&self, text: &str) -> String {
        let text = self.home.as_ref().map_or_else(|| text.to_owned(), |home| replaced(text, home, "~"));
        let Some(user) = &self.user else { return text };
        ['/', '\\']
            .iter()
            .fold(text, |text, separator| replaced(&text, &format!("{separator}{user}"), &format!("{separator}USER")))
    }
}

/// `text` with another word for a path, where the path's last name ends there.
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
        let personal = Personal::of(Some("/home/ada/"), Some("ada"));
        let check = Check::note("disk", "/home/ada and /home/ada/walks/a.mcap", "see /media/ada/card");
        let removed = personal.removed(check);
        assert_eq!(removed.text, "~ and ~/walks/a.mcap");
        assert_eq!(removed.todo.as_deref(), Some("see /media/USER/card"));
        assert_eq!(personal.text("/home/ada2/adam, /usr/share/ada-lang"), "/home/ada2/adam, /usr/share/ada-lang");
        let windows = Personal::of(Some("C:\\Users\\ada"), Some("ada"));
        assert_eq!(windows.text("C:\\Users\\ada\\walks"), "~\\walks");
        assert_eq!(Personal::of(Some("/"), None).text("/etc"), "/etc");
    }
}
