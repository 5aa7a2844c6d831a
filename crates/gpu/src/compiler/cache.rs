//! Cache of the driver's compiled pipelines: a file for each device in the program's cache folder. Broken files and those of another
//! version or driver are ignored.

#![allow(
    unsafe_code,
    reason = "only what this program wrote may be handed to a driver; its use says how that is known"
)]

use super::super::device::Gpu;
use super::compile::with_error_scopes;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::OnceLock;
use stereopsis_base::files;
use stereopsis_frame::engine::cached;

/// Size above which a file is begun anew, bytes: old sizes and options have filled it.
const MAX_BYTES: u64 = 64 << 20;

pub(super) struct Cache {
    gpu: Gpu,
    file: Option<PathBuf>,
    opened: OnceLock<Option<wgpu::PipelineCache>>,
    saved: Mutex<Option<u64>>,
}

impl Cache {
    /// Creates a cache that is read on first use. Without a file there is no cache.
    pub(super) fn new(gpu: Gpu, file: Option<PathBuf>) -> Self {
        Self { gpu, file, opened: OnceLock::new(), saved: Mutex::default() }
    }

    /// Returns the path of this device's cache file; `None` where the driver has no cache.
    pub(super) fn file(gpu: &Gpu) -> Option<PathBuf> {
        if !gpu.device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let device = wgpu::util::pipeline_cache_key(&gpu.adapter.get_info())?;
        cached::file(&format!("{device}.bin"))
    }

    /// Returns the driver's cache, filled from the file.
    pub(super) fn get(&self) -> Option<&wgpu::PipelineCache> {
        let file = self.file.as_ref()?;
        let open = || {
            let bytes = files::plain::read(file, MAX_BYTES).unwrap_or_default();
            let data = unpack(&bytes);
            *self.saved.lock() = data.map(checksum);
            // a file of another device or driver is refused: then the cache begins empty
            self.create(data).or_else(|| data.and_then(|_| self.create(None)))
        };
        self.opened.get_or_init(open).as_ref()
    }

    fn create(&self, data: Option<&[u8]>) -> Option<wgpu::PipelineCache> {
        let descriptor = wgpu::PipelineCacheDescriptor { label: Some("pipelines"), data, fallback: true };
        // SAFETY: the data comes from `save` of this version of the program, in the user's own folder: the head proves the version, and the
        // checksum that nothing has changed since. wgpu and the driver compare the device and their versions.
        with_error_scopes(&self.gpu.device, || unsafe { self.gpu.device.create_pipeline_cache(&descriptor) })
            .inspect_err(|err| log::info!("no kept pipelines are used: {err}"))
            .ok()
    }

    pub(super) fn save(&self) {
        let (Some(file), Some(Some(cache)), None) = (&self.file, self.opened.get(), self.gpu.lost()) else { return };
        let Some(data) = cache.get_data() else { return };
        let mut saved = self.saved.lock();
        let sum = checksum(&data);
        if *saved == Some(sum) {
            return;
        }
        match cached::replace(file, &pack(&data, sum)) {
            Ok(()) => *saved = Some(sum),
            Err(err) => log::info!("the pipelines are not kept: {}: {err}", file.display()),
        }
    }
}

/// First bytes of a file of this version; the checksum follows.
const HEAD: &[u8] = concat!("stereopsis ", env!("CARGO_PKG_VERSION"), " pipelines\n").as_bytes();

pub(super) fn pack(data: &[u8], sum: u64) -> Vec<u8> {
    [HEAD, &sum.to_le_bytes(), data].concat()
}

fn unpack(bytes: &[u8]) -> Option<&[u8]> {
    let (sum, data) = bytes.strip_prefix(HEAD)?.split_first_chunk()?;
    (u64::from_le_bytes(*sum) == checksum(data)).then_some(data)
}

/// Computes FNV-1a of 64 bits, which detects damage, not manipulation.
pub(super) fn checksum(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_only_complete_files_of_this_version() {
        let data = b"what a driver gave".as_slice();
        let file = pack(data, checksum(data));
        assert_eq!(unpack(&file), Some(data));
        for end in 0..file.len() {
            assert_eq!(unpack(&file[..end]), None, "cut off after {end} bytes");
        }
        for place in 0..file.len() {
            let mut damaged = file.clone();
            damaged[place] ^= 4;
            assert_eq!(unpack(&damaged), None, "byte {place} differs");
        }
        assert_eq!(checksum(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(checksum(b"a"), 0xaf63_dc4c_8601_ec8c, "the published value");
    }
}
