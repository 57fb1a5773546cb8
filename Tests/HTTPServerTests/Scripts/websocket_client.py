"""Talks to the server's echo with Python's websockets. Prints a line for each thing that held; ends with a trace where one did not."""

import asyncio
import sys

import websockets
from websockets.asyncio.client import connect


async def main(url):
    async with connect(url, compression="deflate", max_size=None, subprotocols=["other", "quotes"]) as socket:
        assert socket.subprotocol == "quotes", socket.subprotocol
        assert not socket.protocol.extensions, socket.protocol.extensions
        print("handshake")

        for text in ["x", "Grüße", "y" * 125, "y" * 126, "y" * 65_535, "y" * 65_536]:
            await socket.send(text)
            assert await socket.recv() == text
        print("text")

        await socket.send(["Gr", "ü", "", "ße ", "z" * 50_000])
        assert await socket.recv() == "Grüße " + "z" * 50_000
        print("fragments")

        await asyncio.wait_for(await socket.ping("here"), 20)
        print("ping")

        await socket.send("end")
        try:
            await socket.recv()
            raise AssertionError("the server did not close")
        except websockets.ConnectionClosed as closed:
            assert (closed.rcvd.code, closed.rcvd.reason) == (4000, "as you wish"), closed
        print("close by the server")

    async with connect(url) as socket:
        await socket.close(3001, "bye")
        assert socket.close_code == 3001, socket.close_code
    print("close by the client")

    for message, code in [("z" * 65_537, 1009), (b"bytes", 1003)]:
        async with connect(url) as socket:
            await socket.send(message)
            try:
                await socket.recv()
                raise AssertionError("the server took it")
            except websockets.ConnectionClosed as closed:
                assert closed.rcvd.code == code, closed
        print(code)


asyncio.run(main(sys.argv[1]))
