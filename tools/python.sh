#!/usr/bin/env bash
# Builds the wheel of the Python package into dist/, installs it into a fresh environment and tests it there.
#
#   tools/python.sh [PYTHON ...]      default: python3; more of them test the same wheel
#
# PROFILE=dev builds it quicker, and it computes slower. STEREOPSIS_PROGRAM names the program
# whose bits the wheel must have; without it that comparison is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
[ "$#" -gt 0 ] || set -- python3
for built in target/release/stereopsis target/debug/stereopsis; do
  [ -n "${STEREOPSIS_PROGRAM:-}" ] || [ ! -x "$built" ] || export STEREOPSIS_PROGRAM=$root/$built
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" -m venv "$work/build" || { echo "python: $1 -m venv failed; on Debian install python3-venv" >&2; exit 1; }
"$work/build/bin/pip" install -q --disable-pip-version-check 'maturin>=1.9,<2'
rm -f dist/stereopsis-*.whl
PATH=$work/build/bin:$PATH maturin build --profile "${PROFILE:-release}" --locked --strip --manifest-path python/Cargo.toml --out dist ${MATURIN_ARGS:-}
wheel=$(ls dist/stereopsis-*.whl)
echo "$wheel: $(stat -c %s "$wheel") bytes"
for python in "$@"; do
  rm -rf "$work/test"
  "$python" -m venv "$work/test"
  "$work/test/bin/pip" install -q --disable-pip-version-check "$wheel" pytest
  "$work/test/bin/pip" install -q --disable-pip-version-check opencv-python-headless || echo "python: without OpenCV beside it"
  "$work/test/bin/python" --version
  (cd "$work" && "$work/test/bin/python" -m pytest -q "$root/python/tests")
done
