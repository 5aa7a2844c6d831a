//! Solids in the room at a phase of the loop: metres, x right, y up, z away from the cameras, floor at 0.
//!
//! Every motion is a whole number of turns per loop, so that the last frame precedes the first without a jump.

use super::shape::{Entry, Placement, Ray, Shape};
use super::texture::{Material, SurfacePoint, cell};
use glam::{DMat3, DVec3, Vec3};
use std::f64::consts::TAU;

/// Solid with its pose and materials.
pub(super) struct Solid {
    shape: Shape,
    placement: Placement,
    /// Materials: one for each face of a cuboid, in the order of [`Entry::face`]; round solids use the first two.
    sides: [Material; 6],
    radius: f64,
}

/// Hit of a ray in the world; small, because each pixel stores one.
#[derive(Clone, Copy)]
pub(super) struct Hit {
    /// Distance along the ray.
    pub(super) t: f64,
    /// Outward normal, in the solid's frame.
    normal: Vec3,
    pub(super) solid: u16,
    /// Index of the smooth part of its surface.
    pub(super) face: u8,
}

/// Solids that the rays of one row of pixels can meet.
pub(super) struct Row(Vec<u16>);

/// All solids, the moving ones last.
pub(super) struct World {
    solids: Vec<Solid>,
    /// Index of the first moving solid.
    movers: usize,
    seed: u32,
}

/// Returns the direction of the light, a broad window behind the cameras; unit length.
fn to_light() -> DVec3 {
    DVec3::new(-0.52, 0.72, -0.46).normalize()
}

/// Reach of a ball's ambient occlusion, in radii.
const AMBIENT_RADII: f64 = 2.5;
/// Half the angular width of the light, as a tangent.
const LIGHT_HALF_WIDTH: f64 = 0.09;

impl World {
    /// Returns the furnished room at `phase` turns of the loop, 0 to 1.
    pub(super) fn room(seed: u32, phase: f64) -> Self {
        let turn = TAU * phase;
        let rgb = DVec3::new;
        let mut solids = Vec::new();
        let mut put = |shape: Shape, placement, sides| {
            solids.push(Solid::new(shape, placement, sides));
            solids.len()
        };
        // the seed shifts solids slightly, and changes every texture
        let shift = |what: i32| (cell(what, 0, seed) - 0.5) * 0.08;
        let at = |x: f64, y: f64, z: f64| Placement::at(DVec3::new(x, y, z));

        let wall = Material::Wall(rgb(0.55, 0.66, 0.66), -0.55);
        let ceiling = Material::Plain(rgb(0.86, 0.85, 0.82), 0.06);
        let room = Shape::Room(DVec3::new(2.7, 1.3, 3.3));
        put(room, at(0.0, 1.3, 2.3), [wall, wall, ceiling, Material::Floor, wall, wall]);

        put(Shape::Cuboid(DVec3::new(0.80, 0.95, 0.17)), at(-1.25, 0.95, 5.42), [Material::Books; 6]);
        let frame = Material::Wood(rgb(0.30, 0.20, 0.13));
        put(Shape::Cuboid(DVec3::new(0.56, 0.42, 0.03)), at(0.92, 1.62, 5.56), [frame; 6]);
        put(Shape::Cuboid(DVec3::new(0.50, 0.36, 0.03)), at(0.92, 1.62, 5.55), [Material::Painting; 6]);

        // a floor lamp, and three slender rods in a pot
        let steel = Material::Plain(rgb(0.34, 0.33, 0.35), 0.25);
        put(Shape::Cylinder(0.013, 0.75), at(1.95, 0.75, 4.55), [steel; 6]);
        put(Shape::Cylinder(0.17, 0.02), at(1.95, 0.02, 4.55), [steel; 6]);
        let shade = Material::Rings(rgb(1.25, 1.05, 0.72), rgb(1.15, 0.88, 0.55), 0.11);
        put(Shape::Cylinder(0.20, 0.15), at(1.95, 1.58, 4.55), [shade; 6]);
        let pot = Material::Rings(rgb(0.70, 0.38, 0.26), rgb(0.58, 0.30, 0.20), 0.13);
        put(Shape::Cylinder(0.13, 0.16), at(-1.60, 0.16, 3.75), [pot; 6]);
        for (k, lean) in [-0.12, 0.03, 0.15].into_iter().enumerate() {
            let rod = Material::Rings(rgb(0.58, 0.60, 0.30), rgb(0.46, 0.50, 0.24), 0.21);
            let placement = at(-1.60 - lean * 0.55, 0.85, 3.72 + 0.05 * k as f64);
            put(Shape::Cylinder(0.010, 0.72), placement.turned(DMat3::from_rotation_z(lean)), [rod; 6]);
        }

        // boxes: a crate, a weakly textured one on it, a plinth with a globe
        let (x, z) = (-0.86 + shift(1), 2.75 + shift(2));
        let yaw = DMat3::from_rotation_y(0.55 + shift(3));
        put(Shape::Cuboid(DVec3::splat(0.26)), at(x, 0.26, z).turned(yaw), [Material::Crate(0.26); 6]);
        let red = Material::Plain(rgb(0.72, 0.27, 0.21), 0.05);
        let yaw = DMat3::from_rotation_y(-0.25 + shift(4));
        put(Shape::Cuboid(DVec3::new(0.15, 0.11, 0.13)), at(x + 0.02, 0.63, z).turned(yaw), [red; 6]);
        let (globe_x, globe_z) = (1.05 + shift(5), 3.50 + shift(6));
        let white = Material::Plain(rgb(0.84, 0.81, 0.74), 0.045);
        let yaw = DMat3::from_rotation_y(0.45);
        put(Shape::Cuboid(DVec3::new(0.26, 0.36, 0.26)), at(globe_x, 0.36, globe_z).turned(yaw), [white; 6]);
        put(Shape::Cylinder(0.09, 0.03), at(globe_x, 0.75, globe_z), [frame; 6]);
        let globe = at(globe_x, 1.02, globe_z).turned(DMat3::from_rotation_z(0.4));
        put(Shape::Sphere(0.25), globe, [Material::Globe; 6]);

        // in front: the corner of a table with a mug
        let yaw = DMat3::from_rotation_y(-0.30);
        let oak = Material::Wood(rgb(0.62, 0.42, 0.26));
        put(Shape::Cuboid(DVec3::new(0.50, 0.02, 0.26)), at(0.72, 0.60, 1.02).turned(yaw), [oak; 6]);
        let mug = Material::Rings(rgb(0.24, 0.44, 0.52), rgb(0.88, 0.84, 0.74), 0.08);
        let movers = put(Shape::Cylinder(0.045, 0.055), at(0.40, 0.675, 1.04), [mug; 6]);

        // the moving solids: first the ball that rolls round the rug
        let ball = Material::Ball(rgb(0.90, 0.48, 0.14), rgb(0.15, 0.42, 0.55));
        let roll = DMat3::from_rotation_y(-turn) * DMat3::from_rotation_x(-2.0 * turn);
        let placement = at(0.16 + 0.40 * turn.cos(), 0.17, 2.72 + 0.36 * turn.sin());
        put(Shape::Sphere(0.17), placement.turned(roll), [ball; 6]);

        // a pendulum from the ceiling
        let swing = DMat3::from_rotation_z(0.36 * (2.0 * turn).sin());
        let (hook, length) = (DVec3::new(-0.28, 2.6, 4.1), 1.40);
        let rod = Placement::at(hook + swing * DVec3::new(0.0, -length / 2.0, 0.0)).turned(swing);
        put(Shape::Cylinder(0.011, length / 2.0), rod, [steel; 6]);
        let bob = Placement::at(hook + swing * DVec3::new(0.0, -length, 0.0)).turned(swing);
        let brass = Material::Rings(rgb(0.86, 0.66, 0.26), rgb(0.72, 0.50, 0.18), 0.09);
        put(Shape::Sphere(0.13), bob, [brass; 6]);

        // a balloon that drifts in front of the other solids
        let drift = DVec3::new(0.10 * turn.sin(), 0.03 * (2.0 * turn).sin(), 0.05 * turn.cos());
        let balloon = DVec3::new(-0.34, 1.14, 0.98) + drift;
        let skin = Material::Plain(rgb(0.80, 0.22, 0.24), 0.16);
        put(Shape::Sphere(0.095), Placement::at(balloon), [skin; 6]);
        let string = Material::Plain(rgb(0.85, 0.82, 0.75), 0.2);
        put(Shape::Cylinder(0.0025, 0.30), Placement::at(balloon - DVec3::Y * 0.39), [string; 6]);
        Self { solids, movers, seed }
    }

    pub(super) fn still_of(solids: Vec<Solid>, seed: u32) -> Self {
        Self { movers: solids.len(), solids, seed }
    }

    #[must_use]
    pub(super) fn still(mut self) -> Self {
        self.solids.truncate(self.movers);
        self
    }

    /// Returns the solids that meet the plane of a row's rays, or come within `margin` (a tangent) of it.
    pub(super) fn row(&self, ray: &Ray, margin: f64) -> Row {
        let normal = ray.direction.cross(DVec3::X).normalize();
        let meets = |solid: &Solid| {
            let to = solid.placement.position - ray.origin;
            normal.dot(to).abs() <= solid.radius + margin * to.length()
        };
        Row((0..self.solids.len()).filter(|&k| meets(&self.solids[k])).map(|k| k as u16).collect())
    }

    /// Returns the first hit of a ray among the solids of a row.
    pub(super) fn hit(&self, ray: &Ray, row: &Row) -> Option<Hit> {
        self.nearer(ray, &row.0, None)
    }

    /// Returns the first hit like [`World::hit`]; `still` is the known hit among the static solids.
    pub(super) fn hit_with_static(&self, ray: &Ray, row: &Row, still: Option<Hit>) -> Option<Hit> {
        let movers = row.0.partition_point(|&k| usize::from(k) < self.movers);
        self.nearer(ray, &row.0[movers..], still)
    }

    fn nearer(&self, ray: &Ray, candidates: &[u16], mut nearest: Option<Hit>) -> Option<Hit> {
        let square = ray.direction.length_squared();
        for &index in candidates {
            let solid = &self.solids[usize::from(index)];
            if !solid.is_near(ray, square, 0.0) {
                continue;
            }
            if let Some(Entry { t, normal, face }) = solid.shape.entry(&solid.placement.local(ray))
                && nearest.is_none_or(|hit| t < hit.t)
            {
                nearest = Some(Hit { t, normal: normal.as_vec3(), solid: index, face });
            }
        }
        nearest
    }

    /// Whether a moving solid is visible within `margin` (a tangent) of a ray, or changes the light at its hit.
    pub(super) fn is_affected_by_motion(&self, ray: &Ray, row: &Row, hit: Option<&Hit>, margin: f64) -> bool {
        let movers = row.0.partition_point(|&k| usize::from(k) < self.movers);
        let square = ray.direction.length_squared();
        let seen = |solid: &Solid| solid.is_near(ray, square, margin) && solid.is_passed(ray, 2.0 * margin);
        if row.0[movers..].iter().any(|&k| seen(&self.solids[usize::from(k)])) {
            return true;
        }
        let Some(hit) = hit else { return false };
        let point = ray.origin + hit.t * ray.direction;
        let margin = 0.005 + margin * hit.t;
        self.solids[self.movers..].iter().any(|solid| {
            let to = solid.placement.position - point;
            let closes = matches!(solid.shape, Shape::Sphere(_)) && to.length() < AMBIENT_RADII * solid.radius + margin;
            let shades = || solid.is_passed(&Ray { origin: point, direction: to_light() }, margin);
            closes || (solid.may_shade(to, margin) && shades())
        })
    }

    /// Returns the colour of the hit surface, each channel 0 to 1. `pixel` is the angle of one pixel (1 / focal length); `viewpoint` is the
    /// midpoint between the cameras, so that both views show the same colour.
    pub(super) fn color(&self, ray: &Ray, hit: &Hit, pixel: f64, viewpoint: DVec3) -> DVec3 {
        let solid = &self.solids[usize::from(hit.solid)];
        let point = ray.origin + hit.t * ray.direction;
        let normal = solid.placement.turn * hit.normal.as_dvec3();
        // a pixel's footprint is larger on a slanted surface
        let view = point - viewpoint;
        let slant = (normal.dot(view).abs() / view.length()).max(0.2);
        let footprint = pixel * hit.t / slant.sqrt();
        let local = solid.placement.local(&Ray { origin: point, direction: DVec3::Z }).origin;
        let seed = self.seed.wrapping_mul(977).wrapping_add(u32::from(hit.solid) * 101);
        let surface_point = SurfacePoint::new(local, hit.normal.as_dvec3(), footprint, seed);
        let albedo = solid.sides[usize::from(hit.face)].color(&surface_point);
        albedo * self.light(point, normal)
    }

    fn light(&self, point: DVec3, normal: DVec3) -> DVec3 {
        let mut sun = normal.dot(to_light()).max(0.0);
        let start = Ray { origin: point + 1e-4 * normal, direction: to_light() };
        let mut open = 1.0;
        for solid in &self.solids {
            let to = solid.placement.position - start.origin;
            // ambient occlusion: close solids darken a surface slightly from all sides
            if let Shape::Sphere(r) = solid.shape {
                let square = r * r / to.length_squared();
                let near = square - 1.0 / (AMBIENT_RADII * AMBIENT_RADII);
                if near > 0.0 {
                    open *= 1.0 - 0.8 * near * (normal.dot(to) / to.length()).max(0.0);
                }
            }
            if sun > 0.0 && solid.may_shade(to, 0.0) {
                sun *= solid.shape.light_passing(&solid.placement.local(&start), LIGHT_HALF_WIDTH);
            }
        }
        let sky = 0.5 + 0.5 * normal.y;
        let ambient = DVec3::new(0.46, 0.48, 0.52) * (0.72 + 0.28 * sky) * open;
        ambient + DVec3::new(0.72, 0.68, 0.60) * sun
    }
}

impl Solid {
    pub(super) fn new(shape: Shape, placement: Placement, sides: [Material; 6]) -> Self {
        Self { radius: shape.radius(), shape, placement, sides }
    }

    /// Whether a ray whose direction has this squared length passes the bounding ball within `margin`.
    fn is_near(&self, ray: &Ray, square: f64, margin: f64) -> bool {
        let to = self.placement.position - ray.origin;
        let along = to.dot(ray.direction);
        let r = if margin > 0.0 { self.radius + margin * to.length() } else { self.radius };
        to.length_squared() * square - along * along <= r * r * square
    }

    /// Whether a ray passes a long thin cylinder within `margin`, a tangent; the bounding ball is too coarse for it. True for other shapes.
    fn is_passed(&self, ray: &Ray, margin: f64) -> bool {
        let Shape::Cylinder(r, half) = self.shape else { return true };
        let Ray { origin: o, direction: d } = self.placement.local(ray);
        let (square, r) = (d.x * d.x + d.z * d.z, r + margin * (1.0 + o.length()));
        let across = square.sqrt().max(1e-9);
        // point of the ray nearest to the axis: its height, and the heights nearby
        let y = o.y - d.y * (o.x * d.x + o.z * d.z) / square.max(1e-18);
        (o.x * d.z - o.z * d.x).abs() <= r * across && y.abs() <= half + r * (1.0 + d.y.abs() / across)
    }

    /// Whether the solid may be, even in part, between the light and a point at the distance `to` from it.
    fn may_shade(&self, to: DVec3, margin: f64) -> bool {
        let along = to.dot(to_light());
        let reach = self.radius + LIGHT_HALF_WIDTH * along.max(0.0) + margin;
        along > -self.radius - margin && to.length_squared() - along * along < reach * reach
    }
}
