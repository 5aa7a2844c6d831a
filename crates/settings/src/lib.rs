//! Settings of a run and of a rig: words of flags and files, resolved in one order.

use stereopsis_base::parameter::{choices, stands_as_its_word};
use stereopsis_base::{console, files, geometry, parameter};
use stereopsis_calibration as calibration;
use stereopsis_capture as capture;
use stereopsis_engine as engine;
use stereopsis_stereo as stereo;

pub mod settings;
pub mod rig;
