#!/usr/bin/env bash
# Builds the tests for Linux on Arm and runs those of the CPU engine in qemu: its NEON code against the specification.
# Where the target, its compiler or qemu cannot be had, it says so and ends well.
set -euo pipefail
cd "$(dirname "$0")/.."
target=aarch64-unknown-linux-gnu
skip() { echo "$target: skipped, $1"; exit 0; }
rustup target list --installed 2>/dev/null | grep -qx "$target" || rustup target add "$target" >/dev/null 2>&1 ||
  skip "its standard library cannot be added here"
if ! command -v aarch64-linux-gnu-gcc >/dev/null || ! command -v qemu-aarch64 >/dev/null; then
  [ "$(id -u)" = 0 ] || skip "gcc-aarch64-linux-gnu or qemu-user is missing"
  apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user >/dev/null ||
    skip "gcc-aarch64-linux-gnu and qemu-user cannot be installed"
fi
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
cargo test --locked -q -p stereopsis-cpu --target "$target"
