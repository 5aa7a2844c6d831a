#!/usr/bin/env bash
# Checks the library with each set of features that a program may choose. All of them together is what `cargo test` builds. And that the
# tests take what the program was built with.
#
#   tools/features.sh            90 s on two cores
#   tools/features.sh --short    the smallest set, and what `make run` builds
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
  "") sets=("" gpu cameras recording db3 gpu,cameras,recording model window window,model publish zenoh) ;;
  --short) sets=("" window) ;;
  *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
for features in "${sets[@]}"; do
  said=$(cargo check --locked -q --lib --no-default-features --features "$features" 2>&1) || { echo "$said"; exit 1; }
  [ -z "$said" ] || { echo "$said"; echo "features: '$features' has warnings" >&2; exit 1; }
  echo "features: '$features' checked"
done
# a crate of others with more features in the tests than in the program would be compiled for each of them, and all that depends on it
listed() { cargo tree --locked --prefix none -f '{p} {f}' "$@" | sed 's/ (\*)$//' | grep -v '^stereopsis' | sort -u; }
program=$(listed -e normal,build) tests=$(listed -e normal,build,dev --workspace --exclude stereopsis-lab --exclude stereopsis-attack)
twice=$(comm -23 <(echo "$program") <(echo "$tests"))
[ -z "$twice" ] || { echo "$twice"; echo "features: the tests build these once more, with other features" >&2; exit 1; }
echo "features: the tests build nothing of others that the program has, a second time"
