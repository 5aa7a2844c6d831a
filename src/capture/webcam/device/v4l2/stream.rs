//! A stream of pictures in memory-mapped driver buffers. No answer of the driver causes a panic, and
//! ending a stream ignores errors, because nothing depends on its driver any more.

#![allow(unsafe_code, reason = "a driver's buffers are mapped into this process; each use says why it is sound")]

use super::super::{DeviceError, Frame};
use super::calls::{CAPTURE_BUFFER, blank, call};
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use v4l::Device;
use v4l::device::Handle;
use v4l::v4l_sys as sys;
use v4l::v4l2::{self, vidioc};

/// Number of requested buffers.
const BUFFERS: u32 = 4;
/// Largest number of buffers that V4L2 allows; drivers may grant more than requested.
const MAX_BUFFERS: u32 = 32;
/// Data is available (poll(2)).
const POLLIN: i16 = 1;
/// Pause after a driver that signals data and has none.
const EMPTY_PAUSE: Duration = Duration::from_millis(5);
const MEMORY_MMAP: u32 = sys::v4l2_memory_V4L2_MEMORY_MMAP;
/// Constants of linux/mman.h, equal on all machines. Some drivers map only writable memory.
const READ_WRITE: i32 = 3;
const MAP_SHARED: i32 = 1;

/// A mapped driver buffer; read only.
struct MappedBuffer {
    start: *mut std::ffi::c_void,
    length: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread, and is only read
unsafe impl Send for MappedBuffer {}

impl MappedBuffer {
    fn new(handle: &Handle, length: usize, offset: u32) -> io::Result<Self> {
        if length == 0 {
            return Err(io::Error::other("the driver gives a buffer of no bytes"));
        }
        // SAFETY: a new mapping at an address that the kernel chooses, with the length that it reported; it rejects
        // lengths beyond the buffer
        #[allow(clippy::cast_lossless, reason = "offsets have 32 bits and a sign on small machines")]
        let start =
            unsafe { v4l2::mmap(std::ptr::null_mut(), length, READ_WRITE, MAP_SHARED, handle.fd(), offset as _)? };
        Ok(Self { start, length })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: mapped with this length until it is dropped. It is read only between DQBUF and QBUF, while it is this
        // process's and the driver does not write to it.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.length) }
    }
}

impl Drop for MappedBuffer {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length, and no reference to its bytes is left
        if let Err(error) = unsafe { v4l2::munmap(self.start, self.length) } {
            log::warn!("a camera's buffer stays mapped: {error}");
        }
    }
}

/// A running stream. Dropping it ends the stream.
pub(super) struct Stream {
    handle: Arc<Handle>,
    buffers: Vec<MappedBuffer>,
    /// The dequeued buffer.
    held: Option<u32>,
}

impl Stream {
    /// Starts the stream in the camera's current format.
    pub(super) fn start(device: &Device) -> Result<Self, DeviceError> {
        let granted = request(&device.handle(), BUFFERS)?.min(MAX_BUFFERS);
        // on an error from here on, dropping the stream undoes all steps
        let mut stream = Self { handle: device.handle(), buffers: Vec::new(), held: None };
        for index in 0..granted {
            let mut buffer = buffer(index);
            call(&stream.handle, vidioc::VIDIOC_QUERYBUF, &mut buffer)?;
            // SAFETY: a number is in every member of the union, and it is the one for mapped buffers
            let offset = unsafe { buffer.m.offset };
            stream.buffers.push(MappedBuffer::new(&stream.handle, buffer.length as usize, offset)?);
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

    /// Waits for the next frame for at most this time, ms.
    pub(super) fn next(&mut self, timeout_ms: i32) -> Result<Option<Frame<'_>>, DeviceError> {
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
                std::thread::sleep(EMPTY_PAUSE);
                return Ok(None);
            }
            answer => answer?,
        }
        let Some(mapped) = self.buffers.get(taken.index as usize) else {
            return Err(DeviceError::new(format!("the driver fills buffer {}, which it never gave", taken.index)));
        };
        self.held = Some(taken.index);
        let bytes = mapped.bytes();
        Ok(Some(Frame {
            // V4L2 requires drivers to set the number of bytes, so that a frame of 0 bytes is empty: the buffer then holds
            // bytes of an older frame
            bytes: bytes.get(..taken.bytesused as usize).unwrap_or(bytes),
            is_flagged: taken.flags & sys::V4L2_BUF_FLAG_ERROR != 0,
            number: Some(taken.sequence),
            stamp: time_of(&taken).and_then(wall_time),
        }))
    }

    /// Queues a buffer at the driver.
    fn queue(&self, index: u32) -> io::Result<()> {
        call(&self.handle, vidioc::VIDIOC_QBUF, &mut buffer(index))
    }

    fn switch(&self, request: vidioc::_IOC_TYPE) -> io::Result<()> {
        call(&self.handle, request, &mut (CAPTURE_BUFFER as std::ffi::c_int))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let stopped = self.switch(vidioc::VIDIOC_STREAMOFF);
        self.buffers.clear();
        // unplugged drivers reject both calls
        if let Err(error) = stopped.and_then(|()| request(&self.handle, 0)) {
            log::debug!("a camera's stream could not be ended in order: {error}");
        }
    }
}

/// Requests this number of buffers; returns the granted number.
fn request(handle: &Handle, count: u32) -> io::Result<u32> {
    let mut message = sys::v4l2_requestbuffers { count, type_: CAPTURE_BUFFER, memory: MEMORY_MMAP, ..blank() };
    call(handle, vidioc::VIDIOC_REQBUFS, &mut message)?;
    Ok(message.count)
}

fn buffer(index: u32) -> sys::v4l2_buffer {
    sys::v4l2_buffer { index, type_: CAPTURE_BUFFER, memory: MEMORY_MMAP, ..blank() }
}

/// Time on the monotonic clock, where the driver sets it.
fn time_of(buffer: &sys::v4l2_buffer) -> Option<Duration> {
    let monotonic = buffer.flags & sys::V4L2_BUF_FLAG_TIMESTAMP_MASK == sys::V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
    let seconds = u64::try_from(buffer.timestamp.tv_sec).ok()?;
    let micros = u64::try_from(buffer.timestamp.tv_usec).ok()?;
    let time = Duration::from_secs(seconds).checked_add(Duration::from_micros(micros))?;
    // drivers without time stamps leave it at 0
    (monotonic && !time.is_zero()).then_some(time)
}

/// Converts a time of the monotonic clock to the wall clock; it may lie slightly in the future.
fn wall_time(stamp: Duration) -> Option<SystemTime> {
    let now = clock_gettime(ClockId::Monotonic);
    let now = Duration::new(now.tv_sec.try_into().ok()?, now.tv_nsec.try_into().ok()?);
    let wall = SystemTime::now();
    match now.checked_sub(stamp) {
        Some(age) => wall.checked_sub(age),
        None => wall.checked_add(stamp.saturating_sub(now)),
    }
}
