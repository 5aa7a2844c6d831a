//! Pixels that count for the scores.

use stereopsis_stereo::INVALID;

/// Whether a pixel has a disparity measured in this pair.
pub(super) fn is_measured(value: i16, reasons: u8) -> bool {
    value != INVALID && reasons == 0
}
