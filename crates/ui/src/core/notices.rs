//! Messages to the user: errors and remarks stay until they are resolved or dismissed, news expire.

use super::{Action, owner::Owner};
use std::fmt::Display;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stereopsis_base::{console, secrets};
use stereopsis_settings::rig::CalibrationChoice;

/// Severity of a message, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Error,
    /// Condition that makes depth worse.
    Warning,
    /// Remark that the user confirms.
    Remark,
    News,
}

/// Remedy that a message offers as a button.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Remedy {
    Action(Action),
    OpenAgain,
    /// Estimates the rig again with this choice.
    Estimate(Box<CalibrationChoice>),
    OpenFile(PathBuf),
    ShowInFolder(PathBuf),
    StartFresh,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) level: Level,
    pub(crate) remedies: Vec<Remedy>,
    pub(crate) at: Instant,
    /// Kind of the command that failed; `None` for a message without a command.
    owner: Option<Owner>,
}

#[derive(Debug, Default)]
pub(crate) struct Notices {
    all: Vec<Notice>,
    /// Owner of messages added from now on.
    pub(crate) owner: Option<Owner>,
}

/// Largest number of messages, above which the oldest is removed.
const MAX_NOTICES: usize = 50;
pub(crate) const NEWS_TIMEOUT: Duration = Duration::from_secs(8);

impl Notices {
    /// Adds a message in place of one with the same text.
    pub(crate) fn add(&mut self, level: Level, text: impl Into<String>, remedies: Vec<Remedy>) {
        let text = text.into();
        // errors repeat what is in files; news have addresses with a token to pass on
        let text = if level == Level::Error { secrets::hidden(&text) } else { text };
        match level {
            Level::Error | Level::Warning => log::warn!("{text}"),
            Level::Remark | Level::News => log::info!("{text}"),
        }
        // the text may contain names from a file or a network
        let notice = Notice { text: console::shown(&text), level, remedies, at: Instant::now(), owner: self.owner };
        self.all.retain(|old| old.text != notice.text && (old.level != Level::News || notice.level != Level::News));
        self.all.push(notice);
        if self.all.len() > MAX_NOTICES {
            self.all.remove(0);
        }
    }

    pub(crate) fn error(&mut self, text: impl Display) {
        self.add(Level::Error, text.to_string(), Vec::new());
    }

    pub(crate) fn news(&mut self, text: impl Display) {
        self.add(Level::News, text.to_string(), Vec::new());
    }

    /// Adds a remark that the user dismisses.
    pub(crate) fn confirm(&mut self, text: impl Into<String>) {
        self.add(Level::Remark, text, Vec::new());
    }

    /// Removes the errors of commands of this kind, because one is executed again.
    pub(crate) fn given_again(&mut self, owner: Owner) {
        self.all.retain(|notice| notice.level != Level::Error || notice.owner != Some(owner));
    }

    /// Removes the errors that concern the source, because another one is read.
    pub(crate) fn source_changed(&mut self) {
        let is_of_source = |notice: &Notice| notice.owner.is_some_and(|owner| owner.is_of_source);
        self.all.retain(|notice| notice.level != Level::Error || !is_of_source(notice));
    }

    pub(crate) fn retract(&mut self, text: &str) {
        let texts = [console::shown(text), console::shown(&secrets::hidden(text))];
        self.all.retain(|notice| !texts.contains(&notice.text));
    }

    /// Removes the messages that offer this remedy, because their cause is gone.
    pub(crate) fn remedied(&mut self, remedy: &Remedy) {
        self.all.retain(|notice| !notice.remedies.contains(remedy));
    }

    pub(crate) fn remove_expired(&mut self, now: Instant) {
        self.all
            .retain(|notice| notice.level != Level::News || now.saturating_duration_since(notice.at) < NEWS_TIMEOUT);
    }

    pub(crate) fn all(&self) -> &[Notice] {
        &self.all
    }

    pub(crate) fn dismiss(&mut self, index: usize) {
        if index < self.all.len() {
            self.all.remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::command::Command;

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
        notices.add(Level::Error, "exchanged", vec![Remedy::Action(Action::SwapPictures)]);
        notices.remedied(&Remedy::Action(Action::SwapPictures));
        notices.remove_expired(Instant::now());
        assert_eq!(notices.all().len(), 2);
        notices.remove_expired(Instant::now() + 2 * NEWS_TIMEOUT);
        assert_eq!(notices.all().len(), 1, "an error stays");
    }

    #[test]
    fn error_ends_with_a_new_command_or_another_source() {
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
