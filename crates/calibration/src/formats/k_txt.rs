//! FoundationStereo's `K.txt`: the camera matrix of both rectified images, row by row, then the baseline in metres.

use super::matrix::Matrix;
use super::tree::number;
use super::{FileError, Kind, draft::Draft};
use crate::{LengthUnit, StereoRig};

/// Returns the numbers of a text without words, if they begin with a camera matrix.
fn numbers(text: &str) -> Option<Vec<f64>> {
    let words = text.split([' ', '\t', '\r', '\n', ',']).filter(|word| !word.is_empty());
    let numbers: Vec<f64> = words.map(number).collect::<Option<_>>()?;
    let is_matrix = matches!(numbers.as_slice(), [_, _, _, below, _, _, zero, other, one, ..]
        if *below == 0.0 && *zero == 0.0 && *other == 0.0 && (*one - 1.0).abs() < 1e-9);
    (is_matrix && numbers.len() <= 10).then_some(numbers)
}

pub(super) fn recognizes(text: &str) -> bool {
    numbers(text).is_some()
}

pub(super) fn read(text: &str) -> Result<Draft, FileError> {
    let mut data = numbers(text).unwrap_or_default();
    let Some(baseline) = data.get(9).copied() else {
        return Err(FileError::NoBaseline);
    };
    data.truncate(9);
    let matrix = Matrix { name: "the matrix".to_owned(), shape: None, data };
    let rig = StereoRig::of_pinholes([matrix.pinhole()?; 2], baseline, None);
    let doubts = vec![
        "the file says nothing of lenses and of how the cameras are turned: the images are taken to be rectified, and where \
         they are not, rows and depth are wrong"
            .to_owned(),
    ];
    Ok(Draft { rig: StereoRig { kind: Kind::FoundationStereo, doubts, ..rig }, unit: Some(LengthUnit::Metre) })
}

#[cfg(test)]
mod tests {
    use super::super::{LoadOptions, read};
    use super::*;
    use std::path::PathBuf;

    fn rig_of(text: &str) -> Result<StereoRig, crate::CalibrationError> {
        let files = [(PathBuf::from("K.txt"), text.as_bytes().to_vec())];
        read(&files, &LoadOptions::default())
    }

    #[test]
    fn nine_numbers_and_a_baseline_are_a_rig() {
        for text in [
            "610.5 0.0 322.25 0.0 611.5 244.5 0.0 0.0 1.0 \n0.0625\n",
            "610.5, 0, 322.25\n0 611.5 244.5\n0 0 1\n6.25e-2",
        ] {
            let rig = rig_of(text).unwrap();
            assert_eq!((rig.left.fx, rig.left.fy, rig.right.cx, rig.right.cy), (610.5, 611.5, 322.25, 244.5));
            assert_eq!((rig.baseline_m(), rig.size, rig.unit), (0.0625, None, LengthUnit::Metre));
            assert!(rig.doubts.len() == 1 && rig.doubts[0].contains("taken to be rectified"), "{:?}", rig.doubts);
        }
        let millimetres = rig_of("610 0 322 0 610 244 0 0 1\n62.5").unwrap();
        assert!(millimetres.summary().contains("calibration-unit"), "{}", millimetres.summary());
    }

    #[test]
    fn without_a_baseline_it_says_so() {
        let refusal = rig_of("610 0 322 0 610 244 0 0 1\n").unwrap_err().to_string();
        assert!(refusal.contains("no baseline") && refusal.contains("0.065"), "{refusal}");
        assert!(rig_of("610 0 322 0 610 244 0 0 1 0").unwrap_err().to_string().contains("the baseline is 0"));
        assert!(rig_of("610 0 322 0 610 244 0 0 1 -0.06").unwrap_err().to_string().contains("left of the left one"));
        assert!(!recognizes("1 2 3 4 5 6 7 8 9 10"));
    }
}
