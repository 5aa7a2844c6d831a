#!/usr/bin/env bash
# librealsense 2.59.1 (pyrealsense2 2.59.1.11053 on PyPI): a cloud in memory and the PLY written of it have different axes.
#
# points.get_vertices() is in the camera's axes, as the documentation of its projection says: y down, z forward. points.export_to_ply and
# rs.save_to_ply write y and z with the other sign (y up, z backward: half a turn about x), without a comment in the file. Pixels
# without depth, which get_vertices() keeps at 0 0 0, are left out, so the number of a point is not that of its pixel.
#
# A good guess: the file holds the vertices. A cloud of stereo depth laid over it (from the same camera's infrared pair, or by Open3D
# from the depth image) stands upside down behind the camera, and registration by ICP from there finds no or a wrong pose.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q --disable-pip-version-check pyrealsense2==2.59.1.11053 numpy==2.4.6 plyfile==1.1.5

"$folder/python/bin/python" - "$folder" <<'PYTHON'
import sys

import numpy as np
import plyfile
import pyrealsense2 as rs

WIDTH, HEIGHT = 160, 120
folder = sys.argv[1]

device = rs.software_device()
sensor = device.add_sensor("Stereo Module")
lens = rs.intrinsics()
lens.width, lens.height, lens.ppx, lens.ppy, lens.fx, lens.fy = WIDTH, HEIGHT, 80, 60, 100, 100
lens.model, lens.coeffs = rs.distortion.none, [0] * 5
stream = rs.video_stream()
stream.type, stream.index, stream.uid, stream.fps, stream.bpp, stream.fmt = rs.stream.depth, 0, 0, 30, 2, rs.format.z16
stream.width, stream.height, stream.intrinsics = WIDTH, HEIGHT, lens
profile = sensor.add_video_stream(stream)
sensor.add_read_only_option(rs.option.depth_units, 0.001)
waiting = rs.syncer()
sensor.open(profile)
sensor.start(waiting)
depth_mm = np.full((HEIGHT, WIDTH), 1000, np.uint16)
depth_mm[60:] = 2000  # the lower half is farther
depth_mm[:, :10] = 0
frame = rs.software_video_frame()
frame.pixels, frame.stride, frame.bpp = depth_mm, WIDTH * 2, 2
frame.timestamp, frame.frame_number, frame.domain = 1.0, 1, rs.timestamp_domain.hardware_clock
frame.profile = profile.as_video_stream_profile()
sensor.on_video_frame(frame)
depth = waiting.wait_for_frames().get_depth_frame()

points = rs.pointcloud().calculate(depth)
memory = np.array(np.asanyarray(points.get_vertices()).view(np.float32).reshape(-1, 3))
points.export_to_ply(f"{folder}/exported.ply", depth)
saver = rs.save_to_ply(f"{folder}/saved.ply")
saver.set_option(rs.save_to_ply.option_ply_mesh, False)
saver.process(depth)

measured = memory[memory[:, 2] > 0]
print(f"in memory: {len(memory)} points, {len(measured)} with depth; y {measured[:, 1].min():.2f} to {measured[:, 1].max():.2f}, z 1 or 2")
as_seen = len(memory) == WIDTH * HEIGHT and len(measured) == (WIDTH - 10) * HEIGHT and measured[:, 2].min() == 1
for name in ("exported", "saved"):
    ply = plyfile.PlyData.read(f"{folder}/{name}.ply")
    file = np.stack([ply["vertex"][axis] for axis in "xyz"], axis=1)
    turned = len(file) == len(measured) and np.allclose(np.sort(file * [1, -1, -1], axis=0), np.sort(measured, axis=0), atol=1e-5)
    print(f"{name}.ply: {len(file)} points, y {file[:, 1].min():.2f} to {file[:, 1].max():.2f}, z {file[:, 2].min():g} to {file[:, 2].max():g}")
    print(f"  comments {ply.comments}; equal to the memory's with y and z negated: {turned}")
    as_seen = as_seen and turned and not any("axis" in comment or "y" in comment.split() for comment in ply.comments)
print("as described" if as_seen else "CHANGED")
sys.exit(0 if as_seen else 1)
PYTHON
