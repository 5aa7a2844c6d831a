#!/usr/bin/env bash
# OpenCV 4.11.0 and 5.0.0 (opencv-python-headless on PyPI): cv2.remap rounds floating-point maps to 1/32 of a pixel before it interpolates;
# in 5.0.0 INTER_LINEAR and INTER_CUBIC do so no longer, INTER_LANCZOS4 still does.
#
# It is so for 8-bit, 16-bit and float images alike.
#
# A good guess, from the documentation (floating-point maps, or "fixed-point maps created by using convertMaps", which are said to be
# faster): the former are exact. In 4.11.0 both give the same pixels here.
#
# Rectification is this call. Each image is off by up to 1/64 of a pixel, in a pattern that follows the lens, so a disparity is off by up to
# 1/32: at a focal length of 700 pixels and a baseline of 0.06 m that is 0.4 percent, 19 mm, at 5 m. It does not average out over frames,
# limits what subpixel matching and calibration residuals can mean, and is gone after an upgrade: maps of two versions differ.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/see.py" <<'PYTHON'
import sys

import cv2
import numpy as np

ramp = np.tile(np.arange(64, dtype=np.float32), (64, 1))  # the value of a pixel is its column
row, column = np.mgrid[0:64, 0:64].astype(np.float32)
methods = {"INTER_LINEAR": cv2.INTER_LINEAR, "INTER_CUBIC": cv2.INTER_CUBIC, "INTER_LANCZOS4": cv2.INTER_LANCZOS4}
coarse = {"4.11.0": list(methods), "5.0.0": ["INTER_LANCZOS4"]}[cv2.__version__]
shifts = [np.float32(number / 1000) for number in range(1000)]
as_seen = True
for name, method in methods.items():
    seen = [float(cv2.remap(ramp, column + shift, row, method)[30, 30]) - 30 for shift in shifts]
    print(f"OpenCV {cv2.__version__} {name}: 1000 shifts between 0 and 1 pixel give {len(set(seen))} results", end="")
    if name == "INTER_LINEAR":
        off = max(abs(value - shift) for value, shift in zip(seen, shifts))
        print(f", off by up to {off:.4f} pixels", end="")
        as_seen &= (0.015 < off < 0.016) if name in coarse else off < 0.0001
    print()
    as_seen &= (len(set(seen)) <= 33) == (name in coarse)
shift = np.float32(0.3)
fixed = cv2.convertMaps(column + shift, row, cv2.CV_16SC2)
equal = np.array_equal(cv2.remap(ramp, *fixed, cv2.INTER_LINEAR), cv2.remap(ramp, column + shift, row, cv2.INTER_LINEAR))
print(f"OpenCV {cv2.__version__}: floating-point and fixed-point maps give {'the same' if equal else 'different'} pixels")
as_seen &= equal == (cv2.__version__ == "4.11.0")
sys.exit(0 if as_seen else 1)
PYTHON
changed=0
for version in 4.11.0.86 5.0.0.93; do
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install -q --disable-pip-version-check "opencv-python-headless==$version"
  "$folder/$version/bin/python" "$folder/see.py" || changed=1
done
[ "$changed" = 0 ] && echo "as described" || echo "CHANGED"
exit "$changed"
