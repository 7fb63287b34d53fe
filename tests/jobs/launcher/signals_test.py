# SPDX-License-Identifier: Apache-2.0
"""Signals to dlrun: ranks get the same one and their grace, and dlrun ends with 128 + number."""
import os
import pty
import signal
import tempfile
import time

from launcher_case import LauncherCase, main, state_of, wait_until

POLITE = """
import os, signal, sys, time
rank, folder = os.environ['DLRT_RANK'], sys.argv[1]
def note(number, frame):
    open(os.path.join(folder, 'got.%s.%s' % (rank, signal.Signals(number).name)), 'w').close()
    time.sleep(1)
    sys.exit(0)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN if rank == '3' else note)
print('ready', flush=True)
time.sleep(300)
"""


class Signals(LauncherCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start_polite(self, grace=2, **options):
        job = self.start("-np", 4, "--grace", grace, "python3", "-c", POLITE, self.folder,
                         **options)
        self.addCleanup(job.stderr.close)
        self.addCleanup(job.stdout.close)
        for _ in range(4):
            self.assertEqual(job.stdout.readline(), b"ready\n")
        return job

    def assert_got(self, name):
        self.assertEqual(sorted(os.listdir(self.folder)), [f"got.{r}.{name}" for r in range(3)])

    def test_the_signal_that_was_sent_arrives_and_the_grace_is_kept(self):
        for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)):
            with self.subTest(signal=number):
                job = self.start_polite()
                begin = time.monotonic()
                job.send_signal(number)
                self.assertEqual(self.finish(job), status)
                took = time.monotonic() - begin
                self.assertGreater(took, 1.9)
                self.assertLess(took, 4)
                self.assert_got(number.name)
                self.assertIn(f"got signal {int(number)} (", job.err)
                self.assert_nobody_left()
                for name in os.listdir(self.folder):
                    os.unlink(os.path.join(self.folder, name))

    def test_a_second_signal_cuts_the_grace(self):
        job = self.start_polite(grace=60)
        job.send_signal(signal.SIGINT)
        time.sleep(0.1)
        begin = time.monotonic()
        job.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(job), 130)
        self.assertLess(time.monotonic() - begin, 2)
        self.assert_nobody_left()

    def test_the_terminal_s_interrupt_reaches_ranks_once(self):
        controller, terminal = pty.openpty()

        def take_terminal():
            os.setsid()
            import fcntl
            import termios
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        job = self.start_polite(stdin=terminal, preexec_fn=take_terminal)
        os.close(terminal)
        os.write(controller, b"\x03")
        self.assertEqual(self.finish(job), 130)
        self.assert_got("SIGINT")
        os.close(controller)
        self.assert_nobody_left()

    def test_term_while_ranks_are_being_started(self):
        for delay in (0, 0.002, 0.005, 0.01, 0.02, 0.05):
            job = self.start("-np", 64, "sleep", 300)
            time.sleep(delay)
            job.terminate()
            self.assertIn(self.finish(job, 15), (143, -signal.SIGTERM))
            self.assert_nobody_left(within_s=2)

    def test_other_signals_are_passed_on_and_the_job_goes_on(self):
        script = "trap 'echo usr1; exit 0' USR1; echo ready; while :; do sleep 0.02; done"
        job = self.start("-np", 2, "sh", "-c", script)
        self.assertEqual([job.stdout.readline() for _ in range(2)], [b"ready\n"] * 2)
        job.send_signal(signal.SIGUSR1)
        self.assertEqual(self.finish(job), 0)
        self.assertEqual(job.out, "usr1\nusr1\n")

    def test_stop_and_go_on(self):
        job = self.start("-np", 2, "sleep", 1)
        head, _, _ = self.roles("sleep", 2)
        ranks = self.members()["sleep"]
        os.kill(head, signal.SIGTSTP)
        wait_until(lambda: all(state_of(pid) == "T" for pid in [head, *ranks]))
        os.kill(head, signal.SIGCONT)
        wait_until(lambda: state_of(head) != "T")
        self.assertEqual(self.finish(job), 0)
        self.assert_nobody_left()

    def test_a_failure_within_the_grace_of_a_signal_does_not_change_the_status(self):
        script = "trap 'exit 3' TERM; echo r; while :; do sleep 0.02; done"
        job = self.start("-np", 2, "sh", "-c", script)
        self.assertEqual([job.stdout.readline() for _ in range(2)], [b"r\n"] * 2)
        job.terminate()
        self.assertEqual(self.finish(job), 143)

    def test_nohup_keeps_the_job_when_the_terminal_goes(self):
        job = self.start("-np", 1, "sleep", 1,
                         preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.roles("sleep", 1)
        job.send_signal(signal.SIGHUP)
        self.assertEqual(self.finish(job), 0)


if __name__ == "__main__":
    main()
