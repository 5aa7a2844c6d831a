//! Messages of what has happened. Errors and remarks stay until they are over or dismissed, news expire.

use crate::console;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Weight of a message; the first one is the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Something failed.
    Error,
    /// Something makes depth worse.
    Warning,
    /// To be confirmed.
    Remark,
    /// Expires.
    News,
}

/// A remedy that a message offers as a button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cure {
    /// Exchanges left and right.
    SwapPictures,
    /// Opens the source again.
    TryAgain,
    /// Opens a written file.
    OpenFile(PathBuf),
    /// Shows a written file in its folder.
    ShowInFolder(PathBuf),
    /// Goes back to the defaults.
    StartFresh,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) level: Level,
    pub(crate) cures: Vec<Cure>,
    /// When it came.
    pub(crate) at: Instant,
}

/// The messages, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Notices(Vec<Notice>);

/// The oldest message gives way to one more.
const MAX_NOTICES: usize = 50;
/// News expire after this time.
pub(crate) const NEWS_TIMEOUT: Duration = Duration::from_secs(8);

impl Notices {
    /// Adds a message; one of the same text is replaced.
    pub(crate) fn add(&mut self, level: Level, text: impl Into<String>, cures: Vec<Cure>) {
        let text = text.into();
        match level {
            Level::Error | Level::Warning => log::warn!("{text}"),
            Level::Remark | Level::News => log::info!("{text}"),
        }
        // names in it may come from a file or a network
        let notice = Notice { text: console::shown(&text), level, cures, at: Instant::now() };
        self.0.retain(|old| old.text != notice.text && (old.level != Level::News || notice.level != Level::News));
        self.0.push(notice);
        if self.0.len() > MAX_NOTICES {
            self.0.remove(0);
        }
    }

    /// Adds an error.
    pub(crate) fn error(&mut self, text: impl Into<String>) {
        self.add(Level::Error, text, Vec::new());
    }

    /// Adds news, which expire.
    pub(crate) fn news(&mut self, text: impl Into<String>) {
        self.add(Level::News, text, Vec::new());
    }

    /// Adds a remark, which the user dismisses.
    pub(crate) fn confirm(&mut self, text: impl Into<String>) {
        self.add(Level::Remark, text, Vec::new());
    }

    /// Removes a message that is over.
    pub(crate) fn retract(&mut self, text: &str) {
        let text = console::shown(text);
        self.0.retain(|notice| notice.text != text);
    }

    /// Removes the messages that offer this remedy: their cause is gone.
    pub(crate) fn cured(&mut self, cure: &Cure) {
        self.0.retain(|notice| !notice.cures.contains(cure));
    }

    /// Removes expired news.
    pub(crate) fn remove_expired(&mut self, now: Instant) {
        self.0.retain(|notice| notice.level != Level::News || now.saturating_duration_since(notice.at) < NEWS_TIMEOUT);
    }

    /// The messages, oldest first.
    pub(crate) fn all(&self) -> &[Notice] {
        &self.0
    }

    /// Removes one.
    pub(crate) fn dismiss(&mut self, index: usize) {
        if index < self.0.len() {
            self.0.remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_stay_beside_news_and_do_not_repeat() {
        let mut notices = Notices::default();
        notices.error("camera 0 is busy");
        notices.news("snapshot written");
        notices.error("camera 0 is busy");
        notices.news("copied");
        let texts: Vec<_> = notices.all().iter().map(|n| n.text.as_str()).collect();
        assert_eq!(texts, ["camera 0 is busy", "copied"]);
        notices.error("camera 1 is gone");
        notices.retract("camera 1 is gone");
        notices.add(Level::Error, "exchanged", vec![Cure::SwapPictures]);
        notices.cured(&Cure::SwapPictures);
        notices.remove_expired(Instant::now());
        assert_eq!(notices.all().len(), 2);
        notices.remove_expired(Instant::now() + 2 * NEWS_TIMEOUT);
        assert_eq!(notices.all().len(), 1, "an error stays");
    }
}
