#!/usr/bin/env bash
# Type-checks for Windows and Arm Linux, where the targets and their C compilers can be had; says so where they cannot.
set -euo pipefail
cd "$(dirname "$0")/.."
check() { # target, compiler, Debian packages
  local target=$1 compiler=$2; shift 2
  rustup target list --installed 2>/dev/null | grep -qx "$target" || rustup target add "$target" >/dev/null 2>&1 || {
    echo "$target: skipped, its standard library cannot be added here"; return; }
  command -v "$compiler" >/dev/null || {
    [ "$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  } || { echo "$target: skipped, $compiler is missing"; return; }
  env "CC_${target//-/_}=$compiler" "BINDGEN_EXTRA_CLANG_ARGS_aarch64_unknown_linux_gnu=--target=aarch64-linux-gnu -I/usr/aarch64-linux-gnu/include" \
    cargo check --locked -q --target "$target"
  echo "$target: checked"
}
check x86_64-pc-windows-gnu x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
check aarch64-unknown-linux-gnu aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
