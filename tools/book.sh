#!/usr/bin/env bash
# Builds the documentation of the code, and the book of docs/ with mdBook; fails where either warns. Installs mdBook into target/tools
# if this machine has none; where that is not possible it says so and ends well.
#
#   tools/book.sh
set -euo pipefail
cd "$(dirname "$0")/.."
RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --features stereopsis/full --no-deps --document-private-items -q
tools=$PWD/target/tools
mdbook=$(command -v mdbook || true)
if [ -z "$mdbook" ]; then
  mdbook=$tools/bin/mdbook
  if [ ! -x "$mdbook" ] && ! nice -n 19 cargo install mdbook --locked --no-default-features --root "$tools" --quiet 2>target/mdbook.log; then
    echo "skipped: mdbook is not installed here and cannot be: $(tail -n 1 target/mdbook.log)"
    exit 0
  fi
fi
log=$("$mdbook" build 2>&1) || { echo "$log"; exit 1; }
if grep -qE 'WARN|ERROR' <<<"$log"; then echo "$log"; exit 1; fi
# the pages show images of ../assets, as they do in a checkout
rm -rf target/assets && cp -r assets target/assets
pages=$(grep -c '](.*\.md)' docs/SUMMARY.md)
built=$(find target/book -name '*.html' | wc -l)
[ "$built" -ge "$pages" ] || { echo "target/book has $built pages of $pages"; exit 1; }
echo "the book is target/book/index.html: $pages pages"
