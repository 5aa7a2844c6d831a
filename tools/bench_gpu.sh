#!/usr/bin/env bash
# Everything that docs/performance.md says of a GPU, measured on this machine's best one with programs that are built already; no
# network, no compiler. Results of both engines are compared first. A few minutes; every table also lies in the folder as JSON.
#
#   tools/bench_gpu.sh [PROGRAM [LABORATORY [FOLDER]]]      SIZES="640x480 1280x960" and DISPARITIES=128 choose others
set -euo pipefail
program=$(realpath "${1:-target/debug/stereopsis}")
laboratory=$(realpath "${2:-target/debug/stereopsis-lab}")
folder=${3:-gpu-report}
sizes=${SIZES:-640x480 1024x768 1280x960}
disparities=${DISPARITIES:-128}
mkdir -p "$folder"
cd "$folder"
step() { echo; echo "== $* (${SECONDS} s)"; }
# Prints a table and keeps the same as JSON, from two runs.
both() { local name=$1; shift; "$laboratory" "$@" | tee "$name.txt"; "$laboratory" "$@" --json >"$name.json"; }

step "devices"
"$program" devices --gpu | tee devices.txt

step "both engines give the same bits"
first=${sizes%% *}
"$program" bench --engine cpu --size "$first" --frames 1 --write-pairs pairs >/dev/null
for options in "" "--paths 16 --start-angle-deg 7" "--gating 2" "--cost rank --adaptive-p2 off" "--p2 400"; do
  for engine in cpu gpu; do
    # shellcheck disable=SC2086 # several words on purpose
    "$program" compute "pairs/$first/left0.png" "pairs/$first/right0.png" --num-disparities 64 $options --engine $engine -o "$engine.pfm" --overwrite >/dev/null 2>&1
  done
  cmp cpu.pfm gpu.pfm && echo "same: ${options:-defaults}"
done

for size in $sizes; do
  step "tune $size"
  "$program" tune --size "$size" --num-disparities "$disparities" --json >"tune-$size.json"
  step "stages $size"
  both "bench-$size" device --size "$size" --num-disparities "$disparities" --frames 200
  step "pipeline $size"
  both "pipeline-$size" pipeline --size "$size" --num-disparities "$disparities"
done

step "the tables and figures of five papers"
"$laboratory" reproduce all --svg papers -o papers.md --overwrite
step "done; all of it lies in $PWD"
