//! `Calibration`: a rig from a file, and the rectification of images of any size that fits it.

use crate::arrays::{array, array_of_picture, array_of_three, disparity, picture_to_rectify, value_error};
use crate::shared::Shared;
use numpy::{PyArray2, PyArray3};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use stereopsis::depth::{Axis, Geometry, points_m};
use stereopsis::rectification::{LengthUnit, LoadOptions, Rectifier, StereoRig, load};

#[pyclass(frozen, module = "stereopsis")]
pub(crate) struct Calibration {
    rig: StereoRig,
    alpha: f64,
    /// The map for the last size.
    rectifier: Shared<Option<Arc<Rectifier>>>,
}

fn unit(word: &str) -> PyResult<LengthUnit> {
    match word {
        "m" => Ok(LengthUnit::Metre),
        "cm" => Ok(LengthUnit::Centimetre),
        "mm" => Ok(LengthUnit::Millimetre),
        _ => Err(value_error(format!("unit: expected 'm', 'cm' or 'mm', got '{word}'"))),
    }
}

impl Calibration {
    /// The rectification of images of this size.
    fn rectifier(&self, py: Python<'_>, (width, height): (usize, usize)) -> PyResult<Arc<Rectifier>> {
        py.detach(|| {
            let mut kept = self.rectifier.lock()?;
            if let Some(rectifier) = kept.as_ref().filter(|kept| kept.size() == (width, height)) {
                return Ok(Arc::clone(rectifier));
            }
            let made = Arc::new(self.rig.rectifier(width, height, self.alpha).map_err(value_error)?);
            *kept = Some(Arc::clone(&made));
            Ok(made)
        })
    }

    fn geometry(&self, py: Python<'_>, size: (usize, usize)) -> PyResult<Geometry> {
        Ok(self.rectifier(py, size)?.geometry())
    }
}

/// Depth of a disparity, m; NaN where there is none.
fn depth_of(geometry: &Geometry, disparity_px: f32) -> f32 {
    geometry.depth_m(f64::from(disparity_px)).map_or(f32::NAN, |depth_m| depth_m as f32)
}

#[pymethods]
impl Calibration {
    #[staticmethod]
    #[pyo3(signature = (*paths, unit=None, alpha=0.0, swapped=false))]
    fn load(paths: Vec<PathBuf>, unit: Option<&str>, alpha: f64, swapped: bool) -> PyResult<Self> {
        if paths.is_empty() {
            return Err(value_error("expected one calibration file, or two: of the left and of the right camera"));
        }
        let unit = unit.map(self::unit).transpose()?;
        let rig = load(&paths, &LoadOptions { unit, swapped, ..LoadOptions::default() }).map_err(value_error)?;
        Ok(Self { rig, alpha, rectifier: Shared::new(None) })
    }

    #[getter]
    fn baseline_m(&self) -> f64 {
        self.rig.baseline_m()
    }

    #[getter]
    fn vertical(&self) -> bool {
        self.rig.axis() == Axis::Vertical
    }

    #[getter]
    fn size(&self) -> Option<(usize, usize)> {
        self.rig.size
    }

    fn focal_px(&self, py: Python<'_>, width: usize, height: usize) -> PyResult<f64> {
        Ok(self.geometry(py, (width, height))?.focal_px)
    }

    fn rectify<'py>(
        &self,
        py: Python<'py>,
        left: &Bound<'_, PyAny>,
        right: &Bound<'_, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (left, right) = (picture_to_rectify("left", left)?, picture_to_rectify("right", right)?);
        let rectifier = self.rectifier(py, left.luma.size())?;
        let (left, right) = py.detach(|| rectifier.apply(&left, &right)).map_err(value_error)?;
        Ok((array_of_picture(py, left)?, array_of_picture(py, right)?))
    }

    fn depth<'py>(&self, py: Python<'py>, disparity_px: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let disparity_px = disparity(disparity_px)?;
        let geometry = self.geometry(py, disparity_px.size())?;
        array(py, disparity_px.map(|&d| depth_of(&geometry, d)))
    }

    fn points<'py>(&self, py: Python<'py>, disparity_px: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyArray3<f32>>> {
        let disparity_px = disparity(disparity_px)?;
        let geometry = self.geometry(py, disparity_px.size())?;
        let depth_m = disparity_px.map(|&d| depth_of(&geometry, d));
        array_of_three(py, points_m(&depth_m, &geometry))
    }

    fn __repr__(&self) -> String {
        format!("Calibration({})", self.rig.summary())
    }
}
