//! TOML of anipose, freemocap and Pose2Sim (a table for each camera) and of caliscope (`[cameras.1]`): K, lens, and the pose from common
//! axes to each camera, as a vector or a matrix. Lengths have the unit of the calibration board.

use super::cameras::pair;
use super::draft::{self, Draft, Posed};
use super::error::LineFault;
use super::tree::Node;
use super::{FileError, Kind, LoadOptions, model, need, own};
use std::collections::BTreeMap;
use stereopsis_base::console::foreign;

pub(super) fn recognizes(text: &str) -> bool {
    text.lines().any(|line| line.split_once('=').is_some_and(|(key, _)| key.trim() == "distortions"))
}

/// Reads the cameras named by the options, else those named left and right, else the first two.
pub(super) fn read(text: &str, options: &LoadOptions) -> Result<Draft, FileError> {
    let tables: toml::Table = toml::from_str(text).map_err(|err| own::in_line(text, &err, LineFault::Toml))?;
    let tables = tree(toml::Value::Table(tables), 0);
    let cameras = cameras(&tables);
    let (pair, doubt) = pair(&cameras, options)?;
    let mut draft = draft::of_posed(Kind::Anipose, [camera(pair[0])?, camera(pair[1])?], doubt, None);
    let turned =
        pair.iter().find(|(_, node)| node.get(&["rotation_count"]).and_then(Node::number).is_some_and(|n| n != 0.0));
    let turned = turned.map(|(key, _)| {
        format!(
            "the images of {} are turned before they are used (rotation_count): turn those that you give in the same way",
            foreign(key)
        )
    });
    draft.rig.doubts.extend(turned);
    Ok(draft)
}

/// Returns the tree of a TOML; `None` if it is none.
pub(super) fn toml_tree(text: &str) -> Option<Node> {
    toml::from_str(text).ok().map(|table: toml::Table| tree(toml::Value::Table(table), 0))
}

/// Converts a TOML value to a node; values nested deeper than any calibration are left out.
fn tree(value: toml::Value, depth: usize) -> Node {
    use toml::Value;
    match value {
        Value::Table(_) | Value::Array(_) if depth > super::tree::MAX_DEPTH => Node::List(Vec::new()),
        Value::Table(table) => Node::Map(table.into_iter().map(|(key, value)| (key, tree(value, depth + 1))).collect()),
        Value::Array(items) => Node::List(items.into_iter().map(|item| tree(item, depth + 1)).collect()),
        Value::String(text) => Node::Word(text),
        Value::Integer(number) => Node::Word(number.to_string()),
        Value::Float(number) => Node::Word(number.to_string()),
        Value::Boolean(is) => Node::Word(u8::from(is).to_string()),
        Value::Datetime(time) => Node::Word(time.to_string()),
    }
}

type Table<'a> = (&'a String, &'a Node);

/// Returns the tables of usable cameras in the order of their numbers, each with its names: key, `name` and number.
fn cameras(tables: &Node) -> Vec<(Vec<String>, Table<'_>)> {
    let inner = tables.get(&["cameras"]).map(Node::entries).unwrap_or_default();
    let mut cameras: BTreeMap<(u32, &String), (Vec<String>, Table)> = BTreeMap::new();
    for (key, node) in tables.entries().iter().chain(inner) {
        let is_ignored = node.get(&["ignore"]).and_then(Node::number).is_some_and(|n| n != 0.0);
        if !node.has("matrix") || !node.has("distortions") || is_ignored {
            continue;
        }
        let digits = key.trim_start_matches(|c: char| !c.is_ascii_digit());
        let number = digits.parse().ok();
        let name = node.get(&["name"]).and_then(Node::word).map(str::to_owned);
        let names = [Some(key.clone()), name, number.map(|number: u32| number.to_string())];
        cameras.insert((number.unwrap_or(u32::MAX), key), (names.into_iter().flatten().collect(), (key, node)));
    }
    cameras.into_values().collect()
}

fn camera((key, node): &Table) -> Result<Posed, FileError> {
    let lens = need::matrix(key, node, "distortions")?;
    lens.finite()?;
    let is_fisheye = node.get(&["fisheye"]).and_then(Node::number).is_some_and(|n| n != 0.0);
    let distortion = model::lens(if is_fisheye { "fisheye" } else { "" }, &lens.name, &lens.data)?;
    let [width, height] = need::matrix(key, node, "size")?.values::<2>(&[(2, 1), (1, 2)])?;
    let pose = (need::matrix(key, node, "rotation")?.rotation()?, need::matrix(key, node, "translation")?.vector()?);
    let camera = need::matrix(key, node, "matrix")?.camera(distortion)?;
    Ok((camera, Some((width as usize, height as usize)), pose))
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use crate::{LengthUnit, StereoRig};
    use glam::{DMat3, DVec3};
    use std::path::PathBuf;

    fn table(key: &str, name: &str, more: &str) -> String {
        format!(
            "[{key}]\nname = \"{name}\"\nsize = [ 1600, 900,]\nmatrix = [ [ 1010.5, 0.0, 801.5,], [ 0.0, 1011.5, 449.5,], \
             [ 0.0, 0.0, 1.0,],]\ndistortions = [ -0.09, 0.01, 0.0, 0.0, 0.0,]\n{more}\n\n"
        )
    }

    fn rig_of(text: &str, cameras: Option<&str>) -> Result<StereoRig, crate::CalibrationError> {
        let options = LoadOptions { cameras: cameras.map(|text| text.parse().unwrap()), ..LoadOptions::default() };
        let files = [(PathBuf::from("calibration.toml"), text.as_bytes().to_vec())];
        read(&files, &options)
    }

    const AT_ORIGIN: &str = "rotation = [ 0.0, 0.0, 0.0,]\ntranslation = [ 0.0, 0.0, 0.0,]\nfisheye = false";
    const TURNED: &str = "rotation = [ 0.0, 0.02, 0.0,]\ntranslation = [ -140.0, 1.5, -2.5,]\nfisheye = false";

    #[test]
    fn poses_to_common_axes_become_one_between_the_cameras() {
        let text = table("cam_0", "A", AT_ORIGIN) + &table("cam_1", "B", TURNED) + "[metadata]\nerror = 0.3\n";
        let rig = rig_of(&text, None).unwrap();
        assert_eq!((rig.kind, rig.size, rig.unit), (Kind::Anipose, Some((1600, 900)), LengthUnit::Millimetre));
        assert!(rig.doubts.is_empty(), "{:?}", rig.doubts);
        assert_eq!((rig.left.fx, rig.right.cy), (1010.5, 449.5));
        assert!((rig.translation_m - DVec3::new(-0.14, 0.0015, -0.0025)).length() < 1e-15);
        assert!(rig.rotation.abs_diff_eq(DMat3::from_rotation_y(0.02), 1e-15));
        // a common world pose of both, as in caliscope's files: 90 degrees about z, and a shift
        let world = "rotation = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]\n";
        let left = format!("{world}translation = [1.0, 2.0, 3.0]\nport = 3\nrotation_count = 0");
        let right = format!("{world}translation = [0.75, 2.0, 3.0]\nport = 7\nexposure = \"null\"");
        let text = table("cameras.3", "", &left) + &table("cameras.7", "", &right);
        let rig = rig_of(&text, None).unwrap();
        assert!((rig.translation_m - DVec3::new(-0.25, 0.0, 0.0)).length() < 1e-15, "{}", rig.summary());
        assert!(rig.rotation.abs_diff_eq(DMat3::IDENTITY, 1e-15));
    }

    #[test]
    fn sides_follow_names_numbers_and_the_users_choice() {
        let beside = "rotation = [0.0, 0.0, 0.0]\ntranslation = [-300.0, 0.0, 0.0]";
        let text =
            table("cam_10", "right", TURNED) + &table("cam_2", "left", AT_ORIGIN) + &table("cam_3", "side", beside);
        let rig = rig_of(&text, None).unwrap();
        assert!((rig.baseline_m() - 0.14).abs() < 1e-3 && rig.doubts.is_empty(), "{}", rig.summary());
        for chosen in ["cam_2,cam_3", "2,3", "LEFT,side"] {
            assert!((rig_of(&text, Some(chosen)).unwrap().baseline_m() - 0.3).abs() < 1e-12, "{chosen}");
        }
        let unnamed = text.replace("\"left\"", "\"a\"").replace("\"right\"", "\"b\"");
        let rig = rig_of(&unnamed, None).unwrap();
        assert!((rig.baseline_m() - 0.3).abs() < 1e-12);
        assert!(rig.doubts[0].contains("cam_2, cam_3 and cam_10: cam_2 is taken as left"), "{:?}", rig.doubts);
        let refusal = rig_of(&text, Some("2,9")).unwrap_err().to_string();
        assert!(refusal.contains("no camera 9"), "{refusal}");
    }

    #[test]
    fn fisheyes_and_turned_images_are_recognised() {
        let fisheye = |text: String| {
            text.replace("-0.09, 0.01, 0.0, 0.0, 0.0,", "-0.03, 0.002, 0.0, 0.0").replace("= false", "= true")
        };
        let turned = format!("{TURNED}\nrotation_count = 1");
        let text = fisheye(table("cam_0", "A", AT_ORIGIN) + &table("cam_1", "B", &turned));
        let rig = rig_of(&text, None).unwrap();
        assert_eq!(rig.left.distortion.name(), "fisheye");
        assert!(rig.doubts.iter().any(|doubt| doubt.contains("of cam_1 are turned")), "{:?}", rig.doubts);
    }

    #[test]
    fn what_is_missing_is_named_and_two_sizes_are_kept() {
        let text = table("cam_0", "A", AT_ORIGIN) + &table("cam_1", "B", "");
        assert!(rig_of(&text, None).unwrap_err().to_string().contains("cam_1.rotation is missing"));
        let ignored = table("cam_0", "A", AT_ORIGIN) + &table("cam_1", "B", &format!("ignore = true\n{TURNED}"));
        assert!(rig_of(&ignored, None).unwrap_err().to_string().contains("it has 1 of cam_0"));
        let broken = rig_of(&(table("cam_0", "A", AT_ORIGIN) + "[cam_1\n"), None).unwrap_err().to_string();
        assert!(broken.contains("line 10") && !broken.contains("YAML"), "{broken}");
        let other = table("cam_0", "A", AT_ORIGIN) + &table("cam_1", "B", TURNED).replace("1600, 900", "1280, 720");
        let other = rig_of(&other, None).unwrap();
        assert_eq!((other.size, other.right_size), (Some((1600, 900)), Some((1280, 720))));
    }
}
