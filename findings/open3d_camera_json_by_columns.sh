#!/usr/bin/env bash
# Open3D 0.20.0 (open3d-cpu on PyPI): write_pinhole_camera_intrinsic and write_pinhole_camera_parameters store their matrices as flat lists
# by columns: K is [fx, 0, 0, 0, fy, 0, cx, cy, 1], the extrinsic has its translation at the places 12, 13, 14.
#
# A good guess: by rows, as the "data" of OpenCV's FileStorage, ROS camera_info and Kalibr's lists of rows have it, and as the array that
# Open3D itself shows in Python. Neither the functions' documentation nor the file says the order.
#
# numpy.reshape(3, 3) of the list puts cx and cy into the bottom row and leaves the principal point at 0: depth and point clouds lie half a
# picture to the side, and a rotation is inverted (its transpose) without any error. A K written by rows into such a file is read by
# Open3D, without a word, as a camera whose principal point is 0 0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q --disable-pip-version-check open3d-cpu==0.20.0 numpy==2.4.6

"$folder/python/bin/python" - "$folder" <<'PYTHON'
import json
import sys

import numpy as np
import open3d

path = sys.argv[1] + "/camera.json"
camera = open3d.camera.PinholeCameraParameters()
camera.intrinsic = open3d.camera.PinholeCameraIntrinsic(640, 480, 600, 610, 320, 240)
turned = np.array([[0, -1, 0, -0.065], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
camera.extrinsic = turned
open3d.io.write_pinhole_camera_parameters(path, camera)
file = json.load(open(path))
intrinsic, extrinsic = file["intrinsic"]["intrinsic_matrix"], file["extrinsic"]
print("Open3D", open3d.__version__, "in Python:", camera.intrinsic.intrinsic_matrix.tolist())
print("file:", intrinsic, extrinsic)
as_seen = intrinsic == [600, 0, 0, 0, 610, 0, 320, 240, 1] and extrinsic == turned.T.ravel().tolist()
documented = open3d.io.write_pinhole_camera_parameters.__doc__ + open3d.io.write_pinhole_camera_intrinsic.__doc__
as_seen &= not any(word in documented.lower() for word in ("column", "row"))

json.dump({"width": 640, "height": 480, "intrinsic_matrix": [600, 0, 320, 0, 610, 240, 0, 0, 1]}, open(path, "w"))
read = open3d.io.read_pinhole_camera_intrinsic(path)
print("a file by rows is read with the principal point", read.get_principal_point())
as_seen &= tuple(read.get_principal_point()) == (0, 0)
print("as described" if as_seen else "CHANGED")
sys.exit(0 if as_seen else 1)
PYTHON
