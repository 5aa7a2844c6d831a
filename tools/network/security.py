#!/usr/bin/env python3
"""Who can connect, with the configuration of docs/network.md: certificates of an authority that is made here, and a certificate that may
watch one rig alone. Needs openssl.

    tools/network/security.py PROGRAM

Prints a line for each case; exit code 1 if one is wrong.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

program = os.path.abspath(sys.argv[1])
page = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "network.md")
failures = []


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def authority(folder, name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={name}",
            "-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.pem")


def certificate(folder, name, by):
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
            "-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.csr")
    with open(f"{folder}/{name}.ext", "w") as file:
        file.write(f"subjectAltName=DNS:{name},DNS:localhost,IP:127.0.0.1\n")
    openssl("x509", "-req", "-days", "2", "-in", f"{folder}/{name}.csr", "-CA", f"{folder}/{by}.pem", "-CAkey", f"{folder}/{by}.key",
            "-CAcreateserial", "-extfile", f"{folder}/{name}.ext", "-out", f"{folder}/{name}.pem")


def run(*words, seconds=20):
    try:
        done = subprocess.run([program, *words], capture_output=True, text=True, timeout=seconds)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired as err:
        return None, str(err.stdout) + str(err.stderr)


def case(what, ok, text=""):
    print(f"{'ok   ' if ok else 'WRONG'} {what}", flush=True)
    if not ok:
        print(text)
        failures.append(what)


with tempfile.TemporaryDirectory() as folder:
    with open(page) as file:
        config = re.search(r"```json5\n(.*?)```", file.read(), re.S)[1]
    authority(folder, "ca")
    authority(folder, "stranger")
    for name in ("pi", "desk", "viewer"):
        certificate(folder, name, "ca")
    certificate(folder, "impostor", "stranger")
    for name in ("pi", "desk", "viewer", "impostor"):
        text = config.replace('"pi.pem"', f'"{name}.pem"').replace('"pi.key"', f'"{name}.key"')
        text = re.sub(r'"(\w+\.(?:pem|key))"', lambda found: f'"{folder}/{found[1]}"', text)
        with open(f"{folder}/{name}.json5", "w") as file:
            # rules are for the machine that listens
            file.write(text if name == "pi" else re.sub(r"\n  access_control: \{.*\n  \},\n\}", "\n}", text, flags=re.S))
    with open(f"{folder}/none.json5", "w") as file:
        file.write(f'{{ transport: {{ link: {{ tls: {{ root_ca_certificate: "{folder}/ca.pem" }} }} }} }}')
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = f"tls/localhost:{port}"
    with open(f"{folder}/alone.json5", "w") as file:
        pair = f'listen_certificate: "{folder}/pi.pem", listen_private_key: "{folder}/pi.key"'
        file.write(f"{{ transport: {{ link: {{ tls: {{ {pair} }} }} }} }}")
    code, text = run("router", "--listen", f"tls/0.0.0.0:{port}", "--zenoh-config", f"{folder}/alone.json5")
    case("a certificate of the listening machine alone is not enough", code == 1 and "--open" in text, text)
    words = ["head", "--name", "pi", "--source", "scene", "--size", "160x120", "--listen", place, "--zenoh-config", f"{folder}/pi.json5"]
    head = subprocess.Popen([program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = []
    # its words say when it is there, and a full pipe would hold it up
    reader = threading.Thread(target=lambda: said.extend(head.stderr))
    reader.start()
    try:
        give_up = time.monotonic() + 60
        while not any("is at" in line for line in said) and head.poll() is None and time.monotonic() < give_up:
            time.sleep(0.1)

        def client(name, *words):
            return [*words, "--connect", place, "--zenoh-config", f"{folder}/{name}.json5"]

        code, text = run(*client("desk", "net"))
        case("a certificate of the authority connects", code == 0 and "pi" in text, text)
        code, text = run(*client("desk", "net", "pi", "p1=21"))
        case("it may set parameters", code == 0 and "p1 = 21" in text, text)
        for name, what in (("none", "no certificate"), ("impostor", "a certificate of another authority")):
            code, text = run(*client(name, "net"))
            case(f"{what} does not connect", code != 0 and "pi " not in text, text)
        code, text = run("net", "--connect", f"tcp/127.0.0.1:{port}")
        case("without encryption nothing connects", code != 0, text)
        source = ["--source", f"zenoh:pi@{place}", "--zenoh-config", f"{folder}/viewer.json5"]
        code, text = run("record", *source, "--streams", "raw", "--frames", "5", "-o", f"{folder}/walk.mcap")
        case("the viewer watches the rig", code == 0 and "5 pairs" in text, text)
        code, text = run(*client("viewer", "net", "pi", "p1=99"))
        case("the viewer sets nothing", code != 0, text)
        code, text = run(*client("desk", "net", "pi"))
        case("and nothing was set", code == 0 and "p1 = 21" in text, text)
    finally:
        head.terminate()
        reader.join(timeout=10)
    if failures:
        print("".join(said))

sys.exit(1 if failures else 0)
