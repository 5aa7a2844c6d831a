//! What went wrong or was done: stays until it is dismissed, and can be copied.

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    /// In words.
    pub(crate) text: String,
    /// An error, or only news.
    pub(crate) is_error: bool,
}

/// The messages that are shown, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Notices(Vec<Notice>);

const MOST: usize = 6;

impl Notices {
    /// Something failed.
    pub(crate) fn error(&mut self, text: impl Into<String>) {
        let text = text.into();
        log::warn!("{text}");
        self.push(Notice { text, is_error: true });
    }

    /// Something was done.
    pub(crate) fn news(&mut self, text: impl Into<String>) {
        let text = text.into();
        log::info!("{text}");
        self.push(Notice { text, is_error: false });
    }

    /// The same message is shown once; the oldest gives way to the newest.
    fn push(&mut self, notice: Notice) {
        self.0.retain(|old| old.text != notice.text && (old.is_error || notice.is_error));
        self.0.push(notice);
        if self.0.len() > MOST {
            self.0.remove(0);
        }
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
    }
}
