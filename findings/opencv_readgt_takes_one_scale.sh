#!/usr/bin/env bash
# OpenCV 4.11.0 and 5.0.0 (opencv-contrib-python-headless on PyPI), the measuring functions of cv2.ximgproc.
#
# - readGT "supports basic Middlebury formats": it multiplies a grey 8-bit PNG by 16, whatever the data set's own factor. Middlebury's 2001
#   and 2003 sets at quarter size store 8 and 4 times the disparity (Teddy, Cones: 4), so their truth comes out 4 times too large.
#   A value of 0 becomes 16320, "unknown". Truth as PFM (Middlebury 2014) or 16-bit PNG (KITTI) is not read: the first value returned is 1
#   instead of 0, no error is raised, and the second is a map of the right size that holds no truth.
# - 16320 is "unknown" in readGT's maps alone: in a truth that came from elsewhere, holes of 0 or -16 are scored as disparities.
# - computeBadPixelPercent's default threshold is 24 sixteenths: 1.5 pixels, not the 1 pixel of "bad-1".
#
# A good guess: Teddy's file gives Teddy's disparities times 16, an unread file is an error, and "bad pixels" are those of the benchmarks.
# Scores made with these functions compare with no published ones, and a right map can have 100 percent of bad pixels.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/see.py" <<'PYTHON'
import sys

import cv2
import numpy as np

folder = sys.argv[1]
whole = (0, 0, 60, 40)
truth = np.full((40, 60), 12.0, np.float32)
truth[:, :15] = 0  # a quarter has no truth
right_map = np.full((40, 60), 12 * 16, np.int16)  # as StereoSGBM gives 12 pixels

print("OpenCV", cv2.__version__)
cv2.imwrite(f"{folder}/teddy.png", (truth * 4).astype(np.uint8))
code, read = cv2.ximgproc.readGT(f"{folder}/teddy.png")
values = np.unique(read).tolist()
bad = cv2.ximgproc.computeBadPixelPercent(read, right_map, whole)
print(f"PNG of 12 pixels, 4 times: {values} sixteenths ({values[0] / 16:g} pixels); a map of 12 pixels is {bad:.0f} % bad")
as_seen = code == 0 and values == [768, 16320] and bad == 100

cv2.imwrite(f"{folder}/kitti.png", (truth * 256).astype(np.uint16))
cv2.imwrite(f"{folder}/middlebury.pfm", truth)
for name in ("kitti.png", "middlebury.pfm"):
    code, read = cv2.ximgproc.readGT(f"{folder}/{name}")
    print(f"{name}: returns {code}, no error, and a map of {read.shape}")
    as_seen &= code == 1 and read.shape == (40, 60)

for hole in (16320, 0, -16):
    own = np.where(truth > 0, 12 * 16, hole).astype(np.int16)
    bad = cv2.ximgproc.computeBadPixelPercent(own, right_map, whole)
    print(f"truth with holes of {hole}: a right map is {bad:.0f} % bad")
    as_seen &= bad == (0 if hole == 16320 else 25)

own = np.full((40, 60), 12 * 16, np.int16)
for error in (17, 23, 24):
    bad = [cv2.ximgproc.computeBadPixelPercent(own, right_map + np.int16(error), whole, *limit) for limit in ((), (16,))]
    print(f"an error of {error} sixteenths everywhere: {bad[0]:.0f} % bad by default, {bad[1]:.0f} % with thresh=16")
    as_seen &= bad == [100 if error == 24 else 0, 100]
sys.exit(0 if as_seen else 1)
PYTHON
changed=0
for version in 4.11.0.86 5.0.0.93; do
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install -q --disable-pip-version-check "opencv-contrib-python-headless==$version"
  "$folder/$version/bin/python" "$folder/see.py" "$folder" || changed=1
done
[ "$changed" = 0 ] && echo "as described" || echo "CHANGED"
exit "$changed"
