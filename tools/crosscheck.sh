#!/usr/bin/env bash
# Type-checks for systems that are not this one, where their targets can be had; says so where they cannot. (tools/arm.sh builds the
# library for Linux on Arm, which checks that.)
#
#   tools/crosscheck.sh             Windows, with MinGW's C compiler
#   tools/crosscheck.sh web         the algorithm, both engines, calibration and colours for a browser, whose front end is still to be written
#   tools/crosscheck.sh macos       macOS on Arm and Intel, with zig's C headers, which `make setup-package` installs; seven minutes each
set -euo pipefail
cd "$(dirname "$0")/.."
has_target() {
  rustup target list --installed 2>/dev/null | grep -qx "$1" || rustup target add "$1" >/dev/null 2>&1 || {
    echo "$1: skipped, its standard library cannot be added here"; return 1; }
}
case ${1:-windows} in
windows)
  target=x86_64-pc-windows-gnu compiler=x86_64-w64-mingw32-gcc
  has_target $target || exit 0
  command -v $compiler >/dev/null || {
    [ "$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc-mingw-w64-x86-64 >/dev/null
  } || { echo "$target: skipped, $compiler is missing"; exit 0; }
  env "CC_${target//-/_}=$compiler" cargo check --locked -q --target $target
  echo "$target: checked" ;;
web)
  target=wasm32-unknown-unknown
  has_target $target || exit 0
  crates=(); for crate in stereo calibration cpu gpu images; do crates+=(-p "stereopsis-$crate"); done
  cargo check --locked -q --target $target "${crates[@]}"
  echo "$target: checked" ;;
macos)
  sh tools/setup.sh package
  for target in aarch64-apple-darwin x86_64-apple-darwin; do
    has_target $target || continue
    PATH=$PWD/.venv/bin:$PATH cargo-zigbuild check --locked -q --target $target
    echo "$target: checked"
  done ;;
*) echo "crosscheck: expected windows, web or macos, got $1" >&2; exit 2 ;;
esac
