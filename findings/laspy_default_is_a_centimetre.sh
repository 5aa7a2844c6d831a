#!/usr/bin/env bash
# laspy 2.7.0 (PyPI): a LAS file made with laspy.create() or LasData(LasHeader()) holds coordinates in steps of 0.01, whatever is assigned:
# 0.1234 is 0.12 in the file and, at once, in memory. NaN, the usual mark of a pixel without depth, becomes the point -21474836.48.
#
# The format stores 32-bit integers and a scale; the writer chooses the scale. A good guess: laspy chooses it by the data, or demands one,
# as the point cloud is given in doubles; and a point that is no number is refused.
#
# For a survey from the air a centimetre is fine. For a stereo camera it is not: points of a face at 0.5 m, or of a circuit board, fall onto
# a grid of 10 mm in all three axes. las.header.scales = 0.0001 before the coordinates does not help: the file then says 0.0001 and the
# values still lie 10 mm apart. A LasHeader of which the scales are set before LasData is made of it does.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q --disable-pip-version-check laspy==2.7.0 numpy==2.4.6

"$folder/python/bin/python" -W ignore - "$folder" <<'PYTHON'
import sys

import laspy
import numpy as np

rng = np.random.default_rng(1)


def scaled(of):
    header = of if isinstance(of, laspy.LasHeader) else of.header
    header.scales = [0.0001] * 3
    return of


cloud = np.stack([rng.uniform(-0.05, 0.05, 10000), rng.uniform(-0.05, 0.05, 10000), rng.uniform(0.48, 0.52, 10000)], axis=1)
as_seen = True
for name, make, expected in (
    ("laspy.create()", lambda: laspy.create(), 0.005),
    ("LasData(LasHeader())", lambda: laspy.LasData(laspy.LasHeader()), 0.005),
    ("las.header.scales = 0.0001", lambda: scaled(laspy.create()), 0.005),
    ("scales set in LasHeader()", lambda: laspy.LasData(scaled(laspy.LasHeader())), 0.00005),
):
    las = make()
    las.xyz = cloud
    las.write(f"{sys.argv[1]}/cloud.las")
    back = laspy.read(f"{sys.argv[1]}/cloud.las")
    off = np.abs(back.xyz - cloud).max()
    depths = len(np.unique(back.xyz[:, 2]))
    print(f"{name}: scales {back.header.scales}, off by up to {off * 1000:.2f} mm, {depths} different depths of 10000")
    as_seen &= abs(off / expected - 1) < 0.01
las = laspy.create()
las.xyz = np.array([[np.nan, np.nan, np.nan], [0.1234, 0, 0.5]])
print("a point without depth and one of 0.1234 0 0.5:", las.xyz.tolist())
as_seen &= las.xyz.tolist() == [[-21474836.48] * 3, [0.12, 0.0, 0.5]]
print("as described" if as_seen else "CHANGED")
sys.exit(0 if as_seen else 1)
PYTHON
