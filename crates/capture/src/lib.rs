//! Sources of pairs: the built-in scene, image files, videos and cameras. All of them implement
//! [`PairSource`](stereopsis_frame::PairSource).

#[cfg(target_os = "linux")]
pub mod emulated;
pub mod picture_files;
pub mod scene;
pub mod video;
#[cfg(feature = "cameras")]
pub mod webcam;
