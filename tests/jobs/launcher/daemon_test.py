# SPDX-License-Identifier: Apache-2.0
"""dlrund as a program of its own: a head in Python speaks launcher/frame.hpp to it."""
import os
import socket
import struct
import subprocess

from launcher_case import LauncherCase, main

DLRUND = os.environ.get("DLRUND", "dlrund")
HOST_FACTS, START_JOB, HOST_FAILED, RANKS_STARTED, RANK_OUTPUT = 1, 2, 3, 4, 5
OUTPUT_WRITTEN, RANK_ENDED, JOB_ENDED = 6, 7, 16


def text(value):
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<I", len(data)) + data


def texts(values):
    return struct.pack("<I", len(values)) + b"".join(text(value) for value in values)


def job_map(job_id, rank_count):
    """As runtime/wireup/format.md says: one host, ranks that are not bound."""
    data = b"!DLRTMAP" + struct.pack("<I", 1) + text(job_id)
    data += struct.pack("<II", 1, rank_count) + text("here") + struct.pack("<I", 64)
    return data + b"".join(struct.pack("<IIII", 0, rank, 0, 0) for rank in range(rank_count))


class Daemon(LauncherCase):
    def start_daemon(self):
        ours, theirs = socket.socketpair()
        daemon = subprocess.Popen([DLRUND], stdin=theirs, env=self.environment)
        theirs.close()
        self.addCleanup(ours.close)
        return daemon, ours

    def send(self, stream, kind, body):
        stream.sendall(struct.pack("<IB", 1 + len(body), kind) + body)

    def receive(self, stream):
        data = b""
        size = 4
        while len(data) < size:
            more = stream.recv(size - len(data))
            if not more:
                return None, b""
            data += more
            if len(data) == 4:
                size = 4 + struct.unpack("<I", data)[0]
        return data[4], data[5:]

    def start_job(self, arguments, rank_count=2):
        program = texts(arguments) + texts(["PATH=/usr/bin:/bin",
                                            f"DLTEST_MARK={self.environment['DLTEST_MARK']}"])
        program += text("/")
        job_id = f"t{os.getpid()}"
        program_of_rank = struct.pack(f"<I{rank_count}I", rank_count, *[0] * rank_count)
        return (text("token") + struct.pack("<I", 0) + text(job_map(job_id, rank_count))
                + struct.pack("<I", 1) + program + program_of_rank + b"\0"
                + struct.pack("<I", 0) + text("") + text("") + b"\0" + text("0-9") + b"\0\0"
                + text("") + struct.pack("<I", 0)
                + b"\0" + struct.pack("<Q", 5000) + text("") + b"\0\0\0\0")

    def test_a_whole_job(self):
        daemon, head = self.start_daemon()
        kind, facts = self.receive(head)
        self.assertEqual((kind, struct.unpack("<I", facts[:4])[0]), (HOST_FACTS, 4))
        self.send(head, START_JOB, self.start_job(["sh", "-c", "echo $DLRT_RANK; exit 4"]))
        said = []
        while not said or said[-1][0] != JOB_ENDED:
            said.append(self.receive(head))
            self.assertIsNotNone(said[-1][0], said)
        kinds = [kind for kind, _ in said]
        self.assertEqual(kinds.count(RANKS_STARTED), 1)
        lines = sorted(body[21:] for kind, body in said if kind == RANK_OUTPUT)
        self.assertEqual(lines, [b"0\n", b"1\n"])
        ends = [body for kind, body in said if kind == RANK_ENDED]
        statuses = [struct.unpack_from("<Iii", body)[2] for body in ends]
        self.assertEqual(statuses, [4 << 8] * 2)
        self.assertEqual(daemon.wait(timeout=10), 0)
        self.assert_nobody_left()

    def test_a_program_that_is_not_there_is_reported(self):
        daemon, head = self.start_daemon()
        self.receive(head)
        self.send(head, START_JOB, self.start_job(["no-such-program"]))
        kind, body = self.receive(head)
        self.assertEqual((kind, struct.unpack("<i", body[:4])[0]), (HOST_FAILED, 127))
        self.assertEqual(self.receive(head)[0], JOB_ENDED)
        self.assertEqual(daemon.wait(timeout=10), 0)

    def test_without_its_head_it_goes_and_takes_the_ranks_along(self):
        daemon, head = self.start_daemon()
        self.receive(head)
        head.close()
        self.assertEqual(daemon.wait(timeout=10), 0)
        daemon, head = self.start_daemon()
        self.receive(head)
        self.send(head, START_JOB, self.start_job(["sh", "-c", "trap '' TERM; sleep 300"]))
        kind = None
        while kind != RANKS_STARTED:
            kind = self.receive(head)[0]
            self.assertIsNotNone(kind)
        head.close()
        self.assertEqual(daemon.wait(timeout=10), 0)
        self.assert_nobody_left()

    def test_nonsense_from_the_head_ends_it(self):
        for nonsense in (b"\xff" * 64, b"\0\0\0\0", struct.pack("<IB", 1, 99),
                         struct.pack("<IB", 5, START_JOB) + b"\xff" * 4):
            daemon, head = self.start_daemon()
            self.receive(head)
            head.sendall(nonsense)
            self.assertEqual(daemon.wait(timeout=10), 125)

    def test_by_hand_it_says_what_it_is(self):
        for words, said in (([], "is started by dlrun"), (["--x"], "'--x' is unknown")):
            result = subprocess.run([DLRUND, *words], stdin=subprocess.DEVNULL, text=True,
                                    stderr=subprocess.PIPE, env=self.environment, timeout=10)
            self.assertEqual(result.returncode, 125)
            self.assertIn(said, result.stderr)


if __name__ == "__main__":
    main()
