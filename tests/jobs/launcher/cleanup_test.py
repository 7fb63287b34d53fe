# SPDX-License-Identifier: Apache-2.0
"""Nobody is left, whatever ranks start and whoever is killed; nothing is left in file systems."""
import os
import signal
import subprocess
import tempfile
import time

from launcher_case import DLRUN, LauncherCase, main, state_of, wait_until

# A rank with company: a child in another session, an orphan, one that is stopped; all ignore TERM.
FAMILY = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def sleeper(title):
    os.execvp('sleep', ['sleep', '300'])
if os.fork() == 0:
    os.setsid()
    sleeper('session')
child = os.fork()
if child == 0:
    if os.fork() == 0:
        sleeper('orphan')
    os._exit(0)
os.waitpid(child, 0)
if os.fork() == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
print('ready', flush=True)
time.sleep(float(sys.argv[1]))
"""
RANKS = 2


def names_in_shared_places():
    return {(folder, name) for folder in ("/dev/shm", tempfile.gettempdir())
            for name in os.listdir(folder) if "dlrt" in name}


class CleanUp(LauncherCase):
    def setUp(self):
        super().setUp()
        self.names_before = names_in_shared_places()

    def tearDown(self):
        self.assertEqual(names_in_shared_places(), self.names_before)

    def start_family(self, seconds=300, *words):
        job = self.start("-np", RANKS, "--grace", 1, *words, "python3", "-c", FAMILY, seconds)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.stderr.close)
        for _ in range(RANKS):
            self.assertEqual(job.stdout.readline(), b"ready\n")
        wait_until(lambda: len(self.members().get("sleep", [])) == 2 * RANKS)
        return job

    def test_a_normal_end_takes_the_family_along(self):
        job = self.start_family(0.1)
        self.assertEqual(job.wait(timeout=10), 0)
        self.assert_nobody_left()

    def test_a_failure_takes_the_family_along(self):
        job = self.start_family()
        os.kill(self.members()["python3"][0], signal.SIGSEGV)
        self.assertEqual(job.wait(timeout=10), 139)
        self.assert_nobody_left()

    def test_kill_of_the_head_leaves_nobody(self):
        job = self.start_family()
        job.kill()
        self.assertEqual(job.wait(), -signal.SIGKILL)
        self.assert_nobody_left(within_s=2)

    def test_kill_of_the_daemon_leaves_nobody_and_is_125(self):
        job = self.start_family()
        os.kill(self.members()["dlrund"][0], signal.SIGKILL)
        self.assertEqual(self.finish(job, 10), 125)
        self.assertIn("the daemon on", job.err)
        self.assert_nobody_left()

    def test_kill_of_the_keeper_leaves_nobody_and_is_125(self):
        job = self.start_family()
        os.kill(self.members()["dlrt-keeper"][0], signal.SIGKILL)
        self.assertEqual(self.finish(job, 10), 125)
        self.assertIn("the keeper on", job.err)
        self.assert_nobody_left()

    def test_kill_of_daemon_and_keeper_at_once_leaves_nobody(self):
        job = self.start_family()
        members = self.members()
        for pid in members["dlrund"] + members["dlrt-keeper"]:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(self.finish(job, 15), 125)
        self.assert_nobody_left()

    def test_kill_of_head_and_daemon_at_once_leaves_nobody(self):
        job = self.start_family()
        members = self.members()
        for pid in members["dlrun"] + members["dlrund"]:
            os.kill(pid, signal.SIGKILL)
        job.wait()
        self.assert_nobody_left(within_s=2)

    def test_other_children_of_the_callers_process_are_not_touched(self):
        # A shell's background child becomes dlrun's by exec.
        shell = subprocess.Popen(
            ["sh", "-c", f"env -u DLTEST_MARK sleep 3 & echo $!; exec {DLRUN} -np 1 sleep 300"],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        bystander = int(shell.stdout.readline())
        _, daemon, _ = self.roles("sleep", 1)
        os.kill(daemon, signal.SIGKILL)
        self.assertEqual(shell.wait(timeout=10), 125)
        self.assertIsNotNone(state_of(bystander))
        os.kill(bystander, signal.SIGKILL)
        shell.stdout.close()

    def test_a_stopped_rank_is_waited_for_and_can_be_ended(self):
        job = self.start("-np", 2, "sleep", 1)
        self.roles("sleep", 2)
        rank = self.members()["sleep"][0]
        os.kill(rank, signal.SIGSTOP)
        time.sleep(1.5)
        self.assertIsNone(job.poll())
        os.kill(rank, signal.SIGCONT)
        self.assertEqual(self.finish(job), 0)
        job = self.start("-np", 2, "--timeout", "0.5", "sleep", 300)
        self.roles("sleep", 2)
        os.kill(self.members()["sleep"][0], signal.SIGSTOP)
        self.assertEqual(self.finish(job, 4), 124)
        self.assert_nobody_left()

    def test_no_descriptor_of_the_launcher_reaches_a_rank(self):
        job = self.run_job("-np", 2, "sh", "-c", "ls /proc/$$/fd", pass_fds=(self.spare(),))
        self.assertEqual(sorted(set(job.out.split()), key=int),
                         ["0", "1", "2", "100", "101", "102", "103"])

    def spare(self):
        descriptor = os.open("/dev/null", os.O_RDONLY)
        self.addCleanup(os.close, descriptor)
        return descriptor

    def test_two_jobs_do_not_disturb_each_other(self):
        first = self.start_family()
        second = self.start("-np", 2, "sh", "-c", "sleep 1; echo done")
        time.sleep(0.3)
        first.kill()
        first.wait()
        self.assertEqual(self.finish(second), 0)
        self.assertEqual(second.out, "done\ndone\n")
        self.assert_nobody_left(within_s=2)


if __name__ == "__main__":
    main()
