//! Description of each parameter, from which flags, settings files and panels are made.
//!
//! `parameters!` declares a struct whose fields carry default, range, unit, help and further properties ([`Parameter`]). It expands to the
//! struct, its defaults and a table of parameters; no other code may repeat these.

use std::fmt;
use std::ops::RangeInclusive;

/// Value of a parameter on the command line, in a settings file or of a slider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Integer.
    Integer(i64),
    /// Word of a list.
    Choice(&'static str),
    /// Switch, `on` or `off`.
    Switch(bool),
    /// Absence of the parameter's stage.
    Off,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(v) => v.fmt(f),
            Self::Choice(word) => word.fmt(f),
            Self::Switch(on) => (if *on { "on" } else { "off" }).fmt(f),
            Self::Off => "off".fmt(f),
        }
    }
}

/// Values that a parameter can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Integers of a range.
    Integer(RangeInclusive<i64>),
    /// Integers of a range, or `off`.
    OptionalInteger(RangeInclusive<i64>),
    /// Words, each with its meaning.
    Choice(Vec<(&'static str, &'static str)>),
    /// Switch, `on` or `off`.
    Switch,
}

choices! {
    /// Where a parameter is shown: the stages of the pipeline, in their order.
    pub enum Group {
        /// Which disparities are searched.
        Range = "Search range",
        /// How two pixels are compared.
        Cost = "Cost",
        /// Costs of neighbours, summed before the paths.
        Aggregation = "Aggregation",
        /// Paths of semi-global matching, and their penalties.
        Paths = "Paths",
        /// Which disparities are dropped.
        Rejection = "Rejection",
        /// How the map is smoothed, within a pair and over time.
        Smoothing = "Smoothing",
        /// Values in holes.
        Fill = "Fill",
    }
}

/// Reason why a text is no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Text instead of an integer.
    #[error("'{text}': {}", wanted(range, *or_off))]
    NoInteger {
        /// The text.
        text: String,
        /// Integers that are valid.
        range: RangeInclusive<i64>,
        /// Whether `off` is valid too.
        or_off: bool,
    },
    /// Integer outside the range.
    #[error("{text}: {}", wanted(range, *or_off))]
    OutOfRange {
        /// The text of the integer.
        text: String,
        /// Integers that are valid.
        range: RangeInclusive<i64>,
        /// Whether `off` is valid too.
        or_off: bool,
    },
    /// Text instead of `on` or `off`.
    #[error("'{0}': expected on or off")]
    NoSwitch(String),
    /// Word that is not in the list.
    #[error("'{text}': expected one of {}", words.join(", "))]
    NoWord {
        /// The text.
        text: String,
        /// Words that are valid.
        words: Vec<&'static str>,
    },
    /// Text of another form.
    #[error("'{text}': expected {expected}")]
    Form {
        /// The text.
        text: String,
        /// Name of the form.
        expected: &'static str,
    },
    /// Text of another form than this one, where the caller names the text.
    #[error("expected {0}")]
    Expected(&'static str),
}

fn wanted(range: &RangeInclusive<i64>, or_off: bool) -> String {
    let or_off = if or_off { ", or off" } else { "" };
    format!("expected a whole number from {} to {}{or_off}", range.start(), range.end())
}

/// Returns the options that are set: those with a value, and the switches that are on, without one.
pub fn set_options<const VALUED: usize, const SWITCHES: usize>(
    valued: [(&'static str, Option<String>); VALUED],
    switches: [(&'static str, bool); SWITCHES],
) -> Vec<(&'static str, Option<String>)> {
    let valued = valued.into_iter().filter(|(_, value)| value.is_some());
    valued.chain(switches.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| (name, None))).collect()
}

/// Type of a parameter's field.
pub trait ParameterType: Copy + PartialEq {
    /// Converts to a [`Value`].
    fn to_value(self) -> Value;
    /// Converts from a [`Value`]; `None` for one of another kind or out of the type's range.
    fn from_value(value: Value) -> Option<Self>;
    /// Returns the domain, given the range written beside the field.
    fn domain(range: RangeInclusive<i64>) -> Domain;
}

macro_rules! integer_parameter {
    ($($integer:ty),*) => {$(
        impl ParameterType for $integer {
            fn to_value(self) -> Value {
                Value::Integer(i64::from(self))
            }
            fn from_value(value: Value) -> Option<Self> {
                let Value::Integer(v) = value else { return None };
                v.try_into().ok()
            }
            fn domain(range: RangeInclusive<i64>) -> Domain {
                Domain::Integer(range)
            }
        }
        impl ParameterType for Option<$integer> {
            fn to_value(self) -> Value {
                self.map_or(Value::Off, ParameterType::to_value)
            }
            fn from_value(value: Value) -> Option<Self> {
                if value == Value::Off { Some(None) } else { <$integer>::from_value(value).map(Some) }
            }
            fn domain(range: RangeInclusive<i64>) -> Domain {
                Domain::OptionalInteger(range)
            }
        }
    )*};
}
integer_parameter!(i32, u32);

impl ParameterType for bool {
    fn to_value(self) -> Value {
        Value::Switch(self)
    }
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Switch(on) => Some(on),
            _ => None,
        }
    }
    fn domain(_: RangeInclusive<i64>) -> Domain {
        Domain::Switch
    }
}

/// Parameter of the struct `S`.
pub struct Parameter<S: 'static> {
    /// Word of the flag and of the settings file: `min-disparity`.
    pub name: &'static str,
    /// Text beside the slider.
    pub label: &'static str,
    /// Unit: `px`, `%`, or empty.
    pub unit: &'static str,
    /// One or two sentences for `--help` and for the tool tip.
    pub help: &'static str,
    /// Part of the panel that shows it.
    pub group: Group,
    /// Whether it is shown at once, and not only when the panel is unfolded.
    pub basic: bool,
    /// Values that it can have.
    pub domain: Domain,
    /// Reads the field.
    pub get: fn(&S) -> Value,
    /// Writes the field; false if the value is of another kind.
    pub set: fn(&mut S, Value) -> bool,
    /// Dependencies on other parameters, and further properties.
    pub properties: Properties<S>,
}

/// Applicability of a parameter; the reason if it has no effect.
pub type Applicability = Result<(), &'static str>;

/// Optional properties of a parameter.
pub struct Properties<S: 'static> {
    /// Returns whether the parameter has an effect ([`only_if`]).
    pub applies: fn(&S) -> Applicability,
    /// Replaces `applies` for a parameter that belongs to one choice or switch: it is shown beside that, and hidden without effect.
    pub belongs: Option<fn(&S) -> Applicability>,
    /// Span of the slider, if the whole range would be too coarse.
    pub slider: Option<fn(&S) -> RangeInclusive<i64>>,
    /// Smallest value, given the other parameters.
    pub smallest: Option<fn(&S) -> i64>,
    /// Largest value, given the other parameters, and the reason.
    pub largest: fn(&S) -> Option<(i64, String)>,
    /// Whether only odd numbers are valid, as for the size of a window with a centre.
    pub is_odd: bool,
    /// Values with a button of their own.
    pub shortcuts: &'static [i64],
    /// Effect on the time per pair.
    pub time: TimeEffect,
    /// Effects of a smaller and of a larger value on the map.
    pub less_more: Option<(&'static str, &'static str)>,
    /// Words of earlier versions, each with its present word.
    pub former_words: &'static [(&'static str, &'static str)],
    /// Part of the value that `--engine auto` depends on.
    pub engine_criterion: Option<fn(&S) -> Value>,
}

impl<S> Properties<S> {
    /// Properties of a parameter without dependencies, each of whose values takes its own time.
    pub const DEFAULT: Self = Self {
        applies: |_| Ok(()),
        belongs: None,
        slider: None,
        smallest: None,
        largest: |_| None,
        is_odd: false,
        shortcuts: &[],
        time: TimeEffect::Value,
        less_more: None,
        former_words: &[],
        engine_criterion: None,
    };
}

/// Returns the applicability under a condition, for [`Properties::applies`].
///
/// # Errors
/// The reason, if the condition is false.
pub const fn only_if(condition: bool, reason: &'static str) -> Applicability {
    if condition { Ok(()) } else { Err(reason) }
}

/// Effect of a parameter's value on the time per pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeEffect {
    /// Time depends on the value.
    Value,
    /// Time depends on whether the parameter is on: neither `off` nor 0.
    OnOff,
    /// Time is the same for all values.
    None,
}

impl TimeEffect {
    /// Returns a sentence for users.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Value => "Time: each value takes its own.",
            Self::OnOff => "Time: more where it is on, whatever the value.",
            Self::None => "Time: the same for all values.",
        }
    }
}

impl<S> Parameter<S> {
    /// Returns the reason why the parameter has no effect, given the others; `None` if it has one.
    pub fn inapplicable(&self, params: &S) -> Option<&'static str> {
        self.properties.belongs.unwrap_or(self.properties.applies)(params).err()
    }

    /// Returns the range of an integer, given the other parameters, and the reason for its end if that lies within the slider.
    pub fn range(&self, params: &S) -> Option<(RangeInclusive<i64>, Option<String>)> {
        let (Domain::Integer(domain) | Domain::OptionalInteger(domain)) = &self.domain else { return None };
        let first = self.properties.smallest.map_or(*domain.start(), |smallest| smallest(params).max(*domain.start()));
        let end_of_slider = *self.slider_span(params)?.end();
        let limit = (self.properties.largest)(params).filter(|(largest, _)| *largest < end_of_slider);
        let (last, reason) = limit.map_or((*domain.end(), None), |(largest, reason)| (largest, Some(reason)));
        Some((first..=last.max(first), reason))
    }

    /// Returns the span of an integer's slider.
    pub fn slider_span(&self, params: &S) -> Option<RangeInclusive<i64>> {
        let (Domain::Integer(domain) | Domain::OptionalInteger(domain)) = &self.domain else { return None };
        Some(self.properties.slider.map_or_else(|| domain.clone(), |span| span(params)))
    }

    /// Returns a word for the part of the value that decides the time per pair; `None` if no part does.
    pub fn time_word(&self, params: &S) -> Option<String> {
        let value = (self.get)(params);
        match (self.properties.time, value, &self.domain) {
            (TimeEffect::None, ..) => None,
            (TimeEffect::OnOff, Value::Integer(v), Domain::Integer(_)) => Some(Value::Switch(v > 0).to_string()),
            (TimeEffect::OnOff, Value::Integer(_), _) => Some(Value::Switch(true).to_string()),
            _ => Some(value.to_string()),
        }
    }

    /// Parses the text of a flag or a settings file and checks it against the domain.
    ///
    /// # Errors
    /// The text is no value of the domain.
    pub fn parse(&self, text: &str) -> Result<Value, ValueError> {
        let former = self.properties.former_words.iter().find(|(former, _)| *former == text);
        let text = former.map_or(text, |(_, word)| word);
        let integer = |range: &RangeInclusive<i64>, or_off: bool| {
            let (range, text) = (range.clone(), text.to_owned());
            match text.parse::<i64>() {
                Ok(v) if range.contains(&v) => Ok(Value::Integer(v)),
                Ok(_) => Err(ValueError::OutOfRange { text, range, or_off }),
                Err(_) => Err(ValueError::NoInteger { text, range, or_off }),
            }
        };
        match &self.domain {
            Domain::Integer(range) => integer(range, false),
            Domain::OptionalInteger(_) if matches!(text, "off" | "none") => Ok(Value::Off),
            Domain::OptionalInteger(range) => integer(range, true),
            Domain::Switch => match text {
                "on" | "true" => Ok(Value::Switch(true)),
                "off" | "false" => Ok(Value::Switch(false)),
                _ => Err(ValueError::NoSwitch(text.to_owned())),
            },
            Domain::Choice(words) => {
                let found = words.iter().find(|(word, _)| *word == text);
                found.map(|(word, _)| Value::Choice(word)).ok_or_else(|| ValueError::NoWord {
                    text: text.to_owned(),
                    words: words.iter().map(|(word, _)| *word).collect(),
                })
            }
        }
    }

    /// Whether `value` lies in the domain.
    pub fn accepts(&self, value: Value) -> bool {
        match (&self.domain, value) {
            (Domain::Integer(range) | Domain::OptionalInteger(range), Value::Integer(v)) => range.contains(&v),
            (Domain::OptionalInteger(_), Value::Off) | (Domain::Switch, Value::Switch(_)) => true,
            (Domain::Choice(words), Value::Choice(word)) => words.iter().any(|(w, _)| *w == word),
            _ => false,
        }
    }
}

/// Whether a value is the default, which files leave out.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Serialises a type as its word, by `Display` and `FromStr`.
#[macro_export]
macro_rules! stands_as_its_word {
    ($name:ty) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Declares an enum of choices: each member has a word and a sentence; the enum has `ALL` and [`ParameterType`]. With
/// `pub enum Kind, default Member` there is a default.
#[macro_export]
macro_rules! choices {
    ($(#[doc = $doc:literal])* pub enum $name:ident, default $default:ident { $($members:tt)+ }) => {
        $crate::choices! { $(#[doc = $doc])* pub enum $name { $($members)+ } }

        impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        }
    };
    ($(#[doc = $doc:literal])* pub enum $name:ident { $($(#[doc = $help:literal])+ $(#[cfg($cfg:meta)])? $member:ident = $word:literal,)+ }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[doc = $help])+ $(#[cfg($cfg)])? $member,)+ }

        impl $name {
            /// All members, in the order in which they are offered.
            pub const ALL: &'static [Self] = &[$($(#[cfg($cfg)])? Self::$member),+];

            /// Returns the word for the command line, settings files and panels.
            pub const fn word(self) -> &'static str {
                match self { $($(#[cfg($cfg)])? Self::$member => $word,)+ }
            }

            /// Returns the meaning, in a sentence.
            pub const fn help(self) -> &'static str {
                match self { $($(#[cfg($cfg)])? Self::$member => concat!($($help),+).trim_ascii(),)+ }
            }

            /// Returns the member with this word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|member| member.word() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl $crate::parameter::ParameterType for $name {
            fn to_value(self) -> $crate::parameter::Value {
                $crate::parameter::Value::Choice(self.word())
            }
            fn from_value(value: $crate::parameter::Value) -> Option<Self> {
                match value {
                    $crate::parameter::Value::Choice(word) => Self::from_word(word),
                    _ => None,
                }
            }
            fn domain(_: std::ops::RangeInclusive<i64>) -> $crate::parameter::Domain {
                $crate::parameter::Domain::Choice(Self::ALL.iter().map(|m| (m.word(), m.help())).collect())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::parameter::ValueError;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                Self::from_word(word).ok_or_else(|| $crate::parameter::ValueError::NoWord {
                    text: word.to_owned(),
                    words: Self::ALL.iter().map(|member| member.word()).collect(),
                })
            }
        }
    };
}

/// Declares a struct of parameters; see the module's documentation.
#[macro_export]
macro_rules! parameters {
    ($(#[doc = $doc:literal])* pub struct $name:ident { $(
        $(#[doc = $help:literal])+
        $field:ident: $type:ty = $default:expr, $flag:literal, $label:literal, $range:expr, $unit:literal, $group:ident, $place:ident
            $({ $($property:ident: $value:expr),+ $(,)? })?;
    )+ }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name { $($(#[doc = $help])+ pub $field: $type,)+ }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl $name {
            /// Returns all parameters, in the order of the fields.
            pub fn table() -> &'static [$crate::parameter::Parameter<Self>] {
                static TABLE: std::sync::OnceLock<Vec<$crate::parameter::Parameter<$name>>> = std::sync::OnceLock::new();
                TABLE.get_or_init(|| vec![$($crate::parameter::Parameter {
                    name: $flag,
                    label: $label,
                    unit: $unit,
                    help: concat!($($help),+).trim_ascii(),
                    group: $crate::parameter::Group::$group,
                    basic: stringify!($place) == "Basic",
                    domain: <$type as $crate::parameter::ParameterType>::domain($range),
                    get: |s| $crate::parameter::ParameterType::to_value(s.$field),
                    set: |s, value| match $crate::parameter::ParameterType::from_value(value) {
                        Some(v) => { s.$field = v; true }
                        None => false,
                    },
                    properties: $crate::parameter::Properties {
                        $($($property: $value,)+)?
                        ..$crate::parameter::Properties::DEFAULT
                    },
                }),+])
            }
        }
    };
}

pub use crate::{choices, parameters, stands_as_its_word};
