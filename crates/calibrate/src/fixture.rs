//! Rendered images of a board with known pose and corners, for tests.

mod picture;
mod random;
mod rays;

pub use random::{random_pose, random_rig};

use super::{Board, Corner, Pose, Side, View};
use crate::calibration::{Camera, StereoRig};
use crate::image::Image;
use glam::{DVec2, DVec3};
use picture::{Canvas, paint};
use rays::RayTable;

/// Imaging conditions of a pair.
#[derive(Clone, Copy, Debug)]
pub struct ImagingConditions {
    /// Standard deviation of a Gaussian blur, px.
    pub blur_px: f64,
    /// Standard deviation of noise, grey levels.
    pub noise: f64,
    /// Brightness factor; white paper has 225 at 1.
    pub exposure: f64,
    /// Brightness gradient over the width and the height, as a share of the mean.
    pub light: DVec2,
    /// Speed of the board in the left camera's axes, m/s.
    pub shift_m_s: DVec3,
    /// Angular velocity of the board about its origin, rad/s.
    pub turn_rad_s: DVec3,
    /// Rolling-shutter time from the first to the last row, s.
    pub readout_s: f64,
    /// Delay of the right image, s.
    pub skew_s: f64,
    /// Width and height of the print relative to the board's description.
    pub print_scale: DVec2,
    /// Seed of the noise.
    pub seed: u64,
}

impl Default for ImagingConditions {
    /// Returns the conditions of a sharp image of a resting board, without noise.
    fn default() -> Self {
        Self {
            blur_px: 0.0,
            noise: 0.0,
            exposure: 1.0,
            light: DVec2::ZERO,
            shift_m_s: DVec3::ZERO,
            turn_rad_s: DVec3::ZERO,
            readout_s: 0.0,
            skew_s: 0.0,
            print_scale: DVec2::ONE,
            seed: 1,
        }
    }
}

impl ImagingConditions {
    /// Returns the usual conditions of a webcam: slight blur and noise, light from one side.
    pub fn usual(seed: u64) -> Self {
        Self { blur_px: 0.7, noise: 2.0, light: DVec2::new(0.3, -0.15), seed, ..Self::default() }
    }

    /// Returns the pose in the left camera's axes while a side reads a row (as a share of the height).
    fn pose(&self, pose: &Pose, side: Side, row: f64) -> Pose {
        let skew = if side == Side::Right { self.skew_s } else { 0.0 };
        let time = skew + self.readout_s * row;
        pose.moved(self.turn_rad_s * time, self.shift_m_s * time)
    }
}

/// Renderer of a rig's board images, in the rig's image size or 640x480.
#[derive(Debug)]
pub struct BoardRenderer {
    rig: StereoRig,
    rays: [RayTable; 2],
}

impl BoardRenderer {
    /// Computes the rays of both cameras, once for all images.
    pub fn new(rig: &StereoRig) -> Self {
        let size = size_of(rig);
        let rays = Side::ALL.map(|side| RayTable::new(camera(rig, side), size));
        Self { rig: rig.clone(), rays }
    }

    /// Renders a pair of a board at a pose (board to left camera axes), with a white margin of half a square.
    pub fn pair(&self, board: &Board, pose: &Pose, shot: &ImagingConditions) -> [Image<u8>; 2] {
        Side::ALL.map(|side| self.picture(board, pose, shot, side))
    }

    /// Renders one side's image.
    pub fn picture(&self, board: &Board, pose: &Pose, shot: &ImagingConditions, side: Side) -> Image<u8> {
        let height = size_of(&self.rig).1 as f64;
        let canvas = |y: usize| {
            let seen = in_eye(&self.rig, side, &shot.pose(pose, side, y as f64 / height));
            Canvas::new(board, &seen, &in_eye(&self.rig, side, &WALL), shot)
        };
        paint(&self.rays[side as usize], shot, side, canvas)
    }
}

/// Pose of the background: a wall in front of the left camera.
const WALL: Pose = Pose { rotation: glam::DMat3::IDENTITY, translation_m: DVec3::new(0.0, 0.0, 4.0) };

/// Projects the corners into both images: the truth of [`BoardRenderer::pair`].
pub fn truth(rig: &StereoRig, board: &Board, pose: &Pose, shot: &ImagingConditions) -> View {
    let corners = Side::ALL.map(|side| {
        let seen = |id| Some(Corner { id, at: corner(rig, board, pose, shot, (side, id))? });
        (0..board.corner_count()).filter_map(seen).collect()
    });
    View { name: "truth".to_owned(), corners }
}

fn corner(
    rig: &StereoRig,
    board: &Board,
    pose: &Pose,
    shot: &ImagingConditions,
    (side, id): (Side, usize),
) -> Option<DVec2> {
    let (width, height) = size_of(rig);
    let point = board.point_m(id) * shot.print_scale.extend(1.0);
    let mut at = DVec2::new(0.0, height as f64 / 2.0);
    // a row determines its readout time, which in turn determines the row
    for _ in 0..8 {
        let moved = shot.pose(pose, side, at.y.clamp(0.0, height as f64) / height as f64);
        let seen = in_eye(rig, side, &moved).at(point);
        if seen.z <= 0.0 {
            return None;
        }
        at = camera(rig, side).project(seen);
    }
    let last = DVec2::new(width as f64, height as f64) - 1.0;
    let is_inside = at.cmpge(DVec2::ZERO).all() && at.cmple(last).all();
    // beyond its fold a lens model maps other rays to the same pixels
    is_inside.then_some(at).filter(|at| camera(rig, side).ray(*at).is_some())
}

fn size_of(rig: &StereoRig) -> (usize, usize) {
    rig.size.unwrap_or((640, 480))
}

fn camera(rig: &StereoRig, side: Side) -> &Camera {
    match side {
        Side::Left => &rig.left,
        Side::Right => &rig.right,
    }
}

/// Converts a pose from the left camera's axes to a side's.
fn in_eye(rig: &StereoRig, side: Side, pose: &Pose) -> Pose {
    match side {
        Side::Left => *pose,
        Side::Right => Pose { rotation: rig.rotation, translation_m: rig.translation_m }.after(pose),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{BrownConrady, Distortion, Fisheye};
    use fastrand::Rng;
    use glam::DMat3;

    const BOARD: &str = "charuco:10x7:24mm:18mm:DICT_5X5_100";

    /// Whether the four quadrants around a corner, `reach` px away, alternate in brightness.
    fn alternates(image: &Image<u8>, at: DVec2, along: DVec2, down: DVec2) -> bool {
        let grey = |offset: DVec2| {
            let p = (at + offset).round();
            image.get(p.x as isize, p.y as isize).unwrap_or(128)
        };
        let ((a, b), (c, d)) = ((grey(-along - down), grey(along - down)), (grey(along + down), grey(down - along)));
        a.min(c) > b.max(d).saturating_add(80) || b.min(d) > a.max(c).saturating_add(80)
    }

    /// Asserts that black and white alternate around every true corner, a tenth of a square away.
    fn check(rig: &StereoRig, board: &Board, pose: &Pose, shot: &ImagingConditions) -> usize {
        let images = BoardRenderer::new(rig).pair(board, pose, shot);
        let truth = truth(rig, board, pose, shot);
        for side in Side::ALL {
            for seen in truth.of(side) {
                let (across, _) = board.inner();
                let neighbour = |step: usize| truth.of(side).iter().find(|corner| corner.id == seen.id + step);
                let (Some(right), Some(below)) = (neighbour(1), neighbour(across)) else { continue };
                if seen.id % across + 1 == across {
                    continue;
                }
                let (along, down) = ((right.at - seen.at) * 0.09, (below.at - seen.at) * 0.09);
                assert!(alternates(&images[side as usize], seen.at, along, down), "{side:?} {seen:?}");
            }
        }
        truth.common().count()
    }

    #[test]
    fn corners_are_where_the_truth_says() {
        let board: Board = BOARD.parse().unwrap();
        for seed in 0..4 {
            let rig = random_rig(seed);
            let pose = random_pose(&rig, &board, &mut Rng::with_seed(seed));
            // nearer, so that a tenth of a square has some pixels
            let pose = Pose { translation_m: pose.translation_m * 0.8, ..pose };
            let shot = ImagingConditions { print_scale: DVec2::new(1.03, 0.98), ..ImagingConditions::default() };
            assert!(check(&rig, &board, &pose, &shot) > 10, "{seed}");
        }
    }

    #[test]
    fn a_moving_board_and_a_fisheye_are_where_the_truth_says() {
        let board: Board = BOARD.parse().unwrap();
        let mut rig = random_rig(3);
        let fisheye = Distortion::Fisheye(Fisheye { k: [0.02, -0.01, 0.0, 0.0] });
        rig.left = Camera { fx: 280.0, fy: 281.0, distortion: fisheye, ..rig.left };
        rig.right = Camera { fx: 279.0, fy: 280.0, distortion: fisheye, ..rig.right };
        let pose = Pose { rotation: DMat3::from_rotation_x(0.3), translation_m: DVec3::new(-0.1, -0.06, 0.2) };
        let shift_m_s = DVec3::new(0.5, 0.2, 0.3);
        let shot = ImagingConditions {
            shift_m_s,
            turn_rad_s: DVec3::new(0.0, 0.5, 1.0),
            readout_s: 0.03,
            skew_s: 0.02,
            ..ImagingConditions::default()
        };
        assert!(check(&rig, &board, &pose, &shot) > 10);
        let [still, moved] = [ImagingConditions::default(), shot].map(|shot| truth(&rig, &board, &pose, &shot));
        assert!((still.of(Side::Right)[5].at - moved.of(Side::Right)[5].at).length() > 3.0);
    }

    #[test]
    fn light_noise_and_blur_are_what_they_say() {
        let board: Board = "chessboard:2x2:200mm".parse().unwrap();
        let mut rig = random_rig(1);
        rig.left.distortion = Distortion::BrownConrady(BrownConrady::default());
        let pose = Pose { rotation: DMat3::IDENTITY, translation_m: DVec3::new(0.0, 0.0, 0.1) };
        let studio = BoardRenderer::new(&rig);
        let plain = studio.picture(
            &board,
            &pose,
            &ImagingConditions { exposure: 0.5, ..ImagingConditions::default() },
            Side::Left,
        );
        let levels: std::collections::BTreeSet<u8> = plain.pixels().iter().copied().collect();
        assert!(levels.contains(&13) && levels.contains(&113), "{levels:?}");
        let noisy = studio.picture(
            &board,
            &pose,
            &ImagingConditions { exposure: 0.5, noise: 4.0, ..ImagingConditions::default() },
            Side::Left,
        );
        let flat = plain.pixels().iter().zip(noisy.pixels()).filter(|(plain, _)| **plain == 113);
        let squares: Vec<f64> = flat.map(|(_, noisy)| (f64::from(*noisy) - 112.5).powi(2)).collect();
        let deviation = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
        assert!((deviation - 4.0).abs() < 0.2, "{deviation}");
        let steepest =
            |image: &Image<u8>| image.row(100).windows(2).map(|pair| pair[0].abs_diff(pair[1])).max().unwrap();
        let blurred = studio.picture(
            &board,
            &pose,
            &ImagingConditions { blur_px: 2.0, ..ImagingConditions::default() },
            Side::Left,
        );
        let sharp = studio.picture(&board, &pose, &ImagingConditions::default(), Side::Left);
        // the slope of a blurred step of 200 levels is 200 / (2 √(2π))
        assert!(steepest(&sharp) > 90 && (35..=42).contains(&steepest(&blurred)), "{}", steepest(&blurred));
    }
}
