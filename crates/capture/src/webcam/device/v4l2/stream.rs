//! Stream of frames in memory-mapped buffers of the driver. No answer of the driver may cause a panic. Errors of ending a stream are
//! only logged, because nothing depends on the driver any more.

#![allow(unsafe_code, reason = "a driver's buffers are mapped into this process; each use says why it is sound")]

use super::super::{DeviceError, ReceivedFrame};
use super::calls::{Node, blank, call};
use super::kernel::{self, MEMORY_MMAP, Request, VIDEO_CAPTURE};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::time::{ClockId, clock_gettime};
use std::ffi::c_int;
use std::io;
use std::time::{Duration, SystemTime};

const BUFFERS: u32 = 4;
/// Maximum number of buffers in V4L2; drivers may grant more than requested.
const MAX_BUFFERS: u32 = 32;
/// Pause after a driver signals data and has none.
const EMPTY_PAUSE: Duration = Duration::from_millis(5);

/// Buffer of the driver, mapped into this process; it is only read.
struct MappedBuffer {
    start: *mut std::ffi::c_void,
    length: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread, and is only read
unsafe impl Send for MappedBuffer {}

impl MappedBuffer {
    fn new(node: &Node, length: usize, offset: u32) -> io::Result<Self> {
        if length == 0 {
            return Err(io::Error::other("the driver gives a buffer of no bytes"));
        }
        // some drivers map only writable memory
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address that the kernel chooses, with the length that it reported; it rejects
        // lengths beyond the buffer
        let start = unsafe { mmap(std::ptr::null_mut(), length, access, MapFlags::SHARED, node, offset.into())? };
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
        if let Err(error) = unsafe { munmap(self.start, self.length) } {
            log::warn!("a camera's buffer stays mapped: {error}");
        }
    }
}

/// Running stream, which ends when this is dropped.
pub(super) struct Stream {
    node: Node,
    buffers: Vec<MappedBuffer>,
    /// Index of the dequeued buffer.
    held: Option<u32>,
}

impl Stream {
    /// Starts the stream in the camera's current format.
    pub(super) fn start(node: &Node) -> Result<Self, DeviceError> {
        let granted = request(node, BUFFERS)?.min(MAX_BUFFERS);
        // after an error below, dropping the stream undoes all steps
        let mut stream = Self { node: node.clone(), buffers: Vec::new(), held: None };
        for index in 0..granted {
            let mut buffer = buffer(index);
            call(node, &kernel::QUERYBUF, &mut buffer)?;
            stream.buffers.push(MappedBuffer::new(node, buffer.length as usize, buffer.offset)?);
        }
        if stream.buffers.is_empty() {
            return Err(DeviceError::NoBuffers);
        }
        for index in 0..granted {
            stream.queue(index)?;
        }
        stream.switch(&kernel::STREAMON)?;
        Ok(stream)
    }

    /// Waits for the next frame, at most `timeout`; `None` without one.
    pub(super) fn next(&mut self, timeout: Duration) -> Result<Option<ReceivedFrame<'_>>, DeviceError> {
        if let Some(held) = self.held.take() {
            self.queue(held)?;
        }
        let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&self.node, PollFlags::IN)], Some(&timeout)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
            answer => answer.map_err(io::Error::from)?,
        };
        let mut taken = buffer(0);
        match call(&self.node, &kernel::DQBUF, &mut taken) {
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                std::thread::sleep(EMPTY_PAUSE);
                return Ok(None);
            }
            answer => answer?,
        }
        let Some(mapped) = self.buffers.get(taken.index as usize) else {
            return Err(DeviceError::UnknownBuffer(taken.index));
        };
        self.held = Some(taken.index);
        let bytes = mapped.bytes();
        Ok(Some(ReceivedFrame {
            // drivers must set the number of bytes; 0 is an empty frame, whose buffer contains bytes of an older one
            bytes: bytes.get(..taken.bytesused as usize).unwrap_or(bytes),
            is_flagged: taken.flags & kernel::FLAG_ERROR != 0,
            number: Some(taken.sequence),
            stamp: time_of(&taken).and_then(wall_time),
        }))
    }

    fn queue(&self, index: u32) -> io::Result<()> {
        call(&self.node, &kernel::QBUF, &mut buffer(index))
    }

    fn switch(&self, request: &Request<c_int>) -> io::Result<()> {
        call(&self.node, request, &mut (VIDEO_CAPTURE as c_int))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let stopped = self.switch(&kernel::STREAMOFF);
        self.buffers.clear();
        // unplugged drivers reject both calls
        if let Err(error) = stopped.and_then(|()| request(&self.node, 0)) {
            log::debug!("a camera's stream could not be ended in order: {error}");
        }
    }
}

/// Requests `count` buffers; returns the granted number.
fn request(node: &Node, count: u32) -> io::Result<u32> {
    let mut message = kernel::RequestBuffers { count, kind: VIDEO_CAPTURE, memory: MEMORY_MMAP, ..blank() };
    call(node, &kernel::REQBUFS, &mut message)?;
    Ok(message.count)
}

fn buffer(index: u32) -> kernel::Buffer {
    kernel::Buffer { index, kind: VIDEO_CAPTURE, memory: MEMORY_MMAP, ..blank() }
}

/// Returns the time stamp of a buffer on the monotonic clock; `None` if the driver sets none.
fn time_of(buffer: &kernel::Buffer) -> Option<Duration> {
    let monotonic = buffer.flags & kernel::FLAG_TIMESTAMP_MASK == kernel::FLAG_TIMESTAMP_MONOTONIC;
    let [seconds, micros] = buffer.timestamp;
    let (seconds, micros) = (u64::try_from(seconds).ok()?, u64::try_from(micros).ok()?);
    let time = Duration::from_secs(seconds).checked_add(Duration::from_micros(micros))?;
    // drivers without time stamps leave 0
    (monotonic && !time.is_zero()).then_some(time)
}

/// Converts a time of the monotonic clock to the wall clock; the result may be slightly in the future.
fn wall_time(stamp: Duration) -> Option<SystemTime> {
    let now = clock_gettime(ClockId::Monotonic);
    let now = Duration::new(now.tv_sec.try_into().ok()?, now.tv_nsec.try_into().ok()?);
    let wall = SystemTime::now();
    match now.checked_sub(stamp) {
        Some(age) => wall.checked_sub(age),
        None => wall.checked_add(stamp.saturating_sub(now)),
    }
}
