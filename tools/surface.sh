#!/usr/bin/env bash
# Compares the library's public surface with tools/surface.txt, so that a change of it is seen and meant.
#
#   tools/surface.sh [--update]
#
# Needs a nightly Rust, whose rustdoc writes JSON, and cargo-public-api, which it installs once (two minutes).
set -euo pipefail
cd "$(dirname "$0")/.."
rustup toolchain list | grep -q '^nightly' || rustup toolchain install nightly --profile minimal
command -v cargo-public-api >/dev/null || cargo install --locked -q cargo-public-api
kept=tools/surface.txt
found=$(mktemp); trap 'rm -f "$found"' EXIT
python3 tools/surface.py >"$found"
if [ "${1:-}" = --update ]; then
  cp "$found" "$kept"; chmod 644 "$kept"
elif ! diff -u "$kept" "$found"; then
  echo "surface: the public surface has changed: write it into CHANGELOG.md, and run tools/surface.sh --update" >&2
  exit 1
fi
echo "surface: $(wc -l <"$found") public items"
