# SPDX-License-Identifier: Apache-2.0
"""Standard input: one rank reads it, exactly as it would alone; nothing is read ahead or lost."""
import hashlib
import os
import pty
import random
import signal
import subprocess
import tempfile
import threading
import time

from launcher_case import DLRUN, LauncherCase, main, state_of, wait_until

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
