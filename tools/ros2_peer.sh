#!/usr/bin/env bash
# A node of others reads what this program publishes to ROS 2: starts a router and the built-in scene with --publish ros2, and runs
# the peer, a Python program on Zenoh's own package with others' code for messages and hashes. Also reads the scene back with a second
# instance of this program through --source ros2:. Fails where one of them does.
#
#   tools/ros2_peer.sh PROGRAM PEER.py
set -euo pipefail
program=$(realpath "$1")
peer=$(realpath "$2")
cd "$(dirname "$0")/.."
[ -x "$program" ] || { echo "ros2_peer: build the program first: cargo build" >&2; exit 1; }

[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/pip install -q --disable-pip-version-check eclipse-zenoh==1.10.2 rosbags==0.11.9 xxhash numpy

work=$(mktemp -d)
started=()
finish() {
  for pid in "${started[@]}"; do kill -INT "$pid" 2>/dev/null || true; done
  for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT

port=$(.venv/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
endpoint=tcp/127.0.0.1:$port
export ROS_DOMAIN_ID=7 ZENOH_CONFIG_OVERRIDE="connect/endpoints=[\"$endpoint\"]"

"$program" router --listen "$endpoint" 2>"$work/router" &
started+=($!)
"$program" live --headless --source scene --size 320x240 --num-disparities 64 --frames 1000000 --engine cpu --publish ros2 \
  --preview "$work/preview.png" 2>"$work/live" &
started+=($!)
for _ in $(seq 600); do
  grep -q 'computed' "$work/live" && break
  kill -0 "${started[1]}" 2>/dev/null || { cat "$work/router" "$work/live"; exit 1; }
  sleep 0.1
done

echo "ros2_peer: a node of others"
.venv/bin/python "$peer" "$endpoint" --domain 7 --seconds 8 --late /tf_static | tee "$work/peer" || { cat "$work/router" "$work/live"; exit 1; }
for topic in left/image_raw rectified/left/image rectified/left/camera_info disparity depth/image_raw depth/camera_info points; do
  grep -q "^/stereo/$topic  " "$work/peer" || { echo "ros2_peer: nothing came on /stereo/$topic"; cat "$work/live"; exit 1; }
done

echo "ros2_peer: this program as a source"
"$program" live --headless --source ros2:/stereo/left/image_raw,/stereo/right/image_raw --frames 20 --num-disparities 64 --engine cpu \
  --preview "$work/back.png" 2>"$work/back" || { cat "$work/back"; exit 1; }
tail -n 2 "$work/back"
