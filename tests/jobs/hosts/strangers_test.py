#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Strangers at the ports of ranks while their job runs: they get nothing, the sums stay right, and
ranks don't grow. The strangers are processes of h1, and so is who listens in on the greeting."""
import os
import subprocess
import sys
import textwrap

from hosts_case import CLUSTER, main
from networks_test import NetworksCase

PORTS = range(4177, 4187)
PORT_WORDS = ("--port-range", f"{PORTS[0]}-{PORTS[-1]}")
RESIDENT_GROWTH_KIB_MAX = 8 * 1024
PRELUDE = """
import socket, struct, sys, time
def visit(data=b"", waits=True):
    s = socket.create_connection(ADDRESS, 10)
    s.settimeout(10)
    s.sendall(data)
    return s
def is_turned_away(s):
    try:
        return s.recv(1) == b""
    except ConnectionResetError:
        return True
HELLO = b"dlrt-tcp" + struct.pack("<III", 1, 0, 1) + bytes(32)
"""


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    return 0


def listening_port(pid):
    """Of the host on which that process runs."""
    for name in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{name}", encoding="ascii") as file:
            for words in map(str.split, list(file)[1:]):
                port = int(words[1].rsplit(":", 1)[1], 16)
                if words[3] == "0A" and port in PORTS:
                    return port
    raise AssertionError("no rank listens")


class StrangersTest(NetworksCase):
    """-n 2"""

    def python_on_h1(self, facts, script):
        return subprocess.Popen(
            CLUSTER.words_on("h1", [sys.executable, "-c",
                                    facts + PRELUDE + textwrap.dedent(script)]),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def do_on_h1(self, facts, script):
        process = self.python_on_h1(facts, script)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err.decode())
        return out.decode()

    def end_well(self, job):
        self.stop.write_text("", encoding="ascii")
        self.assertEqual(self.finish(job, 30), 0, job.err)
        self.assertEqual(job.out, "right\n")

    def test_garbage_halves_and_crowds(self):
        job, ranks = self.start_until(*PORT_WORDS)
        before = resident_kib(ranks["h2"])
        port = listening_port(ranks["h2"])
        self.do_on_h1(f"ADDRESS = ('10.77.0.2', {port})\n", """
            import os
            for data in (os.urandom(64), bytes(64), b"GET / HTTP/1.0\\r\\n\\r\\n" * 4,
                         b"\\xff" * 4096, struct.pack("<I", 0xffffffff) * 64,
                         b"dlrt-tcp" + b"\\xff" * 44,
                         HELLO[:8] + struct.pack("<I", 77) + HELLO[12:]):
                assert is_turned_away(visit(data)), data
            # Each proof is wrong.
            for proof in (bytes(32), os.urandom(32)):
                s = visit(HELLO)
                challenge = b""
                while len(challenge) < 64:
                    challenge += s.recv(64 - len(challenge))
                # Then what would be a message of nearly 4 GiB.
                s.sendall(proof + struct.pack("<IIQQ", 0xffffffff, 1, 0, 0) + bytes(4096))
                assert is_turned_away(s)
            halves = [visit(HELLO[:n]) for n in range(len(HELLO))]
            for s in halves[::2]:
                s.close()
            idle = [visit() for _ in range(200)]
            # One that sends without end, as long as it may.
            s = visit()
            try:
                for _ in range(1000):
                    s.sendall(bytes(65536))
            except (ConnectionError, TimeoutError):
                pass
            """)
        self.assertLess(resident_kib(ranks["h2"]) - before, RESIDENT_GROWTH_KIB_MAX)
        self.end_well(job)

    def test_a_greeting_that_was_listened_to(self):
        listener = self.python_on_h1(f"PORTS = {PORTS}\n", """
            # All that goes to the ports of ranks, by connection.
            tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
            print("listening", flush=True)
            heard = {}
            end = time.monotonic() + 30
            tap.settimeout(1)
            while time.monotonic() < end:
                try:
                    packet = tap.recv(1 << 17)
                except TimeoutError:
                    continue
                if packet[0] >> 4 != 4 or packet[9] != 6:
                    continue
                tcp = packet[(packet[0] & 15) * 4:struct.unpack("!H", packet[2:4])[0] or None]
                source, target = struct.unpack("!HH", tcp[:4])
                if target not in PORTS:
                    continue
                key = (packet[16:20], target, source)
                heard[key] = heard.get(key, b"") + tcp[(tcp[12] >> 4) * 4:]
                if len(heard[key]) >= 84:
                    break
            (host, port, _), words = next(x for x in heard.items() if len(x[1]) >= 84)
            print(socket.inet_ntoa(host), port, words[:84].hex(), flush=True)
            """)
        self.addCleanup(listener.communicate)
        self.addCleanup(listener.kill)
        self.assertEqual(listener.stdout.readline(), b"listening\n", "nobody listens")
        job, _ = self.start_until(*PORT_WORDS, "--ip", "ipv4")
        host, port, words = listener.stdout.readline().decode().split()
        self.assertTrue(bytes.fromhex(words).startswith(b"dlrt-tcp"), words)
        self.do_on_h1(f"ADDRESS = ('{host}', {port})\nwords = bytes.fromhex('{words}')\n", """
            for _ in range(3):
                # At once, and with pauses as the first time.
                s = visit(words)
                answer = s.recv(64, socket.MSG_WAITALL)
                assert len(answer) == 64 and is_turned_away(s)
                s = visit(words[:52])
                assert len(s.recv(64, socket.MSG_WAITALL)) == 64
                s.sendall(words[52:])
                assert is_turned_away(s)
            """)
        self.end_well(job)


if __name__ == "__main__":
    main()
