#!/usr/bin/env bash
# Runs the targets of fuzz/attack under libFuzzer, each for so many seconds, one on each core, and says what came out. On stable Rust; it needs a
# C++ compiler. Without one it says so and ends well.
#
#   tools/fuzz.sh [SECONDS [TARGET...]]      RUNS=1000000 tools/fuzz.sh: so many inputs for each instead
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
command -v c++ >/dev/null || { echo "fuzzing: skipped, there is no C++ compiler (Debian: apt-get install g++)"; exit 0; }
seconds=${1:-60}; shift || true
host=$(rustc -vV | sed -n 's/^host: //p')
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-../target/fuzz}
cp ../Cargo.lock . # the program's own versions; cargo adds libFuzzer
coverage="--cfg fuzzing -Cpasses=sancov-module"
for flag in level=4 inline-8bit-counters pc-table trace-compares; do coverage+=" -Cllvm-args=-sanitizer-coverage-$flag"; done
# with --target, flags are for the program alone and not for what builds it
RUSTFLAGS=$coverage cargo build -q --target "$host"
program=$CARGO_TARGET_DIR/$host/debug/stereopsis-fuzz
TMPDIR=$(mktemp -d -p "$([ -d /dev/shm ] && echo /dev/shm || echo /tmp)"); export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
mkdir -p artifacts logs
[ $# -gt 0 ] || set -- $(ls seeds)
limit=-max_total_time=$seconds; [ -z "${RUNS:-}" ] || limit=-runs=$RUNS
export program limit
attack() { # TARGET: its line of the table; fails where something was found
  local target=$1 found=nothing inputs edges broken=0
  mkdir -p "corpus/$target"
  TARGET=$target "$program" "corpus/$target" "seeds/$target" "$limit" -max_len=12288 -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="artifacts/$target-" -print_final_stats=1 >"logs/$target" 2>&1 || {
    found=$(sed -n 's/.*Test unit written to //p' "logs/$target" | tail -n 1); found=${found:-"see fuzz/logs/$target"}; broken=1; }
  inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "logs/$target"); edges=$(grep -o 'cov: [0-9]*' "logs/$target" | tail -n 1 || true)
  printf '%-12s %10s %8s  %s\n' "$target" "${inputs:-?}" "${edges#cov: }" "$found"
  return "$broken"
}
export -f attack
printf '%-12s %10s %8s  %s\n' target inputs edges found
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'attack {}' || exit 1
