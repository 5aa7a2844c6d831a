//! The parameters as clients see and set them: the words and the rules of flags.

use crate::live::News;
use crate::parameter::Value;
use crate::settings;
use crate::stereo::StereoParams;
use foxglove::websocket::{Parameter, ParameterValue};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// News that nobody fetches is forgotten beyond so many.
const MOST_NEWS: usize = 16;

/// Shared by clients and whoever owns the pipeline.
pub(super) struct Panel(Mutex<State>);

struct State {
    /// What clients are told.
    shown: StereoParams,
    /// What a client asked for and the pipeline has not taken yet.
    wanted: Option<StereoParams>,
    news: Vec<News>,
}

impl Panel {
    pub(super) fn new() -> Self {
        Self(Mutex::new(State { shown: StereoParams::default(), wanted: None, news: Vec::new() }))
    }

    /// The parameters that clients are told.
    pub(super) fn shown(&self) -> StereoParams {
        self.state().shown.clone()
    }

    /// These parameters for a client; all of them where it names none.
    pub(super) fn get(&self, names: &[String]) -> Vec<Parameter> {
        let shown = self.shown();
        let asked = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
        let told = shown.words().filter(|(name, _)| asked(name));
        told.map(|(name, value)| Parameter { name: name.to_owned(), r#type: None, value: Some(told_value(value)) })
            .collect()
    }

    /// What a client wants: all of it, or where that does not fit together one after the other. Says why something is refused.
    pub(super) fn set(&self, parameters: &[Parameter]) -> Vec<String> {
        let mut state = self.state();
        let mut refused = Vec::new();
        let mut words = Vec::new();
        for parameter in parameters {
            match text_of(parameter.value.as_ref()) {
                Some(text) => words.push((parameter.name.clone(), text)),
                None => refused.push(format!("--{}: expected one number or word", parameter.name)),
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
        for why in &refused {
            state.tell(format!("a Foxglove client asked in vain: {why}"), true);
        }
        refused
    }

    /// What is in force goes to the clients, what they want comes back; true if clients have to be told.
    pub(super) fn exchange(&self, in_force: &StereoParams) -> (Option<StereoParams>, bool) {
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
    pub(super) fn tell(&self, text: String) {
        self.state().tell(text, true);
    }

    /// Something that a person should know.
    pub(super) fn warn(&self, text: String) {
        self.state().tell(text, false);
    }

    /// What was said since this was asked last.
    pub(super) fn news(&self) -> Vec<News> {
        std::mem::take(&mut self.state().news)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn tell(&mut self, text: String, is_error: bool) {
        self.news.push(News { text, is_error });
        if self.news.len() > MOST_NEWS {
            self.news.remove(0);
        }
    }
}

/// A value in the client's types.
fn told_value(value: Value) -> ParameterValue {
    match value {
        Value::Integer(v) => ParameterValue::Integer(v),
        Value::Switch(on) => ParameterValue::Bool(on),
        Value::Choice(word) => ParameterValue::String(word.to_owned()),
        Value::Off => ParameterValue::String(Value::Off.to_string()),
    }
}

/// A client's value as a flag would say it.
fn text_of(value: Option<&ParameterValue>) -> Option<String> {
    match value? {
        ParameterValue::Integer(v) => Some(v.to_string()),
        ParameterValue::Float64(v) => Some(v.to_string()), // whole ones lose their point
        ParameterValue::Bool(on) => Some(Value::Switch(*on).to_string()),
        ParameterValue::String(word) => Some(word.trim().to_owned()),
        ParameterValue::Array(_) | ParameterValue::Dict(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(panel: &Panel, words: &[(&str, ParameterValue)]) -> Vec<String> {
        let asked = |(name, value): &(&str, ParameterValue)| Parameter {
            name: (*name).to_owned(),
            r#type: None,
            value: Some(value.clone()),
        };
        panel.set(&words.iter().map(asked).collect::<Vec<_>>())
    }

    #[test]
    fn a_client_reads_every_parameter_and_can_write_back_what_it_reads() {
        let panel = Panel::new();
        let all = panel.get(&[]);
        assert_eq!(all.len(), StereoParams::table().len());
        assert_eq!(panel.set(&all), Vec::<String>::new());
        assert_eq!(panel.exchange(&StereoParams::default()), (None, false));
        let p1 = i64::from(StereoParams::default().p1);
        assert_eq!(panel.get(&["p1".to_owned()])[0].value, Some(ParameterValue::Integer(p1)));
    }

    #[test]
    fn a_wish_is_taken_once_and_shown_at_once() {
        let panel = Panel::new();
        assert!(
            ask(&panel, &[("p1", ParameterValue::Float64(16.0)), ("cost", ParameterValue::String("sad".into()))])
                .is_empty()
        );
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
        let refused = ask(&panel, &[("p1", ParameterValue::Integer(90))]);
        assert!(refused[0].contains("--p1 90 is not below --p2 60"), "{refused:?}");
        assert_eq!(panel.exchange(&StereoParams::default()).0, None);
        let both = [("p1", ParameterValue::Integer(90)), ("p2", ParameterValue::Integer(180))];
        assert!(ask(&panel, &both).is_empty(), "together they fit");
        let mixed = [
            ("paths", ParameterValue::Integer(4)),
            ("fill", ParameterValue::Bool(true)),
            ("x", ParameterValue::Integer(1)),
        ];
        let refused = ask(&panel, &mixed);
        assert_eq!((panel.shown().paths, refused.len()), (4, 2), "{refused:?}");
        assert_eq!(ask(&panel, &[("tau", ParameterValue::Array(Vec::new()))]).len(), 1);
        assert_eq!(panel.news().len(), 4);
    }
}
