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
quietly() { "$@" >/tmp/said 2>&1 || { code=$?; tail -n 20 /tmp/said; echo "failed ($code): $*"; exit 1; }; }
ours() { find / -xdev \( -path /proc -o -path /tmp -o -path /dev -o -path /project \) -prune -o -iname '*stereopsis*' -print | grep -v '^/var/\(cache/apt\|lib/apt\|log\)' | sort; }
for name in cc gcc cargo rustc; do ! command -v "$name" || { echo "a compiler is here: $name"; exit 1; }; done
[ -z "$(ours)" ] || { echo "already here: $(ours)"; exit 1; }

quietly apt-get update
start=$SECONDS
quietly apt-get install -y "$package"
installed=$((SECONDS - start))
cd /tmp
quietly stereopsis live --headless --frames 1 --preview first.png
say "$(stereopsis --version), $(. /etc/os-release; echo "$PRETTY_NAME"): installed in $installed s, first depth $((SECONDS - start)) s after 'apt-get install'"
dpkg -L stereopsis | while read -r path; do test -e "$path" || echo "not there: $path"; done

quietly apt-get install -y --no-install-recommends xvfb xauth xdotool man-db
cat >window.sh <<'SH'
RUST_LOG=stereopsis=info stereopsis 2>window.txt &
for second in $(seq 60); do
  sleep 1
  if grep -o "the first images and their depth.*" window.txt && window=$(xdotool search --name Stereopsis); then
    xdotool windowclose $window; wait; exit 0
  fi
done
cat window.txt; exit 1
SH
if xvfb-run -a -s "-screen 0 1440x900x24" bash window.sh >/tmp/said 2>&1; then
  say "window: $(grep "first images" /tmp/said)"
elif grep -q "No DRI3 support" /tmp/said && grep -q "cannot draw into a window here: choose another GPU" /tmp/said; then
  say "window: not with this system's software GPU (Mesa before 22) on Xvfb, which the program says"
else
  cat /tmp/said; exit 1
fi
quietly stereopsis record --engine cpu --frames 3 -o 'a walk.mcap'
quietly stereopsis export 'a walk.mcap' --to pairs
quietly stereopsis compute pairs/000000_left.png pairs/000000_right.png -o disparity.pfm --color disparity.png
test -s disparity.pfm -a -s disparity.png -a -s first.png
say "record, export, compute: done"
quietly man -w stereopsis stereopsis-compute
test -s /usr/share/applications/stereopsis.desktop -a -s /usr/share/bash-completion/completions/stereopsis
stereopsis doctor >doctor.txt 2>&1 || true
grep -E '^ *(wrong|!)' doctor.txt | sed 's/^/  doctor: /' || true
grep -qi "self-test" doctor.txt || { cat doctor.txt; exit 1; }
say "manual, completions, menu: there; doctor: $(tail -n 1 doctor.txt)"

quietly apt-get purge -y stereopsis
quietly apt-get autoremove --purge -y
[ -z "$(ours)" ] || { echo "left behind: $(ours)"; exit 1; }
say "removed, nothing left"
