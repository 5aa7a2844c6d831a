//! Files of weights beside a model. The model names them and the runtime opens them: only plain files in its folder are let through,
//! since a pipe would block the runtime, and a link could lead to any file.

use crate::error::ModelError;
use rten_onnx::onnx::{DataLocation, GraphProto, ModelProto, TensorProto};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Component, Path};
use stereopsis_base::files;
use stereopsis_frame::engine::{ModelDevice, ModelFile};

/// Checks the files that a model names, and returns the bytes that a runtime reads from them.
///
/// # Errors
/// The model cannot be read, or a file is not where the runtime takes it, no plain file, or too short.
pub(crate) fn bytes_beside(file: &ModelFile) -> Result<u64, ModelError> {
    let opened = files::plain::open(&file.path).map_err(ModelError::read(&file.path))?;
    let model = ModelProto::parse_file(opened).map_err(|err| ModelError::Unread(err.into()))?;
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
        let refused = |why| ModelError::Weights(name.to_owned(), Box::new(why));
        let size = match sizes.get(name) {
            Some(&size) => size,
            None => *sizes.entry(name).or_insert(size_of(file, Path::new(name)).map_err(refused)?),
        };
        let number = |key: &str| entry(key).and_then(|number| number.parse::<u64>().ok());
        let (offset, length) = (number("offset").unwrap_or(0), number("length"));
        let end = offset.saturating_add(length.unwrap_or(0));
        if end > size {
            return Err(refused(ModelError::Short(size, end)));
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
fn size_of(ModelFile { path, device }: &ModelFile, name: &Path) -> Result<u64, ModelError> {
    let own = path.canonicalize().map_err(ModelError::read(path))?;
    let [real, named] = [&own, path].map(|path| files::folder_of(path).to_owned());
    if !name.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(ModelError::Outside);
    }
    let is_built_in = *device == ModelDevice::BuiltIn;
    let is_taken = |ending: &OsStr| {
        ["data", "onnx_data"].iter().any(|word| ending.as_encoded_bytes().starts_with(word.as_bytes()))
    };
    if is_built_in && (name.components().count() > 1 || !name.extension().is_some_and(is_taken)) {
        return Err(ModelError::Ending);
    }
    let place = if is_built_in { &real } else { &named }.join(name);
    let target = place.canonicalize().map_err(ModelError::read(&place))?;
    let named = named.canonicalize().map_err(ModelError::read(path))?;
    if ![real, named].iter().any(|folder| target.starts_with(folder)) {
        return Err(ModelError::Outside);
    }
    let opened = files::plain::open(&target).and_then(|file| file.metadata());
    Ok(opened.map_err(ModelError::read(&place))?.len())
}
