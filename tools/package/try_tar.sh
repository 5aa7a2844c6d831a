#!/bin/bash
# Inside a bare Debian (tools/package/in_debian.sh): unpacks a .tar.gz anywhere and uses it, without a library of this project's choice.
#
#   tools/package/try_tar.sh ARCHIVE.tar.gz
set -euo pipefail
folder="/tmp/somewhere else"
mkdir -p "$folder"
tar -C "$folder" -xzf "$1"
cd "$folder"
program=$(ls -d "$folder"/stereopsis-*/bin/stereopsis)
"$program" --version
"$program" live --headless --engine cpu --frames 30 --preview preview.png 2>said || { cat said >&2; exit 1; }
test -s preview.png
for page in ../"somewhere else"/stereopsis-*/share/{man/man1/stereopsis.1.gz,applications/stereopsis.desktop,doc/stereopsis/THIRD-PARTY-LICENCES.txt}; do test -s "$page"; done
# without the libraries of a window it says so, and what to do
if DISPLAY=:7 timeout 20 "$program" 2>said; then echo "a window without its libraries?" >&2; cat said >&2; exit 1; fi
sed 's/^/  /' said
grep -q -e "--headless" said
