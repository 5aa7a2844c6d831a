//! Faults of models.

use crate::brightness::Brightness;
use crate::values::Port;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;
use stereopsis_base::process::memory::FreeMemory;
use stereopsis_base::remedy::{Remedy, option};
use stereopsis_base::{console, files};
use stereopsis_frame::Cause;
use stereopsis_frame::engine::{EngineError, ModelDevice};

/// Largest multiple, width and height of an input, px.
pub(crate) const MAX_EXTENT: usize = 16_384;
/// Largest input for an image, as a multiple of its pixels.
pub(crate) const MAX_GROWTH: usize = 16;
/// Size of the largest usual image, px: an input up to its pixels takes images of any size.
pub(crate) const USUAL: (usize, usize) = (3840, 2160);
/// Environment variable with the path of ONNX Runtime's library.
pub(crate) const VARIABLE: &str = "ORT_DYLIB_PATH";

/// Fault of a model: its file, its description, its runtime or its results.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Fault of the model in this file.
    #[error("model {}: {}", console::path(.0), .1)]
    Model(PathBuf, Box<Self>),
    /// Fault of the description in this file.
    #[error("description of the model {}: {}", console::path(.0), .1)]
    Description(PathBuf, Box<Self>),
    /// Fault of the file of weights that the model names so.
    #[error("its weights are in {}: {}", console::foreign(.0), .1)]
    Weights(String, Box<Self>),
    /// A file cannot be read.
    #[error("{}", files::read_cause(.0, .1))]
    Read(PathBuf, io::Error),

    /// The description is no TOML, or has a wrong key or value.
    #[error("{}", .0.to_string().trim())]
    Syntax(Box<toml::de::Error>),
    /// An extent of the description, which is named, is out of range.
    #[error("{0} has to be from 1 to {MAX_EXTENT} px")]
    Extent(&'static str),
    /// The description fixes one of width and height.
    #[error("width and height have to be fixed both, or neither")]
    OneExtent,
    /// The scale of the description is 0 or no number.
    #[error("scale has to be a number other than 0")]
    Scale,
    /// The description names an input or output that is none of those of the model.
    #[error("the description names '{}', and the model has {}", console::foreign(.0), joined(.1, ", "))]
    NoPort(String, Vec<Port>),

    /// The weights lie in another folder than the model.
    #[error("it lies outside the folder of the model; copy it there, and export the model with its name alone")]
    Outside,
    /// The name of the weights is none that the built-in runtime takes.
    #[error(
        "the built-in runtime takes only a file beside the model whose name ends in .data or .onnx_data; export the model with such a \
         name, or use ONNX Runtime ({})",
        Remedy::set("model-device", ModelDevice::Cpu)
    )]
    Ending,
    /// The file of weights has so many bytes, and the model reads to a later one.
    #[error("it has {0} bytes, and the model reads to {1}; is it whole?")]
    Short(u64, u64),
    /// Opening the model takes so many bytes of memory, and fewer are free.
    #[error("it takes {} of memory to open it, and {}", console::bytes(*.0), .1)]
    Memory(u64, FreeMemory),

    /// The model has no inputs or no outputs.
    #[error("it has no inputs or no outputs: is it whole, and in the format ONNX?")]
    NoPorts,
    /// No stereo pair fits these inputs.
    #[error(
        "it takes no stereo pair: its inputs are {}; expected are two images of 1 or 3 channels, or one of 2 or 6, as (1, channels, \
         height, width)",
        joined(.0, ", ")
    )]
    NoPair(Vec<Port>),
    /// None of these outputs has the shape of a map.
    #[error("it gives no disparity map: its outputs are {}", joined(.0, ", "))]
    NoMap(Vec<Port>),
    /// The input is far larger than the images: width and height of both, px.
    #[error(
        "its input of {}x{} px is too large for images of {}x{} px (at most {MAX_GROWTH} times their pixels, or those of {}x{}): correct \
         width, height and multiple in the description beside it, export the model for a smaller size, or use larger images",
        .0.0, .0.1, .1.0, .1.1, USUAL.0, USUAL.1
    )]
    LargeInput((usize, usize), (usize, usize)),
    /// The range goes beyond the disparities of the model.
    #[error(
        "the model finds disparities up to {largest_px:.0} px in these images, and the range reaches {last}: set {} to {count} or less, \
         or use smaller images ({})",
        option("num-disparities"),
        option("scale")
    )]
    Range {
        /// Largest disparity that the model finds in the images, px.
        largest_px: f64,
        /// Last disparity of the range, px.
        last: i32,
        /// Largest number of disparities within both.
        count: i32,
    },
    /// The output of this name has the extents of no map.
    #[error("the output '{}' of the model is no map: ({})", .0, joined(.1, ", "))]
    Shape(String, Vec<usize>),
    /// No pixel of the output is a number with inputs of this brightness.
    #[error("the model gives no number for any pixel: does it expect another brightness than {0}?")]
    NoNumber(Brightness),
    /// The output has numbers of another type.
    #[error("the output of the model has no numbers of 32 bits")]
    OtherNumbers,

    /// A runtime does not read the file.
    #[error("{}; is it whole, and in the format ONNX?", cause(.0))]
    Unread(Cause),
    /// A runtime lacks an operator.
    #[error("{}: export it with the standard operators of ONNX, opset 17 or so", cause(.0))]
    Operator(Cause),
    /// The built-in runtime lacks an operator, and tells it only in a run.
    #[error(
        "the built-in runtime cannot run it, and ONNX Runtime ({}) may: {}",
        Remedy::set("model-device", ModelDevice::Cpu), cause(.0)
    )]
    NotBuiltIn(Cause),
    /// A run fails.
    #[error("the model fails: {}", cause(.0))]
    Run(Cause),
    /// A runtime panics.
    #[error("it panics in the runtime; try another export of it")]
    Panic,
    /// The library of ONNX Runtime cannot be loaded by any of its names.
    #[error(
        "ONNX Runtime cannot be loaded: {}. Install it (`pip install onnxruntime` has it in onnxruntime/capi), and set {VARIABLE} to the \
         path of its library; or use {}",
        cause(&joined(.0, "; ")), Remedy::set("model-device", ModelDevice::BuiltIn)
    )]
    NoLibrary(&'static [Cause]),
    /// The library of ONNX Runtime is not made for this device.
    #[error(
        "this ONNX Runtime does not run on {}: {} Install the one for that device, or use another {}",
        .0, cause(.1), option("model-device")
    )]
    NoDevice(ModelDevice, Cause),
    /// The system gives no thread for this.
    #[error("no thread for the {0}: {1}")]
    NoThread(&'static str, io::Error),
    /// The thread of the engine has ended.
    #[error("the thread of the model has ended: choose the engine again")]
    Ended,

    /// A trial with images of this width and height, px, takes longer than its limit.
    #[error(
        "the first pair of {}x{} px took longer than {} s: use smaller images ({}), or a smaller model",
        .0.0, .0.1, .1.as_secs(), option("scale")
    )]
    Late((usize, usize), Duration),
    /// The process of a trial ended in this way, and without a result.
    #[error(
        "the process that opened it first ended without a result ({}): it crashes the runtime, has graphs within graphs deeper than the \
         stack, or takes more memory than is free; use smaller images ({}), or another export of the model",
        .0, option("scale")
    )]
    Crash(ExitStatus),
    /// Text of the fault that the child process of a trial found.
    #[error("{0}")]
    Told(String),
}

impl ModelError {
    /// Returns the error of reading a file.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Read(path.to_owned(), cause)
    }

    /// Returns the error with the file of the model, if it does not have it.
    pub(crate) fn of_file(self, file: &Path) -> Self {
        if matches!(self, Self::Model(..)) { self } else { Self::Model(file.to_owned(), Box::new(self)) }
    }
}

/// Returns the words of a runtime as a part of a sentence; they may hold names from the file.
fn cause(err: &impl Display) -> String {
    const MAX_LEN: usize = 300;
    console::shown(err.to_string().trim()).replace('\n', " ").chars().take(MAX_LEN).collect()
}

fn joined(items: &[impl ToString], by: &str) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(by)
}

impl From<ModelError> for EngineError {
    fn from(error: ModelError) -> Self {
        Self::Unsupported(error.into())
    }
}
