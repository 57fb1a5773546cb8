"""Reads frames with simplefix, a codec that shares nothing with ours, and writes them again.

One frame a line on the standard input, in hexadecimal. One line each on the standard output: its fields as tag=value, the value in hexadecimal,
and behind a bar the frame as simplefix writes the same fields, with a BodyLength and CheckSum of its own.
"""
import sys

import simplefix

parser = simplefix.FixParser()
for line in sys.stdin:
    # In two pieces: a parser is fed by a socket.
    frame = bytes.fromhex(line)
    parser.append_buffer(frame[:20])
    assert parser.get_message() is None
    parser.append_buffer(frame[20:])
    message = parser.get_message()
    assert message is not None, "not a message to simplefix: " + repr(frame)
    assert parser.get_buffer() == b"", "simplefix leaves a part of it: " + repr(frame)
    again = simplefix.FixMessage()
    for tag, value in message.pairs:
        if tag not in (b"9", b"10"):
            again.append_pair(int(tag), value)
    print(" ".join(tag.decode() + "=" + value.hex() for tag, value in message.pairs), "|", again.encode().hex())
