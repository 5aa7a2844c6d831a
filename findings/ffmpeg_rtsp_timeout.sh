#!/usr/bin/env bash
# FFmpeg 4.2.2 and 7.0.2 (in imageio-ffmpeg 0.4.2 and 0.6.0): a limit of two seconds for an RTSP camera that accepts and says nothing.
#
# -rw_timeout 2000000: both accept it, and wait for ever. It is an option of the byte protocols (http, tcp), which the RTSP demuxer does
#   not pass on to its own connection.
# -timeout 2000000: 7.0.2 connects and ends after two seconds. For 4.2.2 it means "be the server": no connection is made, and the
#   program tries to listen at the camera's address instead.
# -stimeout 2000000: 4.2.2 connects and ends after two seconds. 7.0.2 has no such option and ends at once, without a connection.
#
# So the name has to be looked up: `ffmpeg -h demuxer=rtsp` lists -stimeout where that is the one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for version in 0.4.2 0.6.0; do
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install -q --disable-pip-version-check "imageio-ffmpeg==$version"
  "$folder/$version/bin/python" -c 'import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())' >>"$folder/programs"
done

python3 - "$folder/programs" <<'PYTHON'
import socket
import subprocess
import sys
import threading
import time

EXPECTED = {
    ("4.2.2", "-rw_timeout"): ("connects", "waits"),
    ("4.2.2", "-timeout"): ("never connects", "ends"),
    ("4.2.2", "-stimeout"): ("connects", "ends at the limit"),
    ("7.0.2", "-rw_timeout"): ("connects", "waits"),
    ("7.0.2", "-timeout"): ("connects", "ends at the limit"),
    ("7.0.2", "-stimeout"): ("never connects", "ends"),
}


def silent_camera():
    """Accepts connections on a free port of this machine, and answers nothing."""
    camera = socket.socket()
    camera.bind(("127.0.0.1", 0))
    camera.listen()
    connections = []

    def accept():
        while True:
            connections.append(camera.accept()[0])

    threading.Thread(target=accept, daemon=True).start()
    return camera.getsockname()[1], connections


seen = {}
for program in open(sys.argv[1]).read().split():
    head = subprocess.run([program, "-version"], capture_output=True, text=True, check=True).stdout
    version = head.split()[2].split("-")[0]
    for option in ("-rw_timeout", "-timeout", "-stimeout"):
        port, connections = silent_camera()
        command = [program, "-nostdin", "-v", "error", "-rtsp_transport", "tcp", option, "2000000"]
        command += ["-i", f"rtsp://127.0.0.1:{port}/live", "-f", "null", "-"]
        begun = time.monotonic()
        try:
            said = subprocess.run(command, capture_output=True, text=True, timeout=10).stderr.strip().splitlines()[-1]
            end = "ends at the limit" if time.monotonic() - begun > 1.5 else "ends"
        except subprocess.TimeoutExpired:
            said, end = "", "waits"
        seen[version, option] = ("connects" if connections else "never connects", end)
        said = said.replace(f":{port}", ":PORT")
        print(f"ffmpeg {version} {option:12} {seen[version, option][0]}, {end} after {time.monotonic() - begun:.1f} s {said}", flush=True)

wrong = {key: value for key, value in seen.items() if EXPECTED.get(key) != value}
assert not wrong and len(seen) == len(EXPECTED), f"this has changed: {wrong or seen}"
PYTHON
