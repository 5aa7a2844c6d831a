//! Settings of a run and the rig of the user: defaults, settings file, preset and flags resolved into plain data.

use stereopsis_base::parameter::{choices, stands_as_its_word};
use stereopsis_base::{console, files, geometry, parameter};
use stereopsis_calibration as calibration;
use stereopsis_capture as capture;
use stereopsis_engine as engine;
use stereopsis_stereo as stereo;

pub mod settings;
pub mod rig;
