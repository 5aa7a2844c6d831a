//! Least-squares plane through disparities in integers, so that the result does not depend on the order of summation.

/// Fraction bits of a plane's coefficients.
pub const PLANE_SHIFT: u32 = 12;

/// Steepest slope along a row or a column, in the unit of [`Plane`]: half a pixel of disparity per pixel. It keeps a plane within 32 bits
/// over any image; steeper surfaces are hardly seen by both cameras.
pub const MAX_SLOPE: i64 = 8 << PLANE_SHIFT;

/// Bits kept of the largest central moment, so that determinants fit in 128 bits.
const MOMENT_BITS: u32 = 56;

/// Sums over pixels with a disparity: their number, and the first and second moments of column x, row y (px, from any origin) and
/// disparity d (1/16 px).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the sum of the product that its name spells")]
pub struct Moments {
    pub n: i64,
    pub x: i64,
    pub y: i64,
    pub xx: i64,
    pub xy: i64,
    pub yy: i64,
    pub d: i64,
    pub xd: i64,
    pub yd: i64,
}

impl std::ops::AddAssign for Moments {
    fn add_assign(&mut self, other: Self) {
        self.n += other.n;
        self.x += other.x;
        self.y += other.y;
        self.xx += other.xx;
        self.xy += other.xy;
        self.yy += other.yy;
        self.d += other.d;
        self.xd += other.xd;
        self.yd += other.yd;
    }
}

/// Plane `d = (a + b x + c y) / 4096`, in 1/16 px.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "see above")]
pub struct Plane {
    pub a: i32,
    pub b: i32,
    pub c: i32,
}

impl Plane {
    /// Returns the disparity at a pixel, `a + b x + c y`: 1/16 px with twelve fraction bits.
    #[inline]
    #[must_use]
    pub fn at(self, x: i32, y: i32) -> i32 {
        // far from the votes a product may overflow 32 bits; their sum is in range again
        self.a.wrapping_add(self.b.wrapping_mul(x)).wrapping_add(self.c.wrapping_mul(y))
    }

    /// Whether disparity `d` at a pixel lies within `limit` of the plane, both 1/16 px.
    #[inline]
    #[must_use]
    pub fn is_near(self, (x, y): (i32, i32), d: i16, limit: i32) -> bool {
        ((i32::from(d) << PLANE_SHIFT) - self.at(x, y)).abs() <= limit << PLANE_SHIFT
    }

    /// Returns the disparity at a pixel, rounded half up, 1/16 px.
    #[inline]
    #[must_use]
    pub fn rounded(self, x: i32, y: i32) -> i32 {
        (self.at(x, y) + (1 << (PLANE_SHIFT - 1))) >> PLANE_SHIFT
    }
}

impl Moments {
    /// Adds the pixel (x, y) with disparity `d`.
    pub fn add(&mut self, (x, y): (i32, i32), d: i16) {
        let (x, y, d) = (i64::from(x), i64::from(y), i64::from(d));
        self.n += 1;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
        self.yy += y * y;
        self.d += d;
        self.xd += x * d;
        self.yd += y * d;
    }

    /// Returns the least-squares plane; `None` for too few pixels, pixels on one line, or a slope above [`MAX_SLOPE`].
    ///
    /// Cramer's rule over the central moments, `n sum(x y) - sum(x) sum(y)` and so on. All are shifted right by the same number of bits
    /// until the largest has 56 bits; quotients are rounded to zero.
    pub fn plane(&self) -> Option<Plane> {
        let central = |both: i64, one: i64, other: i64| {
            i128::from(self.n) * i128::from(both) - i128::from(one) * i128::from(other)
        };
        let moments = [
            central(self.xx, self.x, self.x),
            central(self.xy, self.x, self.y),
            central(self.yy, self.y, self.y),
            central(self.xd, self.x, self.d),
            central(self.yd, self.y, self.d),
        ];
        let bits = moments.iter().map(|moment| 128 - moment.unsigned_abs().leading_zeros()).max().unwrap_or(0);
        let [xx, xy, yy, xd, yd] = moments.map(|moment| moment >> bits.saturating_sub(MOMENT_BITS));
        let determinant = xx * yy - xy * xy;
        if determinant <= 0 {
            return None;
        }
        let slope = |numerator: i128| {
            let slope = (numerator << PLANE_SHIFT) / determinant;
            i64::try_from(slope).ok().filter(|slope| slope.abs() <= MAX_SLOPE)
        };
        let b = slope(xd * yy - yd * xy)?;
        let c = slope(yd * xx - xd * xy)?;
        let a = ((self.d << PLANE_SHIFT) - b * self.x - c * self.y) / self.n;
        Some(Plane { a: a as i32, b: b as i32, c: c as i32 })
    }
}

/// Pixel with its disparity, 1/16 px.
pub type Vote = ((i32, i32), i16);

/// Returns the plane that most votes agree on: the first one through all votes, then one for each limit through the votes within that
/// distance (1/16 px) of the previous plane. `None` where one has fewer than `fewest` votes, or no plane.
pub fn robust_plane(votes: &[Vote], limits: &[i32], fewest: usize) -> Option<Plane> {
    let through = |near: &dyn Fn(&Vote) -> bool| {
        let mut moments = Moments::default();
        votes.iter().filter(|vote| near(vote)).for_each(|&(place, d)| moments.add(place, d));
        moments.plane().filter(|_| moments.n >= fewest as i64)
    };
    let mut plane = through(&|_| true)?;
    for &limit in limits {
        plane = through(&|&(place, d)| plane.is_near(place, d, limit))?;
    }
    Some(plane)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(points: impl Iterator<Item = (i32, i32, i16)>) -> Moments {
        let mut moments = Moments::default();
        points.for_each(|(x, y, d)| moments.add((x, y), d));
        moments
    }

    #[test]
    fn a_plane_comes_back_from_its_pixels_wherever_they_lie() {
        for origin in [0, -300, 12_000] {
            let pixels = (0..40).flat_map(|y| (0..60).map(move |x| (x, y)));
            let points = pixels.map(|(x, y)| (origin + x, y - origin, (400 + 3 * x - 2 * y) as i16));
            let plane = of(points).plane().unwrap();
            assert_eq!((plane.b, plane.c), (3 << PLANE_SHIFT, -(2 << PLANE_SHIFT)));
            assert_eq!(plane.rounded(origin + 7, 5 - origin), 400 + 21 - 10);
            assert!(plane.is_near((origin + 7, 5 - origin), 411 + 16, 16));
            assert!(!plane.is_near((origin + 7, 5 - origin), 411 + 17, 16));
        }
    }

    #[test]
    fn lines_and_steep_surfaces_have_no_plane() {
        assert_eq!(Moments::default().plane(), None);
        assert_eq!(of((0..50).map(|x| (x, 3 * x, 100))).plane(), None);
        let slope = |steps: i32| of((0..400).map(|i| (i % 20, i / 20, (steps * (i % 20)) as i16))).plane();
        assert_eq!(slope(8).map(|plane| plane.b), Some(8 << PLANE_SHIFT));
        assert_eq!(slope(9), None);
    }

    #[test]
    fn the_largest_image_does_not_overflow() {
        // every 128th column and row of 16384, scaled up below
        let mut moments = Moments::default();
        for i in (0..16_384).step_by(128) {
            for j in (0..16_384).step_by(128) {
                moments.add((i, j), (-16_384 + i + j / 2) as i16);
            }
        }
        let scaled = |sum: i64| sum * 128 * 128;
        let Moments { n, x, y, xx, xy, yy, d, xd, yd } = moments;
        let [n, x, y, xx, xy, yy, d, xd, yd] = [n, x, y, xx, xy, yy, d, xd, yd].map(scaled);
        let plane = Moments { n, x, y, xx, xy, yy, d, xd, yd }.plane().unwrap();
        assert_eq!((plane.a, plane.b, plane.c), (-16_384 << PLANE_SHIFT, 1 << PLANE_SHIFT, 1 << (PLANE_SHIFT - 1)));
    }
}
