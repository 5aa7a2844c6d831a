#!/bin/bash
# Inside a bare Debian 13 (tools/package/in_debian.sh): unpacks a .zip or a wheel for Windows and uses its program under wine: the CPU
# engine, live, recordings, names with spaces and umlauts. Wine before 9 lacks a library that every program of Rust needs.
#
#   tools/package/try_windows.sh ARCHIVE.zip|WHEEL
#
# Not tried by it: cameras and DirectX 12, which wine does not have, and the wheel's library for Python.
set -euo pipefail
archive=$(readlink -f "$1")
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends wine wine64 python3 >/dev/null 2>&1
work=$(mktemp -d)
trap 'wineserver -k >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
export WINEPREFIX=$work/prefix WINEDEBUG=-all WINEDLLOVERRIDES="mscoree=;mshtml=" DISPLAY=
export HOME=$work XDG_RUNTIME_DIR=$work
wineboot --init >/dev/null 2>&1
folder="$work/Tiefe über allem"
mkdir "$folder"
python3 -m zipfile -e "$archive" "$folder"
cd "$folder"
program=$(find . -name stereopsis.exe)
say() { echo "  $*"; }
run() { wine "$program" "$@" 2>"$work/said" || { code=$?; cat "$work/said" >&2; echo "failed ($code): $*" >&2; exit 1; }; }
start=$SECONDS
run --version | tr -d '\r'
run live --headless --engine cpu --frames 30 --preview "Bild ä.png" >/dev/null
test -s "Bild ä.png"
say "live: 30 pairs and a preview in $((SECONDS - start)) s"
run record --engine cpu --frames 3 -o "Gang über Äcker.mcap" >/dev/null
run export "Gang über Äcker.mcap" --to "Paare ö" >/dev/null
left=$(find "Paare ö" -name '*left*' -type f | sort | head -n 1); right=$(find "Paare ö" -name '*right*' -type f | sort | head -n 1)
run compute "$left" "$right" --engine cpu -o "Tiefe ü.pfm" --color "Tiefe ü.png" >/dev/null
test -s "Tiefe ü.pfm"
run recompute "Gang über Äcker.mcap" -o "besser.mcap" --engine cpu --preset accurate >/dev/null
say "record, export, compute, recompute: done, with spaces and umlauts"
run bench --engine cpu --size 320x240 --num-disparities 64 --frames 3 | tr -d '\r' | tail -n 3
wine "$program" compute fehlt.png rechts.png -o x.pfm >/dev/null 2>"$work/said" && { echo "a missing file was no error" >&2; exit 1; }
grep -q "fehlt.png" "$work/said" || { cat "$work/said" >&2; exit 1; }
wine "$program" doctor --json >"$work/doctor.json" 2>/dev/null || true
grep -q '"checks"' "$work/doctor.json" && say "a missing file is named; doctor reports"
