//! Files of weights beside a model. The model names them and the runtime opens them: only plain files in its folder are let through,
//! since a pipe would block the runtime, and a link could lead to any file.

use crate::error::ModelError;
use crate::runtime::unread;
use rten_onnx::onnx::{DataLocation, GraphProto, ModelProto, TensorProto};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use stereopsis_base::{console, files};
use stereopsis_frame::engine::{ModelDevice, ModelFile};

/// Checks the files that a model names, and returns the bytes that a runtime reads from them.
///
/// # Errors
/// The model cannot be read, or a file is not where the runtime takes it, no plain file, or too short.
pub(crate) fn bytes_beside(file: &ModelFile) -> Result<u64, ModelError> {
    let wrong = |err: std::io::Error| ModelError::new(files::read_cause(&file.path, &err));
    let model = ModelProto::parse_file(files::plain::open(&file.path).map_err(wrong)?).map_err(unread)?;
    let mut tensors = Vec::new();
    collect(model.graph.iter(), &mut tensors);
    let mut sizes = HashMap::new();
    let mut all: u64 = 0;
    for tensor in tensors {
        let entry = |key: &str| {
            let entry = tensor.external_data.iter().rfind(|entry| entry.key.as_deref() == Some(key));
            entry.and_then(|entry| entry.value.as_deref())
        };
        let Some(name) = entry("location") else { continue }; // the runtime names the weights without a file
        let refused = |why: String| ModelError::new(format!("its weights are in {}: {why}", console::foreign(name)));
        let size = match sizes.get(name) {
            Some(&size) => size,
            None => *sizes.entry(name).or_insert(size_of(file, Path::new(name)).map_err(refused)?),
        };
        let number = |key: &str| entry(key).and_then(|number| number.parse::<u64>().ok());
        let (offset, length) = (number("offset").unwrap_or(0), number("length"));
        let end = offset.saturating_add(length.unwrap_or(0));
        if end > size {
            return Err(refused(format!("it has {size} bytes, and the model reads to {end}; is it whole?")));
        }
        all = all.saturating_add(length.unwrap_or(size - offset));
    }
    Ok(all)
}

/// Collects the tensors with values in other files, also those of graphs within the graph.
fn collect<'a>(graphs: impl Iterator<Item = &'a GraphProto>, found: &mut Vec<&'a TensorProto>) {
    for graph in graphs {
        let attributes = || graph.node.iter().flat_map(|node| &node.attribute);
        let tensors = graph.initializer.iter().chain(attributes().filter_map(|attribute| attribute.t.as_ref()));
        found.extend(tensors.filter(|tensor| tensor.data_location == Some(DataLocation::EXTERNAL)));
        attributes().for_each(|attribute| collect(attribute.g.iter(), found));
    }
}

/// Returns the size of a file that a model names, or why it is refused.
fn size_of(ModelFile { path, device }: &ModelFile, name: &Path) -> Result<u64, String> {
    let read_cause = |path: &Path, err: std::io::Error| files::read_cause(path, &err);
    let own = path.canonicalize().map_err(|err| read_cause(path, err))?;
    let [real, named] = [&own, path].map(|path| files::folder_of(path).to_owned());
    let is_inside = name.components().all(|part| matches!(part, Component::Normal(_)));
    let out = || {
        "it lies outside the folder of the model; copy it there, and export the model with its name alone".to_owned()
    };
    if !is_inside {
        return Err(out());
    }
    let place: PathBuf = if *device == ModelDevice::BuiltIn {
        let is_taken = |ending: &OsStr| ["data", "onnx_data"].iter().any(|word| starts_with(ending, word));
        if name.components().count() > 1 || !name.extension().is_some_and(is_taken) {
            return Err(format!(
                "the built-in runtime takes only a file beside the model whose name ends in .data or .onnx_data; export the model with \
                 such a name, or use ONNX Runtime (--model-device {})",
                ModelDevice::Cpu
            ));
        }
        real.join(name)
    } else {
        named.join(name)
    };
    let target = place.canonicalize().map_err(|err| read_cause(&place, err))?;
    let named = named.canonicalize().map_err(|err| read_cause(path, err))?;
    if ![real, named].iter().any(|folder| target.starts_with(folder)) {
        return Err(out());
    }
    let opened = files::plain::open(&target).and_then(|file| file.metadata());
    Ok(opened.map_err(|err| read_cause(&place, err))?.len())
}

fn starts_with(text: &OsStr, start: &str) -> bool {
    text.as_encoded_bytes().starts_with(start.as_bytes())
}
