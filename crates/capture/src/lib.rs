//! Sources of pairs (scene, image files, cameras), and the capture thread, which reads pairs from any of them, prepares frames and
//! passes them to the engine. All sources implement [`PairSource`].

mod bag;
mod unread;
pub mod source;
pub mod scene;
pub mod picture_files;
pub mod decode;
#[cfg(all(feature = "testing", target_os = "linux"))]
pub mod emulated;
#[cfg(feature = "cameras")]
pub mod webcam;
mod camera_name;
mod video_input;
pub mod threads;
pub mod pairing;
mod pace;
pub mod player;
pub mod stamps;
pub mod worker;

pub use bag::bag_files;
pub use camera_name::CameraName;
pub use source::SourceSpec;
pub use unread::recording as unread_recording;
pub use video_input::{Address, VideoInput};
pub use worker::{Capture, CaptureOptions, CaptureStats, CountsFrom};
