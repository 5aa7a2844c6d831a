//! Solids placed in the room: exact ray intersections and soft shadows.
//!
//! A placement rotates and translates but never scales, so that the distance along a ray is the same in both frames.

use glam::{DMat3, DVec3};

/// Solid centred at its own origin; lengths in metres.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// Sphere, with its radius.
    Sphere(f64),
    /// Cuboid, with its half sizes.
    Cuboid(DVec3),
    /// Room, the inside of a cuboid, with its half sizes.
    Room(DVec3),
    /// Cylinder, with its radius and half height along y.
    Cylinder(f64, f64),
}

/// Ray; points on it are `origin + t direction`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ray {
    pub(super) origin: DVec3,
    pub(super) direction: DVec3,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Distance along the ray.
    pub(super) t: f64,
    /// Outward normal, in the solid's frame.
    pub(super) normal: DVec3,
    /// Index of the smooth surface part, to detect edges within a solid.
    pub(super) face: u8,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    pub(super) position: DVec3,
    /// Rotation from the solid's frame to the room's.
    pub(super) turn: DMat3,
}

impl Placement {
    pub(super) fn at(position: DVec3) -> Self {
        Self { position, turn: DMat3::IDENTITY }
    }

    #[must_use]
    pub(super) fn turned(self, turn: DMat3) -> Self {
        Self { turn: turn * self.turn, ..self }
    }

    /// Converts a ray from the room's frame to the solid's.
    pub(super) fn local(&self, ray: &Ray) -> Ray {
        let back = self.turn.transpose();
        Ray { origin: back * (ray.origin - self.position), direction: back * ray.direction }
    }
}

/// Smallest distance of a hit; a nearer one is the ray's own start.
const MIN_DISTANCE: f64 = 1e-6;

impl Shape {
    pub(super) fn radius(&self) -> f64 {
        match *self {
            Self::Sphere(r) => r,
            Self::Cuboid(half) | Self::Room(half) => half.length(),
            Self::Cylinder(r, half) => r.hypot(half),
        }
    }

    /// Returns the first intersection of a ray, in the solid's frame.
    pub(super) fn entry(&self, ray: &Ray) -> Option<Entry> {
        match *self {
            Self::Sphere(r) => {
                let t = ball(ray, r)?.0;
                (t > MIN_DISTANCE).then(|| Entry { t, normal: (ray.origin + t * ray.direction) / r, face: 0 })
            }
            Self::Cuboid(half) => {
                let (near, far) = slabs(ray, half);
                let t = near.max_element();
                (t > MIN_DISTANCE && t < far.min_element()).then(|| wall(t, near, -ray.direction.signum()))
            }
            Self::Room(half) => {
                let (_, far) = slabs(ray, half);
                let t = far.min_element();
                (t > MIN_DISTANCE).then(|| wall(t, far, -ray.direction.signum()))
            }
            Self::Cylinder(r, half) => {
                let (near, far) = tube(ray, r)?;
                let (low, high) = slabs_y(ray, half);
                let t = near.max(low);
                if t <= MIN_DISTANCE || t >= far.min(high) {
                    return None;
                }
                let p = ray.origin + t * ray.direction;
                Some(if near > low {
                    Entry { t, normal: DVec3::new(p.x, 0.0, p.z) / r, face: 0 }
                } else {
                    Entry { t, normal: DVec3::new(0.0, -ray.direction.y.signum(), 0.0), face: 1 }
                })
            }
        }
    }

    /// Returns the fraction of a broad light that passes the solid along a ray (unit direction, solid's frame), 0 to 1.
    pub(super) fn light_passing(&self, ray: &Ray, breadth: f64) -> f64 {
        let (near, chord) = match *self {
            Self::Room(_) => return 1.0,
            Self::Sphere(r) => {
                // distance of the ray from the surface, for a shadow that is soft on both sides
                let along = -ray.origin.dot(ray.direction);
                if along <= 0.0 {
                    return 1.0;
                }
                let miss = (ray.origin + along * ray.direction).length() - r;
                return smooth(miss / (breadth * along) * 0.5 + 0.5);
            }
            Self::Cuboid(half) => {
                let (near, far) = slabs(ray, half);
                (near.max_element(), far.min_element() - near.max_element().max(0.0))
            }
            Self::Cylinder(r, half) => {
                let Some((near, far)) = tube(ray, r) else { return 1.0 };
                let (low, high) = slabs_y(ray, half);
                (near.max(low), far.min(high) - near.max(low).max(0.0))
            }
        };
        if chord <= 0.0 { 1.0 } else { 1.0 - smooth(chord / (breadth * near.max(0.02) * 2.0)) }
    }
}

/// Returns a smooth step from 0 to 1 with zero slope at both ends.
pub(super) fn smooth(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// Returns the distances at which a ray enters and leaves a ball; `None` if it misses.
fn ball(ray: &Ray, r: f64) -> Option<(f64, f64)> {
    roots(ray.direction.length_squared(), ray.origin.dot(ray.direction), ray.origin.length_squared() - r * r)
}

fn tube(ray: &Ray, r: f64) -> Option<(f64, f64)> {
    let (o, d) = (ray.origin, ray.direction);
    let a = d.x * d.x + d.z * d.z;
    let c = o.x * o.x + o.z * o.z - r * r;
    if a < 1e-12 {
        return (c < 0.0).then_some((f64::NEG_INFINITY, f64::INFINITY));
    }
    roots(a, o.x * d.x + o.z * d.z, c)
}

fn roots(a: f64, b: f64, c: f64) -> Option<(f64, f64)> {
    let q = b * b - a * c;
    (q > 0.0).then(|| ((-b - q.sqrt()) / a, (-b + q.sqrt()) / a))
}

fn slabs(ray: &Ray, half: DVec3) -> (DVec3, DVec3) {
    let inverse = ray.direction.recip();
    let (a, b) = ((-half - ray.origin) * inverse, (half - ray.origin) * inverse);
    (a.min(b), a.max(b))
}

fn slabs_y(ray: &Ray, half: f64) -> (f64, f64) {
    let (a, b) = ((-half - ray.origin.y) / ray.direction.y, (half - ray.origin.y) / ray.direction.y);
    (a.min(b), a.max(b))
}

fn wall(t: f64, at: DVec3, towards: DVec3) -> Entry {
    let (normal, axis) = if t.total_cmp(&at.x).is_eq() {
        (DVec3::X * towards.x, 0)
    } else if t.total_cmp(&at.y).is_eq() {
        (DVec3::Y * towards.y, 1)
    } else {
        (DVec3::Z * towards.z, 2)
    };
    Entry { t, normal, face: axis * 2 + u8::from(normal.element_sum() > 0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ahead(x: f64, y: f64) -> Ray {
        Ray { origin: DVec3::new(x, y, -5.0), direction: DVec3::Z }
    }

    #[test]
    fn rays_enter_at_the_exact_distance() {
        assert!((Shape::Sphere(1.0).entry(&ahead(0.6, 0.0)).unwrap().t - 4.2).abs() < 1e-12);
        assert!(Shape::Sphere(1.0).entry(&ahead(1.01, 0.0)).is_none());
        let cuboid = Shape::Cuboid(DVec3::new(1.0, 2.0, 3.0)).entry(&ahead(0.3, 1.9)).unwrap();
        assert_eq!((cuboid.t, cuboid.normal), (2.0, DVec3::NEG_Z));
        assert!(Shape::Cuboid(DVec3::ONE).entry(&ahead(0.0, 1.1)).is_none());
        let cylinder = Shape::Cylinder(0.5, 1.0);
        assert!((cylinder.entry(&ahead(0.3, 0.9)).unwrap().t - 4.6).abs() < 1e-12);
        assert!(cylinder.entry(&ahead(0.3, 1.1)).is_none());
        let room = Shape::Room(DVec3::splat(10.0)).entry(&ahead(0.0, 0.0)).unwrap();
        assert_eq!((room.t, room.normal), (15.0, DVec3::NEG_Z));
    }

    #[test]
    fn a_turned_solid_is_hit_on_its_turned_side() {
        let placement = Placement::at(DVec3::ZERO).turned(DMat3::from_rotation_y(std::f64::consts::FRAC_PI_4));
        let entry = Shape::Cuboid(DVec3::ONE).entry(&placement.local(&ahead(0.0, 0.0))).unwrap();
        assert!((entry.t - (5.0 - 2_f64.sqrt())).abs() < 1e-9);
    }

    #[test]
    fn shadows_are_dark_behind_a_solid_and_absent_beside_it() {
        for shape in [Shape::Sphere(1.0), Shape::Cuboid(DVec3::ONE), Shape::Cylinder(1.0, 1.0)] {
            assert!(shape.light_passing(&ahead(0.0, 0.0), 0.05) < 0.01, "{shape:?}");
            assert!(shape.light_passing(&ahead(3.0, 0.0), 0.05) > 0.99, "{shape:?}");
        }
    }
}
