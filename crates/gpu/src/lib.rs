//! The GPU engine: runs the algorithm of [`stereopsis_stereo`] as compute shaders, with the same bits; `shaders/` has a file for each stage.
//!
//! Images are copied through a mapped staging buffer into textures. Volumes and maps stay in buffers on the device. The result is a
//! texture to be drawn and, on request, a copy on the host.
//!
//! # Design: a dispatch graph built without a device, kernels in variants
//!
//! ```text
//!  job ─▶ layout (volumes, slabs) ─▶ graph (dispatches) ─▶ program (pipelines bound to buffers) ─▶ a submission, or more ─▶ queue
//!         with a variant, measured or baseline             compiled on another thread              window's frames in between
//!  on the device:  codes ─▶ costs ─▶ aggregated costs ─▶ L - C of each direction ─▶ sums and winners ─▶ right map ─▶ filters ─▶ texture, copy to the host
//! ```
//!
//! - `layout` and `graph` turn parameters into plain data: the volumes, the buffers (slabs) over which each is spread where a binding is
//!   too small, the batches of directions where memory is, and every dispatch with its work. They need no device, so tests can check
//!   them for any job. `graph/` has a file for each stage, which also declares the stage's shaders. Stored path costs take up to 4 GiB
//!   on discrete GPUs and 1 GiB elsewhere; each failed allocation halves that.
//! - `resource` names buffers. `buffers` allocates exactly those that the graph binds; a buffer that keeps its size keeps its contents.
//!   So the state of a sequence (the last map, running means) survives a change of the variant. The uniform of a pair contains whether
//!   it has a predecessor (`past`); the queue keeps the order, however many jobs are in flight.
//! - The candidates of a pixel are distributed over 1 to 64 lanes, 4, 8 or 16 to each; a workgroup walks several lines side by side.
//!   Lines are those of `stereo/aggregate`. A line that leaves the image wraps around to the opposite side, so that all lines have the
//!   same length and none waits.
//! - Each direction stores `L - C`, at most P2: a byte for a candidate, or two where P2 is larger. The winner kernel adds all of them to
//!   N times the cost, and writes the winners of the right image as keys, of which the best one stays. Where that saves memory traffic
//!   it computes the path along the row itself.
//! - The engine implements the kinds of comparison of `stereo/cost`, not the costs: Hamming distances of census strings, differences of
//!   one byte, constant tables, a learned table, windowed differences. The table of mutual information is learned on the device: on
//!   each level of the pyramid seven small kernels make a joint histogram and turn it into costs, without a wait for the host.
//! - Local aggregation works on volumes, between costs and paths, or winners where there are no paths. It follows the five steps of Fang
//!   et al. 2012. *Mapping*: candidates lie innermost, so neighbouring lanes take neighbouring words of four candidates, *(d, x)*, and a
//!   tile of columns, which is coalesced. *Sharing* and *caching*: windows are running sums of columns, crosses differences of prefix
//!   sums, and adaptive weights load a row with its halo and compute each weight once for a tile of columns and candidates. Groups of
//!   candidates are the *third dimension* of each dispatch. *Unrolling* is left to drivers: radii are constants in the source.
//!   `weighted-cross` is plain loops.
//! - Matching with the images swapped is one more level of the graph, of mirrored images, which shares the buffers of the pair.
//! - `variant` lists options that change no bit: exchange between lanes, candidates of a lane, workgroup size, costs read or computed
//!   again, the fused path along the row, the length of its pieces. Directives in the shaders stand for them, because WGSL has no generics;
//!   `kernels` has the table of their values.
//! - Each barrier drains the device, so filters share dispatches: the right image's winners, black borders and the first medians of both
//!   maps are one, the left-right check and the labels of regions another. Black borders and regions of single pixels depend on the
//!   images alone, and run during matching. `stereopsis-lab pipeline` counts the barriers, and a test holds them at 9.
//! - A map for the host is packed on the device into the host's form: disparities, reasons, and confidences where they are on.
//! - `tuning` varies one field after the other on the pairs of a running pipeline, four pairs each, and stores the quickest variant by
//!   adapter, driver and size in the program's cache folder. `tune` measures all at once; `STEREOPSIS_GPU` overrides fields; on software
//!   adapters nothing is measured unless requested.
//! - `compiler` has a thread of its own: until all pipelines of a job are compiled, the engine thread continues with the previous
//!   parameters (`Engine::prepare`). Where the driver allows it, compiled pipelines are stored from run to run.
//! - A pair is one submission, with its copies to and from the device, unless it takes longer than 6 ms. The queue runs submissions in
//!   order, and a window draws on it, so longer pairs are divided and only about two submissions are queued (`pace`). The first timed
//!   pair decides, and later a device that becomes twice or half as fast. Up to three jobs are in flight, two where pairs take long: the
//!   host writes one into mapped memory while the device computes another, and reads the result of a third.
//! - A lost device is an error like others. The CPU takes over with the newest pair, and `frame/engine/recovery` decides when the GPU is
//!   opened again: once, after some seconds, and not within a minute of the last recovery. The engine thread follows it for its own
//!   device, the window (`ui/session/device`) for the shared one.

mod buffers;
pub mod compiler;
pub mod device;
mod gpu_engine;
mod error;
mod events;
pub mod graph;
mod in_flight;
pub mod kernels;
pub mod layout;
pub mod limits;
mod memory;
mod need;
mod options;
mod pace;
mod past;
mod plan;
mod program;
pub mod resource;
pub mod shaders;
mod silence;
mod slot;
mod testing;
mod trace;
pub mod tuning;
pub mod uniforms;
pub mod variant;

pub use device::{AdapterSummary, Gpu};
pub use error::INSTALL;
pub use events::Event;
pub use gpu_engine::GpuEngine;
pub use options::GpuOptions;
pub use plan::Plan;
pub use trace::{Trace, TraceData};
