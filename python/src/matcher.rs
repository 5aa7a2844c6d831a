//! `Matcher`: parameters by the names of the program's flags, and one engine whose memory is kept from pair to pair.

use crate::arrays::{array, picture_to_match, value_error};
use crate::shared::Shared;
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use stereopsis::depth::Axis;
use stereopsis::matching::{self, DisparityMap, EngineChoice, INVALID, Image, StereoParams};
use stereopsis::parameters::{Settings, Value};

/// Steps of a pixel in fixed-point disparities.
const STEPS: i32 = 16;

#[pyclass(frozen, module = "stereopsis")]
pub(crate) struct Matcher {
    settings: Settings,
    matcher: Shared<matching::Matcher>,
    last: Mutex<Option<Arc<DisparityMap>>>,
}

/// The text of a parameter's value as flags and settings files have it.
fn text_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if value.is_none() {
        return Ok("off".to_owned());
    }
    if let Ok(switch) = value.cast::<PyBool>() {
        return Ok(if switch.is_true() { "on" } else { "off" }.to_owned());
    }
    Ok(value.str()?.to_cow()?.into_owned())
}

/// The words of keyword arguments: underscores stand for dashes.
fn words_of(parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, String)>> {
    let words = parameters.into_iter().flatten();
    words.map(|(name, value)| Ok((name.str()?.to_cow()?.replace('_', "-"), text_of(&value)?))).collect()
}

impl Matcher {
    /// By settings that these words complete.
    fn of<E: ToString>(
        vertical: bool,
        parameters: Option<&Bound<'_, PyDict>>,
        settings: impl Fn(&[(&str, &str)]) -> Result<Settings, E>,
    ) -> PyResult<Self> {
        let words = words_of(parameters)?;
        let words: Vec<_> = words.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let mut settings = settings(&words).map_err(value_error)?;
        settings.engine = EngineChoice::Cpu; // whatever a file of the window has: all engines give the same bits
        let axis = if vertical { Axis::Vertical } else { Axis::Horizontal };
        let matcher = Shared::new(matching::Matcher::new(settings.clone()).with_axis(axis));
        Ok(Self { settings, matcher, last: Mutex::new(None) })
    }

    /// Matches without the GIL; other threads wait for their turn with this matcher.
    fn map(&self, py: Python<'_>, left: &Bound<'_, PyAny>, right: &Bound<'_, PyAny>) -> PyResult<Arc<DisparityMap>> {
        let (left, right) = (picture_to_match("left", left)?, picture_to_match("right", right)?);
        let result = py.detach(|| self.matcher.lock()?.match_pair(left, right).map_err(value_error))?;
        let map = Arc::new(result.map);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&map));
        Ok(map)
    }

    fn last(&self) -> PyResult<Arc<DisparityMap>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.ok_or_else(|| value_error("no pair was matched yet: call compute or disparity first"))
    }
}

#[pymethods]
impl Matcher {
    #[new]
    #[pyo3(signature = (*, vertical=false, **parameters))]
    fn new(vertical: bool, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::of(vertical, parameters, Settings::of_words)
    }

    #[staticmethod]
    #[pyo3(signature = (path, *, vertical=false, **parameters))]
    fn from_settings(path: PathBuf, vertical: bool, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::of(vertical, parameters, |words| Settings::of_file(&path, words))
    }

    fn compute<'py>(
        &self,
        py: Python<'py>,
        left: &Bound<'_, PyAny>,
        right: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<i16>>> {
        let map = self.map(py, left, right)?;
        let none = ((self.settings.params.min_disparity - 1) * STEPS) as i16;
        let values: Image<i16> = map.values.map(|&value| if value == INVALID { none } else { value });
        array(py, values)
    }

    fn disparity<'py>(
        &self,
        py: Python<'py>,
        left: &Bound<'_, PyAny>,
        right: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let map = self.map(py, left, right)?;
        array(py, map.to_px())
    }

    #[getter]
    fn reasons<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u8>>> {
        array(py, self.last()?.reasons.clone())
    }

    #[getter]
    fn confidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let confidence = self.last()?.confidence.clone();
        array(
            py,
            confidence.ok_or_else(|| value_error("the last pair has no confidence: make Matcher(confidence=True)"))?,
        )
    }

    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (name, value) in self.settings.params.words() {
            let name = name.replace('-', "_");
            match value {
                Value::Integer(number) => all.set_item(name, number)?,
                value => all.set_item(name, value.to_string())?,
            }
        }
        Ok(all)
    }

    fn __repr__(&self) -> String {
        let defaults = StereoParams::default();
        let words = self.settings.params.words().zip(defaults.words()).filter(|(own, default)| own != default);
        let words = words.map(|((name, value), _)| format!("{}={value}", name.replace('-', "_")));
        format!("Matcher({})", words.collect::<Vec<_>>().join(", "))
    }
}
