#!/usr/bin/env bash
# Attacks the program: damaged inputs through every way in, the tests of hostile files, clients and cameras, libFuzzer, Miri over the
# unsafe code, and the licences and known faults of the dependencies. What cannot be had on a machine is named and left out.
#
#   tools/attack.sh            about ten minutes once all is built; SECONDS_EACH=20 is libFuzzer's time for each target
#   tools/attack.sh --short    under three minutes with what `make test` has built: neither libFuzzer nor Miri
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
  "") short= inputs=20000 ;;
  --short) short=1 inputs=2000 ;;
  *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
export RUST_BACKTRACE=0 # decoders that panic are caught, and many do
step() { echo; echo "-- $*"; }

step "damaged inputs"
ATTACK_INPUTS=${ATTACK_INPUTS:-$inputs} cargo test --locked --workspace --test attack -- --nocapture

step "thousands of members, engines without results, two heads of one name, strangers' messages"
cargo test --locked --workspace --test peers -- network::strangers network::sizes thousand_publishers

step "decoders, models, saved states, recordings and addresses that hang, die, are cut or hold secrets"
cargo test --locked --workspace --lib -- decoder silent program film loaded:: trial:: weights splitting:: store::
cargo test --locked --workspace --test program -- recording::split secrets::

step "licences and known faults of dependencies"
python3 tools/licences.py
python3 tools/advisories.py ${ADVISORIES:-}

[ -z "$short" ] || exit 0

step "hostile files, clients, cameras and disks among the other tests"
cargo test --locked --workspace --lib --test peers --test recording --test cameras -- --skip tests::
cargo test --locked --test program
[ ! -x target/debug/stereopsis ] || tools/diskfull.sh target/debug/stereopsis

step "the window at random sizes"
cargo test --locked --workspace --lib tests::sizes -- --ignored

step "Miri"
tools/miri.sh

step "libFuzzer"
tools/fuzz.sh "${SECONDS_EACH:-20}"
