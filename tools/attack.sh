#!/usr/bin/env bash
# Attacks the program with what `make test` leaves out: damaged inputs through every way in, the licences and known faults of the
# dependencies, a full disk, the window at random sizes, Miri over the unsafe code, libFuzzer. What cannot be had on a machine is named
# and left out.
#
#   tools/attack.sh            about ten minutes once all is built; SECONDS_EACH=20 is libFuzzer's time for each target
#   tools/attack.sh --short    the first two, with a tenth of the inputs: ten seconds with what `make test` has built
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
  "") short= inputs=20000 ;;
  --short) short=1 inputs=2000 ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
export RUST_BACKTRACE=0 # decoders that panic are caught, and many do
step() { echo; echo "-- $*"; }

step "damaged inputs"
ATTACK_INPUTS=${ATTACK_INPUTS:-$inputs} cargo test --locked --workspace --test attack -- --nocapture

step "licences and known faults of dependencies"
python3 tools/licences.py
python3 tools/advisories.py ${ADVISORIES:-}

[ -z "$short" ] || exit 0

step "a full disk"
[ ! -x target/debug/stereopsis ] || tools/diskfull.sh target/debug/stereopsis

step "the window at random sizes"
cargo test --locked --workspace --lib tests::sizes -- --ignored

step "Miri"
tools/miri.sh

step "libFuzzer"
tools/fuzz.sh "${SECONDS_EACH:-20}"
