#!/usr/bin/env bash
# Makes the images of the window for README and docs anew, each from the built-in scene in a window of its own, and the film `live.webp`. Run it
# on a quiet machine, and look at each image before it is kept, also at those of the film (convert assets/live.webp -coalesce live-%02d.png):
# a warning or a low rate in it means that the machine was not quiet. It needs Xvfb, xdotool and
# ImageMagick (Debian, Ubuntu: xvfb xdotool imagemagick).
#
#   tools/pictures.sh [PROGRAM [FOLDER [NAME...]]]      default: target/debug/stereopsis, assets, all of them
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-target/debug/stereopsis}")
folder=$(realpath "${2:-assets}")
shift $(($# < 2 ? $# : 2))
wanted=" $* "
for tool in Xvfb xdotool import convert; do
  command -v "$tool" >/dev/null || { echo "pictures: $tool is missing (Debian, Ubuntu: apt-get install xvfb xdotool imagemagick)" >&2; exit 1; }
done
width=1440 height=900
scratch=$(mktemp -d)
window= server=
end() { [ -z "$window" ] || kill "$window" 2>/dev/null || true; [ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$scratch"; }
trap end EXIT

# Whether an image is asked for.
wants() { [[ $wanted = "  " || $wanted = *" $1 "* ]]; }

# A window with these arguments on a screen of its own, with the keyboard.
open() {
  local name=$1; shift
  local home=$scratch/$name display=:$((90 + RANDOM % 900))
  mkdir -p "$home/run"; chmod 700 "$home/run"
  export HOME=$home XDG_RUNTIME_DIR=$home/run DISPLAY=$display
  Xvfb "$display" -screen 0 ${width}x${height}x24 >/dev/null 2>&1 & server=$!
  sleep 1
  (cd "$home" && exec "$program" "$@" >"$scratch/$name.log" 2>&1) & window=$!
  local id= tries
  for tries in $(seq 60); do id=$(xdotool search --onlyvisible --name stereopsis 2>/dev/null | head -n 1) && [ -n "$id" ] && break; sleep 0.5; done
  [ -n "$id" ] || { echo "pictures: $name: no window: $(tail -n 1 "$scratch/$name.log")" >&2; exit 1; }
  sleep 4
  xdotool windowsize "$id" $width $height windowmove "$id" 0 0 windowfocus "$id"
  sleep 3
}
close() {
  kill "$window"; wait "$window" 2>/dev/null || true
  kill "$server"; wait "$server" 2>/dev/null || true
  window= server=
}

# An image of a window with these arguments, in which `steps` has done something.
picture() {
  local name=$1 steps=$2; shift 2
  wants "$name" || return 0
  open "$name" "$@"
  "$steps"
  import -window root "$scratch/$name.png"
  close
  convert "$scratch/$name.png" -strip -define png:compression-level=9 "$folder/$name.png"
  echo "$folder/$name.png"
}

# A film of a window with these arguments, while `steps` does something in it: at most ten images a second, each as long as it took.
film() {
  local name=$1 steps=$2; shift 2
  wants "$name" || return 0
  open "$name" "$@"
  "$steps" & local hand=$! start now number=0 pictures=()
  start=$(date +%s%N)
  while kill -0 "$hand" 2>/dev/null; do
    import -silent -window root "$scratch/$name-$number.ppm"
    now=$(date +%s%N)
    while [ $((now - start)) -lt 100000000 ]; do sleep 0.01; now=$(date +%s%N); done
    pictures+=(-delay $(((now - start) / 10000000)) "$scratch/$name-$number.ppm")
    start=$now number=$((number + 1))
  done
  close
  convert "${pictures[@]}" -resize 960x -quality 60 -define webp:method=6 -loop 0 "$folder/$name.webp"
  echo "$folder/$name.webp: $number pictures, $(stat -c %s "$folder/$name.webp") bytes"
}
key() { local k; for k in "$@"; do xdotool key --clearmodifiers "$k"; sleep 0.7; done; }
at() { xdotool mousemove "$1" "$2"; sleep 0.7; }
click() { at "$1" "$2"; xdotool click 1; sleep 0.7; }
drag() { at "$1" "$2"; xdotool mousedown 1; sleep 0.2; at $((($1 + $3) / 2)) $((($2 + $4) / 2)); at "$3" "$4"; xdotool mouseup 1; sleep 0.7; }
find() { key ctrl+k; xdotool type --delay 60 "$1"; sleep 0.7; key Return; }

live() { at 870 520; sleep 6; }
# P2 is moved to its lower end, to its upper one, and back; then the scene is turned in space
tuning() {
  local x
  sleep 1
  xdotool mousemove 165 359 mousedown 1
  for x in $(seq 164 -1 148) $(seq 150 3 206) $(seq 203 -3 165); do xdotool mousemove "$x" 359; sleep 0.06; done
  xdotool mouseup 1 key v
  sleep 0.7
  xdotool mousemove 700 380 mousedown 1
  for x in $(seq 696 -6 560) $(seq 566 6 696); do xdotool mousemove "$x" $((380 - (696 - x) / 6)); sleep 0.05; done
  xdotool mouseup 1
}
space() { key space v; drag 760 400 640 370; at 150 800; sleep 3; }
compare() { key space a ctrl+r; sleep 3; at 150 800; sleep 2; }
explain() { key space p; sleep 1; click 560 300; sleep 2; }
history() { key z; find "fast preset"; sleep 2; find "accurate preset"; sleep 3; key ctrl+z; sleep 2; at 150 800; sleep 2; }
measure() { key space l; sleep 1; drag 640 130 800 240; click 700 560; sleep 3; at 150 800; sleep 1; }
playback() { key 6; sleep 2; key space; sleep 2; at 150 800; sleep 1; }
suggest() { key space u; sleep 2; click 1104 243; sleep 50; at 150 800; sleep 1; }
sweep() { key space g; sleep 2; click 1104 233; sleep 3; at 150 800; sleep 1; }
tune() { key space; sleep 1; at 900 560; sleep 2; }

scene=(scene --size 480x360)
picture window live "${scene[@]}"
picture space space scene
picture compare compare "${scene[@]}" --p1 1 --p2 3
picture explain explain "${scene[@]}"
picture history history "${scene[@]}"
picture measure measure "${scene[@]}"
picture suggest suggest "${scene[@]}"
picture sweep sweep "${scene[@]}" --p1 1 --p2 2 --preset fast
picture tune-1 tune "${scene[@]}" --num-disparities 24
width=1280 height=800
film live tuning "${scene[@]}" --rate 15
width=1440 height=900
if wants playback; then
  HOME=$scratch "$program" record "${scene[@]}" --frames 90 -o "$scratch/scene.mcap" >/dev/null 2>&1
  picture playback playback "$scratch/scene.mcap" --p2 200
fi
