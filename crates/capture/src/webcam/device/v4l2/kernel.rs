//! Structures and numbers of V4L2, from linux/videodev2.h. A union of the kernel is declared as its used member and padding, so that all
//! bit patterns are valid. Sizes are checked at compile time on 64-bit systems.

#![allow(unsafe_code, reason = "each structure says that it is the kernel's")]

use rustix::ioctl::{Opcode, opcode};
use std::ffi::{c_int, c_long};
use std::marker::PhantomData;

/// Structure of the kernel's interface.
///
/// # Safety
/// The type must consist of numbers and of pointers that are not dereferenced here, so that all bit patterns are valid, including zeros.
/// Its layout must be the kernel's.
pub(super) unsafe trait Message: Copy {}

/// Number of a request, with the type of its structure.
pub(super) struct Request<T> {
    pub(super) opcode: Opcode,
    message: PhantomData<T>,
}

const GROUP: u8 = b'V';

impl<T: Message> Request<T> {
    const fn of(opcode: Opcode) -> Self {
        Self { opcode, message: PhantomData }
    }

    /// Creates a request whose structure the driver fills.
    const fn read(number: u8) -> Self {
        Self::of(opcode::read::<T>(GROUP, number))
    }

    /// Creates a request whose structure the driver reads.
    const fn write(number: u8) -> Self {
        Self::of(opcode::write::<T>(GROUP, number))
    }

    /// Creates a request whose structure the driver reads and overwrites with its answer.
    const fn read_write(number: u8) -> Self {
        Self::of(opcode::read_write::<T>(GROUP, number))
    }
}

pub(super) const QUERYCAP: Request<Capability> = Request::read(0);
pub(super) const ENUM_FMT: Request<FormatDescription> = Request::read_write(2);
pub(super) const G_FMT: Request<Format> = Request::read_write(4);
pub(super) const S_FMT: Request<Format> = Request::read_write(5);
pub(super) const REQBUFS: Request<RequestBuffers> = Request::read_write(8);
pub(super) const QUERYBUF: Request<Buffer> = Request::read_write(9);
pub(super) const QBUF: Request<Buffer> = Request::read_write(15);
pub(super) const DQBUF: Request<Buffer> = Request::read_write(17);
pub(super) const STREAMON: Request<c_int> = Request::write(18);
pub(super) const STREAMOFF: Request<c_int> = Request::write(19);
pub(super) const G_PARM: Request<StreamParameters> = Request::read_write(21);
pub(super) const S_PARM: Request<StreamParameters> = Request::read_write(22);
pub(super) const QUERYMENU: Request<QueryMenu> = Request::read_write(37);
pub(super) const G_EXT_CTRLS: Request<Controls> = Request::read_write(71);
pub(super) const S_EXT_CTRLS: Request<Controls> = Request::read_write(72);
pub(super) const ENUM_FRAMESIZES: Request<FrameSizes> = Request::read_write(74);
pub(super) const ENUM_FRAMEINTERVALS: Request<FrameIntervals> = Request::read_write(75);
pub(super) const QUERY_EXT_CTRL: Request<QueryControl> = Request::read_write(103);

/// Single-planar capture, the buffer type of all supported formats.
pub(super) const VIDEO_CAPTURE: u32 = 1;
/// Memory type of buffers that belong to the driver and are mapped into this process.
pub(super) const MEMORY_MMAP: u32 = 1;
pub(super) const CAP_VIDEO_CAPTURE: u32 = 1;
pub(super) const CAP_DEVICE_CAPS: u32 = 1 << 31;
pub(super) const FLAG_ERROR: u32 = 0x40;
pub(super) const FLAG_TIMESTAMP_MASK: u32 = 0xe000;
pub(super) const FLAG_TIMESTAMP_MONOTONIC: u32 = 0x2000;
/// Kinds of [`FrameSizes`] and [`FrameIntervals`]: one value, or a range.
pub(super) const DISCRETE: u32 = 1;
pub(super) const CONTINUOUS: u32 = 2;
pub(super) const STEPWISE: u32 = 3;

/// `v4l2_capability`
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Capability {
    pub(super) names: [u8; 80],
    pub(super) version: u32,
    pub(super) capabilities: u32,
    pub(super) device_caps: u32,
    pub(super) reserved: [u32; 3],
}

/// `v4l2_fmtdesc`
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct FormatDescription {
    pub(super) index: u32,
    pub(super) kind: u32,
    pub(super) flags: u32,
    pub(super) description: [u8; 32],
    pub(super) pixelformat: u32,
    pub(super) mbus_code: u32,
    pub(super) reserved: [u32; 3],
}

/// `v4l2_pix_format`
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct PixFormat {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) pixelformat: u32,
    pub(super) field: u32,
    pub(super) bytesperline: u32,
    pub(super) sizeimage: u32,
    pub(super) colors: [u32; 6],
}

/// `v4l2_format` of capture. Members of the kernel's union contain pointers, which determine its alignment.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Format {
    pub(super) kind: u32,
    pub(super) align: [usize; 0],
    pub(super) pix: PixFormat,
    pub(super) rest: [u8; 200 - size_of::<PixFormat>()],
}

/// `v4l2_requestbuffers`
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct RequestBuffers {
    pub(super) count: u32,
    pub(super) kind: u32,
    pub(super) memory: u32,
    pub(super) capabilities: u32,
    pub(super) flags: u32,
}

/// `v4l2_buffer` of mapped memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Buffer {
    pub(super) index: u32,
    pub(super) kind: u32,
    pub(super) bytesused: u32,
    pub(super) flags: u32,
    pub(super) field: u32,
    /// Time stamp: seconds, microseconds.
    pub(super) timestamp: [c_long; 2],
    pub(super) timecode: [u32; 4],
    pub(super) sequence: u32,
    pub(super) memory: u32,
    pub(super) align: [usize; 0],
    pub(super) offset: u32,
    pub(super) rest: [u8; size_of::<usize>() - size_of::<u32>()],
    pub(super) length: u32,
    pub(super) reserved: u32,
    pub(super) request: i32,
}

/// `v4l2_streamparm` of capture.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct StreamParameters {
    pub(super) kind: u32,
    pub(super) capability: u32,
    pub(super) mode: u32,
    pub(super) interval: Fraction,
    pub(super) rest: [u32; 46],
}

/// `v4l2_fract`: a time, s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Fraction {
    pub(super) numerator: u32,
    pub(super) denominator: u32,
}

/// `v4l2_frmsizeenum`: width and height; or minimum, maximum and step of the width, then of the height.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct FrameSizes {
    pub(super) index: u32,
    pub(super) pixelformat: u32,
    pub(super) kind: u32,
    pub(super) numbers: [u32; 6],
    pub(super) reserved: [u32; 2],
}

/// `v4l2_frmivalenum`: one interval, or the shortest, the longest and the step.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct FrameIntervals {
    pub(super) index: u32,
    pub(super) pixelformat: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) kind: u32,
    pub(super) intervals: [Fraction; 3],
    pub(super) reserved: [u32; 2],
}

/// `v4l2_query_ext_ctrl`
#[derive(Clone, Copy)]
#[repr(C)]
pub(in crate::webcam) struct QueryControl {
    pub(super) id: u32,
    pub(in crate::webcam) kind: u32,
    pub(super) name: [u8; 32],
    pub(in crate::webcam) minimum: i64,
    pub(in crate::webcam) maximum: i64,
    pub(in crate::webcam) step: u64,
    pub(in crate::webcam) default_value: i64,
    pub(in crate::webcam) flags: u32,
    pub(super) rest: [u32; 39],
}

/// `v4l2_querymenu`
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct QueryMenu {
    pub(super) id: u32,
    pub(super) index: u32,
    pub(super) name: [u8; 32],
    pub(super) reserved: u32,
}

/// `v4l2_ext_control` with a 32-bit number in the first half of its value.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Control {
    pub(super) id: u32,
    pub(super) size: u32,
    pub(super) reserved: u32,
    pub(super) value: i32,
    pub(super) rest: u32,
}

/// `v4l2_ext_controls`; `which` = 0 stands for the current values.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Controls {
    pub(super) which: u32,
    pub(super) count: u32,
    pub(super) error: u32,
    pub(super) request: i32,
    pub(super) reserved: u32,
    pub(super) controls: *mut Control,
}

macro_rules! messages {
    ($($name:ident, $bytes_of_64_bits:literal;)*) => {
        $(
            // SAFETY: consists of numbers, arrays of numbers and raw pointers; declared as in the kernel, with the same size
            unsafe impl Message for $name {}
        )*

        #[cfg(target_pointer_width = "64")]
        const _: () = { $(assert!(size_of::<$name>() == $bytes_of_64_bits);)* };
    };
}
messages! {
    Buffer, 88;
    Capability, 104;
    Controls, 32;
    Format, 208;
    FormatDescription, 64;
    FrameIntervals, 52;
    FrameSizes, 44;
    QueryControl, 232;
    QueryMenu, 44;
    RequestBuffers, 20;
    StreamParameters, 204;
    c_int, 4;
    Control, 20;
}
