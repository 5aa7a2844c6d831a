#!/usr/bin/env bash
# PLY clouds whose red, green, blue are no uchar, in Open3D 0.20.0 (open3d-cpu) and trimesh 5.2.0 (PyPI); plyfile 1.1.5 gives what is in the file.
#
# - ushort (a camera of 10, 12 or 16 bits): open3d.io.read_point_cloud divides by 255, so colours reach 257 instead of 1; open3d.t.io leaves
#   them out, with a warning; trimesh takes the lower byte, so that the half of the range, 32768, is black, and bright things become noise.
# - float of 0 to 1: open3d.io.read_point_cloud divides by 255 too, so all is nearly black; open3d.t.io and trimesh are right.
#
# A good guess: the type tells the range (65535 is white, 1.0 is white), as in images, or the colours are refused. The format leaves it open.
# A coloured cloud of a stereo pair with more than 8 bits is seen black or as noise, and colour terms of registration compare nothing.
# Writing 8-bit uchar colours is the one way that all of them read alike.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q --disable-pip-version-check open3d-cpu==0.20.0 trimesh==5.2.0 plyfile==1.1.5 numpy==2.4.6

"$folder/python/bin/python" - "$folder" <<'PYTHON'
import sys

import numpy as np
import open3d
import plyfile
import trimesh

path = sys.argv[1] + "/cloud.ply"
expected = {  # white, half and dark as each reader gives them
    "u1": {"open3d": [1, 0.502, 0.039], "open3d.t": [255, 128, 10], "trimesh": [255, 128, 10]},
    "u2": {"open3d": [257, 128.502, 10.078], "open3d.t": None, "trimesh": [255, 0, 10]},
    "f4": {"open3d": [0.004, 0.002, 0], "open3d.t": [1, 0.5, 0.039], "trimesh": [255, 128, 10]},
}
as_seen = True
for kind, values in {"u1": (255, 128, 10), "u2": (65535, 32768, 2570), "f4": (1.0, 128 / 255, 10 / 255)}.items():
    rows = [(0.1 * place, 0.0, 1.0, value, value, value) for place, value in enumerate(values)]
    types = [(axis, "f4") for axis in "xyz"] + [(colour, kind) for colour in ("red", "green", "blue")]
    plyfile.PlyData([plyfile.PlyElement.describe(np.array(rows, types), "vertex")]).write(path)
    tensor = open3d.t.io.read_point_cloud(path)
    seen = {
        "open3d": np.asarray(open3d.io.read_point_cloud(path).colors)[:, 0],
        "open3d.t": tensor.point["colors"].numpy()[:, 0] if "colors" in tensor.point else None,
        "trimesh": np.asarray(trimesh.load(path).colors)[:, 0],
    }
    seen = {name: None if red is None else [round(float(value), 3) for value in red] for name, red in seen.items()}
    print(f"{kind} {[round(value, 3) for value in values]}: {seen}")
    for name, red in seen.items():
        wanted = expected[kind][name]
        as_seen &= red == wanted or bool(red and wanted and np.allclose(red, wanted, atol=0.002))
print("as described" if as_seen else "CHANGED")
sys.exit(0 if as_seen else 1)
PYTHON
