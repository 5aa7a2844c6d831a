//! Frames of reference: the pose between two cameras by the transforms that ROS's drivers publish (`/tf_static`).

use crate::{Body, Message};
use glam::{DMat3, DQuat, DVec3};
use std::collections::HashMap;

/// Pose of one camera in another one's axes: rotation, and translation in m.
pub type Pose = (DMat3, DVec3);

/// Maximum number of frames between a camera and the root.
const MAX_DEPTH: usize = 64;
/// Maximum number of frames.
const MAX_FRAMES: usize = 10_000;

/// Poses of frames in their parents, by name; the first one of each holds.
#[derive(Debug, Default)]
pub(super) struct FrameTree(HashMap<String, (String, Pose)>);

impl FrameTree {
    /// Adds the transforms of a message.
    pub(super) fn add(&mut self, transforms: Vec<Message>) {
        for Message { frame_id, body, .. } in transforms {
            let Body::Transform { child_frame_id, translation_m, rotation } = body else { continue };
            let rotation = DQuat::from_array(rotation);
            let translation_m = DVec3::from_array(translation_m);
            let is_sound = translation_m.is_finite() && rotation.is_finite() && rotation.length() > 0.5;
            if is_sound && self.0.len() < MAX_FRAMES {
                let pose = (DMat3::from_quat(rotation.normalize()), translation_m);
                self.0.entry(plain(&child_frame_id)).or_insert((plain(&frame_id), pose));
            }
        }
    }

    /// Returns the pose of the left camera in the right one's axes, where a frame is above both, and the cameras are beside each other in
    /// these axes: those of a body, x forward, are not those of its images.
    pub(super) fn between(&self, left: &str, right: &str) -> Option<Pose> {
        let (of_left, of_right) = (self.above(left), self.above(right));
        let common = of_left.iter().find_map(|(name, pose)| {
            let (_, other) = of_right.iter().find(|(other, _)| other == name)?;
            Some((*pose, *other))
        });
        let ((left, left_m), (right, right_m)) = common?;
        let to_right = right.transpose();
        let (rotation, left_m) = (to_right * left, to_right * (left_m - right_m));
        (left_m.x.abs() > left_m.y.abs().max(left_m.z.abs())).then_some((rotation, left_m))
    }

    /// Returns a frame and those above it, with the pose of the first one in each.
    fn above(&self, name: &str) -> Vec<(String, Pose)> {
        let mut above = vec![(plain(name), (DMat3::IDENTITY, DVec3::ZERO))];
        while let Some((name, (rotation, at))) = above.last().filter(|_| above.len() < MAX_DEPTH) {
            let Some((parent, (turn, shift))) = self.0.get(name) else { break };
            let next = (parent.clone(), (*turn * *rotation, *turn * *at + *shift));
            above.push(next);
        }
        above
    }
}

/// Returns the name of a frame without the slash that tf of ROS 1 puts before it.
fn plain(name: &str) -> String {
    name.trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    fn transform(parent: &str, child: &str, translation_m: [f64; 3], rotation: DQuat) -> Message {
        let body = Body::Transform { child_frame_id: child.into(), translation_m, rotation: rotation.to_array() };
        Message { stamp: UNIX_EPOCH, frame_id: parent.into(), body }
    }

    #[test]
    fn finds_the_pose_between_two_cameras_of_one_body() {
        // a driver's frames: a body with x forward, cameras on it, and the axes of their images
        let optical = DQuat::from_xyzw(-0.5, 0.5, -0.5, 0.5);
        let turned = DQuat::from_rotation_z(-0.1);
        let mut frames = FrameTree::default();
        frames.add(vec![
            transform("/base", "left", [0.3, 0.06, 0.2], DQuat::IDENTITY),
            transform("base", "right", [0.3, -0.06, 0.2], turned),
        ]);
        frames.add(vec![transform("left", "left_optical", [0.0; 3], optical)]);
        frames.add(vec![transform("right", "right_optical", [0.0; 3], optical)]);
        let (rotation, left_m) = frames.between("left_optical", "right_optical").unwrap();
        // turned to the right about the images' y by 0.1
        let expected = DMat3::from_rotation_y(-0.1);
        assert!(rotation.abs_diff_eq(expected, 1e-12), "{rotation} {expected}");
        assert!(left_m.abs_diff_eq(expected * DVec3::new(-0.12, 0.0, 0.0), 1e-12), "{left_m}");
        assert_eq!(frames.between("left", "right"), None, "x forward: no axes of images");
        assert_eq!(frames.between("left_optical", "elsewhere"), None);
    }

    #[test]
    fn frames_in_a_circle_come_to_an_end() {
        let mut frames = FrameTree::default();
        frames.add(vec![transform("a", "b", [1.0, 0.0, 0.0], DQuat::IDENTITY)]);
        frames.add(vec![transform("b", "a", [1.0, 0.0, 0.0], DQuat::IDENTITY)]);
        assert_eq!(frames.between("a", "other"), None);
    }
}
