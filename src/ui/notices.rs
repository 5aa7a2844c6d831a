//! Notices: errors stay until they are over or dismissed, news expire.

use crate::console;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    /// A file to open from the notice.
    pub(crate) file: Option<PathBuf>,
    /// Expiry of news; the other notices have none.
    until: Option<Instant>,
}

impl Notice {
    fn new(text: impl Into<String>) -> Self {
        // names in it may come from a file or a network
        Self { text: console::shown(&text.into()), is_error: false, file: None, until: None }
    }
}

/// The messages that are shown, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Notices(Vec<Notice>);

const MAX_NOTICES: usize = 6;
/// News expire after this time.
const NEWS_TIMEOUT: Duration = Duration::from_secs(8);

impl Notices {
    /// Adds an error.
    pub(crate) fn error(&mut self, text: impl Into<String>) {
        let text = text.into();
        log::warn!("{text}");
        self.push(Notice { is_error: true, ..Notice::new(text) });
    }

    /// Removes an error that is over.
    pub(crate) fn retract(&mut self, text: &str) {
        let text = console::shown(text);
        self.0.retain(|notice| notice.text != text);
    }

    /// Adds news, which expire.
    pub(crate) fn news(&mut self, text: impl Into<String>) {
        let text = text.into();
        log::info!("{text}");
        self.push(Notice { until: Some(Instant::now() + NEWS_TIMEOUT), ..Notice::new(text) });
    }

    /// Adds a remark, which the user dismisses.
    pub(crate) fn confirm(&mut self, text: impl Into<String>) {
        self.push(Notice::new(text));
    }

    /// Adds a remark about a written file, with a button to open it.
    pub(crate) fn offer(&mut self, text: impl Into<String>, is_error: bool, file: Option<PathBuf>) {
        let text = text.into();
        log::info!("{text}");
        self.0.retain(|old| old.file.is_none() || old.is_error);
        self.push(Notice { is_error, file, ..Notice::new(text) });
    }

    /// The same message is shown once; the oldest gives way to the newest.
    fn push(&mut self, notice: Notice) {
        self.0.retain(|old| old.text != notice.text && (old.until.is_none() || notice.until.is_none()));
        self.0.push(notice);
        if self.0.len() > MAX_NOTICES {
            self.0.remove(0);
        }
    }

    /// Removes expired news.
    pub(crate) fn remove_expired(&mut self, now: Instant) {
        self.0.retain(|notice| notice.until.is_none_or(|until| now < until));
    }

    /// The messages, oldest first.
    pub(crate) fn all(&self) -> &[Notice] {
        &self.0
    }

    /// Removes one.
    pub(crate) fn dismiss(&mut self, index: usize) {
        self.0.remove(index);
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
        notices.remove_expired(Instant::now());
        assert_eq!(notices.all().len(), 2);
        notices.remove_expired(Instant::now() + 2 * NEWS_TIMEOUT);
        assert_eq!(notices.all().len(), 1, "an error stays");
    }
}
