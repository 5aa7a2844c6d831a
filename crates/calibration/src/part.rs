//! Part of a calibration's images that the images in use show: a driver's region of interest and binning, or the crop of a camera mode.

use super::{CalibrationError, Camera, Projection, Rectification, StereoRig};
use glam::DVec2;
use std::fmt;
use std::str::FromStr;

/// Part of the images of a calibration, and the size of the images in use that show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ImagePart {
    /// Column and row of its upper left pixel.
    pub(super) corner: DVec2,
    /// Pixels in use per pixel of the calibration, along x and y.
    pub(super) factor: DVec2,
    /// Size of the images in use, px.
    pub(super) size: (usize, usize),
}

impl ImagePart {
    pub(super) fn camera(&self, camera: &Camera) -> Camera {
        camera.cut_at(self.corner).scaled(self.factor)
    }

    pub(super) fn projection(&self, projection: &Projection) -> Projection {
        projection.cut_at(self.corner).scaled(self.factor)
    }
}

/// Region of interest and binning of a ROS `camera_info`, whose matrices are of the whole sensor without binning; all 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SensorPart {
    /// Column and row of the region's upper left pixel.
    pub offset: [u32; 2],
    /// Width and height of the region before binning, px; 0 for all to the end.
    pub size: [u32; 2],
    /// Columns and rows that are one pixel of the images; 0 is 1.
    pub binning: [u32; 2],
}

impl SensorPart {
    /// Returns the part of a sensor of size `whole` that images of `size` show, and a doubt; `None` for the whole sensor. As in
    /// `image_geometry::PinholeCameraModel` the images are the region divided by the binning (REP 104 gives the fields that meaning).
    /// Many drivers fill the fields and send the whole sensor, which the size tells.
    pub(super) fn seen(
        &self,
        whole: (usize, usize),
        size: Option<(usize, usize)>,
    ) -> (Option<ImagePart>, Option<String>) {
        let binning = self.binning.map(|count| count.max(1) as usize);
        let offset = self.offset.map(|first| first as usize);
        let extent = |axis: usize, whole: usize| match self.size[axis] as usize {
            0 => whole.saturating_sub(offset[axis]),
            extent => extent,
        };
        let region = (extent(0, whole.0), extent(1, whole.1));
        let part = (region.0 / binning[0], region.1 / binning[1]);
        if (region, binning) == (whole, [1, 1]) || part.0 < 1 || part.1 < 1 {
            return (None, None);
        }
        let words = format!(
            "a region of {}x{} px at ({}, {}) of {}x{} px, binned {}x{}",
            region.0, region.1, offset[0], offset[1], whole.0, whole.1, binning[0], binning[1]
        );
        if size == Some(whole) {
            let doubt = format!(
                "the camera_info speaks of {words}, and the images have the whole sensor's size: taken to show all of it"
            );
            return (None, Some(doubt));
        }
        let doubt = size.filter(|size| *size != part).map(|(width, height)| {
            format!("the camera_info speaks of {words}, which gives {}x{} px, and the images have {width}x{height}: taken to \
                     show that region, scaled", part.0, part.1)
        });
        let factor = 1.0 / DVec2::new(binning[0] as f64, binning[1] as f64);
        (Some(ImagePart { corner: DVec2::new(offset[0] as f64, offset[1] as f64), factor, size: part }), doubt)
    }
}

/// Crop of a camera mode: where the images in use lie in those of the calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ModeCrop {
    /// In the middle; scaled, if neither width nor height is that of the calibration.
    Centre,
    /// With their upper left pixel at this column and row, which may lie outside; not scaled.
    Corner([i32; 2]),
}

impl FromStr for ModeCrop {
    type Err = CalibrationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "centre" {
            return Ok(Self::Centre);
        }
        let corner = text.split_once(',').and_then(|(x, y)| Some([x.trim().parse().ok()?, y.trim().parse().ok()?]));
        let corner = corner.filter(|corner| corner.iter().all(|at| (-65_536..=65_536).contains(at)));
        corner.map(Self::Corner).ok_or_else(|| CalibrationError::ModeCrop(text.to_owned()))
    }
}

impl fmt::Display for ModeCrop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Centre => f.write_str("centre"),
            Self::Corner([x, y]) => write!(f, "{x},{y}"),
        }
    }
}

impl TryFrom<String> for ModeCrop {
    type Error = CalibrationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ModeCrop> for String {
    fn from(crop: ModeCrop) -> Self {
        crop.to_string()
    }
}

impl StereoRig {
    /// Returns the rig of images of `size` that are a crop of the calibration's, of both cameras alike.
    ///
    /// # Errors
    /// The calibration names no image size, or two; or the images lie outside of the calibration's.
    pub fn cropped(&self, crop: ModeCrop, size: (usize, usize)) -> Result<Self, CalibrationError> {
        let (Some(own), None) = (self.size, self.right_size) else { return Err(CalibrationError::CropOfSizes) };
        let [given, of] = [size, own].map(|(width, height)| DVec2::new(width as f64, height as f64));
        let (corner, factor) = match crop {
            ModeCrop::Corner([x, y]) => (DVec2::new(x.into(), y.into()), DVec2::ONE),
            ModeCrop::Centre => {
                let is_scaled = size.0 != own.0 && size.1 != own.1;
                let factor = if is_scaled { (given / of).max_element() } else { 1.0 };
                ((of - given / factor) / 2.0, DVec2::splat(factor))
            }
        };
        let shared = (corner + given / factor).min(of) - corner.max(DVec2::ZERO);
        if shared.min_element() < 1.0 {
            return Err(CalibrationError::CropOutside { crop, own, size });
        }
        let part = ImagePart { corner, factor, size };
        let rectification = self.rectification.map(|own| Rectification {
            left: part.projection(&own.left),
            right: part.projection(&own.right),
            ..own
        });
        let (left, right) = (part.camera(&self.left), part.camera(&self.right));
        Ok(Self { left, right, rectification, size: Some(size), ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::tests::plain_rig;

    #[test]
    fn regions_and_binning_move_and_scale_the_camera() {
        let part = SensorPart { offset: [320, 240], size: [640, 480], binning: [2, 2] };
        let (seen, doubt) = part.seen((1280, 960), Some((320, 240)));
        let camera = Camera { fx: 1000.0, fy: 1000.0, cx: 639.5, cy: 479.5, ..plain_rig().left };
        let shown = seen.unwrap().camera(&camera);
        assert_eq!((shown.fx, shown.cx, shown.cy, doubt), (500.0, 159.5, 119.5, None));
        let (whole, doubt) = part.seen((1280, 960), Some((1280, 960)));
        assert!(whole.is_none() && doubt.unwrap().contains("taken to show all of it"));
        let (scaled, doubt) = part.seen((1280, 960), Some((160, 120)));
        assert!(scaled.unwrap().size == (320, 240) && doubt.unwrap().contains("which gives 320x240 px"));
        assert_eq!(part.seen((1280, 960), None).0, seen);
        for none in [[0, 0], [1280, 960]] {
            let part = SensorPart { size: none, binning: [1, 0], ..SensorPart::default() };
            assert_eq!(part.seen((1280, 960), Some((320, 240))), (None, None));
        }
    }

    #[test]
    fn crops_of_modes_move_the_principal_point() {
        let rig = StereoRig { size: Some((1280, 800)), ..plain_rig() };
        let at = |crop: &str, size| {
            rig.cropped(crop.parse().unwrap(), size).map(|rig| (rig.left.fx, rig.left.cx, rig.left.cy))
        };
        assert_eq!(at("centre", (1280, 720)).unwrap(), (500.0, 319.5, 199.5));
        assert_eq!(at("0,40", (1280, 720)).unwrap(), (500.0, 319.5, 199.5));
        assert_eq!(at("-10,-40", (1280, 720)).unwrap(), (500.0, 329.5, 279.5));
        assert_eq!(at("centre", (1280, 960)).unwrap(), (500.0, 319.5, 319.5), "the sensor has more rows");
        assert_eq!(at("centre", (640, 360)).unwrap(), (250.0, 159.5, 99.5), "a crop of 1280x720, halved");
        assert!(at("1300,0", (1280, 720)).unwrap_err().to_string().contains("1300,0"));
        assert!("1".parse::<ModeCrop>().is_err() && "a,b".parse::<ModeCrop>().is_err());
        assert_eq!("-3,7".parse::<ModeCrop>().unwrap().to_string(), "-3,7");
        let two = rig.clone().with_right_size((640, 480));
        assert!(two.cropped(ModeCrop::Centre, (1280, 720)).is_err());
    }
}
