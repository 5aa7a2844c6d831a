//! Reasons why parameters are invalid.

use stereopsis_base::parameter::{Value, ValueError};
use stereopsis_base::remedy::{Remedy, option};

/// Reason why parameters are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamsError {
    /// A value lies outside its domain.
    #[error("{} {why}", option(*.name))]
    Value {
        /// Name of the parameter.
        name: &'static str,
        /// The domain, against the value.
        why: ValueError,
    },
    /// The size of a window is even.
    #[error("{} {value}: a window has a centre, so its size is odd", option(*.name))]
    EvenWindow {
        /// Name of the parameter.
        name: &'static str,
        /// Its value, px.
        value: Value,
    },
    /// P2 is not above P1.
    #[error(
        "{} is not below {}: P1 punishes a step of 1 px and P2 a larger one, so P2 has to be larger",
        Remedy::set("p1", .p1),
        Remedy::set("p2", .p2)
    )]
    Penalties {
        /// P1.
        p1: u32,
        /// P2.
        p2: u32,
    },
    /// The smallest P2 is not above P1.
    #[error("{} is not above {}: use at least {}", Remedy::set("p2-min", .p2_min), Remedy::set("p1", .p1), .p1 + 1)]
    SmallestPenalty {
        /// Smallest P2.
        p2_min: u32,
        /// P1.
        p1: u32,
    },
    /// The sum over all paths needs more than 16 bits.
    #[error(
        "{}: {paths} paths of cost {cost} and penalty {p2} exceed the 16-bit sum; {}{}",
        Remedy::set(*.name, .p2),
        fewer_paths(*.max_paths),
        .max_p2.map_or(String::new(), |largest| format!(", or {} up to {largest}", option(*.name)))
    )]
    Sum {
        /// Name of the penalty: `p2` or `p2-min`.
        name: &'static str,
        /// Its value.
        p2: u32,
        /// Number of paths.
        paths: u32,
        /// Largest cost.
        cost: u32,
        /// Largest number of paths that fit; `None` where only the smaller images of the gates need too many.
        max_paths: Option<u32>,
        /// Largest penalty that fits, if one does.
        max_p2: Option<u32>,
    },
    /// No disparity of the range has a partner in the image.
    #[error(
        "disparities {first} to {last} px can match nowhere in an image {width} px wide: choose {} between {} and {}",
        option("min-disparity"),
        1 - .width,
        .width - 1
    )]
    Range {
        /// First disparity, px.
        first: i64,
        /// Last disparity, px.
        last: i64,
        /// Width of the image, px.
        width: i64,
    },
}

fn fewer_paths(max_paths: Option<u32>) -> String {
    match max_paths {
        Some(most) => format!("use at most {most} paths"),
        None => {
            format!("the smaller images of {} need as many; use {}", option("gating"), Remedy::set("gating", "off"))
        }
    }
}
