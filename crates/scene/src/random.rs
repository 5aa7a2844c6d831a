//! Random worlds: a room with static solids of every size, pose and texture in front of the cameras, many of them plain.
//!
//! They are training and test data, not made to look real: solids overlap and float.

use super::shape::{Placement, Shape};
use super::texture::Material;
use super::world::{Solid, World};
use glam::{DMat3, DVec3};
use stereopsis_metrics::Random;

/// Depth of the nearest solids, m; disparities are then at most a tenth of the width.
const MIN_DISTANCE_M: f64 = 0.6;
/// Tangents of half the field of view, slightly smaller than the cameras'.
const HALF_VIEW: [f64; 2] = [0.52, 0.38];

impl World {
    pub(super) fn random(seed: u32) -> Self {
        let mut draw = Generator(Random::with_seed(u64::from(seed)));
        let mut solids = Vec::new();
        let mut put = |shape: Shape, placement, sides| solids.push(Solid::new(shape, placement, sides));
        let half = DVec3::new(draw.between(1.8, 3.5), draw.between(1.3, 1.8), draw.between(1.4, 3.2));
        let centre = DVec3::new(draw.between(-0.5, 0.5), half.y, half.z - 0.6);
        let turn = DMat3::from_rotation_y(draw.between(-0.35, 0.35));
        put(Shape::Room(half), Placement::at(centre).turned(turn), [(); 6].map(|()| draw.material()));
        let back = 2.0 * half.z - 0.8;
        for _ in 0..draw.count(6, 26) {
            // depths whose inverses are uniform give as many solids at each disparity
            let z = 1.0 / draw.between(1.0 / back, 1.0 / MIN_DISTANCE_M);
            let [x, y] = HALF_VIEW.map(|half| z * draw.between(-half, half));
            let position = DVec3::new(x, 1.05 - 0.17 * z + y, z);
            let shape = draw.shape(z);
            let turn = draw.turn();
            let sides = if draw.chance(0.5) { [draw.material(); 6] } else { [(); 6].map(|()| draw.material()) };
            put(shape, Placement::at(position).turned(turn), sides);
        }
        Self::still_of(solids, seed)
    }
}

/// Random generator of parts of a world.
struct Generator(Random);

impl Generator {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.share()
    }

    /// Returns a number distributed uniformly over orders of magnitude.
    fn over_magnitudes(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    fn count(&mut self, low: usize, high: usize) -> usize {
        low + self.0.below(high - low)
    }

    fn chance(&mut self, share: f64) -> bool {
        self.0.share() < share
    }

    /// Returns a solid that covers about a fiftieth to a third of the image's width at this depth.
    fn shape(&mut self, depth_m: f64) -> Shape {
        let size = depth_m * self.over_magnitudes(0.02, 0.35);
        match self.0.below(8) {
            0 => Shape::Sphere(size),
            1 => Shape::Cylinder(size, size * self.between(0.5, 2.0)),
            // rods of about one to ten pixels
            2 | 3 => Shape::Cylinder(depth_m * self.over_magnitudes(0.001, 0.01), depth_m * self.between(0.1, 0.6)),
            // boards
            4 | 5 => Shape::Cuboid(DVec3::new(size, size * self.between(0.5, 2.0), 0.01 * depth_m)),
            _ => Shape::Cuboid(DVec3::new(size, size * self.between(0.4, 2.5), size * self.between(0.4, 2.5))),
        }
    }

    /// Returns a rotation, in half of the cases about the vertical only.
    fn turn(&mut self) -> DMat3 {
        let yaw = DMat3::from_rotation_y(self.between(-1.2, 1.2));
        if self.chance(0.5) {
            return yaw;
        }
        let [pitch, roll] = [self.between(-1.2, 1.2), self.between(-1.6, 1.6)];
        yaw * DMat3::from_rotation_x(pitch) * DMat3::from_rotation_z(roll)
    }

    fn color(&mut self) -> DVec3 {
        let grey = self.between(0.1, 0.9);
        DVec3::from_array([(); 3].map(|()| (grey + self.between(-0.3, 0.3)).clamp(0.05, 1.0)))
    }

    /// Returns a texture, in half of the cases a plain one with grain between invisible and strong.
    fn material(&mut self) -> Material {
        match self.0.below(14) {
            0 => Material::Wall(self.color(), self.between(-0.6, 0.6)),
            1 => Material::Books,
            2 => Material::Painting,
            3 => Material::Crate(self.between(0.1, 0.4)),
            4 => Material::Wood(self.color()),
            5 => Material::Globe,
            6 => Material::Rings(self.color(), self.color(), self.over_magnitudes(0.02, 0.3)),
            _ => Material::Plain(self.color(), self.over_magnitudes(0.003, 0.4)),
        }
    }
}
