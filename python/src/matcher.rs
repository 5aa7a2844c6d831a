//! `Matcher`: parameters by the names of the program's flags, and one engine whose memory is kept from pair to pair.

use crate::arrays::{array, pair, value_error};
use numpy::PyArray2;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use stereopsis::matching::{CpuEngine, DisparityMap, INVALID, Image, StereoParams, job, run};
use stereopsis::parameters::{Origin, Settings, Word, read_file};

/// Steps of a pixel in fixed-point disparities.
const STEPS: i32 = 16;

#[pyclass(frozen, module = "stereopsis")]
pub(crate) struct Matcher {
    settings: Settings,
    engine: Mutex<CpuEngine>,
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
fn words_of(parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Word>> {
    let mut words = Vec::new();
    for (name, value) in parameters.into_iter().flatten() {
        let name = name.str()?.to_cow()?.replace('_', "-");
        words.push(Word { name, text: text_of(&value)?, origin: Origin::Flag });
    }
    Ok(words)
}

impl Matcher {
    fn of(words: &[Word]) -> PyResult<Self> {
        let settings = Settings::resolve(words).map_err(value_error)?;
        let engine = Mutex::new(CpuEngine::new(settings.threads));
        Ok(Self { settings, engine, last: Mutex::new(None) })
    }

    /// Matches without the GIL; other threads wait for their turn with this matcher.
    fn map(
        &self,
        py: Python<'_>,
        left: &Bound<'_, PyAny>,
        right: &Bound<'_, PyAny>,
    ) -> PyResult<(Arc<DisparityMap>, StereoParams)> {
        let (left, right) = pair(left, right)?;
        let params = self.settings.params_for(left.size().0, None).map_err(value_error)?;
        let job = job(left, right, params.clone());
        let output = py.detach(|| run(&mut *self.engine.lock().unwrap_or_else(PoisonError::into_inner), job));
        let map = output.map_err(value_error)?.map;
        let map = map.ok_or_else(|| PyRuntimeError::new_err("the engine gave no map"))?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&map));
        Ok((map, params))
    }

    fn last(&self) -> PyResult<Arc<DisparityMap>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.ok_or_else(|| value_error("no pair was matched yet: call compute or disparity first"))
    }
}

#[pymethods]
impl Matcher {
    #[new]
    #[pyo3(signature = (**parameters))]
    fn new(parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::of(&words_of(parameters)?)
    }

    #[staticmethod]
    #[pyo3(signature = (path, **parameters))]
    fn from_settings(path: PathBuf, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut words = read_file(&path).map_err(value_error)?;
        words.extend(words_of(parameters)?);
        Self::of(&words)
    }

    fn compute<'py>(
        &self,
        py: Python<'py>,
        left: &Bound<'_, PyAny>,
        right: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<i16>>> {
        let (map, params) = self.map(py, left, right)?;
        let none = ((params.min_disparity - 1) * STEPS) as i16;
        let values: Image<i16> = map.values.map(|&value| if value == INVALID { none } else { value });
        array(py, values)
    }

    fn disparity<'py>(
        &self,
        py: Python<'py>,
        left: &Bound<'_, PyAny>,
        right: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (map, _) = self.map(py, left, right)?;
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
        for parameter in StereoParams::table() {
            let value = (parameter.get)(&self.settings.params).to_string();
            match value.parse::<i64>() {
                Ok(number) => all.set_item(parameter.name.replace('-', "_"), number)?,
                Err(_) => all.set_item(parameter.name.replace('-', "_"), value)?,
            }
        }
        Ok(all)
    }

    fn __repr__(&self) -> String {
        let defaults = StereoParams::default();
        let differs =
            |p: &&stereopsis::parameters::Parameter<StereoParams>| (p.get)(&self.settings.params) != (p.get)(&defaults);
        let words = StereoParams::table().iter().filter(differs);
        let words = words.map(|p| format!("{}={}", p.name.replace('-', "_"), (p.get)(&self.settings.params)));
        format!("Matcher({})", words.collect::<Vec<_>>().join(", "))
    }
}
