# SPDX-License-Identifier: Apache-2.0
"""Jobs over simulated hosts: daemons on this machine, each of which plays a host."""
import hashlib
import os
import signal
import socket
import subprocess
import sys

from launcher_case import LauncherCase, main, state_of, wait_until

POINT_TO_POINT = os.environ["POINT_TO_POINT"]


class Simulated(LauncherCase):
    def own_lines(self, job):
        return [line for line in job.err.splitlines() if line.startswith("dlrun: ")]

    def daemons(self, role="dlrund"):
        """Name of the simulated host -> pid of its daemon, or of its relay."""
        found = {}
        for pid in self.members().get(role, []):
            with open(f"/proc/{pid}/cmdline", "rb") as words:
                words = words.read().split(b"\0")
            if b"--as" in words:
                found[words[words.index(b"--as") + 1].decode()] = pid
        return found

    def start_sleepers(self, count, *words):
        job = self.start("--sim-nodes", count, *words, "sleep", "1000")
        wait_until(lambda: len(self.members().get("sleep", [])) == count, limit_s=60)
        return job


class Start(Simulated):
    def test_each_host_has_its_name_number_and_slots(self):
        job = self.run_job("--sim-nodes", "3x2", "--tag-format", "%h %r ", "sh", "-c",
                           "echo $DLRT_NODE_RANK $DLRT_LOCAL_RANK $DLRT_NUM_NODES $MASTER_ADDR")
        self.assertEqual(job.returncode, 0, job.err)
        self.assertEqual(sorted(job.out.splitlines()), [
            f"sim000{rank // 2 + 1} {rank} {rank // 2} {rank % 2} 3 127.0.0.1"
            for rank in range(6)])

    def test_ranks_of_different_hosts_talk(self):
        job = self.run_job("--sim-nodes", "2", POINT_TO_POINT, limit_s=120)
        self.assertEqual(job.returncode, 0, job.out + job.err)

    def test_more_ranks_than_slots_are_refused(self):
        job = self.run_job("--sim-nodes", "2x2", "-np", 5, "true")
        self.assertEqual(job.returncode, 125)
        self.assertIn("only 4 slots", job.err)

    def test_other_lists_of_hosts_contradict_it(self):
        for words in (["--host", "a"], ["--hostfile", "/dev/null"],
                      ["--launcher-cmd", "rsh {host}"]):
            job = self.run_job("--sim-nodes", 2, *words, "true")
            self.assertEqual((job.returncode, len(self.own_lines(job))), (125, 1), job.err)
            self.assertIn(f"{words[0]}: contradicts --sim-nodes", job.err)

    def test_wrong_numbers_are_refused(self):
        for value in ("0", "x2", "2x", "2x0", "4097", "2x1025", "2X2"):
            job = self.run_job("--sim-nodes", value, "true")
            self.assertEqual(job.returncode, 125)
            self.assertIn("1 to 4096 hosts", job.err)

    def test_status_is_that_of_all_hosts(self):
        job = self.start("--sim-nodes", 3, "sh", "-c", "echo there; exec sleep 1000")
        for _ in range(3):
            self.assertEqual(job.stdout.readline(), b"there\n")
        shown = subprocess.run([os.environ["DLRUN"], "--status"], env=self.environment,
                               capture_output=True, text=True, check=False, timeout=30)
        if "several jobs" not in shown.stderr:
            self.assertEqual(shown.returncode, 0, shown.stderr)
            for rank in range(3):
                self.assertIn(f"rank {rank}", shown.stdout)
        job.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(job), 143, job.err)

    def test_64_hosts(self):
        job = self.run_job("--sim-nodes", 64, "sh", "-c", "echo $DLRT_RANK", limit_s=60)
        self.assertEqual(job.returncode, 0, job.err)
        self.assertEqual(sorted(map(int, job.out.split())), list(range(64)))


class Ends(Simulated):
    def test_a_daemon_that_is_killed_is_named(self):
        job = self.start_sleepers(3)
        os.kill(self.daemons()["sim0002"], signal.SIGKILL)
        self.assertEqual(self.finish(job), 125, job.err)
        self.assertRegex(self.own_lines(job)[0], r"^dlrun: the daemon on sim0002 was lost \(")
        self.assert_nobody_left(within_s=5)

    def test_nobody_survives_the_head(self):
        job = self.start_sleepers(3)
        job.kill()
        self.finish(job)
        self.assert_nobody_left(within_s=5)


# Of 13 members three levels below the head: sim0001 has sim0004 to 6, sim0004 has sim0013.
DEEP = ("--control", "tree", "--control-width", 3)


class Tree(Simulated):
    def test_output_of_64_hosts_is_complete(self):
        job = self.run_job("--sim-nodes", "64x2", *DEEP, "--tag-format", "%h ", "sh", "-c",
                           "echo $DLRT_RANK; echo $DLRT_NODE_RANK", limit_s=120)
        self.assertEqual(job.returncode, 0, job.err)
        expected = [f"sim{rank // 2 + 1:04} {number}"
                    for rank in range(128) for number in (rank, rank // 2)]
        self.assertEqual(sorted(job.out.splitlines()), sorted(expected))

    def test_hosts_without_a_rank_are_let_go(self):
        job = self.run_job("--sim-nodes", 13, *DEEP, "--map-by", "host", "-np", 5,
                           "sh", "-c", "echo $DLRT_RANK")
        self.assertEqual((job.returncode, sorted(map(int, job.out.split()))), (0, list(range(5))),
                         job.err)

    def test_ranks_talk_whose_addresses_go_through_a_relay(self):
        job = self.run_job("--sim-nodes", 2, "--control", "tree", "--control-width", 1,
                           POINT_TO_POINT, limit_s=120)
        self.assertEqual(job.returncode, 0, job.out + job.err)

    def test_the_input_of_a_rank_on_a_leaf(self):
        data = os.urandom(3_000_000)
        job = self.run_job("--sim-nodes", 13, *DEEP, "--stdin", 12, "sh", "-c",
                           "[ $DLRT_RANK != 12 ] || exec sha256sum", input=data)
        self.assertEqual(job.out.split()[:1], [hashlib.sha256(data).hexdigest()], job.err)

    def test_the_status_is_that_of_a_rank_on_a_leaf(self):
        for script, status, said in (("exit 3", 3, "exited with 3"),
                                     ("kill -9 $$", 137, "was killed by signal 9")):
            job = self.run_job("--sim-nodes", 13, *DEEP, "sh", "-c",
                               f"[ $DLRT_RANK != 12 ] || {{ {script}; }}; exec sleep 1000")
            self.assertEqual(job.returncode, status, job.err)
            self.assertRegex(self.own_lines(job)[0], rf"^dlrun: rank 12 \(sim0013, .*{said}")

    def test_a_program_that_is_missing_is_said_and_nothing_runs(self):
        job = self.run_job("--sim-nodes", 13, *DEEP, "./no-such-program")
        self.assertEqual((job.returncode, job.out), (127, ""), job.err)

    def test_a_relay_that_cannot_listen_is_named(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            job = self.run_job("--sim-nodes", 13, *DEEP, "--port-range", f"{port}-{port}", "true")
        self.assertEqual(job.returncode, 125, job.err)
        self.assertRegex(job.err, rf"host sim000[1-4]: .*{port}")

    def run_cell(self, role, host, name, said):
        self.environment["DLRT_TEST_HEARTBEAT_MS"] = "500"
        job = self.start_sleepers(13, *DEEP)
        target = self.daemons(role)[host]
        os.kill(target, signal.Signals[f"SIG{name}"])
        self.assertEqual(self.finish(job), 125, job.err)
        self.assertRegex(self.own_lines(job)[0], "^dlrun: " + said)
        if state_of(target):
            os.kill(target, signal.SIGCONT)
        self.assert_nobody_left(within_s=10)

    def test_an_inner_daemon_is_killed(self):
        self.run_cell("dlrund", "sim0004", "KILL", r"the daemon on sim0004 was lost \(")

    def test_an_inner_relay_is_killed(self):
        self.run_cell("dlrt-relay", "sim0004", "KILL", r"the daemon on sim0004 was lost \(")

    def test_a_relay_next_to_the_head_is_killed(self):
        self.run_cell("dlrt-relay", "sim0001", "KILL", r"the daemon on sim0001 was lost \(")

    def test_the_relay_of_a_leaf_is_killed(self):
        self.run_cell("dlrt-relay", "sim0013", "KILL", r"the daemon on sim0013 was lost \(")

    def test_an_inner_relay_is_stopped(self):
        self.run_cell("dlrt-relay", "sim0004", "STOP",
                      r"the daemon on sim0004 was lost \(.*heard nothing from it for 3 s")

    def test_an_inner_daemon_is_stopped(self):
        self.run_cell("dlrund", "sim0004", "STOP",
                      r"the daemon on sim0004 was lost \(heard nothing from it for 3 s\)")

    def test_nobody_survives_the_head(self):
        job = self.start_sleepers(13, *DEEP)
        job.kill()
        self.finish(job)
        self.assert_nobody_left(within_s=10)

    def test_a_signal_to_the_head_ends_all(self):
        job = self.start_sleepers(13, *DEEP)
        job.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(job), 143, job.err)
        self.assert_nobody_left(within_s=10)

    def test_all_are_suspended_and_go_on(self):
        job = self.start_sleepers(13, *DEEP)
        sleepers = self.members()["sleep"]
        job.send_signal(signal.SIGTSTP)
        wait_until(lambda: all(state_of(pid) == "T" for pid in [job.pid, *sleepers]))
        job.send_signal(signal.SIGCONT)
        wait_until(lambda: all(state_of(pid) == "S" for pid in sleepers))
        job.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(job), 143, job.err)


class Large(Simulated):
    def test_1024_hosts(self):
        job = self.run_job("--sim-nodes", 1024, "--start-timeout", 300, "true", limit_s=400)
        self.assertEqual(job.returncode, 0, job.err)


if __name__ == "__main__":
    if "--all" in sys.argv:
        sys.argv.remove("--all")
    else:
        del Large
    main()
