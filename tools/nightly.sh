#!/usr/bin/env bash
# Checks that take too long for each change: random cases by the hundred, Vulkan's validation layer, whole attacks, unsafe code under Miri, the papers' tables, recordings, files and a robot's topics in others'
# hands, commands that messages name, cameras of a real kernel, faults of a network, the Python package, ten thousand pairs, other systems, the documentation.
#
#   tools/nightly.sh            the parts that have not passed at this commit, one after the other; STEREOPSIS_DATA names pairs with truth
#   tools/nightly.sh NAME ...   these parts, whether they have passed or not
#   tools/nightly.sh --list     their names
#
# Stopped and started again it goes on with the part in which it was; changes that are not committed begin anew. Exits 1 if a part failed.
set -uo pipefail
cd "$(dirname "$0")/.."
export CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=never REQUIRE_GPU=1 RUST_BACKTRACE=0
program=${STEREOPSIS_PROGRAM:-$PWD/target/debug/stereopsis}
parts=(random nokhwa video validation attack soak papers readers advice vivid faults ros2 python bench systems book)

random() { cargo test --locked -p stereopsis-calibration random_rigs -- --ignored && CASES=10 cargo test --locked --workspace --lib --test agree --test reference -- random explain steps sequences memory of_every changes information variants; }
nokhwa() {
  compgen -G '/usr/lib/llvm-*/lib/libclang.so*' >/dev/null || compgen -G '/usr/lib/llvm-*/lib/libclang-[0-9]*.so*' >/dev/null || { echo "skipped: bindings of nokhwa need libclang (libclang-dev)"; return 0; }
  cargo test --locked --features nokhwa-linux --test program nokhwa
}
video() {
  command -v ffmpeg >/dev/null || { echo "skipped: no ffmpeg (apt-get install ffmpeg)"; return 0; }
  cargo test --locked --workspace --lib ffmpeg_plays -- --ignored
}
validation() { tools/validation.sh "$program"; }
attack() { tools/attack.sh; }
soak() { make soak; }
papers() {
  # the laboratory, which neither the tests nor the checks of a change build; its program is built for its tests
  cargo clippy --locked --workspace --all-targets -- -D warnings &&
    cargo test --locked --workspace --bin stereopsis-lab --test laboratory &&
    target/debug/stereopsis-lab reproduce all --quick --overwrite -o target/nightly/papers.md
}
readers() { tools/readers/check.sh "$program"; }
advice() {
  [ "$(id -u)" = 0 ] && command -v mmdebstrap >/dev/null || { echo "skipped: a bare Debian is made by root with mmdebstrap"; return 0; }
  mkdir -p target/nightly && cp "$program" target/nightly/stereopsis # the system sees this folder alone
  tools/package/in_debian.sh bookworm amd64 sh -c "apt-get update -qq && apt-get install -y -qq python3 >/dev/null && python3 tools/advice.py target/nightly/stereopsis"
}
vivid() { tools/vivid.sh "$program"; }
faults() {
  # a program without optimisation on a machine with few cores: small images, longer looks
  ip netns add stereopsis-probe 2>/dev/null || { echo "skipped: no network namespaces can be made here (they need root and iproute2)"; return 0; }
  ip netns del stereopsis-probe
  python3 tools/network/faults.py "$program" --size 160x120 --rate 10 --seconds 8 --kept 0.8 --stub-ms 20
}
ros2() { [ -z "${ROS2_PEER:-}" ] && { echo "skipped: ROS2_PEER names no node of others"; return 0; }; tools/ros2_peer.sh "$program" "$ROS2_PEER"; }
python() { tools/python.sh; }
bench() { make bench ARGS="--size 320x240 --num-disparities 64 --rounds 1 --frames 1"; }
systems() { tools/features.sh && tools/crosscheck.sh && tools/crosscheck.sh web && python3 tools/unused_pub.py; }
book() { tools/book.sh; }

case ${1:-} in
  --list) printf '%s\n' "${parts[@]}"; exit 0 ;;
  -*) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
for name in "$@"; do
  [[ " ${parts[*]} " == *" $name "* ]] || { echo "nightly: there is no part '$name'; tools/nightly.sh --list" >&2; exit 2; }
done
[ -x "$program" ] || cargo build --locked --features full || exit 1
passed=target/nightly/$(git rev-parse HEAD)$(git diff HEAD | sha256sum | cut -c1-8)
mkdir -p "$passed"
failed=() chosen=("$@")
[ $# -gt 0 ] || chosen=("${parts[@]}")
for name in "${chosen[@]}"; do
  [ $# -gt 0 ] || [ ! -e "$passed/$name" ] || { echo "== $name: passed before"; continue; }
  echo "== $name"
  began=$SECONDS
  if ("$name") >"target/nightly/$name.log" 2>&1; then
    touch "$passed/$name"
    grep -h '^skipped\|: skipped' "target/nightly/$name.log" || true
    echo "== $name: passed, $((SECONDS - began)) s"
  else
    failed+=("$name")
    tail -n 40 "target/nightly/$name.log"
    echo "== $name: FAILED, $((SECONDS - began)) s; all of it is in target/nightly/$name.log"
  fi
done
[ ${#failed[@]} -eq 0 ] || { echo "nightly: failed: ${failed[*]}"; exit 1; }
