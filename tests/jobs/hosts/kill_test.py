# SPDX-License-Identifier: Apache-2.0
"""The kill matrix over hosts: who of a job gets KILL or STOP, on which host, and what must become
of it; and a link that is cut. Whoever is stopped is noticed by silence, which is made short."""
import os
import signal
import time

from hosts_case import CLUSTER, HEARTBEAT_MS, HOST_COUNT, HostsCase, main, state_of, wait_until

SILENT = r"heard nothing from it for 1\.5 s"
RANK = r"rank 2 \(h3, pid \d+\)"
# role, host, signal: exit status, what dlrun says first.
EXPECTED = {
    ("rank", "h3", "KILL"): (137, rf"{RANK} was killed by signal 9 \(killed\)"),
    ("daemon", "h1", "KILL"): (125, r"the daemon on h1 was lost \(it was killed by signal 9"),
    ("daemon", "h3", "KILL"): (125, r"the daemon on h3 was lost \((ssh|it is gone)"),
    ("daemon", "h3", "STOP"): (125, rf"the daemon on h3 was lost \({SILENT}\)"),
    ("keeper", "h3", "KILL"): (125, r"the keeper on h3 was lost \(it was killed by signal 9"),
    ("keeper", "h3", "STOP"): (125, rf"the keeper on h3 was lost \({SILENT}\)"),
    ("ssh", "h1", "KILL"): (125, r"the daemon on h\d was lost \((ssh|it is gone)"),
    ("ssh", "h1", "STOP"): (125, rf"the daemon on h\d was lost \({SILENT}\)"),
    ("all", "h3", "STOP"): (125, rf"the daemon on h3 was lost \({SILENT}\)"),
    ("head", "h1", "KILL"): (-signal.SIGKILL, None),
    ("head", "h1", "TERM"): (143, r"got signal 15 \(terminated\)"),
    ("daemon", "h3", "TERM"): (143, r"the daemon on h3 got signal 15 \(terminated\)"),
}
NAMES = {"head": "dlrun", "daemon": "dlrund", "keeper": "dlrt-keeper", "ssh": "ssh",
         "rank": "sleep"}


class Kill(HostsCase):
    def setUp(self):
        super().setUp()
        self.environment["DLRT_TEST_HEARTBEAT_MS"] = str(HEARTBEAT_MS)

    def start_job(self):
        job = self.start("--hostfile", self.all_hosts(1), "--grace", 5, "sh", "-c",
                         "echo there; exec sleep 1000")
        for _ in range(HOST_COUNT):
            self.assertEqual(job.stdout.readline(), b"there\n")
        wait_until(lambda: sum(len(pids) for (_, name), pids in self.ours().items()
                               if name == "sleep") == HOST_COUNT)
        return job

    def targets(self, role, host):
        ours = self.ours()
        if role == "all":
            return [pid for (where, _), pids in ours.items() if where == host for pid in pids]
        return ours[host, NAMES[role]][:1]

    def run_cell(self, role, host, name):
        job = self.start_job()
        targets = self.targets(role, host)
        for pid in targets:
            os.kill(pid, signal.Signals[f"SIG{name}"])
        status, words = EXPECTED[role, host, name]
        if role == "head" and name == "KILL":
            self.assert_nobody_left(within_s=2)
            job.communicate(timeout=10)
            return
        self.assertEqual(self.finish(job, 20), status, job.err)
        self.assertRegex(self.own_lines(job)[0], "^dlrun: " + words)
        # Who was stopped on another host ends once it can notice that it is alone; a daemon is
        # ended by its keeper.
        if name == "STOP" and host != "h1" and role != "daemon":
            for pid in targets:
                if state_of(pid):
                    os.kill(pid, signal.SIGCONT)
        self.assert_nobody_left(within_s=5)

    def test_a_link_that_is_cut(self):
        job = self.start_job()
        CLUSTER.call("cut", "h2")
        self.addCleanup(CLUSTER.call, "heal", "h2")
        begin = time.monotonic()
        self.assertEqual(self.finish(job, 20), 125, job.err)
        self.assertLess(time.monotonic() - begin, 15)
        self.assertRegex(self.own_lines(job)[0], rf"^dlrun: the daemon on h2 was lost \({SILENT}\)")
        self.assert_nobody_left(within_s=10)

    def test_all_are_suspended_and_go_on(self):
        job = self.start_job()
        head = self.targets("head", "h1")[0]
        sleepers = [pid for (_, name), pids in self.ours().items() if name == "sleep"
                    for pid in pids]
        os.kill(head, signal.SIGTSTP)
        wait_until(lambda: all(state_of(pid) == "T" for pid in [head, *sleepers]))
        # nsenter, which stopped with it, continues it.
        wait_until(lambda: state_of(job.pid) == "T")
        os.kill(job.pid, signal.SIGCONT)
        wait_until(lambda: all(state_of(pid) == "S" for pid in sleepers))
        os.kill(head, signal.SIGTERM)
        self.assertEqual(self.finish(job, 20), 143, job.err)


def add_case(role, host, name):
    setattr(Kill, f"test_{role}_{host}_{name}", lambda self: self.run_cell(role, host, name))


for cell in EXPECTED:
    add_case(*cell)


if __name__ == "__main__":
    main()
