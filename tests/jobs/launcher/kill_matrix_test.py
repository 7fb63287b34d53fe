# SPDX-License-Identifier: Apache-2.0
"""The kill matrix of docs/kill_matrix.md: who gets which signal when, and what must become of it.

usage: kill_matrix_test.py [--all]   Without it a fair selection: each role with each signal, the
phases in turn.
"""
import os
import signal
import sys
import time

from launcher_case import main, state_of
from phase_case import SILENCE_S, PhaseCase

VICTIM = 1
PHASES = ("starting", "running", "collective", "ending")
ROLES = ("head", "daemon", "keeper", "rank")
SIGNALS = ("INT", "TERM", "HUP", "KILL", "STOP")
SILENT = r"heard nothing from it for 1\.5 s"
KILLED = r"it was killed by signal 9 \(killed\)"
RANK = r"rank 1 \(\S+, pid \d+\)"

# role, signal: exit status, what dlrun says first. Of a head that was killed: minus the signal, and
# nothing. A head that was stopped is continued once its job is gone, a rank once it was waited for.
EXPECTED = {
    ("head", "INT"): (130, r"got signal 2 \(interrupt\)"),
    ("head", "TERM"): (143, r"got signal 15 \(terminated\)"),
    ("head", "HUP"): (129, r"got signal 1 \(hangup\)"),
    ("head", "KILL"): (-9, None),
    ("head", "STOP"): (125, rf"host \S+: the daemon ended the ranks: it had {SILENT}"),
    ("daemon", "INT"): (130, r"the daemon on \S+ got signal 2 \(interrupt\)"),
    ("daemon", "TERM"): (143, r"the daemon on \S+ got signal 15 \(terminated\)"),
    ("daemon", "HUP"): (129, r"the daemon on \S+ got signal 1 \(hangup\)"),
    ("daemon", "KILL"): (125, rf"the daemon on \S+ was lost \({KILLED}\)"),
    ("daemon", "STOP"): (125, rf"the daemon on \S+ was lost \({SILENT}\)"),
    ("keeper", "INT"): (130, r"the keeper on \S+ got signal 2 \(interrupt\)"),
    ("keeper", "TERM"): (143, r"the keeper on \S+ got signal 15 \(terminated\)"),
    ("keeper", "HUP"): (129, r"the keeper on \S+ got signal 1 \(hangup\)"),
    ("keeper", "KILL"): (125, rf"the keeper on \S+ was lost \({KILLED}\)"),
    ("keeper", "STOP"): (125, rf"the keeper on \S+ was lost \({SILENT}\)"),
    ("rank", "INT"): (130, rf"{RANK} was killed by signal 2 \(interrupt\)"),
    ("rank", "TERM"): (143, rf"{RANK} was killed by signal 15 \(terminated\)"),
    ("rank", "HUP"): (129, rf"{RANK} was killed by signal 1 \(hangup\)"),
    ("rank", "KILL"): (137, rf"{RANK} was killed by signal 9 \(killed\)"),
    ("rank", "STOP"): (0, None),
}
# A job that is being ended has its cause already.
CAUSE_OF_ENDING = (3, r"rank 0 \(\S+, pid \d+\) exited with 3")


def expected(phase, role, name):
    if phase == "ending" and (role, name) != ("head", "KILL"):
        return CAUSE_OF_ENDING
    return EXPECTED[role, name]


def chosen_cells():
    for role_index, role in enumerate(ROLES):
        for signal_index, name in enumerate(SIGNALS):
            for phase_index, phase in enumerate(PHASES):
                if "--all" in sys.argv or (role_index + signal_index + phase_index) % 4 == 0:
                    yield phase, role, name


class KillMatrix(PhaseCase):
    def run_cell(self, phase, role, name):
        # A rank that is stopped in a job that ends stays so until the grace is over.
        grace = 1 if (phase, role, name) == ("ending", "rank", "STOP") else 60
        job, ranks = self.start_phase(phase, grace)
        pids = self.launcher_pids(job)
        target = ranks[VICTIM] if role == "rank" else pids[role]
        others = [pid for pids in self.members().values() for pid in pids if pid != job.pid]
        os.kill(target, signal.Signals[f"SIG{name}"])
        if (role, name) == ("head", "STOP"):
            self.wait_until_gone(others)
            self.assertEqual(state_of(job.pid), "T")
            self.go_on(job.pid)
        elif (role, name) == ("rank", "STOP") and phase != "ending":
            self.wait_until_stopped([target])
            time.sleep(SILENCE_S)
            self.assertIsNone(job.poll())
            self.go_on(target)
            self.let_go(job)
        elif phase == "ending" and self.is_no_end_by_itself(role, name):
            self.let_go(job)
        status, words = expected(phase, role, name)
        self.assertEqual(self.finish(job, 20), status, job.err)
        if words is None:
            self.assertEqual(self.own_lines(job), [])
        else:
            self.assertRegex(job.err, "dlrun: ")
            self.assertRegex(self.own_lines(job)[0], "^dlrun: " + words)
        self.assert_nobody_left(within_s=2)

    @staticmethod
    def is_no_end_by_itself(role, name):
        """Ranks have their grace of a minute all the same."""
        return role == "rank" and name != "STOP" or (
            role in ("daemon", "keeper") and name in ("INT", "TERM", "HUP"))


def add_case(phase, role, name):
    setattr(KillMatrix, f"test_{phase}_{role}_{name}",
            lambda self: self.run_cell(phase, role, name))


for cell in chosen_cells():
    add_case(*cell)


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    main()
