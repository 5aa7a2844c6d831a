#!/usr/bin/env python3
"""A long or bad way between two machines, on TCP: what comes is passed on later, and at times nothing passes, as while lost packets are
sent again.

    tools/network/relay.py PORT HOST:PORT [--delay-ms 20] [--stall-ms 200 --stall-every-s 3]

Listens on 127.0.0.1:PORT. The order of bytes is kept, as TCP keeps it; so loss shows as a stall.
"""

import argparse
import asyncio
import random
import time

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("port", type=int)
arguments.add_argument("to")
arguments.add_argument("--delay-ms", type=float, default=0)
arguments.add_argument("--stall-ms", type=float, default=0)
arguments.add_argument("--stall-every-s", type=float, default=3)
args = arguments.parse_args()


class Way:
    """One direction of all connections, which stall together."""

    def __init__(self):
        self.stalled_until = 0.0
        self.next_stall = time.monotonic() + args.stall_every_s

    def due(self):
        """When bytes that come now leave."""
        now = time.monotonic()
        if args.stall_ms and now >= self.next_stall:
            self.stalled_until = now + args.stall_ms / 1e3
            self.next_stall = self.stalled_until + random.expovariate(1 / args.stall_every_s)
        return max(now + args.delay_ms / 1e3, self.stalled_until)


async def pass_on(reader, writer, way):
    # as much as a long way holds; more waits at its sender
    held = asyncio.Queue(maxsize=64)

    async def take():
        while data := await reader.read(1 << 16):
            await held.put((way.due(), data))
        await held.put((0, b""))

    async def give():
        while True:
            due, data = await held.get()
            if not data:
                writer.close()
                return
            await asyncio.sleep(max(0, due - time.monotonic()))
            writer.write(data)
            await writer.drain()

    try:
        await asyncio.gather(take(), give())
    except (ConnectionError, asyncio.CancelledError):
        writer.close()


async def main():
    host, port = args.to.rsplit(":", 1)
    there, back = Way(), Way()

    async def connected(reader, writer):
        try:
            to_reader, to_writer = await asyncio.open_connection(host, int(port))
        except OSError:
            writer.close()
            return
        await asyncio.gather(pass_on(reader, to_writer, there), pass_on(to_reader, writer, back))

    async with await asyncio.start_server(connected, "127.0.0.1", args.port) as server:
        await server.serve_forever()


asyncio.run(main())
