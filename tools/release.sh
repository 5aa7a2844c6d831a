#!/usr/bin/env bash
# Notes and draft of a release, beside its packages.
#
#   tools/release.sh notes TAG > FILE     checks the tag against Cargo.toml, prints this version's part of CHANGELOG.md
#   tools/release.sh draft TAG            makes a draft of all in dist/ with those notes, by the forge's command line `gh`
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$#" = 2 ] || { sed -n '4,5s/^# *//p' "$0" >&2; exit 2; }
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
[ "$2" = "v$version" ] || { echo "release: the tag is $2, and Cargo.toml has $version: the tag must be v$version" >&2; exit 1; }

notes() {
  local changes
  changes=$(awk -v version="$version" '
    /^## / { inside = index($0, "## [" version "]") == 1 || index($0, "## " version) == 1; next }
    inside { print }' CHANGELOG.md)
  [ -n "$changes" ] || { echo "release: CHANGELOG.md has no part '## $version': name the part of what is unreleased so" >&2; exit 1; }
  echo "$changes"
  echo
  echo "Packages are unsigned; SHA256SUMS has their checksums. Windows asks before it starts an unsigned program. The packages for Linux"
  echo "were installed and used on Debian 11, 12 and 13, the one for Arm in qemu, the one for Windows under wine. For macOS the code is only type-checked."
}

case $1 in
  notes) notes ;;
  draft)
    file=$(mktemp); trap 'rm -f "$file"' EXIT
    notes >"$file"
    gh release create "$2" --draft --verify-tag --title "Stereopsis $version" --notes-file "$file" dist/* ;;
  *) echo "release: '$1' is neither notes nor draft" >&2; exit 2 ;;
esac
