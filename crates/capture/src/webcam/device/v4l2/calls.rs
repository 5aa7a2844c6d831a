//! V4L2 calls as safe functions. Drivers are not trusted: their texts are never read, unknown numbers stay numbers, and every list is
//! bounded.

#![allow(unsafe_code, reason = "the kernel fills structures through pointers; each use says why it is sound")]

use super::kernel::{
    self, Control, Controls, Fraction, FrameIntervals, FrameSizes, Message, PixFormat, QueryControl, Request,
    VIDEO_CAPTURE,
};
use rustix::fs::{Mode, OFlags};
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode};
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Maximum number of formats, of sizes per format, and of intervals per size. It bounds the list of a faulty driver.
const MAX_ENTRIES: u32 = 128;

/// Open node of a camera; clones share the file descriptor.
#[derive(Clone)]
pub(in crate::webcam) struct Node(Arc<OwnedFd>);

impl Node {
    /// Opens /dev/videoN without blocking: calls that would wait return an error.
    pub(in crate::webcam) fn open(index: u32) -> io::Result<Self> {
        let how = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::open(format!("/dev/video{index}"), how, Mode::empty())?;
        Ok(Self(Arc::new(fd)))
    }
}

impl AsFd for Node {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Code of a pixel format, four letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FourCc(pub(super) [u8; 4]);

impl From<u32> for FourCc {
    fn from(number: u32) -> Self {
        Self(number.to_le_bytes())
    }
}

impl From<FourCc> for u32 {
    fn from(code: FourCc) -> Self {
        Self::from_le_bytes(code.0)
    }
}

pub(super) fn blank<T: Message>() -> T {
    // SAFETY: zeros are a value of every message
    unsafe { std::mem::zeroed() }
}

struct Call<'a, T> {
    opcode: Opcode,
    message: &'a mut T,
}

// SAFETY: the number contains the size of the message, as `Request` pairs them, and the kernel reads and writes no more. All bytes
// that it writes are a valid value, because the message is a `Message`. It is borrowed for the time of the call.
unsafe impl<T: Message> Ioctl for Call<'_, T> {
    type Output = ();
    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        self.opcode
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut(self.message).cast()
    }

    unsafe fn output_from_ptr(_: IoctlOutput, _: *mut c_void) -> rustix::io::Result<()> {
        Ok(())
    }
}

/// Sends a request to the driver, which reads `message` and writes its answer there.
pub(super) fn call<T: Message>(node: &Node, request: &Request<T>, message: &mut T) -> io::Result<()> {
    // SAFETY: a request of V4L2 with its own structure. Pointers inside are null, except in `with_control`, which documents its own.
    Ok(unsafe { rustix::ioctl::ioctl(node, Call { opcode: request.opcode, message }) }?)
}

/// Returns whether this node captures images; other nodes of a camera are for metadata.
pub(super) fn gives_pictures(node: &Node) -> io::Result<bool> {
    let mut all: kernel::Capability = blank();
    call(node, &kernel::QUERYCAP, &mut all)?;
    // drivers before Linux 3.4 report only the capabilities of the whole device
    let of_node = all.capabilities & kernel::CAP_DEVICE_CAPS != 0;
    let can = if of_node { all.device_caps } else { all.capabilities };
    Ok(can & kernel::CAP_VIDEO_CAPTURE != 0)
}

/// Returns the entries that a driver lists under indices 0, 1, 2 and so on.
fn list<T: Message>(node: &Node, request: &Request<T>, entry: impl Fn(u32) -> T) -> io::Result<Vec<T>> {
    let mut found = Vec::new();
    for index in 0..MAX_ENTRIES {
        let mut entry = entry(index);
        match call(node, request, &mut entry) {
            Ok(()) => found.push(entry),
            Err(error) if found.is_empty() => return Err(error),
            Err(_) => return Ok(found),
        }
    }
    log::warn!("a camera's driver lists {MAX_ENTRIES} things of a kind and more; those after them are left out");
    Ok(found)
}

/// Returns the pixel formats, each once; empty if the node has none.
pub(super) fn formats(node: &Node) -> Vec<FourCc> {
    let entry = |index| kernel::FormatDescription { index, kind: VIDEO_CAPTURE, ..blank() };
    let listed = list(node, &kernel::ENUM_FMT, entry).unwrap_or_default();
    let mut formats: Vec<FourCc> = Vec::new();
    for format in listed.iter().map(|entry| FourCc::from(entry.pixelformat)) {
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    formats
}

/// Returns the sizes of a format: each one size, or a range.
///
/// # Errors
/// The driver lists none.
pub(super) fn sizes(node: &Node, fourcc: FourCc) -> io::Result<Vec<FrameSizes>> {
    list(node, &kernel::ENUM_FRAMESIZES, |index| FrameSizes { index, pixelformat: fourcc.into(), ..blank() })
}

/// Returns the frame intervals of a size: each one interval, or a range.
///
/// # Errors
/// The driver lists none.
pub(super) fn intervals(node: &Node, fourcc: FourCc, (width, height): (u32, u32)) -> io::Result<Vec<FrameIntervals>> {
    let entry = |index| FrameIntervals { index, pixelformat: fourcc.into(), width, height, ..blank() };
    list(node, &kernel::ENUM_FRAMEINTERVALS, entry)
}

pub(super) fn format(node: &Node) -> io::Result<PixFormat> {
    let mut message = kernel::Format { kind: VIDEO_CAPTURE, ..blank() };
    call(node, &kernel::G_FMT, &mut message)?;
    Ok(message.pix)
}

/// Requests a format; returns the one that the driver granted.
pub(super) fn set_format(node: &Node, fourcc: FourCc, (width, height): (u32, u32)) -> io::Result<PixFormat> {
    let mut message = kernel::Format { kind: VIDEO_CAPTURE, ..blank() };
    message.pix = PixFormat { width, height, pixelformat: fourcc.into(), ..message.pix };
    call(node, &kernel::S_FMT, &mut message)?;
    Ok(message.pix)
}

pub(super) fn interval(node: &Node) -> io::Result<Fraction> {
    let mut message = kernel::StreamParameters { kind: VIDEO_CAPTURE, ..blank() };
    call(node, &kernel::G_PARM, &mut message)?;
    Ok(message.interval)
}

/// Requests a frame interval; returns the one that the driver granted.
pub(super) fn set_interval(node: &Node, interval: Fraction) -> io::Result<Fraction> {
    let mut message = kernel::StreamParameters { kind: VIDEO_CAPTURE, interval, ..blank() };
    call(node, &kernel::S_PARM, &mut message)?;
    Ok(message.interval)
}

/// Returns the driver's description of a control; its name is not read.
pub(in crate::webcam) fn control(node: &Node, id: u32) -> io::Result<QueryControl> {
    let mut message = QueryControl { id, ..blank() };
    call(node, &kernel::QUERY_EXT_CTRL, &mut message)?;
    Ok(message)
}

pub(in crate::webcam) fn menu_has(node: &Node, id: u32, index: u32) -> bool {
    let mut message = kernel::QueryMenu { id, index, ..blank() };
    call(node, &kernel::QUERYMENU, &mut message).is_ok()
}

/// Returns the value of a control that is a 32-bit number, a switch or a menu.
pub(in crate::webcam) fn value(node: &Node, id: u32) -> io::Result<i32> {
    with_control(node, &kernel::G_EXT_CTRLS, id, 0)
}

/// Sets a control that is a 32-bit number, a switch or a menu; the driver may grant another value.
pub(in crate::webcam) fn set_value(node: &Node, id: u32, value: i32) -> io::Result<()> {
    with_control(node, &kernel::S_EXT_CTRLS, id, value).map(drop)
}

fn with_control(node: &Node, request: &Request<Controls>, id: u32, value: i32) -> io::Result<i32> {
    let mut control = Control { id, value, ..blank() };
    // the message contains a pointer to this control, which outlives the call
    let mut message = Controls { count: 1, controls: &raw mut control, ..blank() };
    call(node, request, &mut message)?;
    Ok(control.value)
}
