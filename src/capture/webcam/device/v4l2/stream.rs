//! A stream of pictures in buffers that the driver fills and this process sees. Nothing here panics, whatever the driver
//! answers, and ending a stream never fails: what the driver refuses by then is of no use to anybody.

#![allow(unsafe_code, reason = "a driver's buffers are mapped into this process; each use says why it is sound")]

use super::super::DeviceError;
use super::calls::{PICTURES, blank, call};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use v4l::Device;
use v4l::device::Handle;
use v4l::v4l_sys as sys;
use v4l::v4l2::{self, vidioc};

/// Frames that the driver may fill before one is taken.
const BUFFERS: u32 = 4;
/// Drivers may give more, V4L2 at most so many.
const MAX_BUFFERS: u32 = 32;
/// There is something to read, as poll(2) says it.
const POLLIN: i16 = 1;
/// A driver that calls and has nothing is not asked again at once.
const PAUSE: Duration = Duration::from_millis(5);
const MEMORY: u32 = sys::v4l2_memory_V4L2_MEMORY_MMAP;
/// Of linux/mman.h, the same on every machine. Some drivers map only what may be written too.
const READ_WRITE: i32 = 3;
const SHARED: i32 = 1;

/// One buffer of the driver; it is only read.
struct Mapped {
    start: *mut std::ffi::c_void,
    length: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread, and is only read
unsafe impl Send for Mapped {}

impl Mapped {
    fn new(handle: &Handle, length: usize, offset: u32) -> io::Result<Self> {
        if length == 0 {
            return Err(io::Error::other("the driver gives a buffer of no bytes"));
        }
        // SAFETY: a new mapping where the kernel likes, of as many bytes as it has told; it refuses what the buffer does not have
        #[allow(clippy::cast_lossless, reason = "offsets have 32 bits and a sign on small machines")]
        let start = unsafe { v4l2::mmap(std::ptr::null_mut(), length, READ_WRITE, SHARED, handle.fd(), offset as _)? };
        Ok(Self { start, length })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: mapped with this length until it is dropped. It is looked at only between DQBUF and QBUF, while it is this
        // process's and the driver leaves it alone.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.length) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length, and nobody holds its bytes any more
        if let Err(error) = unsafe { v4l2::munmap(self.start, self.length) } {
            log::warn!("a camera's buffer stays mapped: {error}");
        }
    }
}

/// A buffer that the driver has filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filled<'a> {
    /// As many bytes as the driver says that it has filled, and the buffer has. V4L2 obliges drivers to say it, so that a frame
    /// of 0 bytes is empty: what an older frame left in the buffer is no picture of now.
    pub(super) bytes: &'a [u8],
    /// The driver says that they are damaged.
    pub(super) is_damaged: bool,
    /// Counts the frames of the stream for the driver.
    pub(super) number: u32,
    /// By the monotonic clock, where the driver says it.
    pub(super) time: Option<Duration>,
}

/// A running stream. Dropping it ends it.
pub(super) struct Stream {
    handle: Arc<Handle>,
    buffers: Vec<Mapped>,
    /// The buffer that was taken last.
    held: Option<u32>,
}

impl Stream {
    /// Starts it in the format in which the camera stands.
    pub(super) fn start(device: &Device) -> Result<Self, DeviceError> {
        let granted = request(&device.handle(), BUFFERS)?.min(MAX_BUFFERS);
        // whatever fails from here on is undone when this is dropped
        let mut stream = Self { handle: device.handle(), buffers: Vec::new(), held: None };
        for index in 0..granted {
            let mut buffer = buffer(index);
            call(&stream.handle, vidioc::VIDIOC_QUERYBUF, &mut buffer)?;
            // SAFETY: a number is in every member of the union, and it is the one for mapped buffers
            let offset = unsafe { buffer.m.offset };
            stream.buffers.push(Mapped::new(&stream.handle, buffer.length as usize, offset)?);
        }
        if stream.buffers.is_empty() {
            return Err(DeviceError::new("the driver gives no buffers"));
        }
        for index in 0..granted {
            stream.queue(index)?;
        }
        stream.switch(vidioc::VIDIOC_STREAMON)?;
        Ok(stream)
    }

    /// Waits so long for the next frame, ms.
    pub(super) fn next(&mut self, timeout_ms: i32) -> Result<Option<Filled<'_>>, DeviceError> {
        if let Some(held) = self.held.take() {
            self.queue(held)?;
        }
        match self.handle.poll(POLLIN, timeout_ms) {
            Ok(0) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(None),
            answer => answer?,
        };
        let mut taken = buffer(0);
        match call(&self.handle, vidioc::VIDIOC_DQBUF, &mut taken) {
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                std::thread::sleep(PAUSE);
                return Ok(None);
            }
            answer => answer?,
        }
        let Some(mapped) = self.buffers.get(taken.index as usize) else {
            return Err(DeviceError::new(format!("the driver fills buffer {}, which it never gave", taken.index)));
        };
        self.held = Some(taken.index);
        let bytes = mapped.bytes();
        Ok(Some(Filled {
            bytes: bytes.get(..taken.bytesused as usize).unwrap_or(bytes),
            is_damaged: taken.flags & sys::V4L2_BUF_FLAG_ERROR != 0,
            number: taken.sequence,
            time: time_of(&taken),
        }))
    }

    /// Hands a buffer to the driver.
    fn queue(&self, index: u32) -> io::Result<()> {
        call(&self.handle, vidioc::VIDIOC_QBUF, &mut buffer(index))
    }

    fn switch(&self, request: vidioc::_IOC_TYPE) -> io::Result<()> {
        call(&self.handle, request, &mut (PICTURES as std::ffi::c_int))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let stopped = self.switch(vidioc::VIDIOC_STREAMOFF);
        self.buffers.clear();
        // drivers refuse both when they are unplugged
        if let Err(error) = stopped.and_then(|()| request(&self.handle, 0)) {
            log::debug!("a camera's stream could not be ended in order: {error}");
        }
    }
}

/// Asks for so many buffers; how many there are.
fn request(handle: &Handle, count: u32) -> io::Result<u32> {
    let mut message = sys::v4l2_requestbuffers { count, type_: PICTURES, memory: MEMORY, ..blank() };
    call(handle, vidioc::VIDIOC_REQBUFS, &mut message)?;
    Ok(message.count)
}

fn buffer(index: u32) -> sys::v4l2_buffer {
    sys::v4l2_buffer { index, type_: PICTURES, memory: MEMORY, ..blank() }
}

fn time_of(buffer: &sys::v4l2_buffer) -> Option<Duration> {
    let monotonic = buffer.flags & sys::V4L2_BUF_FLAG_TIMESTAMP_MASK == sys::V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
    let seconds = u64::try_from(buffer.timestamp.tv_sec).ok()?;
    let micros = u64::try_from(buffer.timestamp.tv_usec).ok()?;
    let time = Duration::from_secs(seconds).checked_add(Duration::from_micros(micros))?;
    // drivers that keep no time leave it at 0
    (monotonic && !time.is_zero()).then_some(time)
}
