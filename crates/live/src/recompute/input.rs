//! Pairs of the old recording as frames, and parameters for them.

use super::error::RecomputeError;
use std::sync::Arc;
use std::time::Instant;
use stereopsis_frame::{Cause, Frame, Pixels};
use stereopsis_recording::unpack::Unpacker;
use stereopsis_recording::{CalibratedRecording, Packet};
use stereopsis_settings::settings::Settings;
use stereopsis_stereo::StereoParams;

/// Returns packets and frame of pair `k`. `k` becomes the sequence number in a recording of another program, which has none.
pub(super) fn read(
    input: &mut CalibratedRecording,
    unpacker: &Unpacker,
    k: u64,
) -> Result<(Vec<Packet>, Frame), Cause> {
    let (packets, mut raw) = unpacker.read(&mut input.recording, k)?;
    if input.recording.about().is_none() {
        raw.sequence = k;
    }
    let preparation = &input.calibrated.preparation;
    raw.cameras.take_if(|_| !preparation.follows);
    let frame = preparation.prepare(&Arc::new(raw), &input.info, Instant::now());
    Ok((packets, frame?))
}

pub(super) fn unpacker(input: &CalibratedRecording, pixels: Pixels) -> Unpacker {
    Unpacker::of(input.recording.about(), pixels, input.max_pixels)
}

pub(super) fn params_for(settings: &Settings, frame: &Frame) -> Result<StereoParams, RecomputeError> {
    Ok(settings.params_for(frame.extent_px(), frame.geometry.as_ref())?)
}
