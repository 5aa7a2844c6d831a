//! Lists the supported modes of a camera, each with the V4L2 request that sets it. Ranges of sizes and rates are reduced to the usual
//! values.

use super::calls::{self, FourCc, Node};
use super::kernel::{CONTINUOUS, DISCRETE, Fraction, FrameIntervals, FrameSizes, STEPWISE};
use crate::webcam::mode::Mode;
use stereopsis_frame::decode_camera::PixelFormat;

/// Mode and the V4L2 request that sets it.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfferedMode {
    pub(super) mode: Mode,
    pub(super) fourcc: FourCc,
    /// Frame interval, s; `None` if the rate of the camera cannot be set.
    pub(super) interval: Option<Fraction>,
    /// Whether the mode is listed individually, with an interval of 1/N s.
    is_plain: bool,
}

/// Usual sizes within a range of sizes, px: of one view, then of side-by-side cameras.
const SIZES: [(u32, u32); 12] = [
    (320, 240),
    (640, 360),
    (640, 480),
    (800, 600),
    (1280, 720),
    (1280, 960),
    (1920, 1080),
    (640, 240),
    (1280, 480),
    (2560, 720),
    (2560, 960),
    (3840, 1080),
];
/// Usual rates within a range of rates, Hz.
const RATES_HZ: [u32; 10] = [5, 10, 15, 20, 25, 30, 50, 60, 90, 120];
/// Maximum number of modes of a camera; more are ignored.
const MAX_OFFERS: usize = 4096;

fn format_of(fourcc: FourCc) -> Option<PixelFormat> {
    Some(match &fourcc.0 {
        b"YUYV" => PixelFormat::Yuyv,
        b"NV12" => PixelFormat::Nv12,
        b"MJPG" => PixelFormat::Mjpeg,
        b"GREY" => PixelFormat::Grey,
        b"Y16 " | b"Y10 " | b"Y12 " => PixelFormat::Y16,
        _ => return None,
    })
}

/// Returns all supported modes, sorted; empty if the node is no camera.
pub(super) fn offers(node: &Node) -> Vec<OfferedMode> {
    let mut offers = Vec::new();
    for fourcc in calls::formats(node) {
        let Some(format) = format_of(fourcc) else { continue };
        for (width, height, listed) in sizes(node, fourcc) {
            for (interval, plain) in intervals(node, fourcc, width, height) {
                let rate_hz = interval.map_or(30, rate_of);
                let mode = Mode { format, width: width as usize, height: height as usize, rate_hz };
                if mode.is_possible() && offers.len() < MAX_OFFERS {
                    offers.push(OfferedMode { mode, fourcc, interval, is_plain: listed && plain });
                }
            }
        }
    }
    // of two equal modes, the one with an integer rate
    offers.sort_by_key(|offer| (offer.mode, !offer.is_plain));
    offers.dedup_by_key(|offer| offer.mode);
    offers
}

fn rate_of(interval: Fraction) -> u32 {
    (f64::from(interval.denominator) / f64::from(interval.numerator.max(1))).round() as u32
}

/// Returns width and height of each size, and whether it is listed individually.
fn sizes(node: &Node, fourcc: FourCc) -> Vec<(u32, u32, bool)> {
    let Ok(listed) = calls::sizes(node, fourcc) else {
        // a driver without a list supports its current size
        let present = calls::format(node).ok().filter(|present| FourCc::from(present.pixelformat) == fourcc);
        return present.map(|p| (p.width, p.height, false)).into_iter().collect();
    };
    let of = |size: FrameSizes| match (size.kind, size.numbers) {
        (DISCRETE, [width, height, ..]) => vec![(width, height, true)],
        (CONTINUOUS | STEPWISE, range) => within(range).into_iter().map(|(w, h)| (w, h, false)).collect(),
        _ => Vec::new(),
    };
    listed.into_iter().flat_map(of).collect()
}

/// Returns the usual sizes within a range, and its ends.
fn within([min_width, max_width, step_width, min_height, max_height, step_height]: [u32; 6]) -> Vec<(u32, u32)> {
    let on = |value: u32, least: u32, most: u32, step: u32| {
        (least..=most).contains(&value) && (value - least).is_multiple_of(step.max(1))
    };
    let usual = SIZES.into_iter().filter(|&(width, height)| {
        on(width, min_width, max_width, step_width) && on(height, min_height, max_height, step_height)
    });
    let mut sizes: Vec<_> = usual.collect();
    sizes.extend([(min_width, min_height), (max_width, max_height)]);
    sizes
}

/// Returns the frame intervals of a size, and whether each is listed individually as 1/N s.
fn intervals(node: &Node, fourcc: FourCc, width: u32, height: u32) -> Vec<(Option<Fraction>, bool)> {
    let Ok(listed) = calls::intervals(node, fourcc, (width, height)) else {
        let present = calls::interval(node).ok().filter(|i| i.numerator > 0 && i.denominator > 0);
        return vec![(present, false)];
    };
    let of = |entry: FrameIntervals| match (entry.kind, entry.intervals) {
        (DISCRETE, [one, ..]) if one.numerator > 0 => vec![(Some(one), one.numerator == 1)],
        (CONTINUOUS | STEPWISE, [min, max, _]) => {
            usual_within(min, max).into_iter().map(|i| (Some(i), false)).collect()
        }
        _ => Vec::new(),
    };
    listed.into_iter().flat_map(of).collect()
}

fn usual_within(min: Fraction, max: Fraction) -> Vec<Fraction> {
    let seconds = |f: Fraction| f64::from(f.numerator) / f64::from(f.denominator.max(1));
    let (shortest, longest) = (seconds(min), seconds(max));
    let inside = |&rate: &u32| (shortest..=longest).contains(&(1.0 / f64::from(rate)));
    let mut intervals: Vec<Fraction> =
        RATES_HZ.into_iter().filter(inside).map(|rate| Fraction { numerator: 1, denominator: rate }).collect();
    if intervals.is_empty() && min.numerator > 0 && min.denominator > 0 {
        intervals.push(min);
    }
    intervals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_sizes_gives_the_usual_ones_and_its_ends() {
        let sizes = within([320, 1280, 16, 200, 720, 8]);
        assert!(
            sizes.contains(&(640, 480)) && sizes.contains(&(1280, 720)) && sizes.contains(&(320, 200)),
            "{sizes:?}"
        );
        assert!(!sizes.contains(&(1920, 1080)) && !sizes.contains(&(2560, 720)), "{sizes:?}");
        assert_eq!(within([9, 9, 0, 9, 9, 0]), [(9, 9), (9, 9)]);
    }

    #[test]
    fn a_range_of_intervals_gives_the_usual_rates() {
        let of = |numerator, denominator| Fraction { numerator, denominator };
        let rates: Vec<u32> = usual_within(of(1, 60), of(1, 10)).into_iter().map(rate_of).collect();
        assert_eq!(rates, [10, 15, 20, 25, 30, 50, 60]);
        assert_eq!(rate_of(of(1001, 30000)), 30);
    }
}
