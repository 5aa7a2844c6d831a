#!/bin/bash
# Inside a bare Debian (tools/package/in_debian.sh): installs a .deb, uses it as a stranger does, removes it, and fails where anything
# of it is left.
#
#   tools/package/try_deb.sh PACKAGE.deb
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive XDG_RUNTIME_DIR=/tmp/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
package=$(readlink -f "$1")
say() { echo "  $*"; }
files() { find / -xdev \( -path /proc -o -path /tmp -o -path /dev -o -path /var/cache -o -path /var/lib/apt -o -path /var/log -o -path /var/lib/dpkg -o -path /project \) -prune -o -print | sort; }
compiler() { for name in cc gcc cargo rustc; do command -v "$name" && { echo "a compiler is here: $name"; exit 1; }; done; return 0; }

compiler
apt-get update -qq
# a screen that no package of ours brings; its files do not count
apt-get install -y -qq --no-install-recommends xvfb xauth man-db >/dev/null 2>&1
files >/tmp/before
dpkg --get-selections >/tmp/packages-before

start=$SECONDS
apt-get install -y -qq "$package" >/tmp/install.log 2>&1 || { tail -n 20 /tmp/install.log; exit 1; }
say "installed in $((SECONDS - start)) s: $(stereopsis --version), $(. /etc/os-release; echo "$PRETTY_NAME"), $(ldd --version 2>/dev/null | sed -n '1s/.* //p' || true)"
cd /tmp
xvfb-run -a stereopsis live --frames 1 >/tmp/first.log 2>&1 || { cat /tmp/first.log; exit 1; }
say "first depth in the window $((SECONDS - start)) s after 'apt install'"
xvfb-run -a stereopsis --frames 30 >/tmp/window.log 2>&1 || { cat /tmp/window.log; exit 1; }
! grep -q "without a window\|no window" /tmp/window.log || { cat /tmp/window.log; exit 1; }
say "window: 30 frames"
stereopsis live --headless --engine cpu --frames 30 --preview /tmp/preview.png >/tmp/live.log 2>&1 || { cat /tmp/live.log; exit 1; }
test -s /tmp/preview.png
stereopsis record --engine cpu --frames 3 -o '/tmp/a walk.mcap' >/tmp/record.log 2>&1 || { cat /tmp/record.log; exit 1; }
stereopsis export '/tmp/a walk.mcap' --to /tmp/pairs >/dev/null
left=$(find /tmp/pairs -name '*left*' -type f | sort | head -n 1); right=$(find /tmp/pairs -name '*right*' -type f | sort | head -n 1)
stereopsis compute "$left" "$right" -o /tmp/disparity.pfm --color /tmp/disparity.png --overwrite >/dev/null
test -s /tmp/disparity.pfm
say "headless, record, export, compute: done"
man -w stereopsis stereopsis-compute >/dev/null
test -e /usr/share/applications/stereopsis.desktop
stereopsis doctor --json >/tmp/doctor.json || true
grep -q '"checks"' /tmp/doctor.json
say "manual, menu, doctor: there"

apt-get purge -y -qq stereopsis >/dev/null 2>&1
dpkg --get-selections >/tmp/packages-after
apt-get autoremove --purge -y -qq >/dev/null 2>&1
dpkg --get-selections | diff /tmp/packages-before - >/dev/null || say "packages that others brought and apt keeps: $(dpkg --get-selections | diff /tmp/packages-before - | grep -c '^>')"
files >/tmp/after
left=$(comm -13 /tmp/before /tmp/after | grep -i stereopsis || true)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
say "removed; other files that stayed: $(comm -13 /tmp/before /tmp/after | wc -l)"
