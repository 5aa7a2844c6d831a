//! Flag of the format of depth images, for recordings and subscribers.

use super::error::refuse;
use super::values::choice;
use stereopsis_recording::{DepthFormat, Format};

/// Format of depth images.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct DepthArgs {
    /// Form of depth images in the recording, and for subscribers [default: 16UC1]
    ///
    /// A link that is too slow for plain images takes png or rvl: a recording and ROS 2 have the topic
    /// /stereo/depth/image_raw/compressedDepth then. ROS 2 is offered that topic as PNG in any case.
    #[arg(long, hide_short_help = true, value_name = "FORM", value_parser = choice(DepthFormat::ALL, DepthFormat::word, DepthFormat::help))]
    pub(super) depth_format: Option<DepthFormat>,
}

impl DepthArgs {
    /// Returns the format, which messages of this format have.
    ///
    /// # Errors
    /// They have no compressed depth.
    pub(super) fn of_messages(self, messages: Format) -> anyhow::Result<Option<DepthFormat>> {
        match self.depth_format {
            Some(format) if format.is_compressed() && messages == Format::Foxglove => refuse(format!(
                "--depth-format {format} is a form of ROS: give --messages ros2, or compress the file with --compression zstd"
            )),
            format => Ok(format),
        }
    }
}
