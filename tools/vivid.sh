#!/usr/bin/env bash
# Runs the program on two cameras of a real kernel: a Debian kernel with `vivid`, the kernel's own test cameras, boots in
# QEMU (no KVM needed), and the true V4L2 driver core answers. Checks what the program prints there. Needs Debian's packages
# on an x86-64 machine; says so where they cannot be had, and fails then only where CI=true.
#
#   tools/vivid.sh [PROGRAM]      default: target/debug/stereopsis, else target/release/stereopsis
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/optional.sh "${1:-}"
[ "$(uname -m)" = x86_64 ] || cannot "it needs an x86-64 machine"

packages=()
command -v qemu-system-x86_64 >/dev/null || packages+=(qemu-system-x86)
command -v busybox >/dev/null || packages+=(busybox-static)
command -v cpio >/dev/null || packages+=(cpio)
command -v v4l2-ctl >/dev/null || packages+=(v4l-utils)
command -v modprobe >/dev/null || [ -x /sbin/modprobe ] || packages+=(kmod)
if [ "${#packages[@]}" -gt 0 ]; then
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq &&
    apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null || cannot "it needs ${packages[*]}"
fi
PATH=$PATH:/sbin:/usr/sbin

# the kernel, unpacked and kept: it is not installed
store=$PWD/target/vivid
kernel_package() { apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends: linux-image-/ { print $2; exit }'; }
fetch_kernel() {
  kernel=$(kernel_package)
  [ -n "$kernel" ] || return 1
  [ -d "$store/$kernel" ] && return
  rm -rf "$store/fresh" && mkdir -p "$store/fresh"
  (cd "$store/fresh" && apt-get download -qq "$kernel" 2>/dev/null) || return 1
  dpkg-deb -x "$store/fresh/$kernel"_*.deb "$store/fresh/root"
  mv "$store/fresh/root" "$store/$kernel"
  rm -r "$store/fresh"
}
# a list of packages that is old names what is no longer there
fetch_kernel || { [ "$(id -u)" = 0 ] && apt-get update -qq && fetch_kernel; } || cannot "package linux-image-amd64 cannot be had"
root=$store/$kernel
version=$(basename "$root"/lib/modules/*)
[ -f "$root/lib/modules/$version/modules.dep" ] || depmod -b "$root" "$version"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
guest=$work/guest
mkdir -p "$guest"/{bin,dev,lib,modules,proc,root,sys,tmp}
cp "$(command -v busybox)" "$guest/bin/busybox"
modprobe -d "$root" -S "$version" --show-depends vivid | awk '$1 == "insmod" { print $2 }' | while read -r module; do
  cp "$module" "$guest/modules/"
  echo "/modules/$(basename "$module")"
done >"$guest/modules/order"
strip -o "$guest/bin/stereopsis" "$program"
cp "$(command -v v4l2-ctl)" "$guest/bin/v4l2-ctl"
ldd "$program" "$guest/bin/v4l2-ctl" | grep -o '/[^ :]* (' | tr -d ' (' | sort -u | while read -r library; do
  mkdir -p "$guest$(dirname "$library")"
  cp "$library" "$guest$library"
done
cat >"$guest/init" <<'GUEST'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
export HOME=/root XDG_RUNTIME_DIR=/tmp RUST_LOG=stereopsis=info NO_COLOR=1
for module in $(cat /modules/order); do
  case $module in
    # two webcams with nothing but a capture node each
    */vivid.ko) insmod "$module" n_devs=2 node_types=0x1,0x1 num_inputs=1,1 input_types=0,0 ;;
    *) insmod "$module" ;;
  esac
done
step() { echo; echo "== $1"; shift; "$@" 2>&1; echo "-- exit $?"; }
live() { name=$1; shift; step "$name" stereopsis live --headless --engine cpu --num-disparities 16 --paths 4 --scale 1/4 --size 320x180 --preview /tmp/preview.png --overwrite --json "$@"; }
step devices stereopsis devices
live yuyv --source webcam:0,1 --frames 8 --format yuyv --gain 50
live nv12 --source webcam:0,1 --frames 3 --format nv12
live grey --source webcam:0,1 --frames 3 --format grey
live y16 --source webcam:1,0 --frames 3 --format y16
step record stereopsis record --source webcam:0,1 --format yuyv --size 320x180 --frames 10 --streams raw -o /tmp/cameras.mcap --json
step turned stereopsis record --source webcam:0,1 --format nv12 --size 320x180 --frames 5 --streams raw,eyes --orientation rotate-180,upright -o /tmp/turned.mcap
step recompute stereopsis recompute /tmp/cameras.mcap -o /tmp/matched.mcap --streams raw,disparity --engine cpu --num-disparities 16 --scale 1/4
step export stereopsis export /tmp/matched.mcap --to /tmp/files --what left,right,pfm
step exported-turned stereopsis export /tmp/turned.mcap --to /tmp/turned --what left,right
step pipe sh -c 'stereopsis record --source webcam:0,1 --format grey --size 320x180 --frames 8 --streams raw -o - |
  stereopsis live --source - --headless --engine cpu --num-disparities 16 --scale 1/4 --preview /tmp/preview.png --overwrite --json'
live missing --source webcam:0,7
# the driver calls a frame of the left camera damaged again and again, and drops some of the right one's
step damaged sh -c 'v4l2-ctl -d /dev/video1 -c percentage_of_dropped_buffers=30
  stereopsis live --headless --engine cpu --num-disparities 16 --paths 4 --scale 1/4 --size 320x180 --preview /tmp/preview.png --overwrite --json \
    --source webcam:0,1 --format yuyv --frames 12 & run=$!
  while kill -0 $run 2>/dev/null; do v4l2-ctl -d /dev/video0 -c inject_v4l2_buf_flag_error=1; sleep 0.2; done
  wait $run; code=$?; v4l2-ctl -d /dev/video1 -c percentage_of_dropped_buffers=0; exit $code'
step controls stereopsis devices
echo "== end"
poweroff -f
GUEST
chmod +x "$guest/init"
(cd "$guest" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initramfs"

# an emulated machine is slow, and the cameras are what is tried: pairs are matched small
timeout 300 qemu-system-x86_64 -accel tcg -cpu max -smp 2 -m 1024 -nographic -no-reboot -net none \
  -kernel "$root/boot/vmlinuz-$version" -initrd "$work/initramfs" -append "console=ttyS0 quiet loglevel=3 panic=-1" \
  </dev/null | tr '\r' '\n' >"$work/log" || true

failed=
of_step() { sed -n "/^== $1\$/,/^-- exit/p" "$work/log"; }
expect() { # in this step, a line that matches this pattern
  of_step "$1" | grep -E -- "$2" >/dev/null || { echo "vivid: $1: no line matches '$2'" >&2; failed=1; }
}
expect devices '^camera 0: vivid-000'
expect devices '^camera 1: vivid-001'
expect devices '^  YUYV  320x180 at 1 to 60/s'
expect devices '^    gain  .* 0 to 255, now .*, automatic$'
for format in yuyv nv12 grey y16; do
  expect $format "camera 0: ${format^^} 320x180 at 30/s"
  expect $format "camera 1: ${format^^} 320x180 at 30/s"
  expect $format '"errors": \[\]'
  expect $format '"failed": 0'
  expect $format '^-- exit 0$'
done
expect yuyv '"computed": 8,'
# where images come slower than they are asked for, a run may end before the skew is known
for format in yuyv nv12 grey y16; do of_step $format; done | grep -E '"skew_ms": -?[0-9]' >/dev/null ||
  { echo "vivid: no run tells how far apart pictures are taken" >&2; failed=1; }
# the driver's times lie a little ahead, and are used
of_step yuyv | grep 'time stamps' >&2 && failed=1
expect record '"pairs": 10,'
expect record '"dropped_by_disk": 0,'
expect recompute '10 pairs, 10 results on cpu'
expect export '10 pairs -> /tmp/files: left, right, pfm$'
expect exported-turned '5 pairs -> /tmp/turned: left, right$'
expect pipe '"computed": [1-8],'
for recorded in record turned recompute export exported-turned pipe; do expect $recorded '^-- exit 0$'; done
expect damaged '"flagged": [1-9]'
expect damaged '"short": 0'
expect damaged '"missed": [1-9]'
expect damaged '"computed": 12,'
expect damaged 'damaged frames [0-9]* \([0-9]* flagged by the driver\)'
expect damaged '^-- exit 0$'
expect missing 'no camera 7: found 0 and 1'
expect missing '^-- exit 1$'
# what was set stays: the gain, and its automatic off
expect controls '^    gain  .* 0 to 255, now 50$'
grep -q '^== end$' "$work/log" || { echo "vivid: the machine did not come to its end" >&2; failed=1; }
if [ -n "$failed" ]; then
  cat "$work/log"
  exit 1
fi
echo "vivid: $kernel: two cameras in $(grep -c '"computed":' "$work/log") runs, as expected, in $SECONDS s"
