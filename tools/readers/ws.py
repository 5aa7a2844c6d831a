"""A client that this project did not write meets `--publish foxglove`: the topics, the pixels of depth, the parameters.

    stereopsis live --headless --publish foxglove --frames 1000 &
    python tools/readers/ws.py ws://127.0.0.1:8765

Speaks Foxglove's WebSocket protocol with `websockets`, reads messages with `protobuf` by the schemas that the server sends, and
says what it saw; fails where something is missing. Parameters are put back as they were.
"""

import asyncio
import base64
import json
import struct
import sys

import numpy as np
import websockets
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

WANTED = [
    "/stereo/left/image_raw",
    "/stereo/right/image_raw",
    "/stereo/rectified/left/image",
    "/stereo/disparity",
    "/stereo/depth/image_raw",
    "/stereo/depth/camera_info",
    "/stereopsis/about",
    "/stereopsis/parameters",
    "/tf_static",
]
PATIENCE_S = 60


def message_class(channel):
    """The class that reads a channel's messages; None for JSON."""
    if channel["encoding"] != "protobuf":
        return None
    files = descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(channel["schema"]))
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(channel["schemaName"]))


class Client:
    """One connection: what is offered, and the newest message of each topic."""

    def __init__(self, socket):
        self.socket = socket
        self.channels = {}
        self.messages = {}
        self.answers = {}
        self.complaints = []

    async def hear(self):
        said = await self.socket.recv()
        if isinstance(said, bytes):
            if said[0] == 1:  # a message; its subscription has the number of its channel
                (channel_id,) = struct.unpack_from("<I", said, 1)
                channel = next(channel for channel in self.channels.values() if channel["id"] == channel_id)
                reader, data = message_class(channel), said[13:]
                self.messages[channel["topic"]] = reader.FromString(data) if reader else json.loads(data)
            return
        said = json.loads(said)
        match said["op"]:
            case "advertise":
                self.channels |= {channel["topic"]: channel for channel in said["channels"]}
            case "parameterValues":
                self.answers[said.get("id")] = {one["name"]: one["value"] for one in said["parameters"]}
            case "status":
                self.complaints.append(said["message"])

    async def until(self, what, holds):
        async def listen():
            while not holds():
                await self.hear()

        try:
            await asyncio.wait_for(listen(), PATIENCE_S)
        except TimeoutError:
            sys.exit(f"ws: waited in vain until {what}; offered {sorted(self.channels)}, heard {sorted(self.messages)}")

    async def say(self, **words):
        await self.socket.send(json.dumps(words))

    async def set(self, request, **values):
        """Asks for parameters and gives those that are in force then."""
        parameters = [{"name": name, "value": value} for name, value in values.items()]
        await self.say(op="setParameters", parameters=parameters, id=request)
        await self.until(f"'{request}' is answered", lambda: request in self.answers)
        return self.answers[request]


def look_at_depth(client):
    depth = client.messages["/stereo/depth/image_raw"]
    assert depth.encoding in ("16UC1", "mono16"), depth.encoding
    millimetres = np.frombuffer(depth.data, "<u2").reshape(depth.height, depth.step // 2)[:, : depth.width]
    measured = millimetres[millimetres > 0]
    share = measured.size / millimetres.size
    assert share > 0.3, f"only {share:.0%} of the pixels have a depth"
    camera = client.messages["/stereo/depth/camera_info"]
    assert (camera.width, camera.height) == (depth.width, depth.height) and camera.K[0] > 0, camera
    print(
        f"ws: {len(client.channels)} topics; depth {depth.width} x {depth.height}, {share:.0%} of it measured, "
        f"median {np.median(measured) / 1000:.2f} m, focal length {camera.K[0]:.1f} px"
    )


async def tune(client):
    await client.say(op="getParameters", parameterNames=[], id="all")
    await client.until("parameters are told", lambda: "all" in client.answers)
    before = client.answers["all"]
    other = 4 if before["paths"] != 4 else 8
    assert (await client.set("change", paths=other))["paths"] == other
    told = lambda: str(client.messages["/stereopsis/parameters"]["paths"]) == str(other)
    await client.until("the change is told on its topic", told)
    assert (await client.set("wrong", paths=-1))["paths"] == other
    await client.until("the refusal is told", lambda: client.complaints)
    assert (await client.set("back", paths=before["paths"]))["paths"] == before["paths"]
    print(f"ws: {len(before)} parameters, which can be set; refused: {client.complaints[-1]}")


async def check(address):
    async with websockets.connect(address, subprotocols=["foxglove.sdk.v1"], max_size=None) as socket:
        client = Client(socket)
        await client.until("every topic is offered", lambda: all(topic in client.channels for topic in WANTED))
        ids = [client.channels[topic]["id"] for topic in WANTED]
        await client.say(op="subscribe", subscriptions=[{"id": i, "channelId": i} for i in ids])
        await client.until("each topic has a message", lambda: all(topic in client.messages for topic in WANTED))
        look_at_depth(client)
        await tune(client)


if __name__ == "__main__":
    asyncio.run(check(sys.argv[1] if len(sys.argv) > 1 else "ws://127.0.0.1:8765"))
