"""A WebSocket as a pipe, by Python's websockets: lines from the standard input are sent, each message received is printed as a line.

The end is a last line: `closed <code> <reason>`, or `refused <status>`. Arguments: the URL, then the token, as a subprotocol where `--browser` stands behind it.
"""

import asyncio
import sys

import websockets
from websockets.asyncio.client import connect


def say(line):
    print(line, flush=True)


async def forward(socket):
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        await socket.send(line.rstrip("\n"))


async def main(url, token, *options):
    given = {"additional_headers": {"Authorization": "Bearer " + token}}
    if "--browser" in options:
        given = {"subprotocols": ["order-router.v1", "bearer." + token]}
    try:
        async with connect(url, **given) as socket:
            say("open " + (socket.subprotocol or ""))
            sender = asyncio.create_task(forward(socket))
            try:
                async for message in socket:
                    say(message)
            except websockets.ConnectionClosed:
                pass
            sender.cancel()
            say(f"closed {socket.close_code} {socket.close_reason}")
    except websockets.InvalidStatus as refused:
        say(f"refused {refused.response.status_code}")
    sys.stdout.flush()
    # A thread still waits for the standard input.
    import os

    os._exit(0)


asyncio.run(main(*sys.argv[1:]))
