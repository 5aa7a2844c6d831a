//! Solid textures: colour as a function of the surface point, so that both views show the same.
//!
//! Each texture is band-limited to the footprint (metres per pixel), which is computed from the midpoint between the cameras and thus equal
//! for both.

use super::shape::smooth;
use glam::DVec3;
use std::f64::consts::TAU;

#[derive(Clone, Copy, Debug)]
pub(super) enum Material {
    /// One colour with fine grain of this contrast.
    Plain(DVec3, f64),
    /// Floor boards along z, with a round rug in the middle of the room.
    Floor,
    /// Painted wall above a wooden panel, split at this height.
    Wall(DVec3, f64),
    /// Rows of books between boards, seen from the front.
    Books,
    /// Abstract painting.
    Painting,
    /// Boards with a frame around each side; half size of the cube.
    Crate(f64),
    /// Grain of wood along x.
    Wood(DVec3),
    /// Six sectors of two colours.
    Ball(DVec3, DVec3),
    /// Land and sea of a globe.
    Globe,
    /// Rings along y, of two colours, with their period.
    Rings(DVec3, DVec3, f64),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SurfacePoint {
    /// Position in the solid's frame, m.
    pub(super) p: DVec3,
    /// Outward normal, in the solid's frame.
    pub(super) normal: DVec3,
    /// Footprint, metres per pixel.
    pub(super) footprint: f64,
    /// Seed of the solid and of the scene.
    seed: u32,
    /// Fine grain, about -1 to 1.
    grain: f64,
}

const CREAM: DVec3 = DVec3::new(0.86, 0.80, 0.68);
const OAK: DVec3 = DVec3::new(0.66, 0.45, 0.27);

impl Material {
    /// Returns the colour, each channel 0 to 1.
    pub(super) fn color(&self, at: &SurfacePoint) -> DVec3 {
        match *self {
            Self::Plain(color, contrast) => color * (1.0 + contrast * at.grain),
            Self::Floor => at.floor(),
            Self::Wall(color, split) => {
                let panel =
                    || DVec3::new(0.78, 0.74, 0.66) * (1.0 + 0.10 * at.grain) * at.groove(at.p.x + at.p.z, 0.22);
                let paint = || color * (1.0 + 0.10 * at.grain + 0.05 * noise(at.p * 2.3, at.seed));
                let rail = at.band(at.p.y - split, 0.035);
                let wall = mixed(panel, paint, at.step(at.p.y - split));
                wall.lerp(DVec3::new(0.90, 0.88, 0.82) * (1.0 + 0.05 * at.grain), rail)
            }
            Self::Books => at.books(),
            Self::Painting => {
                let warp = noise(at.p * 3.0, at.seed) + 0.5 * noise(at.p * 7.0, at.seed + 1);
                let tone = 0.5 + 0.5 * (TAU * (warp + at.p.x * 0.9)).sin();
                let other = 0.5 + 0.5 * (TAU * (warp * 0.7 - at.p.y * 1.3) + 2.0).sin();
                let color = DVec3::new(0.85, 0.42, 0.22).lerp(DVec3::new(0.12, 0.28, 0.45), tone);
                color.lerp(DVec3::new(0.95, 0.82, 0.50), 0.7 * other * other) * (1.0 + 0.20 * at.grain)
            }
            Self::Crate(half) => {
                let (u, v) = at.on_face();
                let rim = half - u.abs().max(v.abs());
                let frame = at.step(half * 0.24 - rim);
                let boards = || at.wood(OAK * 1.12, DVec3::new(v, u, 0.5)) * at.groove(u, half * 0.38);
                let beam = || at.wood(OAK * 0.85, DVec3::new(u, v, 1.5));
                let line = at.band(rim - half * 0.24, 0.004);
                mixed(boards, beam, frame) * (1.0 - 0.45 * line)
            }
            Self::Wood(color) => at.wood(color, DVec3::new(at.p.x, at.p.z, at.p.y)),
            Self::Ball(one, other) => {
                let angle = at.p.z.atan2(at.p.x);
                let radius = at.p.x.hypot(at.p.z).max(1e-3);
                let sector = (3.0 * angle).sin() * radius / 3.0;
                let cap = at.step(at.p.y.abs() - 0.9 * at.p.length());
                let color = one.lerp(other, at.step(sector)).lerp(CREAM * 1.1, cap);
                color * (1.0 + 0.22 * at.grain)
            }
            Self::Globe => {
                let height = noise(at.p * 6.0, at.seed) + 0.5 * noise(at.p * 13.0, at.seed + 1);
                let land = smooth((height - 0.02) / 0.12 + 0.5);
                let sea = DVec3::new(0.16, 0.40, 0.58) * (1.0 + 0.20 * at.grain);
                let meadow = DVec3::new(0.55, 0.60, 0.30).lerp(DVec3::new(0.80, 0.68, 0.45), smooth(height * 1.5));
                sea.lerp(meadow * (1.0 + 0.25 * at.grain), land)
            }
            Self::Rings(one, other, period) => {
                let wave = (TAU * at.p.y / period).sin() * period / TAU;
                one.lerp(other, at.step(wave)) * (1.0 + 0.14 * at.grain)
            }
        }
    }
}

impl SurfacePoint {
    /// Creates a point of a solid.
    pub(super) fn new(p: DVec3, normal: DVec3, footprint: f64, seed: u32) -> Self {
        Self { p, normal, footprint, seed, grain: grain(p, footprint, seed) }
    }

    /// Returns a step from 0 to 1, as sharp as the footprint allows.
    fn step(&self, distance: f64) -> f64 {
        smooth(distance / (3.0 * self.footprint) + 0.5)
    }

    /// Returns 1 within `width` of 0, else 0.
    fn band(&self, distance: f64, width: f64) -> f64 {
        self.step(distance + width / 2.0) * self.step(width / 2.0 - distance)
    }

    /// Returns a factor for a dark line once per period, 1 elsewhere.
    fn groove(&self, x: f64, period: f64) -> f64 {
        let nearest = x - period * (x / period).round();
        let width = 0.010_f64;
        let visible = (width / self.footprint).min(1.0);
        1.0 - 0.40 * visible * self.band(nearest, width.max(self.footprint * 1.5))
    }

    /// Returns the coordinates on the side of a cuboid, m.
    fn on_face(&self) -> (f64, f64) {
        let n = self.normal.abs();
        if n.x > 0.5 {
            (self.p.z, self.p.y)
        } else if n.y > 0.5 {
            (self.p.x, self.p.z)
        } else {
            (self.p.x, self.p.y)
        }
    }

    /// Returns the colour of wood whose grain runs along the first coordinate.
    fn wood(&self, color: DVec3, q: DVec3) -> DVec3 {
        let long = DVec3::new(q.x * 1.5, q.y * 16.0, q.z * 16.0);
        let visible = (0.06 / self.footprint / 4.0).min(1.0);
        let veins = (9.0 * noise(long * 0.35, self.seed + 7)).sin() * visible;
        color * (1.0 + 0.10 * veins + 0.12 * noise(long, self.seed + 8) * visible + 0.14 * self.grain)
    }

    fn floor(&self) -> DVec3 {
        let board = 0.16;
        let row = (self.p.x / board).floor();
        let shift = cell(row as i32, 0, self.seed) * 1.7;
        let length = 1.3;
        let column = ((self.p.z + shift) / length).floor();
        let tone = 0.84 + 0.30 * cell(row as i32, column as i32, self.seed + 1);
        let here = DVec3::new(self.p.z, self.p.x, row * 3.1 + column);
        let boards = || {
            let boards = self.wood(OAK * tone, here) * self.groove(self.p.x, board);
            boards * self.groove(self.p.z + shift, length)
        };

        // the rug lies below the moving solids; the room's frame has its origin in the middle
        let (x, z) = (self.p.x - 0.15, self.p.z - 0.55);
        let r = x.hypot(z);
        let rug = || {
            let weave = 1.0 + 0.24 * self.grain;
            let wave = (TAU * r / 0.30).sin() * 0.30 / TAU;
            let petals = ((12.0 * z.atan2(x)).cos() * 0.5 + 0.5) * self.band(r - 0.72, 0.20);
            let rug = DVec3::new(0.62, 0.20, 0.18).lerp(DVec3::new(0.16, 0.24, 0.38), self.step(wave));
            let rug = rug.lerp(CREAM, 0.75 * petals).lerp(CREAM, self.band(r - 1.02, 0.06));
            rug * weave
        };
        mixed(boards, rug, self.step(1.10 - r))
    }

    fn books(&self) -> DVec3 {
        let shelf_height = 0.38;
        let shelf = (self.p.y / shelf_height).floor();
        let up = self.p.y - shelf * shelf_height;
        let board = || self.wood(OAK * 0.75, self.p);
        if self.normal.z > -0.5 {
            return board();
        }
        // books of several widths: unequal cells made by shifting the borders of equal ones
        let width = 0.055;
        let border = |k: f64| (k + 0.7 * cell(k as i32, shelf as i32, self.seed) - 0.35) * width;
        let mut k = (self.p.x / width).round();
        if self.p.x < border(k) {
            k -= 1.0;
        }
        let id = |what| cell(k as i32, shelf as i32, self.seed + what);
        let colors = [
            DVec3::new(0.55, 0.16, 0.14),
            DVec3::new(0.16, 0.30, 0.42),
            DVec3::new(0.80, 0.66, 0.38),
            DVec3::new(0.22, 0.38, 0.28),
            DVec3::new(0.74, 0.70, 0.62),
            DVec3::new(0.35, 0.20, 0.30),
            DVec3::new(0.78, 0.42, 0.20),
        ];
        let color = colors[(id(2) * 6.999) as usize] * (0.85 + 0.3 * id(3));
        let middle = f64::midpoint(border(k), border(k + 1.0));
        let half = (border(k + 1.0) - border(k)) / 2.0;
        let inside = half - (self.p.x - middle).abs();
        let label = self.band(up - 0.08 - 0.12 * id(4), 0.03 + 0.03 * id(5)) * id(6).round();
        let spine =
            || color.lerp(CREAM, 0.8 * label) * (0.72 + 0.28 * self.step(inside - 0.006)) * (1.0 + 0.12 * self.grain);
        let height = 0.24 + 0.09 * id(7);
        let dark = || DVec3::splat(0.10) * (1.0 + 0.3 * self.grain);
        mixed(board, || mixed(spine, dark, self.step(up - height)), self.step(up - 0.03))
    }
}

/// Returns fine grain, about -1 to 1: two octaves of noise just below the pixel frequency, at any distance.
fn grain(p: DVec3, footprint: f64, seed: u32) -> f64 {
    let finest = (0.22 / footprint).log2();
    let octave = finest.floor();
    let fade = finest - octave;
    // the finest octave fades in as the coarsest fades out
    let weights = [fade, 1.0, 1.0 - fade];
    let sum: f64 = (0..3_i32)
        .map(|k| {
            let octave = octave as i32 - k;
            weights[k as usize] * noise(p * 2_f64.powi(octave), seed.wrapping_add(octave as u32))
        })
        .sum();
    sum * 1.1
}

/// Mixes two colours, of which only those that count are computed.
fn mixed(first: impl FnOnce() -> DVec3, second: impl FnOnce() -> DVec3, share: f64) -> DVec3 {
    match share {
        0.0 => first(),
        1.0 => second(),
        _ => first().lerp(second(), share),
    }
}

/// Returns a hash of 32 well mixed bits.
pub(super) fn hash(mut v: u32) -> u32 {
    v = (v ^ (v >> 16)).wrapping_mul(0x21f0_aaad);
    v = (v ^ (v >> 15)).wrapping_mul(0x735a_2d97);
    v ^ (v >> 15)
}

/// Returns a pseudo-random number of a grid cell, 0 to 1.
pub(super) fn cell(x: i32, y: i32, seed: u32) -> f64 {
    f64::from(hash(x as u32 ^ hash(y as u32 ^ hash(seed)))) / f64::from(u32::MAX)
}

/// Directions to the edges of a cube, four of them twice.
const EDGES: [[f32; 3]; 16] = [
    [1.0, 1.0, 0.0],
    [-1.0, 1.0, 0.0],
    [1.0, -1.0, 0.0],
    [-1.0, -1.0, 0.0],
    [1.0, 0.0, 1.0],
    [-1.0, 0.0, 1.0],
    [1.0, 0.0, -1.0],
    [-1.0, 0.0, -1.0],
    [0.0, 1.0, 1.0],
    [0.0, -1.0, 1.0],
    [0.0, 1.0, -1.0],
    [0.0, -1.0, -1.0],
    [1.0, 1.0, 0.0],
    [-1.0, 1.0, 0.0],
    [0.0, -1.0, 1.0],
    [0.0, -1.0, -1.0],
];

/// Computes gradient noise with features of about one unit, about -1 to 1 (K. Perlin, Improving Noise, 2002).
fn noise(p: DVec3, seed: u32) -> f64 {
    // integer part without floor(), which is a function call on the baseline processor
    let split = |v: f64| {
        let whole = v as i32 - i32::from(v < 0.0);
        (whole as u32, (v - f64::from(whole)) as f32)
    };
    let ((x, fx), (y, fy), (z, fz)) = (split(p.x), split(p.y), split(p.z));
    let fade = |f: f32| f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
    let (xs, ys, zs) = (0x9e37_79b1_u32, 0x85eb_ca77_u32, 0xc2b2_ae3d_u32);
    let (hx, hy, hz) = (x.wrapping_mul(xs), y.wrapping_mul(ys), z.wrapping_mul(zs));
    let start = seed.wrapping_mul(0x27d4_eb2f);
    let corner = |dx: bool, dy: bool, dz: bool| {
        let part = |h: u32, step: u32, on: bool| if on { h.wrapping_add(step) } else { h };
        let h = start ^ part(hx, xs, dx) ^ part(hy, ys, dy).rotate_left(9) ^ part(hz, zs, dz).rotate_left(18);
        let h = (h ^ (h >> 15)).wrapping_mul(0x735a_2d97);
        let [gx, gy, gz] = EDGES[(h >> 28) as usize];
        let one = |on: bool| f32::from(u8::from(on));
        gx * (fx - one(dx)) + gy * (fy - one(dy)) + gz * (fz - one(dz))
    };
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let (u, v, w) = (fade(fx), fade(fy), fade(fz));
    let plane = |dz| {
        let low = mix(corner(false, false, dz), corner(true, false, dz), u);
        mix(low, mix(corner(false, true, dz), corner(true, true, dz), u), v)
    };
    f64::from(mix(plane(false), plane(true), w))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_centred_bounded_and_smooth() {
        let line: Vec<f64> = (0..20_000).map(|i| noise(DVec3::new(f64::from(i) * 0.013, 3.7, -8.1), 5)).collect();
        let mean = line.iter().sum::<f64>() / line.len() as f64;
        let power = line.iter().map(|v| v * v).sum::<f64>() / line.len() as f64;
        assert!(mean.abs() < 0.1 && power > 0.05, "{mean} {power}");
        assert!(line.iter().all(|v| v.abs() < 1.6));
        assert!(line.windows(2).all(|w| (w[0] - w[1]).abs() < 0.06));
    }

    #[test]
    fn grain_has_the_same_strength_at_any_distance() {
        let power = |footprint: f64| {
            let values = (0..4000).map(|i| {
                let p = DVec3::new(f64::from(i) * footprint * 7.3, 1.0, 2.0);
                grain(p, footprint, 3)
            });
            (values.map(|v| v * v).sum::<f64>() / 4000.0).sqrt()
        };
        for footprint in [0.001, 0.0014, 0.003, 0.01] {
            assert!((0.2..1.0).contains(&power(footprint)), "{footprint}: {}", power(footprint));
        }
    }
}
