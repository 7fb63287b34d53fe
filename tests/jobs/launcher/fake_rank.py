# SPDX-License-Identifier: Apache-2.0
"""A rank in Python that speaks the protocol of runtime/wireup/format.md, for tests of the daemon.

usage: fake_rank.py STEP...   Steps are done in order; see the functions below.
"""
import os
import socket
import struct
import sys
import time

TYPES = [
    "", "hello", "welcome", "refused", "abort", "finalized", "put", "get", "address", "bell",
    "rung",
]


def text(value):
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<I", len(data)) + data


class Rank:
    def __init__(self):
        self.rank = int(os.environ["DLRT_RANK"])
        self.token = os.environ["DLRT_TOKEN"]
        self.fds = [int(fd) for fd in os.environ["DLRT_FDS"].split(",")]
        self.socket = socket.socket(fileno=os.dup(self.fds[0]))

    def send(self, kind, body=b""):
        self.socket.send(b"DLRM" + struct.pack("<H", TYPES.index(kind)) + body)

    def receive(self):
        data, fds, _, _ = socket.recv_fds(self.socket, 65536, 8)
        if not data:
            return "closed", b"", fds
        return TYPES[struct.unpack("<H", data[4:6])[0]], data[6:], fds

    def hello(self, rank=None, reattach=False, version=1, token=None):
        rank = self.rank if rank is None else rank
        self.send("hello", struct.pack("<IIi", version, rank, os.getpid())
                  + text(token or self.token) + bytes([reattach]))
        return self.receive()

    # Steps.
    def join(self):
        kind, body, _ = self.hello()
        print(kind, body[4:].decode(errors="replace"), flush=True)

    def join_in_child(self):
        if os.fork() == 0:
            self.join()
            os._exit(0)
        os.wait()

    def leave(self):
        self.send("finalized")

    def abort(self):
        self.send("abort", struct.pack("<i", 42) + text("the end"))
        time.sleep(60)

    def put(self):
        self.send("put", text("tcp") + text(f"address of {self.rank}"))

    def get_next(self):
        size = int(os.environ["DLRT_SIZE"])
        self.send("get", struct.pack("<I", (self.rank + 1) % size) + text("tcp"))
        kind, body, _ = self.receive()
        print(kind, body[15:].decode(), flush=True)

    def ring_first(self):
        self.send("bell", struct.pack("<I", 0))
        kind, _, fds = self.receive()
        os.write(fds[0], struct.pack("<Q", 1))
        print(kind, flush=True)

    def wait_for_ring(self):
        while True:
            try:
                print("rung", struct.unpack("<Q", os.read(self.fds[3], 8))[0], flush=True)
                return
            except BlockingIOError:
                time.sleep(0.01)

    def reattach(self):
        for fd in self.fds:
            os.close(fd)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect("\0" + os.environ["DLRT_DAEMON"])
        kind, _, fds = self.hello(reattach=True)
        print(kind, [os.readlink(f"/proc/self/fd/{fd}").split(" ")[0] for fd in fds], flush=True)

    def reattach_with_wrong_token(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect("\0" + os.environ["DLRT_DAEMON"])
        print(self.hello(reattach=True, token="0" * 32)[:2], flush=True)

    def wrong_version(self):
        print(self.hello(version=9)[:2], flush=True)

    def rubbish(self):
        self.socket.send(b"what is this")
        print(self.receive()[0], flush=True)

    def sleep(self):
        time.sleep(60)

    def fail(self):
        os._exit(3)


if __name__ == "__main__":
    me = Rank()
    for step in sys.argv[1:]:
        getattr(me, step)()
