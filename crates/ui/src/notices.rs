//! Messages to the user. Errors and remarks stay until they are over or dismissed, news expire.

use crate::action::Action;
use crate::command::Owner;
use crate::console;
use crate::rig::CalibrationChoice;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Severity of a message; the first one is the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Failure.
    Error,
    /// Condition that makes depth worse.
    Warning,
    /// Remark to be confirmed.
    Remark,
    /// News, which expire.
    News,
}

/// Remedy that a message offers as a button.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cure {
    /// Executes an action.
    Action(Action),
    /// Opens the source again.
    OpenAgain,
    /// Estimates the rig again in this way.
    Estimate(Box<CalibrationChoice>),
    /// Opens a written file.
    OpenFile(PathBuf),
    /// Shows a written file in its folder.
    ShowInFolder(PathBuf),
    /// Returns to the defaults.
    StartFresh,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) level: Level,
    pub(crate) cures: Vec<Cure>,
    /// Time of the message.
    pub(crate) at: Instant,
    /// Kind of command that failed; `None` for a message without a command.
    owner: Option<Owner>,
}

/// Messages, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    all: Vec<Notice>,
    /// Owner of messages that are added now.
    pub(crate) owner: Option<Owner>,
}

/// Largest number of messages: the oldest is removed.
const MAX_NOTICES: usize = 50;
/// Time after which news expire.
pub(crate) const NEWS_TIMEOUT: Duration = Duration::from_secs(8);

impl Notices {
    /// Adds a message; replaces one with this text.
    pub(crate) fn add(&mut self, level: Level, text: impl Into<String>, cures: Vec<Cure>) {
        let text = text.into();
        match level {
            Level::Error | Level::Warning => log::warn!("{text}"),
            Level::Remark | Level::News => log::info!("{text}"),
        }
        // names in it may come from a file or a network
        let notice = Notice { text: console::shown(&text), level, cures, at: Instant::now(), owner: self.owner };
        self.all.retain(|old| old.text != notice.text && (old.level != Level::News || notice.level != Level::News));
        self.all.push(notice);
        if self.all.len() > MAX_NOTICES {
            self.all.remove(0);
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

    /// Removes the errors of commands of this kind, when one is given again.
    pub(crate) fn given_again(&mut self, owner: Owner) {
        self.all.retain(|notice| notice.level != Level::Error || notice.owner != Some(owner));
    }

    /// Removes the errors that concern the source, when another one is read.
    pub(crate) fn source_changed(&mut self) {
        let is_of_source = |notice: &Notice| notice.owner.is_some_and(|owner| owner.is_of_source);
        self.all.retain(|notice| notice.level != Level::Error || !is_of_source(notice));
    }

    /// Removes a message whose cause is gone.
    pub(crate) fn retract(&mut self, text: &str) {
        let text = console::shown(text);
        self.all.retain(|notice| notice.text != text);
    }

    /// Removes the messages that offer this remedy: their cause is gone.
    pub(crate) fn cured(&mut self, cure: &Cure) {
        self.all.retain(|notice| !notice.cures.contains(cure));
    }

    /// Removes expired news.
    pub(crate) fn remove_expired(&mut self, now: Instant) {
        self.all
            .retain(|notice| notice.level != Level::News || now.saturating_duration_since(notice.at) < NEWS_TIMEOUT);
    }

    /// Returns the messages, oldest first.
    pub(crate) fn all(&self) -> &[Notice] {
        &self.all
    }

    /// Removes one message.
    pub(crate) fn dismiss(&mut self, index: usize) {
        if index < self.all.len() {
            self.all.remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;

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
        notices.add(Level::Error, "exchanged", vec![Cure::Action(Action::SwapPictures)]);
        notices.cured(&Cure::Action(Action::SwapPictures));
        notices.remove_expired(Instant::now());
        assert_eq!(notices.all().len(), 2);
        notices.remove_expired(Instant::now() + 2 * NEWS_TIMEOUT);
        assert_eq!(notices.all().len(), 1, "an error stays");
    }

    #[test]
    fn an_error_ends_when_its_command_is_given_again_or_its_source_is_read_no_more() {
        let [snapshot, swap] = [Action::Snapshot, Action::SwapPictures].map(|action| Command::from(action).owner());
        let mut notices = Notices::default();
        for (owner, text) in
            [(Some(snapshot), "the disk is full"), (Some(swap), "it cannot be swapped"), (None, "lost")]
        {
            notices.owner = owner;
            notices.error(text);
        }
        notices.owner = Some(snapshot);
        notices.confirm("written in part");
        let texts = |notices: &Notices| notices.all().iter().map(|n| n.text.clone()).collect::<Vec<_>>();
        notices.given_again(snapshot);
        assert_eq!(texts(&notices), ["it cannot be swapped", "lost", "written in part"]);
        notices.source_changed();
        assert_eq!(texts(&notices), ["lost", "written in part"]);
    }
}
