#!/usr/bin/env bash
# Zenoh 1.10.2 (eclipse-zenoh on PyPI): a client that subscribes to liveliness tokens with their history, and queries the same tokens at
# once, gets an empty answer: the subscriber receives the token of a member that is there, the query ends without it and without an error.
#
# - The query alone returns the token, and so does one that is sent when the subscriber's history has arrived.
# - While the history is under way, the client's own router drops what the query would repeat: a token that it has just passed to the
#   session counts as known, whoever asked for it.
#
# So an empty answer does not mean that nobody is there; the subscriber has to be looked at too.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q --disable-pip-version-check eclipse-zenoh==1.10.2

"$folder/python/bin/python" - <<'PYTHON'
import os
import socket
import time

import zenoh

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    place = f"tcp/127.0.0.1:{free.getsockname()[1]}"


def session(mode, where):
    config = zenoh.Config()
    config.insert_json5("mode", f'"{mode}"')
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5(f"{where}/endpoints", f'["{place}"]')
    return zenoh.open(config)


def query(client):
    replies = client.liveliness().get("team/**", timeout=5.0)
    return [str(reply.ok.key_expr) if reply.ok else "an error" for reply in replies]


router = session("router", "listen")
token = router.liveliness().declare_token("team/anna")
rounds = 20
seen = {"alone": [], "at once": [], "later": []}
heard = []
for _ in range(rounds):
    client = session("client", "connect")
    seen["alone"].append(query(client))
    client.close()
    client = session("client", "connect")
    told = []
    subscriber = client.liveliness().declare_subscriber("team/**", lambda sample: told.append(str(sample.key_expr)), history=True)
    seen["at once"].append(query(client))
    time.sleep(0.2)
    seen["later"].append(query(client))
    heard.append(list(told))
    client.close()
there = ["team/anna"]
for when, answers in seen.items():
    print(f"query {when}: {answers.count(there)} of {rounds} with the token, {answers.count([])} empty")
print(f"subscriber: {heard.count(there)} of {rounds} received the token once")
as_seen = seen["alone"].count(there) == seen["later"].count(there) == heard.count(there) == rounds and seen["at once"].count([]) > rounds / 2
print("as described" if as_seen else "CHANGED", flush=True)
os._exit(0 if as_seen else 1)  # closing the router may take a minute
PYTHON
