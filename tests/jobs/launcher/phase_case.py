# SPDX-License-Identifier: Apache-2.0
"""Jobs that stay at a chosen point of their life: being started, running, in a collective, being
ended. The point is reached when the ranks have said so, and left when the test lets them go."""
import os
import signal
import tempfile

from launcher_case import LauncherCase, state_of, wait_until

PHASE_RANK = os.environ.get("PHASE_RANK", "phase_rank")
RANKS = 4
HEARTBEAT_MS = 250
#: Longer than head, daemon or keeper may be silent.
SILENCE_S = HEARTBEAT_MS * 9 / 1000


class PhaseCase(LauncherCase):
    def setUp(self):
        super().setUp()
        self.environment["DLRT_TEST_HEARTBEAT_MS"] = str(HEARTBEAT_MS)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.fifos = {}
        for name in ("go", "fail", "gate"):
            self.fifos[name] = os.path.join(folder.name, name)
            os.mkfifo(self.fifos[name])

    def start_phase(self, phase, grace=60, *options):
        """The job, and the pids of those ranks that are at the point, by rank."""
        is_gated = phase == "starting"
        if is_gated:
            self.environment["DLRT_TEST_START_GATE"] = self.fifos["gate"]
        kind = "running" if is_gated else phase
        job = self.start("-np", RANKS, "--grace", grace, *options, PHASE_RANK, kind,
                         self.fifos["go"], self.fifos["fail"])
        pids = self.read_words(job, kind, RANKS - 1 if is_gated else RANKS)
        if phase == "ending":
            wait_until(lambda: self.opens("fail"))
            del pids[0]
            self.read_words(job, "told", RANKS - 1)
        return job, pids

    def read_words(self, job, word, count):
        pids = {}
        while len(pids) < count:
            line = job.stdout.readline().decode()
            self.assertTrue(line, f"the output ended before {count} ranks had said '{word}'")
            said, rank, pid = line.split()
            if said == word:
                pids[int(rank)] = int(pid)
        return pids

    def opens(self, name):
        """Whether somebody waited for that FIFO; who did goes on."""
        try:
            os.close(os.open(self.fifos[name], os.O_WRONLY | os.O_NONBLOCK))
            return True
        except OSError:
            return False

    def open_gate(self):
        gate = os.open(self.fifos["gate"], os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, gate)
        os.write(gate, b"x")

    def let_go(self, job):
        """Opens all that ranks wait for until dlrun has ended."""
        self.open_gate()

        def has_ended():
            self.opens("go")
            return job.poll() is not None
        wait_until(has_ended, 20)

    def launcher_pids(self, job):
        def all_three():
            members = self.members()
            return members if "dlrund" in members and "dlrt-keeper" in members else None
        members = wait_until(all_three)
        return {"head": job.pid, "daemon": members["dlrund"][0],
                "keeper": members["dlrt-keeper"][0]}

    def signal_all(self, pids, number):
        for pid in pids:
            os.kill(pid, number)

    def wait_until_stopped(self, pids):
        wait_until(lambda: all(state_of(pid) == "T" for pid in pids))

    def wait_until_gone(self, pids):
        wait_until(lambda: not any(state_of(pid) for pid in pids))

    def own_lines(self, job):
        return [line for line in job.err.splitlines()
                if line.startswith("dlrun: ") and "warning" not in line]

    def stop(self, *pids):
        self.signal_all(pids, signal.SIGSTOP)

    def go_on(self, *pids):
        self.signal_all(pids, signal.SIGCONT)
