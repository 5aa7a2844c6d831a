//! RealSense's calibrations of its two infrared cameras, whose images the camera rectifies: the table that librealsense's tools save as
//! JSON (`rectified.0.fx`, baseline in millimetres), and the output of `rs-enumerate-devices -c` (metres). Both have several image sizes.

use super::draft::Draft;
use super::tree::{Node, check_key, number};
use super::{FileError, Kind, LoadOptions, ValueFault, need};
use crate::{LengthUnit, Projection, StereoRig};
use stereopsis_base::console::foreign;

/// Largest number of image sizes.
const MAX_SIZES: usize = 64;
/// Names of the left and the right camera in the tool's output.
const CAMERAS: [&str; 2] = ["\"Infrared 1\"", "\"Infrared 2\""];

type View = ((usize, usize), Projection);
type Mode = ((usize, usize), [Projection; 2]);

pub(super) fn recognizes(tree: &Node) -> bool {
    tree.has("rectified.0.fx")
}

pub(super) fn read(tree: &Node, options: &LoadOptions) -> Result<Draft, FileError> {
    let mut modes = Vec::new();
    for k in 0..MAX_SIZES {
        let group = format!("rectified.{k}");
        let of = |key: &str| need::number("", tree, &format!("{group}.{key}"));
        if !tree.has(&format!("{group}.fx")) {
            break;
        }
        let (size, camera) = ((of("width")?, of("height")?), (of("fx")?, of("fy")?, of("ppx")?, of("ppy")?));
        // skips unused places of the table
        if size.0 > 0.0 && size.1 > 0.0 && camera.0 > 0.0 {
            let (fx, fy, cx, cy) = camera;
            modes.push(((size.0 as usize, size.1 as usize), [Projection { fx, fy, cx, cy }; 2]));
        }
    }
    // the table has the right camera at a negative position in the left camera's axes
    draft(&modes, need::number("", tree, "baseline")?.abs(), LengthUnit::Millimetre, options)
}

/// Returns the rig for images of the size in use.
fn draft(modes: &[Mode], baseline: f64, unit: LengthUnit, options: &LoadOptions) -> Result<Draft, FileError> {
    let all: Vec<_> = modes.iter().map(|((width, height), _)| format!("{width}x{height}")).collect();
    let all = all.join(", ");
    let Some(wanted) = options.size else {
        return Err(FileError::SeveralSizes { whose: "a RealSense's calibration is", sizes: all, such_as: "848x480" });
    };
    // other sizes are cropped as well as scaled
    let Some((size, cameras)) = modes.iter().find(|(size, _)| *size == wanted) else {
        return Err(FileError::RealSenseSize { sizes: all, wanted });
    };
    let rig = StereoRig::of_pinholes(*cameras, baseline, Some(*size));
    Ok(Draft { rig: StereoRig { kind: Kind::RealSense, ..rig }, unit: Some(unit) })
}

/// Whether a text is the output of `rs-enumerate-devices -c`.
pub(super) fn recognizes_print(text: &str) -> bool {
    text.lines().any(|line| title(line, "Intrinsic of").is_some())
}

/// Returns the rest of a line after a title.
fn title<'a>(line: &'a str, title: &str) -> Option<&'a str> {
    line.trim().strip_prefix(title).map(str::trim)
}

/// Reads the output of `rs-enumerate-devices -c` about the infrared cameras.
pub(super) fn read_print(text: &str, options: &LoadOptions) -> Result<Draft, FileError> {
    let lines: Vec<_> = text.lines().collect();
    let [left, right] = [modes_of(&lines, CAMERAS[0])?, modes_of(&lines, CAMERAS[1])?];
    let modes: Vec<Mode> = left
        .iter()
        .filter_map(|(size, left)| {
            let (_, right) = right.iter().find(|(other, _)| other == size)?;
            Some((*size, [*left, *right]))
        })
        .collect();
    if modes.is_empty() {
        return Err(FileError::NoInfrared);
    }
    draft(&modes, baseline(&lines)?, LengthUnit::Metre, options)
}

fn modes_of(lines: &[&str], camera: &str) -> Result<Vec<View>, FileError> {
    let mut modes: Vec<View> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = title(line, "Intrinsic of").filter(|name| name.starts_with(camera)) else { continue };
        let values = values(lines.get(at + 1..).unwrap_or_default(), name)?;
        let of = |key: &str| need::number(name, &values, key);
        let lens = need::matrix(name, &values, "Coeffs")?;
        if lens.data.iter().any(|k| *k != 0.0) {
            return Err(ValueFault::NotRectified.of(name).into());
        }
        let projection = Projection { fx: of("Fx")?, fy: of("Fy")?, cx: of("PPX")?, cy: of("PPY")? };
        let size = (of("Width")? as usize, of("Height")? as usize);
        match modes.iter().find(|(other, _)| *other == size) {
            Some((_, other)) if *other != projection => {
                return Err(ValueFault::TwoCalibrations(size.0, size.1).of(camera).into());
            }
            Some(_) => {}
            None if modes.len() >= MAX_SIZES => return Err(FileError::TooManySizes),
            None => modes.push((size, projection)),
        }
    }
    Ok(modes)
}

/// Reads lines of a name, a colon and numbers, up to an empty line.
fn values(lines: &[&str], name: &str) -> Result<Node, FileError> {
    let mut values: Vec<(String, Node)> = Vec::new();
    for line in lines.iter().take_while(|line| !line.trim().is_empty()) {
        let Some((key, value)) = line.split_once(':') else { continue };
        let key = key.trim();
        check_key(&values, key).map_err(|err| FileError::from(err).in_part(foreign(name)))?;
        let words: Vec<_> = value.split_whitespace().map(|word| Node::Word(word.to_owned())).collect();
        let value = if let [word] = words.as_slice() { word.clone() } else { Node::List(words) };
        values.push((key.to_owned(), value));
    }
    Ok(Node::Map(values))
}

fn baseline(lines: &[&str]) -> Result<f64, FileError> {
    let is_wanted = |line: &&str| -> bool {
        let words: Vec<_> = title(line, "Extrinsic from").unwrap_or_default().split_whitespace().collect();
        words.join(" ").starts_with(&format!("{} To {}", CAMERAS[0], CAMERAS[1]))
    };
    let after = lines.iter().position(is_wanted).and_then(|at| lines.get(at + 1..)).unwrap_or_default();
    let own = after.iter().take_while(|line| title(line, "Extrinsic from").is_none());
    let shift = own.into_iter().find_map(|line| title(line, "Translation Vector:"));
    let shift: Option<Vec<f64>> = shift.and_then(|text| text.split_whitespace().map(number).collect());
    match shift.as_deref() {
        Some(&[x, _, _]) if x.is_finite() => Ok(-x),
        _ => Err(FileError::NoInfraredPose),
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use std::fmt::Write as _;
    use std::path::PathBuf;

    fn rig_of(text: &str, size: Option<(usize, usize)>) -> Result<StereoRig, crate::CalibrationError> {
        let options = LoadOptions { size, ..LoadOptions::default() };
        read(&[(PathBuf::from("camera"), text.as_bytes().to_vec())], &options)
    }

    #[test]
    fn the_table_has_a_size_for_each_mode() {
        let mut table = "{ \"baseline\": \"-49.5\", \"intrinsic_left.x.x\": \"0.5\"".to_owned();
        for (k, (width, height, focal)) in
            [(1280, 720, 641.5), (848, 480, 425.25), (0, 0, 300.0)].into_iter().enumerate()
        {
            for (key, value) in
                [("fx", focal), ("fy", focal), ("ppx", 0.5 * f64::from(width)), ("ppy", 0.5 * f64::from(height))]
            {
                write!(table, ", \"rectified.{k}.{key}\": \"{value}\"").unwrap();
            }
            write!(table, ", \"rectified.{k}.width\": \"{width}\", \"rectified.{k}.height\": \"{height}\"").unwrap();
        }
        table.push('}');
        let rig = rig_of(&table, Some((848, 480))).unwrap();
        assert_eq!((rig.kind, rig.left.fx, rig.right.cx, rig.size), (Kind::RealSense, 425.25, 424.0, Some((848, 480))));
        assert!((rig.baseline_m() - 0.0495).abs() < 1e-15 && rig.unit == LengthUnit::Millimetre);
        let refusal = rig_of(&table, None).unwrap_err().to_string();
        assert!(refusal.contains("(1280x720, 848x480); say which with size"), "{refusal}");
        assert!(rig_of(&table, Some((640, 480))).unwrap_err().to_string().contains("not for images of 640x480"));
    }

    /// Returns the lines that the tool prints for one camera and size.
    fn printed(camera: u8, (width, height): (u32, u32), focal: f64, lens: &str) -> String {
        format!(
            " Intrinsic of \"Infrared {camera}\" / {width}x{height} / {{Y8}}\n  Width:      \t{width}\n  Height:     \t{height}\n  \
             PPX:        \t{}\n  PPY:        \t{}\n  Fx:         \t{focal}\n  Fy:         \t{focal}\n  Distortion: \tBrown \
             Conrady\n  Coeffs:     \t{lens}\n  FOV (deg):  \t89.9 x 58.9\n\n",
            width / 2,
            height / 2
        )
    }

    const PLAIN: &str = "0  \t0  \t0  \t0  \t0  ";
    const POSES: &str = "Extrinsic from \"Infrared 1\"\t  To\t  \"Infrared 1\" :\n Rotation Matrix:\n   1   0   0\n   0   1   0\n   \
                         0   0   1\n\n Translation Vector: 0  0  0  \n\nExtrinsic from \"Infrared 1\"\t  To\t  \"Infrared 2\" \
                         :\n Rotation Matrix:\n   1   0   0\n   0   1   0\n   0   0   1\n\n Translation Vector: \
                         -0.0551999993622303  0  0  \n\n";

    #[test]
    fn what_the_tool_prints_is_read() {
        let sizes = [((640, 360), 321.5), ((848, 480), 424.75)];
        let cameras: String = [1, 2]
            .into_iter()
            .flat_map(|camera| sizes.map(|(size, focal)| printed(camera, size, focal, PLAIN)))
            .collect();
        let text = format!("Device info: \n    Name    : Camera\n\nIntrinsic Parameters:\n\n{cameras}{POSES}");
        let rig = rig_of(&text, Some((848, 480))).unwrap();
        assert_eq!((rig.kind, rig.left.fx, rig.left.cy, rig.size), (Kind::RealSense, 424.75, 240.0, Some((848, 480))));
        assert!((rig.baseline_m() - 0.055_2).abs() < 1e-9, "{}", rig.summary());
        assert!(rig_of(&text, None).unwrap_err().to_string().contains("(640x360, 848x480)"));
        let without = rig_of(&text.replace(POSES, ""), Some((848, 480))).unwrap_err().to_string();
        assert!(without.contains("from Infrared 1 to Infrared 2"), "{without}");
        let two = format!("{text}{}", printed(2, (848, 480), 500.0, PLAIN));
        assert!(rig_of(&two, Some((848, 480))).unwrap_err().to_string().contains("keep the part of one device"));
        let raw = printed(1, (848, 480), 424.0, "0.1  0  0  0  0") + POSES;
        assert!(rig_of(&raw, Some((848, 480))).unwrap_err().to_string().contains("not rectified by the camera"));
        let colour = text.replace("\"Infrared 2\"", "\"Color\"");
        assert!(
            rig_of(&colour, Some((848, 480)))
                .unwrap_err()
                .to_string()
                .contains("lacks the cameras Infrared 1 and Infrared 2")
        );
    }
}
