//! Stereo parameters as clients read and set them, with the names, values and rules of the command-line flags.
//! Requests are untrusted: their number, their errors and the messages to the user are all bounded.

use super::protocol::ParameterSetting;
use parking_lot::Mutex;
use serde_json::Value as Json;
use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};
use stereopsis_base::console;
use stereopsis_base::parameter::Value;
use stereopsis_base::remedy::option;
use stereopsis_live::News;
use stereopsis_settings::settings;
use stereopsis_stereo::StereoParams;

/// Maximum number of messages to the user; more are dropped, oldest first.
const MAX_NEWS: usize = 16;
/// Maximum number of parameters in one request, more than twice the number that exist.
const MAX_SETTINGS: usize = 256;
/// Maximum number of refused parameters that the answer to one request names.
const MAX_REFUSALS: usize = 8;
/// Maximum number of refused parameters reported to the user in each [`REPORT_INTERVAL`]; the client gets all.
const MAX_REPORTS: u32 = 8;
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// Parameters shared by the clients and the owner of the pipeline.
#[derive(Default)]
pub struct Panel(Mutex<PanelState>);

#[derive(Default)]
struct PanelState {
    /// Parameters that clients see.
    shown: StereoParams,
    /// Parameters that a client has requested and the pipeline has not yet taken.
    requested: Option<StereoParams>,
    news: VecDeque<News>,
    reports: RateLimit,
}

/// Limit on how often refused requests are reported to the user.
#[derive(Default)]
struct RateLimit {
    since: Option<Instant>,
    passed: u32,
    suppressed: u64,
}

impl RateLimit {
    /// Returns the number of suppressed reports since the last one if another may pass now, `None` otherwise.
    fn pass(&mut self, now: Instant) -> Option<u64> {
        if self.since.is_none_or(|since| now.saturating_duration_since(since) >= REPORT_INTERVAL) {
            (self.since, self.passed) = (Some(now), 0);
        }
        if self.passed == MAX_REPORTS {
            self.suppressed += 1;
            return None;
        }
        self.passed += 1;
        Some(std::mem::take(&mut self.suppressed))
    }
}

impl Panel {
    /// Returns the parameters that clients see.
    pub fn shown(&self) -> StereoParams {
        self.0.lock().shown.clone()
    }

    /// Returns the parameters of these names; all parameters if there are no names.
    pub fn get(&self, names: &[String]) -> Vec<(&'static str, Json)> {
        let shown = self.shown();
        let names: BTreeSet<_> = names.iter().map(String::as_str).collect(); // a set, since a client may send thousands
        let named = shown.words().filter(|(name, _)| names.is_empty() || names.contains(name));
        named.map(|(name, value)| (name, json_of(value))).collect()
    }

    /// Requests parameters for a client: all together, or one after the other if they do not fit each other.
    /// Returns the errors of the refused ones.
    pub fn request(&self, requested: &[ParameterSetting]) -> Vec<String> {
        let mut state = self.0.lock();
        let mut refused = Vec::new();
        let mut words = Vec::new();
        if requested.len() > MAX_SETTINGS {
            refused.push(format!("{} parameters at once: a request has at most {MAX_SETTINGS}", requested.len()));
        }
        for ParameterSetting { name, value } in requested.iter().take(MAX_SETTINGS) {
            let name = console::foreign(name);
            match text_of(value) {
                Some(text) => words.push((name, text)),
                None => refused.push(format!("{}: expected one number or word", option(name))),
            }
        }
        let before = state.shown.clone();
        match settings::changed(&before, &words) {
            Ok(params) => state.shown = params,
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
            state.requested = Some(state.shown.clone());
        }
        let surplus = refused.len().saturating_sub(MAX_REFUSALS);
        if surplus > 0 {
            refused.truncate(MAX_REFUSALS);
            refused.push(format!("{surplus} more that cannot be set"));
        }
        for why in &refused {
            state.report_refused(why, Instant::now());
        }
        refused
    }

    /// Returns the parameters that a client has requested. Without any, shows clients the parameters in force; the flag is true if these
    /// differ from the shown ones.
    pub fn exchange(&self, in_force: &StereoParams) -> (Option<StereoParams>, bool) {
        let mut state = self.0.lock();
        let requested = state.requested.take();
        let changed = requested.is_none() && state.shown != *in_force;
        if changed {
            state.shown = in_force.clone();
        }
        (requested, changed)
    }

    /// Adds an error to the messages for the user.
    pub fn report(&self, text: String) {
        self.0.lock().add_news(News { text, is_error: true });
    }

    pub(crate) fn notify(&self, text: String) {
        self.0.lock().add_news(News { text, is_error: false });
    }

    /// Returns the messages for the user since the last call.
    pub fn news(&self) -> Vec<News> {
        std::mem::take(&mut self.0.lock().news).into()
    }
}

impl PanelState {
    fn report_refused(&mut self, why: &str, now: Instant) {
        if let Some(suppressed) = self.reports.pass(now) {
            let more = if suppressed > 0 { format!(" (and {suppressed} before)") } else { String::new() };
            self.add_news(News {
                text: format!("a request of a Foxglove client was refused: {why}{more}"),
                is_error: true,
            });
        }
    }

    fn add_news(&mut self, news: News) {
        self.news.push_back(news);
        if self.news.len() > MAX_NEWS {
            self.news.pop_front();
        }
    }
}

fn json_of(value: Value) -> Json {
    match value {
        Value::Integer(v) => v.into(),
        Value::Switch(on) => on.into(),
        Value::Choice(word) => word.into(),
        Value::Off => Value::Off.to_string().into(),
    }
}

/// Formats a client's value as the value of a flag, in one short line.
fn text_of(value: &Json) -> Option<String> {
    match value {
        Json::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(v) => Some(v.to_string()), // 16.0 becomes 16
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
        let setting =
            |(name, value): &(&str, Json)| ParameterSetting { name: (*name).to_owned(), value: value.clone() };
        panel.request(&words.iter().map(setting).collect::<Vec<_>>())
    }

    #[test]
    fn a_client_reads_every_parameter_and_can_write_back_what_it_reads() {
        let panel = Panel::default();
        let all = panel.get(&[]);
        assert_eq!(all.len(), StereoParams::table().len());
        assert_eq!(ask(&panel, &all), Vec::<String>::new());
        assert_eq!(panel.exchange(&StereoParams::default()), (None, false));
        assert_eq!(panel.get(&["p1".to_owned(), "x".to_owned()]), [("p1", json!(StereoParams::default().p1))]);
    }

    #[test]
    fn a_request_is_shown_at_once_and_returned_once() {
        let panel = Panel::default();
        assert!(ask(&panel, &[("p1", json!(16.0)), ("cost", json!(" sad"))]).is_empty());
        let (wanted, news) = panel.exchange(&StereoParams::default());
        let wanted = wanted.unwrap();
        assert!(wanted.cost == stereopsis_stereo::CostKind::Sad && !news && panel.shown() == wanted);
        assert_eq!(panel.exchange(&wanted), (None, false));
        let other = StereoParams { p1: 5, ..StereoParams::default() };
        assert_eq!((panel.exchange(&other), panel.shown()), ((None, true), other));
    }

    #[test]
    fn refused_parameters_are_reported_and_the_rest_is_taken() {
        let panel = Panel::default();
        let refused = ask(&panel, &[("p2", json!(3))]);
        assert!(refused[0].contains("p1 14 is not below p2 3"), "{refused:?}");
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
    fn bounds_the_reports_of_invalid_requests() {
        let panel = Panel::default();
        let long = "x\u{1b}[2J".repeat(1_000);
        let settings = vec![(long.as_str(), json!(long)); 10_000];
        let refused = ask(&panel, &settings);
        assert_eq!(refused.len(), MAX_REFUSALS + 1, "{refused:?}");
        assert!(refused[0].starts_with("10000 parameters at once: a request has at most 256"), "{refused:?}");
        let is_short = |text: &String| text.chars().count() < 500 && !text.contains('\u{1b}');
        assert!(refused.iter().all(is_short), "{refused:?}");
        for n in 0..1_000 {
            ask(&panel, &[("p1", json!(100_000 + n))]);
        }
        let news = panel.news();
        assert_eq!(news.len(), MAX_REPORTS as usize, "{news:?}");
        assert!(news.iter().all(|news| is_short(&news.text)));
    }

    #[test]
    fn the_next_report_contains_the_number_of_suppressed_ones() {
        let mut reports = RateLimit::default();
        let start = Instant::now();
        let passed = (0..20).filter(|_| reports.pass(start) == Some(0)).count();
        assert_eq!(passed as u32, MAX_REPORTS);
        assert_eq!(reports.pass(start + REPORT_INTERVAL), Some(20 - u64::from(MAX_REPORTS)));
        assert_eq!(reports.pass(start + REPORT_INTERVAL), Some(0));
    }
}
