//! KITTI's calibrations: `calib_cam_to_cam.txt` of the raw recordings (`P_rect_00`, …) and the files of the benchmarks (`P0`, …).
//! DrivingStereo numbers its cameras 101 and 103 in the same way. The images are rectified; lengths are in metres.
//!
//! All projections have one axis. `P[3]` is a camera's shift from camera 0, which is not 0 for the left one of the colour cameras 2 and 3.

use super::cameras::listed;
use super::draft::{self, Draft};
use super::matrix::Matrix;
use super::tree::{check_key, number};
use super::{FileError, Kind, LoadOptions, ValueFault};
use crate::{LengthUnit, StereoRig};
use glam::{DMat3, DVec3};
use stereopsis_base::remedy::Remedy;

/// Numbers of cameras side by side, left one first, in order of preference.
const PAIRS: [[u32; 2]; 3] = [[2, 3], [0, 1], [101, 103]];
/// Largest relative difference of a pair's baselines by P and by T.
const MAX_APART: f64 = 0.02;

pub(super) fn recognizes(text: &str) -> bool {
    entries(text).any(|(key, value)| {
        camera_of(key).is_some() && value.split_whitespace().next().is_some_and(|word| number(word).is_some())
    })
}

/// Returns keys and values; some files omit the colon.
fn entries(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| line.trim().split_once([':', ' ', '\t']))
}

/// Returns the number of the camera whose projection has this key.
fn camera_of(key: &str) -> Option<u32> {
    let number = key.strip_prefix("P_rect_").or_else(|| key.strip_prefix('P'))?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok()).flatten()
}

/// Reads the pair named by the options, else by the images' folders, else the first one of [`PAIRS`].
pub(super) fn read(text: &str, options: &LoadOptions) -> Result<Draft, FileError> {
    let mut values: Vec<(&str, &str)> = Vec::new();
    for (key, value) in entries(text) {
        check_key(&values, key)?;
        values.push((key, value));
    }
    let file = KittiFile { values };
    let mut numbers: Vec<_> = file.values.iter().filter_map(|(key, _)| camera_of(key)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let (pair, doubt) = pair(&numbers, options)?;
    file.draft(pair, doubt)
}

/// Chooses a pair, with a doubt if nothing indicates which is meant.
fn pair(numbers: &[u32], options: &LoadOptions) -> Result<([u32; 2], Option<String>), FileError> {
    let known: Vec<_> = numbers.iter().map(|number| (vec![number.to_string()], *number)).collect();
    let has = |pair: &[u32; 2]| pair.iter().all(|number| numbers.contains(number));
    if let Some(cameras) = &options.cameras {
        return Ok((cameras.among(&known)?.map(|number| *number), None));
    }
    if let Some(pair) = options.camera_numbers {
        if has(&pair) {
            return Ok((pair, None));
        }
        return Err(FileError::OtherFolders { folders: pair, known: listed(&known) });
    }
    let Some(pair) = PAIRS.iter().find(|pair| has(pair)) else {
        return Err(FileError::NoKnownPair(listed(&known)));
    };
    let other = PAIRS.iter().find(|other| *other != pair && has(other));
    let doubt = other.map(|[left, right]| {
        format!(
            "it has the cameras {}: {} and {} are taken; for images of the folders image_{left} and image_{right} (or \
             image_{left:02} and image_{right:02}) give {}",
            listed(&known),
            pair[0],
            pair[1],
            Remedy::set("calibration-cameras", format_args!("{left},{right}"))
        )
    });
    Ok((*pair, doubt))
}

struct KittiFile<'a> {
    values: Vec<(&'a str, &'a str)>,
}

impl KittiFile<'_> {
    /// Returns the matrix under the first existing key.
    fn matrix(&self, keys: &[String]) -> Result<Option<Matrix>, FileError> {
        let Some((key, value)) = self.values.iter().find(|(key, _)| keys.iter().any(|known| known == key)) else {
            return Ok(None);
        };
        let data: Option<Vec<f64>> = value.split_whitespace().map(number).collect();
        let data = data.ok_or_else(|| ValueFault::HoldsWord.of(*key))?;
        Ok(Some(Matrix { name: (*key).to_owned(), shape: None, data }))
    }

    fn draft(&self, pair: [u32; 2], doubt: Option<String>) -> Result<Draft, FileError> {
        let [left, right] = pair.map(|camera| {
            let projection = self.matrix(&[format!("P{camera}"), format!("P_rect_{camera:02}")])?;
            Ok::<_, FileError>(projection.ok_or_else(|| ValueFault::Absent.of(format!("P{camera}")))?.projection()?)
        });
        let identity = [DMat3::IDENTITY; 2];
        let rectification = draft::rectification([left?, right?], identity);
        let mut doubts: Vec<_> = doubt.into_iter().collect();
        let mut baseline = rectification.baseline_m;
        if let Some(between) = self.between(pair)?.filter(|between| (baseline.abs() / between - 1.0).abs() > MAX_APART)
        {
            doubts.push(format!(
                "its projections say a baseline of {:.4} m, its T one of {between:.4} m: T is taken, as projections are often \
                 scaled to another image size",
                baseline.abs()
            ));
            baseline = between.copysign(baseline);
        }
        let size = self.size(pair)?;
        let rig = StereoRig::of_pinholes([rectification.left, rectification.right], baseline, size);
        Ok(Draft { rig: StereoRig { kind: Kind::Kitti, doubts, ..rig }, unit: Some(LengthUnit::Metre) })
    }

    /// Returns the size of the rectified images of both cameras, if the file has it.
    fn size(&self, pair: [u32; 2]) -> Result<Option<(usize, usize)>, FileError> {
        let mut sizes = Vec::new();
        for camera in pair {
            if let Some(size) = self.matrix(&[format!("S_rect_{camera:02}")])? {
                let [width, height] = size.values::<2>(&[(1, 2)])?;
                sizes.push((width as usize, height as usize));
            }
        }
        match sizes.as_slice() {
            &[left, right] if left != right => Err(FileError::RectifiedSizes { cameras: pair, sizes: [left, right] }),
            sizes => Ok(sizes.first().copied()),
        }
    }

    /// Returns the distance of both cameras by their poses, if the file has them.
    fn between(&self, pair: [u32; 2]) -> Result<Option<f64>, FileError> {
        let mut centres = Vec::new();
        for camera in pair {
            let of = |name: &str| self.matrix(&[format!("{name}_{camera:02}")]);
            if let (Some(rotation), Some(translation)) = (of("R")?, of("T")?) {
                let pose = (rotation.rotation()?, translation.vector()?);
                centres.push(draft::inverse(pose).1);
            }
        }
        let distance = |a: DVec3, b: DVec3| (a - b).length();
        Ok(match centres.as_slice() {
            [left, right] => Some(distance(*left, *right)).filter(|between| *between > 0.0),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use std::path::PathBuf;

    /// Four cameras with a focal length of 650 px at 0, 0.51, -0.062 and 0.44 m.
    const FOUR: &str = "P0: 650 0 610.5 0 0 650 170.25 0 0 0 1 0\nP1: 650 0 610.5 -331.5 0 650 170.25 0 0 0 1 0\n\
                        P2: 650 0 610.5 40.3 0 650 170.25 -0.3 0 0 1 4.9e-3\n\
                        P3: 650 0 610.5 -286 0 650 170.25 2.1 0 0 1 3.2e-3\nR0_rect: 1 0 0 0 1 0 0 0 1\nTr_velo_cam 1 0 0 0\n";

    fn rig_of(text: &str, options: &LoadOptions) -> Result<StereoRig, crate::CalibrationError> {
        let files = [(PathBuf::from("calib.txt"), text.as_bytes().to_vec())];
        read(&files, options)
    }

    #[test]
    fn the_baseline_of_a_pair_is_the_difference_of_its_shifts() {
        let by = |cameras: &str| LoadOptions { cameras: Some(cameras.parse().unwrap()), ..LoadOptions::default() };
        let of = |numbers| LoadOptions { camera_numbers: Some(numbers), ..LoadOptions::default() };
        let plain = rig_of(FOUR, &LoadOptions::default()).unwrap();
        assert_eq!((plain.kind, plain.unit, plain.size, plain.left.fx), (Kind::Kitti, LengthUnit::Metre, None, 650.0));
        assert!((plain.baseline_m() - 0.502).abs() < 1e-12, "{}", plain.summary());
        assert!(plain.doubts[0].contains("cameras 0, 1, 2 and 3: 2 and 3 are taken"), "{:?}", plain.doubts);
        assert!(plain.doubts[0].contains("calibration-cameras 0,1"), "{:?}", plain.doubts);
        for (options, baseline_m) in
            [(by("0,1"), 0.51), (by("02,03"), 0.502), (of([0, 1]), 0.51), (of([2, 3]), 0.502), (by("2,1"), 0.572)]
        {
            let rig = rig_of(FOUR, &options).unwrap();
            assert!((rig.baseline_m() - baseline_m).abs() < 1e-12, "{options:?}: {}", rig.summary());
            assert!(rig.doubts.is_empty(), "{:?}", rig.doubts);
        }
        let refusal = rig_of(FOUR, &by("2,5")).unwrap_err().to_string();
        assert!(refusal.contains("no camera 5 in it: it has 0, 1, 2 and 3"), "{refusal}");
        let refusal = rig_of(FOUR, &by("3,2")).unwrap_err().to_string();
        assert!(refusal.contains("left of the left one"), "{refusal}");
    }

    #[test]
    fn raw_recordings_name_their_size_and_their_cameras() {
        let raw = "calib_time: 01-Feb-2013 10:00:00\nS_02: 1400 500\nR_02: 1 0 0 0 1 0 0 0 1\nT_02: 0.061 0 0\n\
                   S_rect_02: 1220 370\nP_rect_02: 700 0 600 42 0 700 180 0.2 0 0 1 0\nS_rect_03: 1220 370\n\
                   R_03: 1 0 0 0 1 0 0 0 1\nT_03: -0.479 0 0\nP_rect_03: 700 0 600 -336 0 700 180 2 0 0 1 0\n";
        let rig = rig_of(raw, &LoadOptions::default()).unwrap();
        assert_eq!((rig.size, rig.doubts.len()), (Some((1220, 370)), 0), "{:?}", rig.doubts);
        assert!((rig.baseline_m() - 0.54).abs() < 1e-12);
        let options = LoadOptions { camera_numbers: Some([0, 1]), ..LoadOptions::default() };
        let refusal = rig_of(raw, &options).unwrap_err().to_string();
        assert!(refusal.contains("the images are of the cameras 0 and 1, and it has 2 and 3"), "{refusal}");
        // numbers as in DrivingStereo, at half the size
        let halved = raw.replace("_02", "_101").replace("_03", "_103").replace("700 0 600", "350 0 600");
        let rig = rig_of(&halved, &LoadOptions::default()).unwrap();
        assert!((rig.baseline_m() - 0.54).abs() < 1e-12, "{}", rig.summary());
        assert!(
            rig.doubts[0].contains("a baseline of 1.0800 m, its T one of 0.5400 m: T is taken"),
            "{:?}",
            rig.doubts
        );
        let refusal = rig_of(&raw.replace("_03: 1220", "_03: 1200"), &LoadOptions::default()).unwrap_err().to_string();
        assert!(refusal.contains("are two sizes, 1220x370 and 1200x370"), "{refusal}");
    }

    #[test]
    fn what_is_cut_or_of_one_camera_is_refused() {
        let cut = FOUR.replace(" 4.9e-3", "");
        let refusal = rig_of(&cut, &LoadOptions::default()).unwrap_err().to_string();
        assert!(refusal.contains("P2 is a list of 11 values, expected 3x4"), "{refusal}");
        let one = FOUR.lines().next().unwrap_or_default();
        let refusal = rig_of(one, &LoadOptions::default()).unwrap_err().to_string();
        assert!(refusal.contains("it has the cameras 0, and no two"), "{refusal}");
        let twice = format!("{FOUR}P3: 1\n");
        assert!(rig_of(&twice, &LoadOptions::default()).unwrap_err().to_string().contains("P3 is there twice"));
        let word = FOUR.replace("-286", "-28b6");
        assert!(
            rig_of(&word, &LoadOptions::default())
                .unwrap_err()
                .to_string()
                .contains("P3 holds a word that is no number")
        );
    }
}
