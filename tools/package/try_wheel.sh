#!/bin/bash
# Inside a bare Debian (tools/package/in_debian.sh): installs a wheel into a clean environment, uses the program in it, compares ten lines
# of Python with what that program computes, and removes it again.
#
#   tools/package/try_wheel.sh WHEEL
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
wheel=$(readlink -f "$1")
apt-get update -qq
apt-get install -y -qq --no-install-recommends python3-venv >/dev/null 2>&1
for name in cc gcc cargo; do ! command -v "$name" || { echo "a compiler is here: $name"; exit 1; }; done
python3 -m venv /tmp/env
export PATH=/tmp/env/bin:$PATH
start=$(date +%s%N)
seconds() { local ms=$((($(date +%s%N) - start) / 1000000)); printf '%d.%d' $((ms / 1000)) $((ms % 1000 / 100)); }
pip install -q --disable-pip-version-check "$wheel"
installed=$(seconds)
cd /tmp
start=$(date +%s%N)
stereopsis live --headless --engine cpu --frames 1 --preview first.png 2>said || { cat said >&2; exit 1; }
test -s first.png
echo "  $(python --version), $(stereopsis --version): installed in $installed s, first depth in $(seconds) s"
cat >ten.py <<'PY'
import numpy as np
import stereopsis

rng = np.random.default_rng(7)
world = rng.integers(0, 255, (240, 400), dtype=np.uint8)
left, right = world[:, 40:360].copy(), world[:, 52:372].copy()      # 12 px apart
matcher = stereopsis.Matcher(num_disparities=64, preset="balanced")
disparity_px = matcher.disparity(left, right)
print(f"  stereopsis {stereopsis.__version__}, NumPy {np.__version__}: median {np.nanmedian(disparity_px):.3f} px, {np.isfinite(disparity_px).mean():.1%} measured")
assert abs(np.nanmedian(disparity_px) - 12) < 0.1
for name, picture in (("left", left), ("right", right)):
    open(f"/tmp/{name}.pgm", "wb").write(b"P5 320 240 255\n" + picture.tobytes())
np.save("/tmp/python.npy", disparity_px)
PY
python ten.py
stereopsis compute left.pgm right.pgm --preset balanced --num-disparities 64 --engine cpu -o program.pfm >/dev/null
python - <<'PY'
import numpy as np
lines = open("/tmp/program.pfm", "rb").read().split(b"\n", 3)
width, height = map(int, lines[1].split())
program = np.flipud(np.frombuffer(lines[3], "<f4").reshape(height, width))
python = np.load("/tmp/python.npy")
program = np.where(np.isfinite(program), program, np.nan)
assert np.array_equal(program, python, equal_nan=True), "the program has other bits"
print("  the same bits as `stereopsis compute`")
PY
pip uninstall -q -y stereopsis
left=$(find /tmp/env -iname '*stereopsis*')
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
