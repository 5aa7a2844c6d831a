#!/usr/bin/env bash
# Builds the wheel of the Python package, installs it into a fresh environment and tests it there.
#
#   tools/python.sh [PYTHON ...]               default: python3; more of them test the same wheel
#   tools/python.sh --build TARGET PROGRAM     builds it into dist/ with a program for the same target in it, which pip puts beside python
#
# On Linux zig links for glibc 2.28 (manylinux_2_28: Debian 10, Ubuntu 20.04, RHEL 8 and newer). STEREOPSIS_PROGRAM names the program
# whose bits the wheel must have; without it that comparison is skipped.
set -euo pipefail
umask 022 # packages are for everyone to read and for nobody else to write
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # target, folder, program
  local flags=(--target "$1") crates=(python/Cargo.toml)
  python3 -m venv "$work/build" || { echo "python: python3 -m venv failed; on Debian install python3-venv" >&2; exit 1; }
  "$work/build/bin/pip" install -q --disable-pip-version-check --constraint tools/package/requirements.txt 'maturin>=1.9,<2' ziglang wheel
  # what every copy of the wheel has to say
  cp LICENSE-MIT LICENSE-APACHE python/
  [ -z "${3:-}" ] || crates+=(Cargo.toml)
  python3 tools/package/parts.py "$1" --manifest "${crates[@]}" --licences python/THIRD-PARTY-LICENCES.txt
  [[ $1 != *-linux-gnu ]] || flags+=(--zig --compatibility manylinux_2_28)
  rustup target list --installed | grep -qx "$1" || rustup target add "$1"
  PATH=$work/build/bin:$PATH maturin build --release --locked --strip --manifest-path python/Cargo.toml --out "$work/out" "${flags[@]}"
  if [ -n "${3:-}" ]; then
    "$work/build/bin/wheel" unpack --dest "$work/parts" "$work"/out/*.whl
    local scripts=("$work"/parts/stereopsis-*)
    scripts=$scripts/$(basename "$scripts").data/scripts
    install -D -m 755 -t "$scripts" "$3"
    "$work/build/bin/wheel" pack --dest-dir "$work/out" "$work"/parts/stereopsis-*
  fi
  mkdir -p "$2"
  mv "$work"/out/*.whl "$2/"
}

if [ "${1:-}" = --build ]; then
  build "$2" "$root/dist" "$3"
  exit
fi
for built in target/debug/stereopsis target/*/release/stereopsis; do
  [ -n "${STEREOPSIS_PROGRAM:-}" ] || [ ! -x "$built" ] || ! "$built" --version >/dev/null 2>&1 || export STEREOPSIS_PROGRAM=$root/$built
done
build "$(rustc -vV | sed -n 's/^host: //p')" "$work/wheel"
[ "$#" -gt 0 ] || set -- python3
for python in "$@"; do
  rm -rf "$work/test"
  "$python" -m venv "$work/test"
  "$work/test/bin/pip" install -q --disable-pip-version-check "$work"/wheel/*.whl pytest
  "$work/test/bin/pip" install -q --disable-pip-version-check opencv-python-headless || echo "python: without OpenCV beside it"
  "$work/test/bin/python" --version
  (cd "$work" && "$work/test/bin/python" -m pytest -q "$root/python/tests")
done
