//! Directions at any angle, and the lines of pixels that paths follow (Frommholz 2020, section 3).
//!
//! Input: an angle and the size of an image. Output: lines of pixels; shifted copies of one line tile the image, so that every pixel
//! lies on exactly one line of each direction. As in the paper there are two sweeps: lines that start at the side where the major axis
//! begins, then lines that enter through a side along it; their part outside the image is cut off.
//!
//! Lines are 8-connected: the minor axis advances together with the major one. The paper names 4-connected lines, but shifted copies
//! of these visit most pixels of a diagonal twice, which the paper excludes.

/// Unit of the fraction [`Direction::slope`].
const ONE: u32 = 1 << 16;

/// Axis along which a line advances by one each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Columns.
    X,
    /// Rows.
    Y,
}

/// Direction of paths: one pixel along the major axis with each step, along the minor axis by the slope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    /// Axis that advances with every step; y where both advance alike.
    pub major: Axis,
    /// Sign of the steps along x: 1 to the right, -1 to the left; 1 also where paths go straight up or down.
    pub dx: isize,
    /// Sign of the steps along y: 1 down, -1 up; 1 also where paths go straight to the left or right.
    pub dy: isize,
    /// Advance of the minor axis with each step, in 1/65536 px: 0 for straight lines, 65536 for diagonals.
    pub slope: u32,
}

/// Returns `paths` directions at equal angles, clockwise from +x with y down; the first at `start_angle_deg`.
pub fn directions(paths: u32, start_angle_deg: u32) -> Vec<Direction> {
    (0..paths).map(|k| Direction::at(start_angle_deg * paths + 360 * k, paths)).collect()
}

impl Direction {
    /// Returns the direction at `angle / parts` degrees; integers make 0, 45 and 90 degrees exact.
    fn at(angle: u32, parts: u32) -> Self {
        let angle = angle % (360 * parts);
        let (quadrant, in_quadrant) = (angle / (90 * parts), angle % (90 * parts));
        let from_x = if quadrant % 2 == 0 { in_quadrant } else { 90 * parts - in_quadrant };
        let from_y = 90 * parts - from_x;
        let major = if from_x < from_y { Axis::X } else { Axis::Y };
        let from_major = from_x.min(from_y);
        let slope = if from_x == from_y {
            ONE
        } else {
            let radians = (f64::from(from_major) / f64::from(parts)).to_radians();
            (f64::from(ONE) * radians.tan()).round() as u32
        };
        let sign = |backwards, axis| if backwards && (slope > 0 || major == axis) { -1 } else { 1 };
        Self { major, dx: sign(matches!(quadrant, 1 | 2), Axis::X), dy: sign(quadrant >= 2, Axis::Y), slope }
    }

    /// Returns the advance of the minor axis after `k` steps, px.
    pub fn minor(self, k: usize) -> usize {
        ((k as u64 * u64::from(self.slope) + u64::from(ONE / 2)) >> 16) as usize
    }

    /// Whether the minor axis advances with step `k`, from `k - 1` to `k`.
    pub fn has_minor_step(self, k: usize) -> bool {
        k > 0 && self.minor(k) > self.minor(k - 1)
    }

    /// Returns the pixel before `(x, y)` on its line; `None` where the line starts.
    pub fn previous(self, x: usize, y: usize, width: usize, height: usize) -> Option<(usize, usize)> {
        let (k, aside) = self.along_line((x, y), (width, height));
        let before = aside.checked_sub(usize::from(self.has_minor_step(k)))?;
        Some(self.pixel((k.checked_sub(1)?, before), (width, height)))
    }

    /// Returns every line, with its pixels in the order in which a path visits them.
    ///
    /// Line `offset` has the pixels `(k, offset + minor(k))` along the major and the minor axis, as far as they lie inside. Offsets from 0
    /// up are the primary sweep: lines from the side where the major axis begins. Negative offsets are the secondary sweep.
    pub fn lines(self, width: usize, height: usize) -> impl Iterator<Item = impl Iterator<Item = (usize, usize)>> {
        let (steps, across) = self.extent(width, height);
        let line = move |offset: isize| {
            let own = (0..steps).map(move |k| (k, self.minor(k) as isize + offset));
            let inside = own.filter(move |&(_, aside)| (0..across as isize).contains(&aside));
            inside.map(move |(k, aside)| self.pixel((k, aside as usize), (width, height)))
        };
        let primary = 0..across as isize;
        let secondary = 1..=self.minor(steps.saturating_sub(1)) as isize;
        primary.map(line).chain(secondary.map(move |offset| line(-offset)))
    }

    fn extent(self, width: usize, height: usize) -> (usize, usize) {
        if self.major == Axis::X { (width, height) } else { (height, width) }
    }

    /// Returns the coordinates of a pixel along the major and the minor axis, both counted from the side where lines begin.
    fn along_line(self, (x, y): (usize, usize), (width, height): (usize, usize)) -> (usize, usize) {
        let x = if self.dx > 0 { x } else { width - 1 - x };
        let y = if self.dy > 0 { y } else { height - 1 - y };
        if self.major == Axis::X { (x, y) } else { (y, x) }
    }

    fn pixel(self, (k, aside): (usize, usize), (width, height): (usize, usize)) -> (usize, usize) {
        let (x, y) = if self.major == Axis::X { (k, aside) } else { (aside, k) };
        (if self.dx > 0 { x } else { width - 1 - x }, if self.dy > 0 { y } else { height - 1 - y })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::words::MAX_PATHS;

    const SIZES: [(usize, usize); 8] = [(1, 1), (1, 9), (9, 1), (7, 5), (2, 3), (40, 3), (31, 64), (33, 33)];

    fn all_directions() -> impl Iterator<Item = Direction> {
        let counts = (1..=64).chain([96, 255, MAX_PATHS]);
        counts.flat_map(|n| [0, 1, 7, 11, 45, 90, 179, 359].into_iter().flat_map(move |angle| directions(n, angle)))
    }

    #[test]
    fn lines_visit_every_pixel_once_and_agree_with_previous() {
        for (width, height) in SIZES {
            for direction in all_directions() {
                let mut visits = vec![0; width * height];
                for line in direction.lines(width, height) {
                    let mut before = None;
                    for (x, y) in line {
                        visits[y * width + x] += 1;
                        assert_eq!(direction.previous(x, y, width, height), before, "{direction:?} at {x}, {y}");
                        before = Some((x, y));
                    }
                    assert!(before.is_some(), "a line of {direction:?} in {width}x{height} is empty");
                }
                assert!(visits.iter().all(|&n| n == 1), "{direction:?} in {width}x{height}: {visits:?}");
            }
        }
    }

    #[test]
    fn steps_are_eight_connected_and_follow_the_angle() {
        for (n, start) in [(1, 30), (5, 0), (7, 200), (16, 7), (24, 0), (64, 1), (384, 359)] {
            for (k, direction) in directions(n, start).into_iter().enumerate() {
                let (steps, asides) = (1000, direction.minor(1000) as f64);
                assert!((1..=steps).all(|k| direction.minor(k) - direction.minor(k - 1) <= 1));
                let (x, y) = match direction.major {
                    Axis::X => (1000.0 * direction.dx as f64, asides * direction.dy as f64),
                    Axis::Y => (asides * direction.dx as f64, 1000.0 * direction.dy as f64),
                };
                let wanted_deg = f64::from(start) + 360.0 * k as f64 / f64::from(n);
                let off = (y.atan2(x).to_degrees() - wanted_deg + 540.0).rem_euclid(360.0) - 180.0;
                assert!(off.abs() < 0.03, "{n} from {start}, number {k}: off by {off} degrees, {direction:?}");
            }
        }
    }

    #[test]
    fn straight_lines_and_diagonals_are_exact() {
        let direction = |major, dx, dy, slope| Direction { major, dx, dy, slope };
        let eight = [
            direction(Axis::X, 1, 1, 0),
            direction(Axis::Y, 1, 1, 65536),
            direction(Axis::Y, 1, 1, 0),
            direction(Axis::Y, -1, 1, 65536),
            direction(Axis::X, -1, 1, 0),
            direction(Axis::Y, -1, -1, 65536),
            direction(Axis::Y, 1, -1, 0),
            direction(Axis::Y, 1, -1, 65536),
        ];
        assert_eq!(directions(8, 0), eight);
        assert_eq!(directions(4, 0), [eight[0], eight[2], eight[4], eight[6]]);
        assert_eq!(directions(4, 45), [eight[1], eight[3], eight[5], eight[7]]);
        assert_eq!(directions(1, 315), [eight[7]]);
        assert!(directions(0, 33).is_empty());
        // tan 22.5 degrees is 0.41421, in 1/65536
        assert_eq!(directions(16, 0)[1], direction(Axis::X, 1, 1, 27146));
        assert_eq!(directions(16, 0)[3], direction(Axis::Y, 1, 1, 27146));
        for straight_or_diagonal in all_directions().filter(|d| d.slope == 0 || d.slope == ONE) {
            assert!(eight.contains(&straight_or_diagonal));
        }
    }

    #[test]
    fn a_line_by_hand() {
        // a quarter of a pixel each step, rounded half up: aside with steps 2, 6, 10 …
        let direction = Direction { major: Axis::X, dx: 1, dy: -1, slope: 16384 };
        let asides: Vec<_> = (0..11).map(|k| direction.minor(k)).collect();
        assert_eq!(asides, [0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3]);
        assert!(!direction.has_minor_step(0) && direction.has_minor_step(2) && !direction.has_minor_step(3));
        let lines: Vec<Vec<_>> = direction.lines(7, 2).map(Iterator::collect).collect();
        assert_eq!(lines[0], [(0, 1), (1, 1), (2, 0), (3, 0), (4, 0), (5, 0)], "primary, from the lower left corner");
        assert_eq!(lines[1], [(0, 0), (1, 0)], "primary, leaves at the top");
        assert_eq!(lines[2], [(2, 1), (3, 1), (4, 1), (5, 1), (6, 0)], "secondary, enters below after the first run");
        assert_eq!(lines[3], [(6, 1)], "secondary, after the second run");
        assert_eq!(lines.len(), 4);
        assert_eq!(direction.previous(6, 0, 7, 2), Some((5, 1)));
        assert_eq!(direction.previous(2, 1, 7, 2), None);
        assert_eq!(direction.previous(0, 0, 7, 2), None);
    }

    #[test]
    fn opposite_directions_mirror_each_other() {
        for n in [2, 4, 6, 10, 16, 64, MAX_PATHS] {
            let all = directions(n, 7);
            for (there, back) in all.iter().zip(&all[all.len() / 2..]) {
                assert_eq!((there.major, there.slope), (back.major, back.slope));
                assert_eq!((there.dx, there.dy), (-back.dx, -back.dy), "{n} directions");
            }
        }
    }
}
