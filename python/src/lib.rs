//! The native part of the Python package `stereopsis`: arrays in, arrays out, and the library in between.

mod arrays;
mod calibration;
mod matcher;
mod recording;
mod shared;
mod vocabulary;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    stereopsis::inside::speak(&vocabulary::Python);
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<matcher::Matcher>()?;
    module.add_class::<calibration::Calibration>()?;
    module.add_class::<recording::Recording>()?;
    module.add_class::<recording::Pair>()?;
    Ok(())
}
