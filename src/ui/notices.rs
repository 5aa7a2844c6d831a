//! What went wrong stays until it is dismissed, and can be copied; what was done goes by itself.

use crate::console;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    /// In words.
    pub(crate) text: String,
    /// An error, or only news.
    pub(crate) is_error: bool,
    /// A file that it is about, to be opened.
    pub(crate) file: Option<PathBuf>,
    /// When news goes; the rest stays.
    until: Option<Instant>,
}

impl Notice {
    fn new(text: impl Into<String>) -> Self {
        // what it names may come from a file or a network
        Self { text: console::shown(&text.into()), is_error: false, file: None, until: None }
    }
}

/// The messages that are shown, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Notices(Vec<Notice>);

const MOST: usize = 6;
/// How long news is shown.
pub(crate) const NEWS: Duration = Duration::from_secs(8);

impl Notices {
    /// Something failed.
    pub(crate) fn error(&mut self, text: impl Into<String>) {
        let text = text.into();
        log::warn!("{text}");
        self.push(Notice { is_error: true, ..Notice::new(text) });
    }

    /// An error that is over.
    pub(crate) fn retract(&mut self, text: &str) {
        let text = console::shown(text);
        self.0.retain(|notice| notice.text != text);
    }

    /// Something was done.
    pub(crate) fn news(&mut self, text: impl Into<String>) {
        let text = text.into();
        log::info!("{text}");
        self.push(Notice { until: Some(Instant::now() + NEWS), ..Notice::new(text) });
    }

    /// Something that a person should look at once.
    pub(crate) fn confirm(&mut self, text: impl Into<String>) {
        self.push(Notice::new(text));
    }

    /// A file was written, all of it or not; it can be opened from here.
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
        if self.0.len() > MOST {
            self.0.remove(0);
        }
    }

    /// Takes old news away; true if there is news that will go.
    pub(crate) fn forget(&mut self, now: Instant) -> bool {
        self.0.retain(|notice| notice.until.is_none_or(|until| now < until));
        self.0.iter().any(|notice| notice.until.is_some())
    }

    /// The messages, oldest first.
    pub(crate) fn all(&self) -> &[Notice] {
        &self.0
    }

    /// Takes one away.
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
        assert!(notices.forget(Instant::now()));
        notices.error("camera 1 is gone");
        notices.retract("camera 1 is gone");
        assert!(!notices.forget(Instant::now() + 2 * NEWS));
        assert_eq!(notices.all().len(), 1, "an error stays");
    }
}
