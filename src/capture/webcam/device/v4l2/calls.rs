//! V4L2 calls as plain functions. The crate v4l has most of them too, but panics at a name that is not UTF-8 and at a
//! colour space or a kind of control newer than itself, and it follows lists without a limit. Here texts of drivers are
//! never read, numbers stay numbers, and every list is bounded. Descriptors, structures and numbers are v4l's.

#![allow(unsafe_code, reason = "the kernel fills structures through pointers; each use says why it is sound")]

use std::io;
use v4l::device::Handle;
use v4l::frameinterval::{FrameInterval, FrameIntervalEnum};
use v4l::framesize::{FrameSize, FrameSizeEnum};
use v4l::v4l_sys as sys;
use v4l::v4l2::{self, vidioc};
use v4l::{Device, FourCC};

/// Single-planar capture, the buffer type of all supported formats.
pub(super) const CAPTURE_BUFFER: u32 = sys::v4l2_buf_type_V4L2_BUF_TYPE_VIDEO_CAPTURE;
/// Largest number of formats, of sizes per format and of rates per size; bounds the listing of a faulty driver.
const MAX_ENTRIES: u32 = 128;

/// A V4L2 structure.
///
/// # Safety
/// It consists of numbers and of pointers that are not followed here, so that all bit patterns are valid, zeros too.
pub(super) unsafe trait Message: Copy {}

macro_rules! messages {
    ($($name:ident)*) => {
        $(
            // SAFETY: a structure of linux/videodev2.h as bindgen writes it: numbers, arrays and unions of them, raw pointers
            unsafe impl Message for sys::$name {}
        )*
    };
}
messages! {
    v4l2_buffer v4l2_capability v4l2_ext_control v4l2_ext_controls v4l2_fmtdesc v4l2_format v4l2_frmivalenum v4l2_frmsizeenum
    v4l2_query_ext_ctrl v4l2_querymenu v4l2_requestbuffers
}
// SAFETY: a number
unsafe impl Message for std::ffi::c_int {}

/// All zeros.
pub(super) fn blank<T: Message>() -> T {
    // SAFETY: zeros are a value of every message
    unsafe { std::mem::zeroed() }
}

/// Calls the driver, which reads the message and writes its answer there.
pub(super) fn call<T: Message>(handle: &Handle, request: vidioc::_IOC_TYPE, message: &mut T) -> io::Result<()> {
    // a request number contains the size of its structure (linux/ioctl.h)
    if (request >> 16) as usize & 0x3fff != size_of::<T>() {
        return Err(io::Error::other("a request with the structure of another one"));
    }
    // SAFETY: the kernel reads and writes as many bytes as the request says, which are those of the message; all bytes that it
    // writes are a valid value. Pointers inside are null, except in `value`, which documents its own.
    unsafe { v4l2::ioctl(handle.fd(), request, std::ptr::from_mut(message).cast()) }
}

/// Whether this node captures pictures; other nodes of a camera give metadata.
pub(super) fn gives_pictures(device: &Device) -> io::Result<bool> {
    let mut all: sys::v4l2_capability = blank();
    call(&device.handle(), vidioc::VIDIOC_QUERYCAP, &mut all)?;
    // drivers before Linux 3.4 report the node's capabilities in the field for the whole device
    let of_node = all.capabilities & sys::V4L2_CAP_DEVICE_CAPS != 0;
    let can = if of_node { all.device_caps } else { all.capabilities };
    Ok(can & sys::V4L2_CAP_VIDEO_CAPTURE != 0)
}

/// Entries that a driver lists under indices 0, 1, 2 and so on, up to its end of the list.
fn list<T: Message>(device: &Device, request: vidioc::_IOC_TYPE, entry: impl Fn(u32) -> T) -> io::Result<Vec<T>> {
    let handle = device.handle();
    let mut found = Vec::new();
    for index in 0..MAX_ENTRIES {
        let mut entry = entry(index);
        match call(&handle, request, &mut entry) {
            Ok(()) => found.push(entry),
            Err(error) if found.is_empty() => return Err(error),
            Err(_) => return Ok(found),
        }
    }
    log::warn!("a camera's driver lists {MAX_ENTRIES} things of a kind and more; those after them are left out");
    Ok(found)
}

/// Pixel formats, each once; empty where the node has none.
pub(super) fn formats(device: &Device) -> Vec<FourCC> {
    let entry = |index| sys::v4l2_fmtdesc { index, type_: CAPTURE_BUFFER, ..blank() };
    let listed = list(device, vidioc::VIDIOC_ENUM_FMT, entry).unwrap_or_default();
    let mut formats: Vec<FourCC> = Vec::new();
    for format in listed.iter().map(|entry| FourCC::from(entry.pixelformat)) {
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    formats
}

/// Sizes of a format.
///
/// # Errors
/// The driver lists none.
pub(super) fn sizes(device: &Device, fourcc: FourCC) -> io::Result<Vec<FrameSizeEnum>> {
    let entry = |index| sys::v4l2_frmsizeenum { index, pixel_format: fourcc.into(), ..blank() };
    let listed = list(device, vidioc::VIDIOC_ENUM_FRAMESIZES, entry)?;
    Ok(listed.into_iter().filter_map(|entry| Some(FrameSize::try_from(entry).ok()?.size)).collect())
}

/// Frame intervals of a size.
///
/// # Errors
/// The driver lists none.
pub(super) fn intervals(
    device: &Device,
    fourcc: FourCC,
    (width, height): (u32, u32),
) -> io::Result<Vec<FrameIntervalEnum>> {
    let entry = |index| sys::v4l2_frmivalenum { index, pixel_format: fourcc.into(), width, height, ..blank() };
    let listed = list(device, vidioc::VIDIOC_ENUM_FRAMEINTERVALS, entry)?;
    Ok(listed.into_iter().filter_map(|entry| Some(FrameInterval::try_from(entry).ok()?.interval)).collect())
}

fn pix_of(message: &sys::v4l2_format) -> sys::v4l2_pix_format {
    // SAFETY: numbers alone; and the buffer type selects this member of the union, where it is not all zeros
    unsafe { message.fmt.pix }
}

/// Current format of the camera.
pub(super) fn format(device: &Device) -> io::Result<sys::v4l2_pix_format> {
    let mut message = sys::v4l2_format { type_: CAPTURE_BUFFER, ..blank() };
    call(&device.handle(), vidioc::VIDIOC_G_FMT, &mut message)?;
    Ok(pix_of(&message))
}

/// Requests a format; returns the one that the driver granted.
pub(super) fn set_format(
    device: &Device,
    fourcc: FourCC,
    (width, height): (u32, u32),
) -> io::Result<sys::v4l2_pix_format> {
    let mut message = sys::v4l2_format { type_: CAPTURE_BUFFER, ..blank() };
    message.fmt.pix = sys::v4l2_pix_format { width, height, pixelformat: fourcc.into(), ..pix_of(&message) };
    call(&device.handle(), vidioc::VIDIOC_S_FMT, &mut message)?;
    Ok(pix_of(&message))
}

/// The driver's description of a control; its name is not read.
pub(in crate::capture::webcam) fn control(device: &Device, id: u32) -> io::Result<sys::v4l2_query_ext_ctrl> {
    let mut message = sys::v4l2_query_ext_ctrl { id, ..blank() };
    call(&device.handle(), vidioc::VIDIOC_QUERY_EXT_CTRL, &mut message)?;
    Ok(message)
}

/// Whether a menu has this value.
pub(in crate::capture::webcam) fn menu_has(device: &Device, id: u32, index: u32) -> bool {
    let mut message = sys::v4l2_querymenu { id, index, ..blank() };
    call(&device.handle(), vidioc::VIDIOC_QUERYMENU, &mut message).is_ok()
}

/// Value of a control that is a number of 32 bits, a switch or a menu.
pub(in crate::capture::webcam) fn value(device: &Device, id: u32) -> io::Result<i32> {
    let mut control = sys::v4l2_ext_control { id, ..blank() };
    let mut message = sys::v4l2_ext_controls { count: 1, controls: &raw mut control, ..blank() };
    call(&device.handle(), vidioc::VIDIOC_G_EXT_CTRLS, &mut message)?;
    // SAFETY: the one control that the message points to lives here, it was all zeros, and a number is in every member
    Ok(unsafe { control.__bindgen_anon_1.value })
}
