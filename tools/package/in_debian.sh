#!/usr/bin/env bash
# Runs a command on a newly made, bare Debian system, in this project's folder, which it can read and not write.
#
#   tools/package/in_debian.sh SUITE ARCHITECTURE COMMAND [WORD ...]      as: bookworm amd64 bash tools/package/try_deb.sh dist/NAME.deb
#
# Needs root and mmdebstrap; for another processor also qemu-user-static and binfmt-support. A system is made once, in 20 s (in
# four minutes for another processor), and kept in ROOTS (default: /var/tmp/stereopsis-roots); each run has a copy of its own.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)

# The part that mounts and runs: it has mounts and processes of its own, which end with it.
inside() { # root, command
  local root=$1 device; shift
  mount -t proc proc "$root/proc"
  for device in null zero random urandom full; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
  mount -t tmpfs tmpfs "$root/dev/shm"
  mount -t tmpfs tmpfs "$root/tmp"
  mount --bind "$project" "$root/project"
  mount -o remount,ro,bind "$root/project"
  local vars; vars=$(env | grep -E '^(PIP_|SSL_|REQUESTS_|.*_proxy=|.*_PROXY=)' | grep -v '^PIP_FIND' || true)
  # shellcheck disable=SC2086 # a list of variables
  env -i HOME=/tmp/home LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin $vars \
    chroot "$root" sh -c 'mkdir -p "$HOME"; cd /project && exec "$@"' sh "$@" </dev/null
}
if [ "${1:-}" = --inside ]; then shift; inside "$@"; exit; fi

suite=$1 arch=$2; shift 2
roots=${ROOTS:-/var/tmp/stereopsis-roots}
tar=$roots/$suite-$arch.tar
if [ ! -s "$tar" ]; then
  mkdir -p "$roots"
  lists=() # one of them may be missing
  for list in /etc/apt/sources.list.d/debian* /etc/apt/sources.list; do [ ! -e "$list" ] || lists+=("$list"); done
  [ "${#lists[@]}" -gt 0 ] || { echo "in_debian: apt has no list of Debian's mirrors here" >&2; exit 1; }
  mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb [^h]*\(http[^ ]*\).*/\1/p' "${lists[@]}" | head -n 1)
  # a mirror may keep an old state of a suite that changes daily
  mmdebstrap --quiet --aptopt='Acquire::Check-Valid-Until "false"' --arch="$arch" --variant=apt --include=ca-certificates "$suite" "$tar.part.tar" "$mirror"
  mv "$tar.part.tar" "$tar"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT # nothing is mounted in it here
root=$work/root
mkdir "$root"
tar -C "$root" -xf "$tar" --exclude='./dev/*'
mkdir -p "$root/dev/shm" "$root/project" "$root/usr/local/share/ca-certificates"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp -r /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/" 2>/dev/null || true
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" 2>/dev/null || true # a proxy of this machine may sign
code=0
unshare --mount --pid --fork --kill-child "$0" --inside "$root" "$@" || code=$?
echo "$suite $arch: '$*' $([ "$code" = 0 ] && echo passed || echo "failed ($code)")"
exit "$code"
