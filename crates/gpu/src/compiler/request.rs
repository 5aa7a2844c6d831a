//! What is asked of the compiler, and what it gives.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Source of a shader module. Variants differ in their source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Folder and file name below `shaders/`, without the extension.
    pub stem: &'static str,
    /// Text in WGSL.
    pub text: String,
}

impl Hash for Source {
    /// Hashes the stem without the long text, because hashes are computed with every pair.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.stem, self.text.len()).hash(state);
    }
}

/// Key of a pipeline: cheap to clone and to hash.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Source of the module.
    pub source: Arc<Source>,
    /// Entry point of the shader.
    pub entry: &'static str,
    /// Values of its `override` constants, by name.
    pub constants: Vec<(&'static str, u32)>,
}

/// Compiled entry. Clones share it.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// Pipeline of wgpu.
    pub pipeline: wgpu::ComputePipeline,
    /// Layout of its bind group.
    pub layout: wgpu::BindGroupLayout,
}
