#!/usr/bin/env bash
# Checks the library with each set of features that a program may choose. All of them together is what `cargo test` builds. And that the tests take what the program was built with.
set -euo pipefail
cd "$(dirname "$0")/.."
for features in "" gpu cameras recording gpu,cameras,recording model window window,model publish zenoh; do
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
