//! Rig files: TOML with cameras by port, sides, mode, orientation, locks and calibration. Users keep them: old files must stay readable.

use super::calibrate::{CalibrationChoice, FittedDepth};
use super::error::{ReadCause, RigFault, RigFileError};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use stereopsis_base::files;
use stereopsis_base::files::plain;
use stereopsis_base::parameter::is_default;
use stereopsis_calibration::RowsChoice;
use stereopsis_frame::decode_camera::PixelFormat;
use stereopsis_frame::source::parse_size;
use stereopsis_frame::{CameraApi, CameraName, CameraOptions, SourceOptions, SourceSpec, ViewOptions};

/// Content of a rig file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RigFile {
    /// Source of cameras; `None` for a rig of files.
    pub source: Option<SourceSpec>,
    /// Width and height of each side's image, px.
    pub size: Option<(usize, usize)>,
    /// Rate, Hz.
    pub rate_hz: Option<f64>,
    /// Mounting and controls of the cameras.
    pub cameras: CameraOptions,
    /// Calibration options.
    pub calibration: CalibrationChoice,
}

const HEAD: &str = "\
# A rig for stereopsis: use it with --rig. Cameras are named by the port that they are plugged into.
# Sizes are per image. Calibration files are looked for beside this file.

";

impl RigFile {
    /// Returns the rig of a source and its options.
    pub fn of(source: &SourceSpec, options: &SourceOptions, calibration: &CalibrationChoice) -> Self {
        let source = source.is_camera().then(|| source.clone());
        let (size, rate_hz, cameras) = (options.size, options.rate_hz, options.cameras.clone());
        Self { source, size, rate_hz, cameras, calibration: calibration.clone() }
    }

    /// Copies the rig's values into options of a source.
    pub fn fill(&self, options: &mut SourceOptions) {
        options.size = self.size.or(options.size);
        options.rate_hz = self.rate_hz.or(options.rate_hz);
        options.cameras = self.cameras.clone();
    }

    /// Returns the rig as a table for a file in this folder.
    ///
    /// # Errors
    /// A path in the rig is not valid Unicode.
    pub fn to_table(&self, folder: &Path) -> Result<toml::Table, RigFileError> {
        Ok(toml::Table::try_from(Tables::of(self, folder)).map_err(RigFault::from)?)
    }

    /// Returns the rig of a table.
    ///
    /// # Errors
    /// The table has invalid values.
    pub fn from_table(table: toml::Table, folder: &Path) -> Result<Self, RigFileError> {
        let tables: Tables = table.try_into().map_err(RigFault::from)?;
        Ok(tables.rig(folder)?)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or has invalid values; the text names the line.
    pub fn read(path: &Path) -> Result<Self, RigFileError> {
        Self::read_tables(path).map_err(|cause| RigFileError::Read { path: path.to_owned(), cause })
    }

    fn read_tables(path: &Path) -> Result<Self, ReadCause> {
        let text = plain::read_text(path).map_err(|cause| match cause.kind() {
            ErrorKind::NotFound => ReadCause::Missing { path: path.to_owned(), cause },
            ErrorKind::InvalidData => ReadCause::NoText,
            _ => ReadCause::Io { path: path.to_owned(), cause },
        })?;
        if text.contains("[right_from_left]") {
            return Err(ReadCause::IsCalibration);
        }
        let tables: Tables = toml::from_str(&text).map_err(RigFault::from)?;
        Ok(tables.rig(path.parent().unwrap_or(Path::new("")))?)
    }

    /// Writes a file that names each camera by its port, where the system reports one.
    ///
    /// # Errors
    /// The file exists and `overwrite` is false, or it cannot be written.
    pub fn write(&self, path: &Path, overwrite: bool) -> Result<(), RigFileError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let unwritable = |cause| RigFileError::Unwritable { path: path.to_owned(), cause };
        let text = HEAD.to_owned() + &toml::to_string(&Tables::of(self, folder)).map_err(unwritable)?;
        let write = if overwrite { files::write } else { files::write_new };
        Ok(write(path, text.as_bytes())?)
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Tables {
    #[serde(skip_serializing_if = "is_default")]
    source: SourceTable,
    #[serde(skip_serializing_if = "is_default")]
    left: ViewOptions,
    #[serde(skip_serializing_if = "is_default")]
    right: ViewOptions,
    #[serde(skip_serializing_if = "is_default")]
    calibration: CalibrationChoice,
}

#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SourceTable {
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<CameraName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    right: Option<CameraName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    both: Option<CameraName>,
    #[serde(skip_serializing_if = "is_default")]
    swapped_halves: bool,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "size_word", deserialize_with = "size_of")]
    size: Option<(usize, usize)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_hz: Option<f64>,
    #[serde(skip_serializing_if = "is_default")]
    camera_api: CameraApi,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<PixelFormat>,
    #[serde(skip_serializing_if = "is_default")]
    equal_exposure: bool,
}

impl Tables {
    fn of(rig: &RigFile, folder: &Path) -> Self {
        let RigFile { source, size, rate_hz, cameras, calibration } = rig;
        let (left, right, both) = match source {
            Some(SourceSpec::WebcamPair(left, right)) => (Some(left.clone()), Some(right.clone()), None),
            Some(SourceSpec::WebcamSideBySide(camera)) => (None, None, Some(camera.clone())),
            _ => (None, None, None),
        };
        let beside = |file: &PathBuf| file.strip_prefix(folder).unwrap_or(file).to_owned();
        let [left_view, right_view] = cameras.views.clone();
        Self {
            source: SourceTable {
                left,
                right,
                both,
                swapped_halves: cameras.swapped_halves,
                size: *size,
                rate_hz: *rate_hz,
                camera_api: cameras.api,
                format: cameras.format,
                equal_exposure: cameras.equal_exposure,
            },
            left: left_view,
            right: right_view,
            calibration: CalibrationChoice {
                files: calibration.files.iter().map(beside).collect(),
                mask: calibration.mask.iter().map(beside).collect(),
                ..calibration.clone()
            },
        }
    }

    fn rig(self, folder: &Path) -> Result<RigFile, RigFault> {
        let SourceTable { left, right, both, swapped_halves, size, rate_hz, camera_api, format, equal_exposure } =
            self.source;
        let source = match (left, right, both) {
            (None, None, None) => None,
            (None, None, Some(both)) => Some(SourceSpec::WebcamSideBySide(both)),
            (Some(left), Some(right), None) if left != right => Some(SourceSpec::WebcamPair(left, right)),
            (Some(_), Some(_), None) => return Err(RigFault::OneCamera),
            _ => return Err(RigFault::Sides),
        };
        if rate_hz.is_some_and(|hz| !(hz > 0.0 && hz <= 1000.0)) {
            return Err(RigFault::Rate);
        }
        let c = self.calibration;
        let lens = [("fov_deg", c.fov_deg), ("focal_px", c.focal_px), ("focal_mm", c.focal_mm)];
        let others = [("sensor_width_mm", c.sensor_width_mm), ("baseline_m", c.baseline_m)];
        let fit = c.depth_fit;
        let fitted = [
            ("depth_fit.focal_px", fit.map(|fit| fit.focal_px)),
            ("depth_fit.baseline_m", fit.map(|fit| fit.baseline_m)),
        ];
        let above_zero = [&lens[..], &others[..], &fitted[..]].concat();
        if let Some((name, _)) = above_zero.iter().find(|(_, v)| v.is_some_and(|v| !(v > 0.0 && v.is_finite()))) {
            return Err(RigFault::NotAboveZero(name));
        }
        if let [(one, _), (other, _), ..] = lens.iter().filter(|(_, v)| v.is_some()).collect::<Vec<_>>()[..] {
            return Err(RigFault::TwoLenses(one, other));
        }
        if c.rows == Some(RowsChoice::Field) && c.row_field.is_none() {
            return Err(RigFault::NoRowField);
        }
        if let Some(field) = c.row_field {
            field.validate()?;
        }
        let is_fit =
            |fit: FittedDepth| fit.doffs_px.is_finite() && fit.spread.is_none_or(|spread| spread.is_plausible());
        if !fit.is_none_or(is_fit) {
            return Err(RigFault::DepthFit);
        }
        if let Some(correction) = &c.correction {
            correction.validate()?;
        }
        if c.files.is_empty() && (c.correction.is_some() || c.self_calibrate) {
            return Err(RigFault::NothingToCorrect);
        }
        if c.focal_mm.is_some() != c.sensor_width_mm.is_some() {
            return Err(RigFault::HalfOfLens);
        }
        if c.fov_deg.is_some_and(|fov_deg| fov_deg >= 180.0) {
            return Err(RigFault::Fov);
        }
        if !(0.0..=1.0).contains(&c.alpha) {
            return Err(RigFault::Alpha);
        }
        if c.alpha > 0.0 && c.rectified_fov_deg.is_some() {
            return Err(RigFault::TwoCrops);
        }
        c.crop().validate()?;
        Ok(RigFile {
            source,
            size,
            rate_hz,
            cameras: CameraOptions {
                api: camera_api,
                format,
                views: [self.left, self.right],
                swapped_halves,
                calibrated: false,
                equal_exposure,
            },
            calibration: CalibrationChoice {
                files: c.files.iter().map(|file| folder.join(file)).collect(),
                mask: c.mask.iter().map(|file| folder.join(file)).collect(),
                ..c
            },
        })
    }
}

fn size_of<'de, D: Deserializer<'de>>(file: D) -> Result<Option<(usize, usize)>, D::Error> {
    parse_size(&String::deserialize(file)?).map(Some).map_err(serde::de::Error::custom)
}

#[allow(clippy::ref_option, reason = "serde hands the field over so")]
fn size_word<S: Serializer>(size: &Option<(usize, usize)>, file: S) -> Result<S::Ok, S::Error> {
    size.map(|(width, height)| format!("{width}x{height}")).serialize(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::FittedDepth;
    use stereopsis_base::geometry::DepthSpread;
    use stereopsis_base::remedy::option;
    use stereopsis_calibration::LengthUnit;
    use stereopsis_frame::{ControlSettings, Orientation, PowerLine, Scale, Setting};

    fn desk() -> RigFile {
        let port = |name: &str| CameraName::Port(name.to_owned());
        RigFile {
            source: Some(SourceSpec::WebcamPair(port("usb-0:1:1.0"), port("usb-0:2:1.0"))),
            size: Some((1280, 720)),
            rate_hz: Some(30.0),
            cameras: CameraOptions {
                format: Some(PixelFormat::Mjpeg),
                views: [
                    ViewOptions {
                        orientation: Orientation::HalfTurn,
                        controls: ControlSettings { focus: Some(Setting::Fixed(0)), ..ControlSettings::default() },
                    },
                    ViewOptions {
                        orientation: Orientation::Upright,
                        controls: ControlSettings {
                            exposure_ms: Some(Setting::Auto),
                            power_line: Some(PowerLine::Hz50),
                            ..ControlSettings::default()
                        },
                    },
                ],
                ..CameraOptions::default()
            },
            calibration: CalibrationChoice {
                files: vec!["/rigs/desk.yml".into()],
                unit: Some(LengthUnit::Millimetre),
                swapped: true,
                alpha: 0.25,
                depth_fit: Some(FittedDepth {
                    focal_px: 512.5,
                    baseline_m: 0.08,
                    doffs_px: -3.0,
                    spread: Some(SPREAD),
                }),
                scale: Scale::Half,
                ..CalibrationChoice::default()
            },
        }
    }

    const SPREAD: DepthSpread = DepthSpread {
        mean: [0.0; 2],
        deviation: [0.02, 0.1],
        correlation: -0.3,
        rest: 5e-4,
        farthest: 0.015,
        middle: 0.05,
    };

    #[test]
    fn round_trips_a_rig() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("desk.toml");
        let mut rig = desk();
        rig.calibration.files = vec![folder.path().join("desk.yml")];
        rig.write(&path, false).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("files = [\"desk.yml\"]") && !text.contains("fov_deg"), "{text}");
        assert_eq!(RigFile::read(&path).unwrap(), rig);
        let table = rig.to_table(folder.path()).unwrap();
        assert_eq!(RigFile::from_table(table, folder.path()).unwrap(), rig);
        let refusal = rig.write(&path, false).unwrap_err().to_string();
        assert!(refusal.contains("it exists and is not replaced; choose another name"), "{refusal}");
        rig.source = Some(SourceSpec::WebcamSideBySide(CameraName::Port("usb-1:1.0".into())));
        rig.cameras.swapped_halves = true;
        rig.write(&path, true).unwrap();
        assert_eq!(RigFile::read(&path).unwrap(), rig);
        // paths are relative to the file, so the folder can be moved as a whole
        let other = tempfile::tempdir().unwrap();
        std::fs::copy(&path, other.path().join("desk.toml")).unwrap();
        let moved = RigFile::read(&other.path().join("desk.toml")).unwrap();
        assert_eq!(moved.calibration.files, [other.path().join("desk.yml")]);
    }

    #[test]
    fn reads_a_rig_of_an_earlier_version() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/ecdb518");
        let rig = RigFile::read(&folder.join("rig.toml")).unwrap();
        let port = |name: &str| CameraName::Port(name.to_owned());
        let cameras = (port("usb-0000:00:14.0-1:1.0"), port("usb-0000:00:14.0-2:1.0"));
        assert_eq!(rig.source, Some(SourceSpec::WebcamPair(cameras.0, cameras.1)));
        assert_eq!((rig.size, rig.rate_hz), (Some((1280, 720)), Some(30.0)));
        let [left, right] = &rig.cameras.views;
        assert_eq!((left.orientation, rig.cameras.format), (Orientation::HalfTurn, Some(PixelFormat::Mjpeg)));
        assert_eq!(left.controls, ControlSettings { focus: Some(Setting::Fixed(0)), ..ControlSettings::default() });
        let controls = ControlSettings {
            exposure_ms: Some(Setting::Auto),
            gain: Some(Setting::Fixed(12)),
            white_balance_k: Some(Setting::Fixed(4600)),
            focus: None,
            power_line: Some(PowerLine::Hz50),
        };
        assert_eq!(right.controls, controls);
        let expected = CalibrationChoice {
            files: vec![folder.join("calibration.toml")],
            unit: Some(LengthUnit::Millimetre),
            swapped: true,
            alpha: 0.25,
            depth_fit: Some(FittedDepth { focal_px: 512.5, baseline_m: 0.08, doffs_px: -3.0, spread: None }),
            scale: Scale::Half,
            ..CalibrationChoice::default()
        };
        assert_eq!(rig.calibration, expected);
    }

    #[test]
    fn the_example_is_a_rig() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../calibration");
        let rig = RigFile::read(&folder.join("two-webcams.toml")).unwrap();
        assert_eq!(rig.calibration.files, [folder.join("example-rig.toml")]);
        let files = [folder.join("two-webcams.toml")];
        let refusal =
            stereopsis_calibration::load(&files, &stereopsis_calibration::LoadOptions::default()).unwrap_err();
        assert!(refusal.remedies().contains(&option("rig")), "{refusal}");
        assert_eq!(rig.cameras.views[1].orientation, Orientation::HalfTurn);
        assert_eq!(rig.cameras.views[0].controls.exposure_ms, Some(Setting::Fixed(10.0)));
        assert!(matches!(rig.source, Some(SourceSpec::WebcamPair(CameraName::Port(_), CameraName::Port(_)))));
    }

    #[test]
    fn rejects_invalid_rigs_with_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rig.toml");
        for (text, words) in [
            ("[source]\nleft = \"usb-0:1\"\n", "wants left and right"),
            ("[source]\nleft = \"usb-0:1\"\nright = \"usb-0:1\"\n", "are one camera"),
            ("[source]\nsize = \"640\"\n", "line 2"),
            ("[source]\nformat = \"h264\"\n", "line 2"),
            ("[left]\norientation = \"sideways\"\n", "line 2"),
            ("[calibration]\nunit = \"inch\"\n", "m, cm, mm"),
            ("[calibration]\nalpha = 2\n", "alpha must be from 0 to 1"),
            ("[calibration]\nbaseline_m = 0\n", "baseline_m must be above 0"),
            ("[calibration]\nfocal_mm = 8\nsensor_width_mm = -6\n", "sensor_width_mm must be above 0"),
            ("[calibration]\nfocal_mm = 8\n", "focal_mm and sensor_width_mm need each other"),
            ("[calibration]\nfov_deg = 60\nfocal_px = 500\n", "fov_deg and focal_px both name the lens"),
            ("[calibration]\nfov_deg = 180\n", "fov_deg must be below 180"),
            ("[camera]\n", "camera"),
            ("[left]\nfx_px = 500\n[right_from_left]\n", "give it with calibration"),
        ] {
            std::fs::write(&path, text).unwrap();
            let refusal = RigFile::read(&path).unwrap_err().to_string();
            assert!(refusal.contains("rig.toml") && refusal.contains(words), "{text}: {refusal}");
        }
        let missing = RigFile::read(&folder.path().join("none.toml")).unwrap_err().to_string();
        assert!(missing.contains("there is no such file"), "{missing}");
    }
}
