# SPDX-License-Identifier: Apache-2.0
"""Case E01 over hosts: whatever ends a job, its hosts have in /dev/shm and /tmp what they had
before, and none of its processes; and a job that is killed doesn't disturb another."""
import contextlib
import os
import pathlib
import signal

from hosts_case import CLUSTER, HostsCase, main, wait_until

NETWORK_RANK = os.environ["NETWORK_RANK"]
RANK_NAME = pathlib.Path(NETWORK_RANK).name[:15]
RANKS_PER_HOST = 2
RUNS_AFTERWARDS = 5


class Leftovers(HostsCase):
    def setUp(self):
        super().setUp()
        self.names_before = self.names()

    def names(self):
        """What lies in the folders that each host has for itself."""
        return {(host, folder, path.name)
                for host, pid in CLUSTER.first.items() for folder in ("dev/shm", "tmp")
                for path in pathlib.Path(f"/proc/{pid}/root/{folder}").iterdir()}

    def job_words(self, *words):
        hosts = self.hostfile(*(f"{host} slots={RANKS_PER_HOST}" for host in CLUSTER.first))
        return ("--hostfile", hosts, "--grace", 1, NETWORK_RANK, *words)

    def start_exchanging(self, stop="never"):
        """A job whose ranks have met, and go on until there is a file of that name."""
        job = self.start(*self.job_words("until", self.folder / stop))
        if job.stdout.readline() != b"there\n":
            self.fail(job.communicate(timeout=30))
        return job

    def kill(self, pid):
        """It may have ended meanwhile, because another was killed."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def assert_clean(self):
        self.assert_nobody_left(within_s=4)
        self.assertEqual(self.names(), self.names_before)

    def assert_runs(self):
        job = self.run_job(*self.job_words("sums", 1))
        self.assertEqual((job.returncode, job.out), (0, "right\n"), job.err)

    def test_a_normal_end(self):
        self.assert_runs()
        self.assert_clean()

    def test_signals_to_the_head(self):
        for name, status in (("INT", 130), ("TERM", 143), ("HUP", 129), ("KILL", None)):
            with self.subTest(signal=name):
                job = self.start_exchanging()
                os.kill(self.ours()["h1", "dlrun"][0], signal.Signals[f"SIG{name}"])
                found = self.finish(job, 20)
                if status is not None:
                    self.assertEqual(found, status, job.err)
                self.assert_clean()

    def test_a_rank_that_crashes(self):
        job = self.start_exchanging()
        os.kill(self.ours()["h2", RANK_NAME][0], signal.SIGSEGV)
        self.assertEqual(self.finish(job, 20), 139, job.err)
        self.assert_clean()

    def test_all_are_killed_in_the_same_moment(self):
        job = self.start_exchanging()
        for pids in self.ours().values():
            for pid in pids:
                self.kill(pid)
        job.communicate(timeout=20)
        self.assert_clean()
        for _ in range(RUNS_AFTERWARDS):
            self.assert_runs()
        self.assert_clean()

    def test_one_of_two_jobs_is_killed(self):
        first = self.start_exchanging()
        of_first = {pid for pids in self.ours().values() for pid in pids}
        second = self.start_exchanging("stop")
        for pid in of_first:
            self.kill(pid)
        first.communicate(timeout=20)
        wait_until(lambda: not of_first & set(CLUSTER.processes()))
        (self.folder / "stop").touch()
        self.assertEqual(self.finish(second), 0, second.err)
        self.assertEqual(second.out, "right\n")
        self.assert_clean()


if __name__ == "__main__":
    main()
