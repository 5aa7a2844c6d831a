//! One description of each thing a user can change: flag, settings file and panel are all made from it.
//!
//! `parameters!` declares a struct whose fields carry their default, range, unit and help; it makes the struct, its
//! defaults and a table of [`Parameter`]s. Nothing else in the program repeats any of these.

use std::fmt;
use std::ops::RangeInclusive;

/// A value as the command line, a settings file or a slider speaks of it.
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

/// Which values a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// A whole number in a range.
    Integer(RangeInclusive<i64>),
    /// A whole number in a range, or `off`.
    OptionalInteger(RangeInclusive<i64>),
    /// One of these words, each with what it means.
    Choice(Vec<(&'static str, &'static str)>),
    /// `on` or `off`.
    Switch,
}

/// Where a parameter is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// Search range, cost, paths, penalties.
    Matching,
    /// What happens to the disparity map afterwards.
    Filters,
}

/// A type that a parameter's field can have.
pub trait ParameterType: Copy + PartialEq {
    /// As a [`Value`].
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
    /// What stands beside the slider.
    pub label: &'static str,
    /// `px`, `%`, or empty.
    pub unit: &'static str,
    /// One or two sentences for `--help` and for the tool tip.
    pub help: &'static str,
    /// Where it is shown.
    pub group: Group,
    /// Shown at once, or only when the panel is unfolded.
    pub basic: bool,
    /// Which values it takes.
    pub domain: Domain,
    /// Reads the field.
    pub get: fn(&S) -> Value,
    /// Writes the field; false if the value is of another kind.
    pub set: fn(&mut S, Value) -> bool,
}

impl<S> Parameter<S> {
    /// A value from the text of a flag or a settings file, checked against the domain.
    ///
    /// # Errors
    /// Says which values there are.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
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
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
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
/// `pub enum Kind: Description`, each member also names its constant description.
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
    ($(#[doc = $doc:literal])* pub enum $name:ident { $($(#[doc = $help:literal])+ $member:ident = $word:literal,)+ }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[doc = $help])+ $member,)+ }

        impl $name {
            /// Every member, in the order in which they are offered.
            pub const ALL: &'static [Self] = &[$(Self::$member),+];

            /// The word for the command line, settings files and panels.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$member => $word,)+ }
            }

            /// What it means, in a sentence.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$member => concat!($($help),+).trim_ascii(),)+ }
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
                let word = String::deserialize(deserializer)?;
                Self::from_word(&word).ok_or_else(|| {
                    let words: Vec<_> = Self::ALL.iter().map(|member| member.word()).collect();
                    serde::de::Error::custom(format!("'{word}': expected one of {}", words.join(", ")))
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
        $field:ident: $type:ty = $default:expr, $flag:literal, $label:literal, $range:expr, $unit:literal, $group:ident, $place:ident;
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
                    basic: stringify!($place).len() == "Basic".len(),
                    domain: <$type as $crate::parameter::ParameterType>::domain($range),
                    get: |s| $crate::parameter::ParameterType::to_value(s.$field),
                    set: |s, value| match $crate::parameter::ParameterType::from_value(value) {
                        Some(v) => { s.$field = v; true }
                        None => false,
                    },
                }),+])
            }
        }
    };
}
