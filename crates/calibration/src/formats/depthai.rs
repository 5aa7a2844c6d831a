//! DepthAI's JSON of an OAK camera, as `CalibrationHandler.eepromToJsonFile` writes it: K and lens of each socket, and its pose relative to
//! another socket. A point at X in a camera is at `rotationMatrix` X + `translation` in the camera of `toCameraSocket`; lengths are in
//! `lengthUnit`, else in centimetres.

use super::cameras::listed;
use super::draft::{self, Draft, Pose};
use super::error::two_cameras;
use super::tree::Node;
use super::{FileError, Kind, LoadOptions, ValueFault, need};
use crate::{Camera, Distortion, LengthUnit, StereoRig};
use glam::{DMat3, DVec3};

/// Sockets of the left and the right camera of OAKs, for files that do not name them.
const USUAL: [i64; 2] = [1, 2];
/// Units of lengths, in centimetres, in the order of DepthAI's `LengthUnit`: metre, centimetre, millimetre, inch and foot.
const UNITS_CM: [f64; 5] = [100.0, 1.0, 0.1, 2.54, 30.48];

type Socket<'a> = (i64, &'a Node);

pub(super) fn recognizes(tree: &Node) -> bool {
    tree.has("cameraData") && (tree.has("boardName") || tree.has("stereoRectificationData"))
}

/// Reads the cameras named by the options, else those of `stereoRectificationData`.
pub(super) fn read(tree: &Node, options: &LoadOptions) -> Result<Draft, FileError> {
    let sockets = sockets(tree)?;
    let ([left, right], doubt) = pair(tree, &sockets, options)?;
    let [(left_camera, left_size), (right_camera, right_size)] = [camera(left)?, camera(right)?];
    let (rotation, translation) = between(left, right, &sockets)?;
    let rig = StereoRig::new(left_camera, right_camera, rotation, translation, Some(left_size));
    let rig = rig.with_right_size(right_size);
    let doubts = doubt.into_iter().collect();
    Ok(Draft { rig: StereoRig { kind: Kind::DepthAi, doubts, ..rig }, unit: Some(LengthUnit::Centimetre) })
}

fn socket(node: &Node) -> Option<i64> {
    node.word().and_then(|word| word.parse().ok())
}

/// Returns the cameras of `cameraData`; each is named by its number and as DepthAI's `CAM_A`.
fn sockets(tree: &Node) -> Result<Vec<(Vec<String>, Socket<'_>)>, FileError> {
    let Node::List(cameras) = need::node("", tree, "cameraData")? else { return Err(FileError::NoSockets) };
    let camera = |node: &'_ Node| match node {
        Node::List(items) => match items.as_slice() {
            [number, _] => socket(number),
            _ => None,
        },
        _ => None,
    };
    let named = cameras.iter().map(|node| {
        let (Some(number), Node::List(items)) = (camera(node), node) else { return Err(FileError::NoSockets) };
        let letter = u8::try_from(number).ok().filter(|n| *n < 26).map(|n| format!("CAM_{}", char::from(b'A' + n)));
        let names = [Some(number.to_string()), letter];
        let values = items.get(1).ok_or(FileError::NoSockets)?;
        Ok((names.into_iter().flatten().collect(), (number, values)))
    });
    named.collect()
}

/// Chooses two cameras, with a doubt if nothing indicates which are meant.
fn pair<'a>(
    tree: &Node,
    sockets: &'a [(Vec<String>, Socket<'a>)],
    options: &LoadOptions,
) -> Result<([&'a Socket<'a>; 2], Option<String>), FileError> {
    if let Some(chosen) = &options.cameras {
        return Ok((chosen.among(sockets)?, None));
    }
    let find = |wanted: i64| sockets.iter().map(|(_, socket)| socket).find(|(number, _)| *number == wanted);
    let stereo = tree.get(&["stereoRectificationData"]);
    let said = ["leftCameraSocket", "rightCameraSocket"]
        .map(|key| stereo.and_then(|stereo| stereo.get(&[key])).and_then(socket).and_then(find));
    if let [Some(left), Some(right)] = said {
        return Ok(([left, right], None));
    }
    let [Some(left), Some(right)] = USUAL.map(find) else {
        return Err(FileError::UnnamedSides(listed(sockets)));
    };
    let doubt = format!(
        "it does not say which cameras are the left and the right one: of {} the usual {} and {} are taken; for others give {}",
        listed(sockets),
        left.0,
        right.0,
        two_cameras()
    );
    Ok(([left, right], Some(doubt)))
}

fn camera((number, node): &Socket) -> Result<(Camera, (usize, usize)), FileError> {
    let group = format!("camera {number}");
    let lens = need::matrix(&group, node, "distortionCoeff")?;
    lens.finite()?;
    let kind = node.get(&["cameraType"]).and_then(Node::word).unwrap_or("0");
    let distortion = match (kind, lens.data.get(..4)) {
        ("0", _) => Distortion::from_opencv(&lens.name, &lens.data)?,
        // a fisheye has 4 of the 14 coefficients
        ("1", Some(four)) => Distortion::from_fisheye(&lens.name, four)?,
        _ => return Err(ValueFault::DepthAiModel(kind.to_owned()).of(group).into()),
    };
    let size = (need::number(&group, node, "width")?, need::number(&group, node, "height")?);
    let camera = need::matrix(&group, node, "intrinsicMatrix")?.camera(distortion)?;
    Ok((camera, (size.0 as usize, size.1 as usize)))
}

/// Returns the pose from the left camera to the right one, through a camera to which both poses lead.
fn between(left: &Socket, right: &Socket, sockets: &[(Vec<String>, Socket)]) -> Result<Pose, FileError> {
    let (from_left, from_right) = (ways(left, sockets)?, ways(right, sockets)?);
    let met = from_left
        .iter()
        .find_map(|(at, left)| from_right.iter().find(|(other, _)| other == at).map(|(_, right)| [*left, *right]));
    met.map(draft::relative).ok_or(FileError::NoDepthAiPose { left: left.0, right: right.0 })
}

/// Returns the poses from a camera to itself and to the cameras that its chain leads to.
fn ways(start: &Socket, sockets: &[(Vec<String>, Socket)]) -> Result<Vec<(i64, Pose)>, FileError> {
    let mut ways = vec![(start.0, (DMat3::IDENTITY, DVec3::ZERO))];
    let (mut at, mut pose) = (*start, (DMat3::IDENTITY, DVec3::ZERO));
    // the length of the list bounds a cycle
    for _ in 1..sockets.len() {
        let group = format!("camera {}.extrinsics", at.0);
        let Some(extrinsics) = at.1.get(&["extrinsics"]) else { break };
        let to = extrinsics.get(&["toCameraSocket"]).and_then(socket).unwrap_or(-1);
        let Some((_, next)) = sockets.iter().find(|(_, (number, _))| *number == to) else { break };
        let code = extrinsics.get(&["lengthUnit"]).and_then(Node::word).unwrap_or("1");
        let unit_cm = code.parse().ok().and_then(|code: usize| UNITS_CM.get(code));
        let unit_cm =
            *unit_cm.ok_or_else(|| ValueFault::DepthAiUnit(code.to_owned()).of(format!("{group}.lengthUnit")))?;
        let rotation = need::matrix(&group, extrinsics, "rotationMatrix")?.rotation()?;
        let translation = need::node(&group, extrinsics, "translation")?;
        let along = |axis: &str| need::number(&format!("{group}.translation"), translation, axis);
        let translation = DVec3::new(along("x")?, along("y")?, along("z")?) * unit_cm;
        pose = (rotation * pose.0, rotation * pose.1 + translation);
        at = *next;
        ways.push((at.0, pose));
    }
    Ok(ways)
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use std::path::PathBuf;

    fn camera(socket: i64, kind: u8, to: i64, rotation: &str, at: [f64; 3]) -> String {
        let [x, y, z] = at;
        let lens = if kind == 1 { "0.02, -0.01, 0.003, -0.001" } else { "0.1, -0.05, 0.001, 0.0002" };
        format!(
            r#"[{socket}, {{"cameraType": {kind}, "distortionCoeff": [{lens}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "width": 1280,
            "height": 800, "intrinsicMatrix": [[790.5, 0, 64{socket}.5], [0, 791.5, 399.5], [0, 0, 1]], "extrinsics":
            {{"rotationMatrix": {rotation}, "specTranslation": {{"x": -7.5, "y": 0, "z": 0}}, "toCameraSocket": {to},
            "translation": {{"x": {x}, "y": {y}, "z": {z}}}}}}}]"#
        )
    }

    fn json(cameras: &[String], stereo: &str) -> String {
        format!(
            r#"{{"boardName": "OAK", "cameraData": [{}], "stereoRectificationData": {stereo}}}"#,
            cameras.join(", ")
        )
    }

    fn rig_of(text: &str, cameras: Option<&str>) -> Result<StereoRig, crate::CalibrationError> {
        let options = LoadOptions { cameras: cameras.map(|text| text.parse().unwrap()), ..LoadOptions::default() };
        read(&[(PathBuf::from("oak.json"), text.as_bytes().to_vec())], &options)
    }

    const ONE: &str = "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]";
    const NONE: &str = "[[0, 0, 0], [0, 0, 0], [0, 0, 0]]";
    const STEREO: &str = r#"{"leftCameraSocket": 1, "rightCameraSocket": 2}"#;

    #[test]
    fn poses_along_the_chain_of_sockets_are_in_centimetres() {
        // cos and sin of 0.02
        let turned =
            "[[0.9998000066665778, 0, 0.01999866669333308], [0, 1, 0], [-0.01999866669333308, 0, 0.9998000066665778]]";
        let colour = camera(0, 0, -1, NONE, [0.0; 3]);
        let direct =
            [colour.clone(), camera(1, 0, 2, turned, [-7.4, 0.1, 0.05]), camera(2, 0, 0, ONE, [3.7, 0.0, 0.0])];
        let rig = rig_of(&json(&direct, STEREO), None).unwrap();
        assert_eq!((rig.kind, rig.size, rig.left.cx, rig.right.cx), (Kind::DepthAi, Some((1280, 800)), 641.5, 642.5));
        assert!((rig.translation_m - DVec3::new(-0.074, 0.001, 0.0005)).length() < 1e-15 && rig.doubts.is_empty());
        assert!(rig.rotation.abs_diff_eq(DMat3::from_rotation_y(0.02), 1e-12), "{}", rig.rotation);
        // both poses lead to the colour camera; the file names no sides
        let both = [colour, camera(1, 0, 0, ONE, [-3.7, 0.0, 0.0]), camera(2, 0, 0, ONE, [3.8, 0.0, 0.0])];
        let rig = rig_of(&json(&both, "{}"), None).unwrap();
        assert!((rig.baseline_m() - 0.075).abs() < 1e-15, "{}", rig.summary());
        assert!(rig.doubts[0].contains("of 0, 1 and 2 the usual 1 and 2 are taken"), "{:?}", rig.doubts);
        let named = rig_of(&json(&both, "{}"), Some("CAM_B,CAM_C")).unwrap();
        assert!((named.baseline_m() - 0.075).abs() < 1e-15 && named.doubts.is_empty());
        assert!((rig_of(&json(&both, STEREO), Some("0,2")).unwrap().baseline_m() - 0.038).abs() < 1e-15);
    }

    #[test]
    fn fisheyes_have_four_of_the_numbers() {
        let wide = [camera(1, 1, 2, ONE, [-7.5, 0.0, 0.0]), camera(2, 1, -1, NONE, [0.0; 3])];
        let rig = rig_of(&json(&wide, STEREO), None).unwrap();
        assert_eq!(rig.left.distortion.coefficients(), [0.02, -0.01, 0.003, -0.001]);
        assert!(
            rig_of(&json(&wide, STEREO).replace("Type\": 1", "Type\": 3"), None)
                .unwrap_err()
                .to_string()
                .contains("lens model 3")
        );
    }

    #[test]
    fn what_does_not_lead_to_a_rig_is_said() {
        let apart = [camera(1, 0, -1, NONE, [0.0; 3]), camera(2, 0, -1, NONE, [0.0; 3])];
        let refusal = rig_of(&json(&apart, STEREO), None).unwrap_err().to_string();
        assert!(refusal.contains("how the cameras 1 and 2 stand to each other"), "{refusal}");
        let circle = [camera(1, 0, 3, ONE, [1.0; 3]), camera(3, 0, 1, ONE, [1.0; 3]), camera(2, 0, 2, ONE, [1.0; 3])];
        assert!(rig_of(&json(&circle, STEREO), None).unwrap_err().to_string().contains("stand to each other"));
        let refusal = rig_of(&json(&[camera(0, 0, -1, NONE, [0.0; 3])], STEREO), None).unwrap_err().to_string();
        assert!(refusal.contains("it has 0; name two"), "{refusal}");
        assert!(
            rig_of(r#"{"boardName": "a", "cameraData": [1, [2]]}"#, None)
                .unwrap_err()
                .to_string()
                .contains("cameraData is no list")
        );
        let miles = json(&in_unit(9, -7.5), STEREO);
        let refusal = rig_of(&miles, None).unwrap_err().to_string();
        assert!(refusal.contains("camera 1.extrinsics.lengthUnit is 9, which is no unit"), "{refusal}");
    }

    fn in_unit(code: u8, x: f64) -> [String; 2] {
        let left = camera(1, 0, 2, ONE, [x, 0.0, 0.0]);
        let left = left.replace("\"toCameraSocket\": 2", &format!("\"lengthUnit\": {code}, \"toCameraSocket\": 2"));
        [left, camera(2, 0, -1, NONE, [0.0; 3])]
    }

    #[test]
    fn lengths_have_the_unit_that_the_file_names() {
        for (code, x) in [(0, -0.0762), (1, -7.62), (2, -76.2), (3, -3.0), (4, -0.25)] {
            let rig = rig_of(&json(&in_unit(code, x), STEREO), None).unwrap();
            assert!((rig.baseline_m() - 0.0762).abs() < 1e-12, "{code}: {}", rig.summary());
        }
    }
}
