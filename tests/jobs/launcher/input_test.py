# SPDX-License-Identifier: Apache-2.0
"""Standard input: one rank reads it, exactly as it would alone; nothing is read ahead or lost."""
import hashlib
import os
import pty
import random
import signal
import socket
import subprocess
import tempfile
import threading
import time

from launcher_case import DLRUN, RESIDENT_KIB_MAX, LauncherCase, main, state_of, wait_until

SUM = "test $DLRT_RANK = %d && sleep 1; md5sum"
DATA = random.Random(7).randbytes(3145731)
EMPTY = hashlib.md5(b"").hexdigest()


class Input(LauncherCase):
    def assert_sums(self, job, size):
        self.assertEqual(job.returncode, 0, job.err)
        expected = [hashlib.md5(DATA).hexdigest()] + [EMPTY] * (size - 1)
        self.assertEqual(sorted(l.split()[0] for l in job.out.splitlines()), sorted(expected))

    def test_a_file_arrives_whole(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(DATA)
            file.flush()
            for size in (2, 16):
                with open(file.name, "rb") as feed:
                    job = self.run_job("-np", size, "sh", "-c", SUM % 0, stdin=feed)
                    self.assert_sums(job, size)
            job = self.run_job("-np", 2, "--stdin", file.name, "sh", "-c", SUM % 0)
            self.assert_sums(job, 2)

    def test_a_pipe_with_bursts_arrives_whole(self):
        job = self.start("-np", 16, "sh", "-c", SUM % 0, stdin=subprocess.PIPE)

        def feed():
            at = 0
            while at < len(DATA):
                for burst in (57, 64, 105):
                    job.stdin.write(DATA[at:at + burst * 1024])
                    at += burst * 1024
            job.stdin.close()
        feeder = threading.Thread(target=feed)
        feeder.start()
        job.out = job.stdout.read().decode()
        job.err = job.stderr.read().decode()
        feeder.join()
        job.wait(timeout=20)
        job.stdout.close()
        job.stderr.close()
        self.assert_sums(job, 16)
        self.assert_nobody_left()

    def test_another_rank_can_read_it(self):
        job = self.run_job("-np", 3, "--tag", "--stdin", 1, "cat", input=b"hello\n")
        self.assertEqual(job.out, "[1] hello\n")

    def test_a_rank_that_reads_little_or_nothing_is_no_accident(self):
        for script in ("exit 0", "head -c 10 >/dev/null; exit 0"):
            begin = time.monotonic()
            feeder = subprocess.Popen(["yes"], stdout=subprocess.PIPE)
            job = self.run_job("-np", 2, "sh", "-c", script, stdin=feeder.stdout)
            feeder.stdout.close()
            # Nobody keeps the reading end open.
            self.assertEqual(feeder.wait(timeout=10), -signal.SIGPIPE)
            self.assertEqual((job.returncode, job.err), (0, ""))
            self.assertLess(time.monotonic() - begin, 10)

    def test_a_shell_loop_keeps_its_input(self):
        for option in ("", "--stdin none"):
            loop = f"while read l; do {DLRUN} -np 2 {option} true; echo $l; done"
            result = subprocess.run(["sh", "-c", f"printf '1\\n2\\n3\\n' | {loop}"], check=True,
                                    env=self.environment, stdout=subprocess.PIPE, timeout=20)
            self.assertEqual(result.stdout, b"1\n2\n3\n")

    def test_a_closed_input_is_empty(self):
        job = self.run_job("-np", 2, "wc", "-c", preexec_fn=lambda: os.close(0), stdin=None)
        self.assertEqual((job.returncode, job.out), (0, "0\n0\n"))

    def test_a_missing_file_is_125(self):
        job = self.run_job("-np", 2, "--stdin", "/no/such", "echo", "ran")
        self.assertEqual((job.returncode, job.out), (125, ""))
        self.assertIn("--stdin: cannot open '/no/such'", job.err)

    def assert_all_have_it(self, job, size):
        self.assertEqual(job.returncode, 0, job.err)
        self.assertEqual([l.split()[0] for l in job.out.splitlines()],
                         [hashlib.md5(DATA).hexdigest()] * size)

    def test_every_rank_can_be_given_all_of_it(self):
        words = ("--stdin", "all", "sh", "-c", SUM % 1)
        self.assert_all_have_it(self.run_job("-np", 16, *words, input=DATA), 16)
        with tempfile.TemporaryFile() as file:
            file.write(DATA)
            file.seek(0)
            self.assert_all_have_it(self.run_job("-np", 3, *words, stdin=file), 3)

    def test_all_of_a_socket_can_be_given_to_all(self):
        ours, theirs = socket.socketpair()
        feeder = threading.Thread(target=lambda: (ours.sendall(DATA), ours.close()))
        feeder.start()
        job = self.run_job("-np", 3, "--stdin", "all", "sh", "-c", SUM % 1, stdin=theirs)
        theirs.close()
        feeder.join()
        self.assert_all_have_it(job, 3)

    def test_no_input_at_all_can_be_given_to_all(self):
        job = self.run_job("-np", 3, "--stdin", "all", "wc", "-c")
        self.assertEqual((job.returncode, job.out), (0, "0\n0\n0\n"))

    def test_a_rank_that_stops_reading_does_not_stop_the_others(self):
        script = ("case $DLRT_RANK in 0) exit 0;; 1) head -c 10 >/dev/null; exit 0;; "
                  "2) exec <&-; sleep 0.2; exit 0;; esac; md5sum")
        job = self.run_job("-np", 5, "--stdin", "all", "sh", "-c", script, input=DATA)
        self.assert_all_have_it(job, 2)

    def test_once_no_rank_reads_any_more_the_writer_learns_it(self):
        feeder = subprocess.Popen(["yes"], stdout=subprocess.PIPE)
        job = self.start("-np", 2, "--stdin", "all", "sh", "-c", "exec <&-; exec sleep 30",
                         stdin=feeder.stdout)
        feeder.stdout.close()
        self.assertEqual(feeder.wait(timeout=20), -signal.SIGPIPE)
        job.terminate()
        self.assertEqual(self.finish(job), 143)

    def test_the_slowest_rank_decides_and_little_is_kept_for_it(self):
        feeder = subprocess.Popen(["yes"], stdout=subprocess.PIPE)
        self.addCleanup(lambda: (feeder.kill(), feeder.wait()))
        script = "test $DLRT_RANK = 0 && exec sleep 30; exec wc -c"
        job = self.start("-np", 2, "--stdin", "all", "sh", "-c", script, stdin=feeder.stdout)
        feeder.stdout.close()
        head, daemon, _ = self.roles("sleep", 1)
        reader = wait_until(lambda: self.members().get("wc"))[0]

        def has_read():
            with open(f"/proc/{reader}/io") as io:
                return int(next(l.split()[1] for l in io if l.startswith("rchar")))
        wait_until(lambda: has_read() > 65536)
        before = -1
        while before != has_read():
            before = has_read()
            time.sleep(0.3)
        # What a pipe and the window hold, and what wc itself had to read before its input.
        self.assertLess(before, 1024 * 1024)
        for pid in (head, daemon):
            with open(f"/proc/{pid}/status") as status:
                kib = next(int(l.split()[1]) for l in status if l.startswith("VmRSS"))
            self.assertLess(kib, RESIDENT_KIB_MAX)
        job.terminate()
        self.assertEqual(self.finish(job), 143)

    def test_a_terminal_can_be_given_to_all(self):
        job, controller = self.start_on_terminal(
            "-np", 2, "--stdin", "all", "sh", "-c", "read n; echo $DLRT_RANK $n; cat"
        )
        os.write(controller, b"bob\n")
        self.assertEqual(sorted(job.stdout.readline() for _ in range(2)), [b"0 bob\n", b"1 bob\n"])
        os.write(controller, b"\x04")
        self.assertEqual(self.finish(job), 0)
        self.assertEqual(job.out, "")

    def start_on_terminal(self, *words):
        controller, terminal = pty.openpty()

        def take_terminal():
            os.setsid()
            import fcntl
            import termios
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        job = self.start(*words, stdin=terminal, preexec_fn=take_terminal)
        os.close(terminal)
        self.addCleanup(os.close, controller)
        return job, controller

    def test_a_terminal_is_forwarded_and_prompts_are_seen(self):
        script = "test $DLRT_RANK = 0 || exit 0; printf 'name? '; read n; echo hello $n; cat"
        job, controller = self.start_on_terminal("-np", 2, "sh", "-c", script)
        self.assertEqual(os.read(job.stdout.fileno(), 100), b"name? ")
        os.write(controller, b"bob\n")
        self.assertEqual(job.stdout.readline(), b"hello bob\n")
        os.write(controller, b"more\n\x04")
        self.assertEqual(self.finish(job), 0)
        self.assertEqual(job.out, "more\n")
        self.assert_nobody_left()

    def test_in_the_background_the_terminal_is_left_alone(self):
        shell = f"set -m; {DLRUN} -np 1 sh -c 'sleep 0.5; echo done' & wait $!"
        job_out, job_in = os.pipe()
        controller, terminal = pty.openpty()

        def take_terminal():
            os.setsid()
            import fcntl
            import termios
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        result = subprocess.Popen(["bash", "-c", shell], env=self.environment, stdin=terminal,
                                  stdout=job_in, preexec_fn=take_terminal)
        os.close(terminal)
        os.close(job_in)
        os.write(controller, b"not for the job\n")
        self.assertEqual(result.wait(timeout=10), 0)
        self.assertEqual(os.read(job_out, 100), b"done\n")
        os.close(job_out)
        os.close(controller)


if __name__ == "__main__":
    main()
