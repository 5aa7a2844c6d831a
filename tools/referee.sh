#!/usr/bin/env bash
# Scores the four Middlebury v2 pairs, filled, with an independent script. Without flags it fails where the mean is worse than that of
# OpenCV's eight paths; with flags it tells.
#
#   STEREOPSIS_DATA=FOLDER tools/referee.sh EVALUATE.py [flags of compute]      STEREOPSIS_PROGRAM: another build than the release
set -euo pipefail
evaluate=$(realpath "$1"); shift
cd "$(dirname "$0")/.."
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/python -c 'import numpy, PIL' 2>/dev/null || .venv/bin/pip install -q numpy pillow
program=${STEREOPSIS_PROGRAM:-target/release/stereopsis}
[ -n "${STEREOPSIS_PROGRAM:-}" ] || cargo build --locked --release -q
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for scene in 2001/tsukuba:16 2001/venus:22 2003/teddy:56 2003/cones:57; do
  folder=$STEREOPSIS_DATA/middlebury${scene%%:*}
  "$program" compute "$folder/left.png" "$folder/right.png" -o "$out/map.pfm" \
    --num-disparities "${scene#*:}" --fill --engine cpu "$@" >/dev/null
  .venv/bin/python "$evaluate" "$out/map.pfm" "$folder" --json >>"$out/scores"
done
.venv/bin/python - "$out/scores" "$#" <<'PYTHON'
import json, sys
scores = [json.loads(line) for line in open(sys.argv[1])]
names = ["tsukuba", "venus", "teddy", "cones"]
values = []
for name, score in zip(names, scores):
    row = [score[region]["bad1.0"] for region in ("nonocc", "all", "disc")]
    values += row
    print(f"{name:8} bad-1.0 nonocc {row[0]:5.2f} all {row[1]:5.2f} disc {row[2]:5.2f} %")
mean = sum(values) / len(values)
regions = [sum(values[i::3]) / 4 for i in range(3)]
print(f"mean     bad-1.0 nonocc {regions[0]:5.2f} all {regions[1]:5.2f} disc {regions[2]:5.2f} %")
print(f"mean     bad-1.0 {mean:.2f} % (OpenCV's eight paths at their best: 9.54 %)")
sys.exit(sys.argv[2] == "0" and mean > 9.54)
PYTHON
