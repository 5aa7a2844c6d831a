#!/usr/bin/env bash
# Opens recordings with programs that this project did not write (mcap, rosbags, rerun; see readers.py): files that the tests
# wrote, whose numbers are known, and recordings of the built-in scene by the program in both formats, with every stream and by
# default; and the files of an export with OpenCV, Pillow, tifffile, rasterio and Open3D (see files.py). Says what each reader saw, and fails where one saw something else.
#
#   tools/readers/check.sh [PROGRAM]      default: target/debug/stereopsis
set -euo pipefail
program=$(realpath "${1:-$(dirname "$0")/../../target/debug/stereopsis}")
cd "$(dirname "$0")/../.."
[ -x "$program" ] || { echo "readers: build the program first: cargo build" >&2; exit 1; }

[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/pip install -q --disable-pip-version-check -r tools/readers/requirements.txt

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/fixtures" "$work/recorded"
echo "readers: files of the tests"
STEREOPSIS_FIXTURES="$work/fixtures" cargo test --locked -q --workspace --test recording formats:: >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
.venv/bin/python tools/readers/readers.py "$work/fixtures"

echo "readers: recordings of the scene"
for format in ros2 foxglove; do
  "$program" record --source scene --frames 20 --lossless --streams raw,rectified,disparity,depth --engine cpu \
    --messages "$format" -o "$work/recorded/all_$format.mcap"
  "$program" record --source scene --frames 20 --lossless --engine cpu --messages "$format" -o "$work/recorded/default_$format.mcap"
done
for recording in "$work"/recorded/all_*.mcap; do
  "$program" export "$recording" --to "${recording%.mcap}.export" --what left,depth-mm
done
.venv/bin/python tools/readers/readers.py "$work/recorded"

echo "readers: files of an export"
[ -x .venv-readers/bin/python ] || python3 -m venv .venv-readers
.venv-readers/bin/pip install -q --disable-pip-version-check -r tools/readers/requirements-files.txt
for axes in opencv opengl; do
  "$program" export "$work/recorded/all_ros2.mcap" --to "$work/$axes" --count 1 --axes $axes \
    --what left,depth-mm,depth-m,disp-x256,pfm,tiff,ply,side-by-side,top-bottom,mpo,calibration,json
  .venv-readers/bin/python tools/readers/files.py "$work/$axes" $axes
done

echo "readers: the scene, live over a WebSocket"
"$program" live --source scene --headless --frames 1000000 --engine cpu --publish foxglove=:0 --preview "$work/preview.png" 2>"$work/live" &
live=$!
trap 'kill -INT $live 2>/dev/null; wait $live; rm -rf "$work"' EXIT
for _ in $(seq 100); do
  grep -q 'ws://' "$work/live" && break
  sleep 0.1
done
.venv/bin/python tools/readers/ws.py "$(grep -o 'ws://[0-9.:]*' "$work/live" | head -1)"
