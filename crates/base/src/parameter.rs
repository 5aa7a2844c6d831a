//! Description of each parameter: flags, settings files and panels are made from it.
//!
//! `parameters!` declares a struct whose fields carry their default, range, unit and help, and all else that is known of
//! them ([`Parameter`]). It makes the struct, its defaults and a table of parameters. Nothing else in the program repeats any
//! of these.

use std::fmt;
use std::ops::RangeInclusive;

/// Value of a parameter on the command line, in a settings file or of a slider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// One word of a list.
    Choice(&'static str),
    /// `on` or `off`.
    Switch(bool),
    /// The parameter's stage is left out.
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
    /// A whole number in a range.
    Integer(RangeInclusive<i64>),
    /// A whole number in a range, or `off`.
    OptionalInteger(RangeInclusive<i64>),
    /// One of these words, each with its meaning.
    Choice(Vec<(&'static str, &'static str)>),
    /// `on` or `off`.
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

/// A type that a parameter's field can have.
pub trait ParameterType: Copy + PartialEq {
    /// Converts to a [`Value`].
    fn to_value(self) -> Value;
    /// From a [`Value`] of the right kind.
    fn from_value(value: Value) -> Option<Self>;
    /// The domain, given the range written beside the field.
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

/// One parameter of the struct `S`.
pub struct Parameter<S: 'static> {
    /// The word of the flag and of the settings file: `min-disparity`.
    pub name: &'static str,
    /// Text beside the slider.
    pub label: &'static str,
    /// `px`, `%`, or empty.
    pub unit: &'static str,
    /// One or two sentences for `--help` and for the tool tip.
    pub help: &'static str,
    /// Where it is shown.
    pub group: Group,
    /// Shown at once, or only when the panel is unfolded.
    pub basic: bool,
    /// Values that it can have.
    pub domain: Domain,
    /// Reads the field.
    pub get: fn(&S) -> Value,
    /// Writes the field; false if the value is of another kind.
    pub set: fn(&mut S, Value) -> bool,
    /// How it depends on the others, and what depends on it.
    pub properties: Properties<S>,
}

/// Whether a parameter has an effect; the reason if it has none.
pub type Applicability = Result<(), &'static str>;

/// Optional properties of a parameter.
pub struct Properties<S: 'static> {
    /// Whether the parameter has an effect ([`only_if`]).
    pub applies: fn(&S) -> Applicability,
    /// The same for a parameter that belongs to one choice or switch: it is shown beside that, and hidden where it has no
    /// effect.
    pub belongs: Option<fn(&S) -> Applicability>,
    /// Span of the slider, where the whole range would be too coarse.
    pub slider: Option<fn(&S) -> RangeInclusive<i64>>,
    /// Smallest value beside the other parameters.
    pub smallest: Option<fn(&S) -> i64>,
    /// Largest value beside the other parameters, and the reason.
    pub largest: fn(&S) -> Option<(i64, String)>,
    /// Odd numbers only: the size of a window, which has a centre.
    pub is_odd: bool,
    /// Values with a button of their own.
    pub shortcuts: &'static [i64],
    /// Effect on the time of a pair.
    pub time: TimeEffect,
    /// Effect on the map of a smaller and of a larger value.
    pub less_more: Option<(&'static str, &'static str)>,
    /// Words of earlier versions, each with the one that it means now.
    pub former_words: &'static [(&'static str, &'static str)],
    /// The part of the value by which `--engine auto` decides.
    pub engine_criterion: Option<fn(&S) -> Value>,
}

impl<S> Properties<S> {
    /// A parameter that depends on no other one, and each of whose values takes its own time.
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

/// Applicability under a condition, for [`Properties::applies`].
///
/// # Errors
/// The reason where the condition is false.
pub const fn only_if(condition: bool, reason: &'static str) -> Applicability {
    if condition { Ok(()) } else { Err(reason) }
}

/// Effect of a parameter's value on the time of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeEffect {
    /// Each value takes its own time.
    Value,
    /// Time depends on whether the parameter is on: not `off` or 0.
    OnOff,
    /// All values take the same time.
    None,
}

impl TimeEffect {
    /// Sentence for people.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Value => "Time: each value takes its own.",
            Self::OnOff => "Time: more where it is on, whatever the value.",
            Self::None => "Time: the same for all values.",
        }
    }
}

impl<S> Parameter<S> {
    /// The reason why the parameter has no effect beside the others, if it has none.
    pub fn inapplicable(&self, params: &S) -> Option<&'static str> {
        self.properties.belongs.unwrap_or(self.properties.applies)(params).err()
    }

    /// Range of an integer beside the other parameters, and the reason for its end where that lies within the slider.
    pub fn range(&self, params: &S) -> Option<(RangeInclusive<i64>, Option<String>)> {
        let (Domain::Integer(domain) | Domain::OptionalInteger(domain)) = &self.domain else { return None };
        let first = self.properties.smallest.map_or(*domain.start(), |smallest| smallest(params).max(*domain.start()));
        let end_of_slider = *self.slider_span(params)?.end();
        let limit = (self.properties.largest)(params).filter(|(largest, _)| *largest < end_of_slider);
        let (last, reason) = limit.map_or((*domain.end(), None), |(largest, reason)| (largest, Some(reason)));
        Some((first..=last.max(first), reason))
    }

    /// Span of an integer's slider.
    pub fn slider_span(&self, params: &S) -> Option<RangeInclusive<i64>> {
        let (Domain::Integer(domain) | Domain::OptionalInteger(domain)) = &self.domain else { return None };
        Some(self.properties.slider.map_or_else(|| domain.clone(), |span| span(params)))
    }

    /// Word for the part of the value that decides the time of a pair; none if no part does.
    pub fn time_word(&self, params: &S) -> Option<String> {
        let value = (self.get)(params);
        match (self.properties.time, value, &self.domain) {
            (TimeEffect::None, ..) => None,
            (TimeEffect::OnOff, Value::Integer(v), Domain::Integer(_)) => Some(Value::Switch(v > 0).to_string()),
            (TimeEffect::OnOff, Value::Integer(_), _) => Some(Value::Switch(true).to_string()),
            _ => Some(value.to_string()),
        }
    }

    /// A value from the text of a flag or a settings file, checked against the domain.
    ///
    /// # Errors
    /// A text with the valid values.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let former = self.properties.former_words.iter().find(|(former, _)| *former == text);
        let text = former.map_or(text, |(_, word)| word);
        let integer = |range: &RangeInclusive<i64>, or_off: &str| {
            let wanted = format!("expected a whole number from {} to {}{or_off}", range.start(), range.end());
            let v = text.parse::<i64>().map_err(|_| format!("'{text}': {wanted}"))?;
            if range.contains(&v) { Ok(Value::Integer(v)) } else { Err(format!("{text}: {wanted}")) }
        };
        match &self.domain {
            Domain::Integer(range) => integer(range, ""),
            Domain::OptionalInteger(_) if matches!(text, "off" | "none") => Ok(Value::Off),
            Domain::OptionalInteger(range) => integer(range, ", or off"),
            Domain::Switch => match text {
                "on" | "true" => Ok(Value::Switch(true)),
                "off" | "false" => Ok(Value::Switch(false)),
                _ => Err(format!("'{text}': expected on or off")),
            },
            Domain::Choice(words) => {
                let found = words.iter().find(|(word, _)| *word == text);
                found.map(|(word, _)| Value::Choice(word)).ok_or_else(|| {
                    let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
                    format!("'{text}': expected one of {}", words.join(", "))
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

/// Whether a value need not be written down.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Lets a type stand in files as the word that it is written with, by its `Display` and `FromStr`.
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

/// Declares a family of choices: an enum whose members have a word and a sentence, with `ALL` and [`ParameterType`]; with
/// `pub enum Kind: Description`, each member also names its constant description; with `pub enum Kind, default Member`, it has a
/// default.
#[macro_export]
macro_rules! choices {
    ($(#[doc = $doc:literal])* pub enum $name:ident: $description:ty {
        $($(#[doc = $help:literal])+ $member:ident = $word:literal => $constant:expr,)+
    }) => {
        $crate::choices! { $(#[doc = $doc])* pub enum $name { $($(#[doc = $help])+ $member = $word,)+ } }

        impl $name {
            /// The constant description of the member.
            pub const fn description(self) -> &'static $description {
                match self { $(Self::$member => &$constant,)+ }
            }
        }
    };
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
            /// Every member, in the order in which they are offered.
            pub const ALL: &'static [Self] = &[$($(#[cfg($cfg)])? Self::$member),+];

            /// The word for the command line, settings files and panels.
            pub const fn word(self) -> &'static str {
                match self { $($(#[cfg($cfg)])? Self::$member => $word,)+ }
            }

            /// Meaning, in a sentence.
            pub const fn help(self) -> &'static str {
                match self { $($(#[cfg($cfg)])? Self::$member => concat!($($help),+).trim_ascii(),)+ }
            }

            /// The member with this word.
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
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                Self::from_word(word).ok_or_else(|| {
                    let words: Vec<_> = Self::ALL.iter().map(|member| member.word()).collect();
                    format!("'{word}': expected one of {}", words.join(", "))
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
            /// Every parameter, in the order of the fields.
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
