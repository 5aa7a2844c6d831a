//! Ticks of a colour bar: its two ends, then numbers in the order of their roundness.

use stereopsis_base::geometry::Geometry;
use stereopsis_images::colormap::DisplayRange;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// Position: 0 far, 1 near.
    pub(crate) position: f32,
    /// Number without its unit.
    pub(crate) label: String,
}

/// Returns ticks in px, the most important first.
pub(crate) fn disparity_ticks(range: DisplayRange) -> Vec<Tick> {
    let mut ticks: Vec<Tick> = [range.near_px, range.far_px]
        .map(|px| Tick { position: range.position(px), label: format!("{:.0}", px + 0.0) })
        .into();
    let span = range.near_px - range.far_px;
    let step = [1, 2, 5, 10, 20, 50, 100, 200, 500].into_iter().find(|&step| span / step as f32 <= 9.0).unwrap_or(1000);
    let first = (range.far_px / step as f32).ceil() as i32;
    let last = (range.near_px / step as f32).floor() as i32;
    ticks.extend((first..=last).map(|i| {
        let px = i * step;
        Tick { position: range.position(px as f32), label: px.to_string() }
    }));
    ticks
}

/// Returns ticks in metres along inverse depth, the most important first.
pub(crate) fn depth_ticks(range: DisplayRange, geometry: &Geometry) -> Vec<Tick> {
    let depth_at = |px: f32| geometry.depth_m(f64::from(px)).unwrap_or(f64::INFINITY);
    let (near, far) = (depth_at(range.near_px), depth_at(range.far_px));
    let tick = |depth: f64| {
        let px = if depth.is_finite() { geometry.disparity_px(depth) } else { -geometry.doffs_px };
        Tick { position: range.position(px as f32), label: metres(depth) }
    };
    let mut ticks = vec![tick(near), tick(far)];
    for round in [&[1.0, 2.0, 5.0][..], &[3.0, 1.5, 4.0, 7.0, 2.5, 6.0, 8.0]] {
        // from near to far, because the near end has more room
        for decade in -3..=5 {
            let all = round.iter().map(|r| r * 10f64.powi(decade));
            ticks.extend(all.filter(|depth| (near..=far).contains(depth)).map(tick));
        }
    }
    ticks
}

/// Formats a depth with three significant digits, or as infinity.
pub(crate) fn metres(depth: f64) -> String {
    match depth {
        d if !d.is_finite() => "∞".to_owned(),
        d if d >= 99.95 => format!("{d:.0}"),
        d if d >= 9.995 => format!("{d:.1}"),
        d if d >= 0.0995 => format!("{d:.2}"),
        d => format!("{d:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIG: Geometry = Geometry::new(500.0, 0.1, 0.0, [0.0, 0.0]);

    #[test]
    fn ends_of_a_depth_bar_come_first() {
        let ticks = depth_ticks(DisplayRange { far_px: 10.0, near_px: 100.0 }, &RIG);
        assert_eq!((ticks[0].label.as_str(), ticks[0].position), ("0.50", 1.0));
        assert_eq!((ticks[1].label.as_str(), ticks[1].position), ("5.00", 0.0));
        let one = ticks.iter().find(|tick| tick.label == "1.00").unwrap();
        assert!((one.position - (50.0 - 10.0) / 90.0).abs() < 1e-6, "1 m lies at 50 px: {}", one.position);
    }

    #[test]
    fn far_end_at_infinity_has_its_sign() {
        let ticks = depth_ticks(DisplayRange { far_px: -5.0, near_px: 20.0 }, &RIG);
        assert_eq!((ticks[1].label.as_str(), ticks[1].position), ("∞", 0.2));
    }

    #[test]
    fn disparity_ticks_are_round_and_few() {
        let ticks = disparity_ticks(DisplayRange { far_px: 2.4, near_px: 63.0 });
        let labels: Vec<_> = ticks.iter().map(|tick| tick.label.as_str()).collect();
        assert_eq!(labels, ["63", "2", "10", "20", "30", "40", "50", "60"]);
    }

    #[test]
    fn metres_have_three_digits() {
        let all = [0.05, 0.4237, 1.5, 12.34, 99.99, 1234.0].map(metres);
        assert_eq!(all, ["0.050", "0.42", "1.50", "12.3", "100", "1234"]);
    }
}
