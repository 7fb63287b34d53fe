# SPDX-License-Identifier: Apache-2.0
"""Daemons of several hosts in a tree, each host behind the one before: what a job does, and what
becomes of it when a host in the middle is lost."""
import hashlib
import os
import signal
import time

from hosts_case import CLUSTER, HEARTBEAT_MS, HOST_COUNT, HostsCase, main, wait_until

LINES_OF_A_RANK = 5000
POINT_TO_POINT = os.environ["POINT_TO_POINT"]


class Tree(HostsCase):
    def words(self, slots, *words):
        return ("--control", "tree", "--control-width", 1, "--hostfile", self.all_hosts(slots),
                *words)

    def start_sleeping(self):
        self.environment["DLRT_TEST_HEARTBEAT_MS"] = str(HEARTBEAT_MS)
        job = self.start(*self.words(1, "--grace", 5, "sh", "-c", "echo there; exec sleep 1000"))
        for _ in range(HOST_COUNT):
            self.assertEqual(job.stdout.readline(), b"there\n")
        wait_until(lambda: sum(len(pids) for (_, name), pids in self.ours().items()
                               if name == "sleep") == HOST_COUNT)
        return job

    def test_all_output_arrives_in_whole_lines(self):
        script = (f"i=0; while [ $i -lt {LINES_OF_A_RANK} ]; do echo $DLRT_RANK $i; "
                  "i=$((i + 1)); done")
        job = self.run_job(*self.words(2, "sh", "-c", script))
        self.assertEqual(job.returncode, 0, job.err)
        found = [tuple(map(int, line.split())) for line in job.out.splitlines()]
        self.assertEqual(sorted(found), [(rank, i) for rank in range(2 * HOST_COUNT)
                                         for i in range(LINES_OF_A_RANK)])

    def test_input_reaches_the_last_host_exactly(self):
        data = os.urandom(3_145_731)
        job = self.run_job(*self.words(1, "--stdin", HOST_COUNT - 1, "sha256sum"), input=data)
        self.assertEqual(job.returncode, 0, job.err)
        self.assertIn(hashlib.sha256(data).hexdigest(), job.out)

    def test_ranks_find_each_other(self):
        job = self.run_job(*self.words(1, POINT_TO_POINT), limit_s=120)
        self.assertEqual(job.returncode, 0, job.err)

    def test_a_rank_that_fails_behind_others(self):
        job = self.run_job(*self.words(1, "sh", "-c",
                                       "[ $DLRT_RANK != 3 ] || exit 3; exec sleep 1000"))
        self.assertEqual(job.returncode, 3, job.err)
        self.assertRegex(self.own_lines(job)[0], r"rank 3 \(h4, pid \d+\) exited with 3 ")

    def test_the_head_is_killed(self):
        job = self.start_sleeping()
        os.kill(self.ours()["h1", "dlrun"][0], signal.SIGKILL)
        self.assert_nobody_left(within_s=2)
        job.communicate(timeout=10)

    def test_a_daemon_in_the_middle_is_killed(self):
        job = self.start_sleeping()
        os.kill(self.ours()["h3", "dlrund"][0], signal.SIGKILL)
        self.assertEqual(self.finish(job, 20), 125, job.err)
        self.assertRegex(self.own_lines(job)[0], "^dlrun: the daemon on h3 was lost")
        self.assert_nobody_left(within_s=5)

    def test_a_link_in_the_middle_is_cut(self):
        job = self.start_sleeping()
        CLUSTER.call("cut", "h3")
        self.addCleanup(CLUSTER.call, "heal", "h3")
        begin = time.monotonic()
        self.assertEqual(self.finish(job, 30), 125, job.err)
        self.assertLess(time.monotonic() - begin, 15)
        self.assertRegex(self.own_lines(job)[0], "^dlrun: the daemon on h3 was lost")
        self.assert_nobody_left(within_s=10)


if __name__ == "__main__":
    main()
