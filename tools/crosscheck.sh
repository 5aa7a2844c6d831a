#!/usr/bin/env bash
# Type-checks for Windows, where the target and its C compiler can be had; says so where they cannot. (tools/arm.sh builds the
# library for Linux on Arm, which checks that.)
set -euo pipefail
cd "$(dirname "$0")/.."
check() { # target, compiler, Debian packages
  local target=$1 compiler=$2; shift 2
  rustup target list --installed 2>/dev/null | grep -qx "$target" || rustup target add "$target" >/dev/null 2>&1 || {
    echo "$target: skipped, its standard library cannot be added here"; return; }
  command -v "$compiler" >/dev/null || {
    [ "$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  } || { echo "$target: skipped, $compiler is missing"; return; }
  env "CC_${target//-/_}=$compiler" cargo check --locked -q --target "$target"
  echo "$target: checked"
}
check x86_64-pc-windows-gnu x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
