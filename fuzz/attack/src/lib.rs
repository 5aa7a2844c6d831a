//! Entry points of foreign data as functions of any bytes, for libFuzzer in `fuzz/` and for `tests/attack`.
//! A target fails by a panic, also where the program breaks a promise: an answer, and consistent results on every path.
//!
//! # Design: each entry point is a function of bytes
//!
//! - `attack` has one function per entry point. The tests run it with the seeds of `fuzz/seeds` and with damaged ones; `fuzz/` is
//!   libFuzzer around the same functions. An input that broke a target once becomes a seed.
//! - Eight files have unsafe code: two of `cpu`, three of `v4l2/`, three of `gpu` (two of its compiler, and `memory`). Those of the CPU
//!   engine use nothing else of the program, so that `tools/miri` can build them alone; the others call the kernel and drivers, which
//!   Miri cannot.
//! - `make attack` runs all of it, with the hostile cases among the other tests and the licence check of the dependencies; SECURITY.md
//!   lists the promises.

mod calibration;
mod journal;
mod inputs;
mod message;
mod network;
mod picture;
mod publish;
mod recording;
mod video;
mod views;
mod words;

pub use journal::header as journal_header;
pub use message::channels as message_channels;

/// Entry point.
pub struct Target {
    /// Name in `TARGET=name` and in the folders of `fuzz/seeds`.
    pub name: &'static str,
    /// Function that takes any bytes.
    pub run: fn(&[u8]),
}

/// All targets.
pub const ALL: &[Target] = &[
    Target { name: "archive", run: calibration::archive },
    Target { name: "board", run: words::board },
    Target { name: "both", run: picture::both },
    Target { name: "camera", run: picture::camera },
    Target { name: "journal", run: journal::journal },
    Target { name: "kalibr", run: calibration::kalibr },
    Target { name: "message", run: message::message },
    Target { name: "middlebury", run: calibration::middlebury },
    Target { name: "model", run: words::model },
    Target { name: "network", run: network::network },
    Target { name: "opencv_xml", run: calibration::opencv_xml },
    Target { name: "opencv_yaml", run: calibration::opencv_yaml },
    Target { name: "parameters", run: words::parameters },
    Target { name: "parts", run: recording::parts },
    Target { name: "pfm", run: picture::pfm },
    Target { name: "picture", run: picture::picture },
    Target { name: "pipe", run: recording::pipe },
    Target { name: "recording", run: recording::file },
    Target { name: "request", run: publish::request },
    Target { name: "request_head", run: publish::request_head },
    Target { name: "rig", run: words::rig },
    Target { name: "ros", run: calibration::ros },
    Target { name: "settings", run: words::settings },
    Target { name: "source", run: words::source },
    Target { name: "toml", run: calibration::toml },
    Target { name: "views", run: views::views },
    Target { name: "y4m", run: video::y4m },
    Target { name: "zed", run: calibration::zed },
];
