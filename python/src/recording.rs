//! `Recording`: the pairs of an MCAP file as arrays, one after the other.

use crate::arrays::{array, array_of_picture, value_error};
use crate::shared::Shared;
use numpy::PyArray2;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;
use stereopsis::matching::Picture;
use stereopsis::recordings::{RawPair, RecordedPairs};

#[pyclass(frozen, module = "stereopsis")]
pub(crate) struct Recording {
    pairs: Shared<RecordedPairs>,
    count: u64,
    #[pyo3(get)]
    are_rectified: bool,
}

#[pymethods]
impl Recording {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let pairs = py.detach(|| RecordedPairs::open(&path)).map_err(value_error)?;
        Ok(Self { count: pairs.num_pairs(), are_rectified: pairs.are_rectified(), pairs: Shared::new(pairs) })
    }

    fn __len__(&self) -> usize {
        self.count as usize
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Pair>> {
        py.detach(|| {
            let pair = self.pairs.lock()?.next().transpose().map_err(value_error)?;
            Ok(pair.map(|pair| Pair { pair }))
        })
    }
}

#[pyclass(frozen, module = "stereopsis")]
pub(crate) struct Pair {
    pair: RawPair,
}

/// Brightness alone.
fn gray(picture: &Picture) -> Picture {
    picture.luma.clone().into()
}

#[pymethods]
impl Pair {
    #[getter]
    fn name(&self) -> &str {
        &self.pair.name
    }

    #[getter]
    fn sequence(&self) -> u64 {
        self.pair.sequence
    }

    #[getter]
    fn time_s(&self) -> f64 {
        self.pair.capture_time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
    }

    #[getter]
    fn left<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array_of_picture(py, gray(&self.pair.left))
    }

    #[getter]
    fn right<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array_of_picture(py, gray(&self.pair.right))
    }

    #[getter]
    fn left_rgb<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let colored = Some(&self.pair.left).filter(|picture| picture.rgb.is_some());
        colored.map(|picture| array_of_picture(py, picture.clone())).transpose()
    }

    #[getter]
    fn disparity<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f32>>>> {
        let recorded = self.pair.recorded.as_ref().and_then(|recorded| recorded.disparity_px.clone());
        recorded.map(|image| array(py, image)).transpose()
    }

    #[getter]
    fn depth<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f32>>>> {
        let recorded = self.pair.recorded.as_ref().and_then(|recorded| recorded.depth_m.clone());
        recorded.map(|image| array(py, image)).transpose()
    }
}
