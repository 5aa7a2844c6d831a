#!/usr/bin/env bash
# Runs the CPU engine's two files with unsafe code under Miri, with several orders of threads; where nightly Rust with Miri cannot be had,
# it says so and ends well.
set -euo pipefail
cd "$(dirname "$0")/miri"
cannot() { echo "Miri: skipped, $1"; exit 0; }
toolchain=$(rustup toolchain list 2>/dev/null | grep -o '^nightly[^ ]*' | head -n 1) || cannot "there is no nightly Rust; get one with: rustup toolchain install nightly"
has() { rustup component list --toolchain "$toolchain" --installed 2>/dev/null | grep -q "^$1"; }
for component in miri rust-src; do
  has "$component" || timeout 120 rustup component add "$component" --toolchain "$toolchain" >/dev/null 2>&1 || cannot "$component cannot be added to $toolchain"
done
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-../../target/miri}
cargo "+$toolchain" miri setup >/dev/null 2>&1 || cannot "its standard library cannot be built"
MIRIFLAGS="-Zmiri-many-seeds=0..${SEEDS:-4}" cargo "+$toolchain" miri test --locked -q --lib
