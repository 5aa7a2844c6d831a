//! NumPy arrays to images and back. Rows are contiguous in images, so an array is copied once on its way in, row by row whatever its
//! strides; results are moved out without a copy.

use numpy::{Element, PyArray1, PyArray2, PyArray3, PyArrayMethods as _, PyReadonlyArray2, PyReadonlyArray3};
use numpy::{PyUntypedArray, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use stereopsis::matching::{Image, Luma, Picture};

/// A `ValueError` with the library's own words.
pub(crate) fn value_error(why: impl ToString) -> PyErr {
    PyValueError::new_err(why.to_string())
}

/// Description of an argument in errors: `array of shape (480, 640) and dtype float32`.
fn shown(argument: &Bound<'_, PyAny>) -> String {
    match argument.cast::<PyUntypedArray>() {
        Ok(array) => format!("an array of shape {:?} and dtype {}", array.shape(), array.dtype()),
        Err(_) => format!("a {}", argument.get_type()),
    }
}

fn image_of<T: Element + Copy>(array: &PyReadonlyArray2<'_, T>) -> Image<T> {
    let view = array.as_array();
    let (height, width) = view.dim();
    // of an array whose columns lie together, NumPy's slice would be the columns
    let pixels = view.as_slice().map_or_else(|| view.iter().copied().collect(), <[T]>::to_vec);
    Image::new(width, height, pixels)
}

/// An image to match: colours of `uint8` in OpenCV's order (blue, green, red) with shape (height, width, 3), or brightness alone.
pub(crate) fn picture_to_match(name: &str, argument: &Bound<'_, PyAny>) -> PyResult<Picture> {
    Ok(match colors(name, argument)? {
        Some(bgr) => bgr.map(|&[b, g, r]| [r, g, b]).into(),
        None => luma(name, argument)?.into(),
    })
}

/// An image to rectify: (height, width), or (height, width, 3) of `uint8` in any order of channels, whose brightness is not asked for.
pub(crate) fn picture_to_rectify(name: &str, argument: &Bound<'_, PyAny>) -> PyResult<Picture> {
    let Some(colors) = colors(name, argument)? else { return Ok(luma(name, argument)?.into()) };
    let (width, height) = colors.size();
    Ok(Picture { luma: Luma::U8(Image::filled(width, height, 0)), rgb: Some(colors) })
}

/// The three channels of an array of shape (height, width, 3) and dtype `uint8`; `None` of one that has two dimensions or another dtype.
fn colors(name: &str, argument: &Bound<'_, PyAny>) -> PyResult<Option<Image<[u8; 3]>>> {
    let Ok(array) = argument.extract::<PyReadonlyArray3<'_, u8>>() else { return Ok(None) };
    let view = array.as_array();
    let (height, width, channels) = view.dim();
    if channels != 3 || width == 0 || height == 0 {
        return Err(value_error(format!("{name}: expected three channels, got {}", shown(argument))));
    }
    Ok(Some(Image::from_fn(width, height, |x, y| [0, 1, 2].map(|channel| view[[y, x, channel]]))))
}

/// Brightness of `uint8`, or of `uint16` with all 16 bits in use; shape (height, width).
fn luma(name: &str, argument: &Bound<'_, PyAny>) -> PyResult<Luma> {
    let luma = if let Ok(array) = argument.extract::<PyReadonlyArray2<'_, u8>>() {
        Luma::U8(image_of(&array))
    } else if let Ok(array) = argument.extract::<PyReadonlyArray2<'_, u16>>() {
        Luma::U16 { image: image_of(&array), bits: 16 }
    } else {
        let shown = shown(argument);
        return Err(value_error(format!(
            "{name}: expected an array of shape (height, width) and dtype uint8 or uint16, or of shape (height, width, 3) and \
             dtype uint8, got {shown}"
        )));
    };
    let (width, height) = luma.size();
    if width == 0 || height == 0 {
        return Err(value_error(format!("{name}: the image is empty: {width} x {height} px")));
    }
    Ok(luma)
}

/// Disparities in px, `float32`, NaN where there is none; shape (height, width).
pub(crate) fn disparity(argument: &Bound<'_, PyAny>) -> PyResult<Image<f32>> {
    argument.extract::<PyReadonlyArray2<'_, f32>>().map(|array| image_of(&array)).map_err(|_| {
        value_error(format!(
            "expected disparities in px of shape (height, width) and dtype float32, got {}; \
             Matcher.disparity gives them, and those of compute() are 16 times as large",
            shown(argument)
        ))
    })
}

/// An array of shape (height, width) with the image's own memory.
pub(crate) fn array<T: Element>(py: Python<'_>, image: Image<T>) -> PyResult<Bound<'_, PyArray2<T>>> {
    let (width, height) = image.size();
    PyArray1::from_vec(py, image.into_pixels()).reshape([height, width])
}

/// An array of shape (height, width, 3).
pub(crate) fn array_of_three<T: Element + Copy>(
    py: Python<'_>,
    image: Image<[T; 3]>,
) -> PyResult<Bound<'_, PyArray3<T>>> {
    let (width, height) = image.size();
    PyArray1::from_vec(py, image.into_pixels().into_flattened()).reshape([height, width, 3])
}

/// Brightness as `uint8` or `uint16`, or colours where there are any.
pub(crate) fn array_of_picture(py: Python<'_>, picture: Picture) -> PyResult<Bound<'_, PyAny>> {
    Ok(match (picture.rgb, picture.luma) {
        (Some(rgb), _) => array_of_three(py, rgb)?.into_any(),
        (None, Luma::U8(image)) => array(py, image)?.into_any(),
        (None, Luma::U16 { image, .. }) => array(py, image)?.into_any(),
    })
}
