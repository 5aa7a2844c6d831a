#!/usr/bin/env bash
# Runs all tests: builds them, runs the test programs side by side, two or half as many as there are cores, then the examples of the documentation.
# Prints a line for each program, the whole output of one that fails, and one sum.
#
#   tools/test.sh
set -euo pipefail
cd "$(dirname "$0")/.."
cores=$(getconf _NPROCESSORS_ONLN)
packages=(--locked --workspace --exclude stereopsis-lab --exclude stereopsis-attack)
# some tests wait for time to pass: two programs of four threads each on two cores take 324 s, one after the other 365
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((2 * cores))}
# the software GPU's shaders for wider vectors take a third longer to compile than to run here; those that Mesa keeps elsewhere are for
# another width, which it does not check (22.3)
if [ -z "${LP_NATIVE_VECTOR_WIDTH:-}" ]; then
  export LP_NATIVE_VECTOR_WIDTH=128 MESA_SHADER_CACHE_DIR=${CARGO_TARGET_DIR:-$PWD/target}/shaders-128
fi
LOGS=$(mktemp -d); export LOGS
trap 'rm -rf "$LOGS"' EXIT
# without it the library of Wayland complains at each start of a GPU
if [ -z "${XDG_RUNTIME_DIR:-}" ]; then XDG_RUNTIME_DIR=$LOGS/run; mkdir -m 700 "$XDG_RUNTIME_DIR"; export XDG_RUNTIME_DIR; fi

started=$SECONDS
cargo test "${packages[@]}" --no-run --message-format json-render-diagnostics >"$LOGS/built"
built=$((SECONDS - started))
grep '"executable":"' "$LOGS/built" | grep '"overflow_checks":[a-z]*,"test":true' | sed 's/.*"manifest_path":"\([^"]*\)\/Cargo.toml".*"executable":"\([^"]*\)".*/\2\t\1/' >"$LOGS/programs"

run_one() { # a test program, the folder of its package
  local log start name code=0
  name=$(basename "$2")/$(basename "$1"); log=$LOGS/$(basename "$1").log; start=$SECONDS
  (cd "$2" && "$1") >"$log" 2>&1 || code=$?
  [ "$code" = 0 ] || { cat "$log"; echo "FAILED (exit code $code): $1"; }
  echo "${name%-*}: $(sed -n 's/^test result: //p' "$log") ($((SECONDS - start)) s)"
  return "$code"
}
export -f run_one
echo "$(wc -l <"$LOGS/programs") test programs, a line for each when it ends"
# the largest ones run longest
while IFS=$'\t' read -r program folder; do
  printf '%s\t%s\t%s\n' "$(wc -c <"$program")" "$program" "$folder"
done <"$LOGS/programs" | sort -rn | cut -f2- | tr '\t\n' '\0\0' | xargs -0 -P "$((cores > 4 ? cores / 2 : 2))" -n 2 bash -c 'run_one "$@"' run_one || failed=1
cargo test "${packages[@]}" --doc >"$LOGS/doc.log" 2>&1 || { cat "$LOGS/doc.log"; failed=1; }

awk -v built="$built" -v ran="$((SECONDS - started - built))" '
  /^test result: / { for (i = 1; i < NF; i++) { if ($(i + 1) ~ /^passed/) passed += $i; if ($(i + 1) ~ /^failed/) failed += $i } }
  END { printf "%d tests passed, %d failed; built in %d s, run in %d s\n", passed, failed, built, ran }' "$LOGS"/*.log
exit "${failed:-0}"
