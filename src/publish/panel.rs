//! The parameters as clients see and set them: the words and the rules of flags.

use super::protocol::Wish;
use crate::console;
use crate::live::News;
use crate::parameter::Value;
use crate::settings;
use crate::stereo::StereoParams;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// News that nobody fetches is forgotten beyond so many.
const MOST_NEWS: usize = 16;
/// Wishes in one request; there are not half as many parameters.
const MOST_WISHES: usize = 256;
/// Refusals of one request that are told by name.
const MOST_REFUSALS: usize = 8;
/// Refused wishes that the user is told of in [`COMPLAINTS_WITHIN`]; the client is told of each.
const MOST_COMPLAINTS: u32 = 8;
const COMPLAINTS_WITHIN: Duration = Duration::from_secs(10);

/// Shared by clients and whoever owns the pipeline.
pub struct Panel(Mutex<State>);

struct State {
    /// What clients are told.
    shown: StereoParams,
    /// What a client asked for and the pipeline has not taken yet.
    wanted: Option<StereoParams>,
    news: Vec<News>,
    complaints: Complaints,
}

/// Keeps a client that asks in vain all the time from filling the terminal.
#[derive(Default)]
struct Complaints {
    since: Option<Instant>,
    told: u32,
    untold: u64,
}

impl Complaints {
    /// Whether one more may be told now, and how many were not since the last one was.
    fn may_tell(&mut self, now: Instant) -> Option<u64> {
        if self.since.is_none_or(|since| now.saturating_duration_since(since) >= COMPLAINTS_WITHIN) {
            (self.since, self.told) = (Some(now), 0);
        }
        if self.told == MOST_COMPLAINTS {
            self.untold += 1;
            return None;
        }
        self.told += 1;
        Some(std::mem::take(&mut self.untold))
    }
}

impl Default for Panel {
    fn default() -> Self {
        Self::new()
    }
}

impl Panel {
    /// The defaults, until the pipeline says what is in force.
    pub fn new() -> Self {
        let shown = StereoParams::default();
        Self(Mutex::new(State { shown, wanted: None, news: Vec::new(), complaints: Complaints::default() }))
    }

    /// The parameters that clients are told.
    pub fn shown(&self) -> StereoParams {
        self.state().shown.clone()
    }

    /// These parameters for a client; all of them where it names none.
    pub fn get(&self, names: &[String]) -> Vec<(&'static str, Json)> {
        let shown = self.shown();
        let names: BTreeSet<_> = names.iter().map(String::as_str).collect();
        let told = shown.words().filter(|(name, _)| names.is_empty() || names.contains(name));
        told.map(|(name, value)| (name, told_value(value))).collect()
    }

    /// What a client wants: all of it, or where that does not fit together one after the other. Says why something is refused.
    /// Takes any wishes.
    pub fn set(&self, wishes: &[Wish]) -> Vec<String> {
        let mut state = self.state();
        let mut refused = Vec::new();
        let mut words = Vec::new();
        if wishes.len() > MOST_WISHES {
            refused.push(format!("{} parameters at once: a request has at most {MOST_WISHES}", wishes.len()));
        }
        for Wish { name, value } in wishes.iter().take(MOST_WISHES) {
            let name = console::foreign(name);
            match text_of(value) {
                Some(text) => words.push((name, text)),
                None => refused.push(format!("--{name}: expected one number or word")),
            }
        }
        let before = state.shown.clone();
        match settings::changed(&before, &words) {
            Ok(params) => state.shown = params,
            Err(why) if words.len() == 1 => refused.push(why.to_string()),
            Err(_) => {
                for word in words {
                    match settings::changed(&state.shown, std::slice::from_ref(&word)) {
                        Ok(params) => state.shown = params,
                        Err(why) => refused.push(why.to_string()),
                    }
                }
            }
        }
        if state.shown != before {
            state.wanted = Some(state.shown.clone());
        }
        let surplus = refused.len().saturating_sub(MOST_REFUSALS);
        if surplus > 0 {
            refused.truncate(MOST_REFUSALS);
            refused.push(format!("{surplus} more that cannot be set"));
        }
        for why in &refused {
            state.complain(why, Instant::now());
        }
        refused
    }

    /// What is in force goes to the clients, what they want comes back; true if clients have to be told.
    pub fn exchange(&self, in_force: &StereoParams) -> (Option<StereoParams>, bool) {
        let mut state = self.state();
        if let Some(wanted) = state.wanted.take() {
            return (Some(wanted), false);
        }
        let news = state.shown != *in_force;
        if news {
            state.shown = in_force.clone();
        }
        (None, news)
    }

    /// Something went wrong.
    pub(crate) fn tell(&self, text: String) {
        self.state().tell(text, true);
    }

    /// Something that a person should know.
    pub(crate) fn warn(&self, text: String) {
        self.state().tell(text, false);
    }

    /// What was said since this was asked last.
    pub(crate) fn news(&self) -> Vec<News> {
        std::mem::take(&mut self.state().news)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn complain(&mut self, why: &str, now: Instant) {
        if let Some(untold) = self.complaints.may_tell(now) {
            let before = if untold > 0 { format!(" (after {untold} times that were not told)") } else { String::new() };
            self.tell(format!("a Foxglove client asked in vain: {why}{before}"), true);
        }
    }

    fn tell(&mut self, text: String, is_error: bool) {
        self.news.push(News { text, is_error });
        if self.news.len() > MOST_NEWS {
            self.news.remove(0);
        }
    }
}

/// A value in the client's types.
fn told_value(value: Value) -> Json {
    match value {
        Value::Integer(v) => v.into(),
        Value::Switch(on) => on.into(),
        Value::Choice(word) => word.into(),
        Value::Off => Value::Off.to_string().into(),
    }
}

/// A client's value as a flag would say it, as one short line.
fn text_of(value: &Json) -> Option<String> {
    match value {
        Json::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(v) => Some(v.to_string()), // whole ones lose their point
            None => Some(number.to_string()),
        },
        Json::Bool(on) => Some(Value::Switch(*on).to_string()),
        Json::String(word) => Some(console::foreign(word.trim())),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ask(panel: &Panel, words: &[(&str, Json)]) -> Vec<String> {
        let wish = |(name, value): &(&str, Json)| Wish { name: (*name).to_owned(), value: value.clone() };
        panel.set(&words.iter().map(wish).collect::<Vec<_>>())
    }

    #[test]
    fn a_client_reads_every_parameter_and_can_write_back_what_it_reads() {
        let panel = Panel::new();
        let all = panel.get(&[]);
        assert_eq!(all.len(), StereoParams::table().len());
        assert_eq!(ask(&panel, &all), Vec::<String>::new());
        assert_eq!(panel.exchange(&StereoParams::default()), (None, false));
        assert_eq!(panel.get(&["p1".to_owned(), "x".to_owned()]), [("p1", json!(StereoParams::default().p1))]);
    }

    #[test]
    fn a_wish_is_taken_once_and_shown_at_once() {
        let panel = Panel::new();
        assert!(ask(&panel, &[("p1", json!(16.0)), ("cost", json!(" sad"))]).is_empty());
        let (wanted, news) = panel.exchange(&StereoParams::default());
        let wanted = wanted.unwrap();
        assert!(wanted.cost == crate::stereo::CostKind::Sad && !news && panel.shown() == wanted);
        assert_eq!(panel.exchange(&wanted), (None, false));
        let other = StereoParams { p1: 5, ..StereoParams::default() };
        assert_eq!((panel.exchange(&other), panel.shown()), ((None, true), other));
    }

    #[test]
    fn what_is_refused_is_told_and_the_rest_is_taken() {
        let panel = Panel::new();
        let refused = ask(&panel, &[("p2", json!(3))]);
        assert!(refused[0].contains("--p1 14 is not below --p2 3"), "{refused:?}");
        assert_eq!(panel.exchange(&StereoParams::default()).0, None);
        assert!(ask(&panel, &[("p1", json!(90)), ("p2", json!(180))]).is_empty(), "together they fit");
        let refused = ask(&panel, &[("paths", json!(4)), ("fill", json!(true)), ("x", json!(1))]);
        assert_eq!((panel.shown().paths, refused.len()), (4, 2), "{refused:?}");
        for value in [json!([]), json!({}), Json::Null] {
            assert_eq!(ask(&panel, &[("tau", value)]).len(), 1);
        }
        assert_eq!(panel.news().len(), 6);
    }

    #[test]
    fn a_client_that_asks_for_nonsense_fills_neither_memory_nor_the_terminal() {
        let panel = Panel::new();
        let long = "x\u{1b}[2J".repeat(1_000);
        let wishes = vec![(long.as_str(), json!(long)); 10_000];
        let refused = ask(&panel, &wishes);
        assert_eq!(refused.len(), MOST_REFUSALS + 1, "{refused:?}");
        assert!(refused[0].starts_with("10000 parameters at once: a request has at most 256"), "{refused:?}");
        let is_short = |text: &String| text.chars().count() < 500 && !text.contains('\u{1b}');
        assert!(refused.iter().all(is_short), "{refused:?}");
        for n in 0..1_000 {
            ask(&panel, &[("p1", json!(100_000 + n))]);
        }
        let news = panel.news();
        assert_eq!(news.len(), MOST_COMPLAINTS as usize, "{news:?}");
        assert!(news.iter().all(|news| is_short(&news.text)));
    }

    #[test]
    fn complaints_are_told_again_after_a_while_with_how_many_there_were() {
        let mut complaints = Complaints::default();
        let start = Instant::now();
        let told = (0..20).filter(|_| complaints.may_tell(start) == Some(0)).count();
        assert_eq!(told as u32, MOST_COMPLAINTS);
        assert_eq!(complaints.may_tell(start + COMPLAINTS_WITHIN), Some(20 - u64::from(MOST_COMPLAINTS)));
        assert_eq!(complaints.may_tell(start + COMPLAINTS_WITHIN), Some(0));
    }
}
