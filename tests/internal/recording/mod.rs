//! Recordings as files: what is written, and that it is read again.

mod damaged;
pub(super) mod fixture;
mod formats;
mod playback;
