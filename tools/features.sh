#!/usr/bin/env bash
# Checks the library with each set of features that a program may choose. All of them together is what `cargo test` builds.
set -euo pipefail
cd "$(dirname "$0")/.."
for features in "" gpu cameras recording gpu,cameras,recording model window window,model publish zenoh; do
  said=$(cargo check --locked -q --lib --no-default-features --features "$features" 2>&1) || { echo "$said"; exit 1; }
  [ -z "$said" ] || { echo "$said"; echo "features: '$features' has warnings" >&2; exit 1; }
  echo "features: '$features' checked"
done
