#!/bin/sh
# Checks `record` without room on the disk: on a small file system of its own, and with a limit on the size of files. Run by
# hand and in CI: `tools/diskfull.sh target/debug/stereopsis`. Says so and ends well where a file system cannot be mounted.
set -eu
program=$(realpath "${1:?usage: tools/diskfull.sh PROGRAM}")

if [ "${2:-}" != "inside" ]; then
    # in a namespace of its own: nothing stays mounted, and root is only needed where users may not have one
    if unshare -m true 2>/dev/null; then exec unshare -m sh "$0" "$program" inside; fi
    if unshare -rm true 2>/dev/null; then exec unshare -rm sh "$0" "$program" inside; fi
    echo "diskfull: skipped: this system lets nobody mount a file system here"
    exit 0
fi

work=$(mktemp -d)
trap 'umount "$work/disk" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/disk"
if ! mount -t tmpfs -o size="${SIZE_MB:-96}m" none "$work/disk" 2>/dev/null; then
    echo "diskfull: skipped: this system mounts no tmpfs here"
    exit 0
fi
export HOME="$work"
unset DISPLAY WAYLAND_DISPLAY || true

fail() { echo "diskfull: $1"; sed 's/^/  /' "$work/said"; exit 1; }

# Records the scene until something ends it: the exit code has to be 1, and the words have to be these.
record() {
    file=$1 words=$2
    code=0
    "$program" record --source scene --size 320x240 --rate max --lossless --streams raw --seconds 60 -o "$file" 2>"$work/said" || code=$?
    [ "$code" = 1 ] || fail "exit code $code instead of 1"
    grep -q "$words" "$work/said" || fail "'$words' was not said"
    if grep -q panicked "$work/said"; then fail "it panicked"; fi
}

# Plays what was recorded: pairs come, and it ends well.
playable() {
    "$program" live --headless --source "$1" --once --rate max --engine cpu --num-disparities 16 --preview "$work/preview.png" --overwrite \
        2>"$work/said" || fail "$1 cannot be played"
    grep -q ' pairs came' "$work/said" || fail "$1 has no pairs"
}

record "$work/disk/reserve.mcap" "^stereopsis: stopped: $work/disk has only .* MB left"
playable "$work/disk/reserve.mcap"
[ "$(df -m --output=avail "$work/disk" | tail -1)" -ge 40 ] || fail "the reserve was written full"
echo "diskfull: stops before the disk is full, with a file that can be played"

dd if=/dev/zero of="$work/disk/ballast" bs=1M count=16 2>/dev/null
record "$work/disk/none.mcap" "^stereopsis: cannot write $work/disk/none.mcap: $work/disk has only .* MB left"
[ ! -e "$work/disk/none.mcap" ] || fail "a file was made where there was no room for it"
echo "diskfull: does not begin on a disk that is full"

# no file may be larger than 5000 blocks of 512 bytes: the recording goes on in other files
(
    ulimit -f 5000
    "$program" record --source scene --size 320x240 --rate max --lossless --streams raw --frames 60 -o "$work/limit.mcap" 2>"$work/said" \
        || fail "it did not go on in another file"
    grep -q "(a file here can have 2.6 MB at most): 60 pairs" "$work/said" || fail "the reason for further parts was not said"
)
[ -e "$work/limit_part002.mcap" ] || fail "there is no other file"
playable "$work/limit.mcap"
echo "diskfull: goes on in another file where one cannot become larger"
