#!/usr/bin/env bash
# librealsense 2.59.1 (pyrealsense2 2.59.1.11053 on PyPI): what rs.disparity_transform gives.
#
# - The values are 32 times the disparity. The documentation of RS2_FORMAT_DISPARITY32 says "Disparity = Baseline*FocalLength/Depth".
# - They are 32-bit floats, but numpy.asanyarray(frame.get_data()) is an array of uint32: the bits of the floats, 1126170624 for 160.0.
#   Only .view(numpy.float32) gives the numbers.
# - Without a stereo baseline (the option stereo_baseline of the depth sensor, which a device made of files may lack) the frame passes
#   through as depth in Z16, without a word.
#
# A good guess: pixels, as float32, or an error. Depth computed as baseline * focal length / disparity is 32 times too small.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q --disable-pip-version-check pyrealsense2==2.59.1.11053 numpy==2.4.6

"$folder/python/bin/python" - <<'PYTHON'
import sys

import numpy as np
import pyrealsense2 as rs

WIDTH, HEIGHT, FOCAL_PX, BASELINE_MM, DEPTH_MM = 160, 120, 100.0, 50.0, 1000


def disparity_frame(baseline_mm):
    """The transform's result for a camera of software that sees a wall at one metre."""
    device = rs.software_device()
    sensor = device.add_sensor("Stereo Module")
    lens = rs.intrinsics()
    lens.width, lens.height, lens.ppx, lens.ppy, lens.fx, lens.fy = WIDTH, HEIGHT, 80, 60, FOCAL_PX, FOCAL_PX
    lens.model, lens.coeffs = rs.distortion.none, [0] * 5
    stream = rs.video_stream()
    stream.type, stream.index, stream.uid, stream.fps, stream.bpp, stream.fmt = rs.stream.depth, 0, 0, 30, 2, rs.format.z16
    stream.width, stream.height, stream.intrinsics = WIDTH, HEIGHT, lens
    profile = sensor.add_video_stream(stream)
    sensor.add_read_only_option(rs.option.depth_units, 0.001)
    if baseline_mm:
        sensor.add_read_only_option(rs.option.stereo_baseline, baseline_mm)
    waiting = rs.syncer()
    sensor.open(profile)
    sensor.start(waiting)
    frame = rs.software_video_frame()
    frame.pixels, frame.stride, frame.bpp = np.full((HEIGHT, WIDTH), DEPTH_MM, np.uint16), WIDTH * 2, 2
    frame.timestamp, frame.frame_number, frame.domain = 1.0, 1, rs.timestamp_domain.hardware_clock
    frame.profile = profile.as_video_stream_profile()
    sensor.on_video_frame(frame)
    result = rs.disparity_transform(True).process(waiting.wait_for_frames().get_depth_frame())
    result.keep()
    values = np.array(np.asanyarray(result.get_data()))
    sensor.stop()
    sensor.close()
    return result.profile.format(), values


pixels = BASELINE_MM * FOCAL_PX / DEPTH_MM
kind, values = disparity_frame(BASELINE_MM)
print(f"{kind}, array of {values.dtype}, first value {values[0, 0]}, the same bits as a float: {values.view(np.float32)[0, 0]}")
print(f"baseline * focal length / depth: {pixels} pixels; ratio {values.view(np.float32)[0, 0] / pixels}")
other_kind, other = disparity_frame(None)
print(f"without a baseline: {other_kind}, first value {other[0, 0]}")
as_seen = kind == rs.format.disparity32 and values.dtype == np.uint32 and np.allclose(values.view(np.float32), 32 * pixels)
as_seen = as_seen and other_kind == rs.format.z16 and (other == DEPTH_MM).all()
print("as described" if as_seen else "CHANGED")
sys.exit(0 if as_seen else 1)
PYTHON
