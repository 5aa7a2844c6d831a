//! Writers: a rig as own TOML, as OpenCV's YAML or XML, as ROS's two camera_info files, or as Kalibr's camchain.

use super::{WriteError, kalibr, own};
use crate::camera_info::{CameraInfo, matrix_of, projection_of, rows};
use crate::{CalibrationError, Crop, Rectification, StereoRig, checks};

/// Output format of a rig.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Stereopsis's own TOML: complete and exact.
    Toml,
    /// OpenCV's YAML, one file.
    OpenCvYaml,
    /// OpenCV's XML, one file.
    OpenCvXml,
    /// ROS's camera_info: left.yaml and right.yaml.
    RosFiles,
    /// ROS's camera_info: left.yaml and right.yaml in a .tar.gz.
    RosArchive,
    /// Kalibr's camchain, one file.
    Kalibr,
}

/// Returns the files of a rig, with their names; a single file has an empty name. ROS's and OpenCV's files contain a rectification: the
/// rig's own, or one computed with this crop (see [`Rectification::compute`](crate::Rectification::compute)). OpenCV's files omit it if
/// the rig has no image size or cannot be rectified; [`StereoRig::describe`] has the reason.
///
/// # Errors
/// The format cannot store the rig: ROS supports no thin prisms and tilted sensors, and needs an image size; Kalibr needs one too, and has four coefficients
/// for each lens.
pub fn write(
    rig: &StereoRig,
    output: Output,
    crop: impl Into<Crop>,
) -> Result<Vec<(&'static str, Vec<u8>)>, CalibrationError> {
    Ok(match output {
        Output::Toml => vec![("", own::write(rig).into_bytes())],
        Output::OpenCvYaml => vec![("", opencv(rig, &YAML, crop.into()).into_bytes())],
        Output::OpenCvXml => vec![("", opencv(rig, &XML, crop.into()).into_bytes())],
        Output::RosFiles => ros(rig, crop.into())?.map(|(name, text)| (name, text.into_bytes())).into(),
        Output::RosArchive => vec![("", archive(&ros(rig, crop.into())?)?)],
        Output::Kalibr => vec![("", kalibr::write(rig)?.into_bytes())],
    })
}

struct Dialect {
    start: &'static str,
    word: fn(&str, &str) -> String,
    matrix: fn(&str, usize, &[f64]) -> String,
    end: &'static str,
}

const YAML: Dialect = Dialect {
    start: "%YAML:1.0\n---\n",
    word: |name, value| format!("{name}: {value}\n"),
    matrix: |name, rows, data| {
        let (columns, data) = (data.len() / rows, list(data, ", "));
        format!("{name}: !!opencv-matrix\n   rows: {rows}\n   cols: {columns}\n   dt: d\n   data: [ {data} ]\n")
    },
    end: "",
};

const XML: Dialect = Dialect {
    start: "<?xml version=\"1.0\"?>\n<opencv_storage>\n",
    word: |name, value| format!("<{name}>{value}</{name}>\n"),
    matrix: |name, rows, data| {
        let (columns, data) = (data.len() / rows, list(data, " "));
        format!(
            "<{name} type_id=\"opencv-matrix\">\n  <rows>{rows}</rows>\n  <cols>{columns}</cols>\n  <dt>d</dt>\n  \
             <data>\n    {data}</data></{name}>\n"
        )
    },
    end: "</opencv_storage>\n",
};

/// Returns the rectification for OpenCV's file; `None` without one.
fn rectification(rig: &StereoRig, crop: Crop) -> Option<Rectification> {
    match (rig.rectification, rig.size) {
        (Some(own), _) if crop.is_default() => Some(own),
        (_, Some((width, height))) => rig.at_size(width, height, crop).ok().map(|(_, rectification, _)| rectification),
        (own, None) => own,
    }
}

fn opencv(rig: &StereoRig, dialect: &Dialect, crop: Crop) -> String {
    let Dialect { start, word, matrix, end } = dialect;
    let mut text = String::from(*start);
    if let Some((width, height)) = rig.size {
        text += &word("image_width", &width.to_string());
        text += &word("image_height", &height.to_string());
    }
    for (n, camera) in [(1, &rig.left), (2, &rig.right)] {
        let distortion = &camera.distortion;
        text += &matrix(&format!("K{n}"), 3, &matrix_of(camera));
        text += &word(&format!("distortion_model{n}"), distortion.name());
        text += &matrix(&format!("D{n}"), 1, &distortion.coefficients());
    }
    text += &matrix("R", 3, &rows(rig.rotation));
    text += &matrix("T", 3, &rig.translation_m.to_array());
    text += &word("length_unit", "m");
    if let Some(r) = rectification(rig, crop) {
        text += &matrix("R1", 3, &rows(r.rotation_left));
        text += &matrix("R2", 3, &rows(r.rotation_right));
        text += &matrix("P1", 3, &projection_of(&r.left, 0.0, r.axis));
        text += &matrix("P2", 3, &projection_of(&r.right, r.baseline_m, r.axis));
        let q = [1.0, 0.0, 0.0, -r.left.cx, 0.0, 1.0, 0.0, -r.left.cy, 0.0, 0.0, 0.0, r.left.fx];
        let last = [0.0, 0.0, 1.0 / r.baseline_m, r.geometry().doffs_px / r.baseline_m];
        text += &matrix("Q", 4, &[&q[..], &last].concat());
    }
    text + end
}

/// Formats numbers exactly; OpenCV requires a point or an exponent in a `dt: d`.
fn list(data: &[f64], between: &str) -> String {
    data.iter().map(|v| format!("{v:?}")).collect::<Vec<_>>().join(between)
}

fn ros(rig: &StereoRig, crop: Crop) -> Result<[(&'static str, String); 2], CalibrationError> {
    let Some((width, height)) = rig.size else {
        return Err(WriteError::NoSize("ROS's camera_info").into());
    };
    let [left, right] = CameraInfo::of_rig(rig, (width, height), crop)?;
    Ok([("left.yaml", left.yaml("left")), ("right.yaml", right.yaml("right"))])
}

fn archive(files: &[(&'static str, String); 2]) -> Result<Vec<u8>, WriteError> {
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut archive = tar::Builder::new(gzip);
    let mut append = || {
        for (name, text) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            archive.append_data(&mut header, name, text.as_bytes())?;
        }
        archive.finish()
    };
    let packed = append().and_then(|()| archive.into_inner()).and_then(flate2::write::GzEncoder::finish);
    packed.map_err(WriteError::Archive)
}

impl StereoRig {
    /// Returns the rig with this image size, if its file states none.
    ///
    /// # Errors
    /// The file states another size.
    pub fn with_size(self, size: (usize, usize)) -> Result<Self, CalibrationError> {
        match self.size {
            Some(own) if own != size => Err(CalibrationError::OwnSize { own, size }),
            _ => {
                let rig = Self { size: Some(size), ..self };
                checks::check(&rig)?;
                Ok(rig)
            }
        }
    }
}

#[cfg(test)]
mod tests;
