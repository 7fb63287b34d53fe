# SPDX-License-Identifier: Apache-2.0
"""Who is stopped or frozen, alone, in company or as a whole, and who is only suspended."""
import os
import signal
import time

from launcher_case import main, state_of, wait_until
from phase_case import PHASE_RANK, RANKS, SILENCE_S, PhaseCase


class Silence(PhaseCase):
    def test_daemon_and_keeper_stopped(self):
        job, _ = self.start_phase("running")
        pids = self.launcher_pids(job)
        self.stop(pids["daemon"], pids["keeper"])
        self.assertEqual(self.finish(job, 20), 125)
        self.assertRegex(job.err, "the daemon on .* was lost .heard nothing from it")
        self.assert_nobody_left(within_s=2)

    def test_head_and_daemon_stopped_the_keeper_ends_the_ranks(self):
        job, ranks = self.start_phase("collective")
        pids = self.launcher_pids(job)
        self.stop(pids["daemon"], pids["head"])
        self.wait_until_gone([*ranks.values(), pids["keeper"]])
        self.go_on(pids["head"], pids["daemon"])
        self.assertEqual(self.finish(job, 20), 125)
        self.assert_nobody_left(within_s=2)

    def test_a_job_that_was_frozen_as_a_whole_goes_on(self):
        job, _ = self.start_phase("running")
        pids = self.launcher_pids(job).values()
        self.stop(*pids)
        time.sleep(SILENCE_S)
        self.go_on(*pids)
        time.sleep(SILENCE_S)
        self.assertIsNone(job.poll())
        self.let_go(job)
        self.assertEqual(self.finish(job), 0, job.err)

    def test_a_job_suspended_from_the_terminal_is_not_lost(self):
        job, ranks = self.start_phase("collective")
        os.kill(job.pid, signal.SIGTSTP)
        self.wait_until_stopped([job.pid, *ranks.values()])
        time.sleep(SILENCE_S)
        os.kill(job.pid, signal.SIGCONT)
        wait_until(lambda: all(state_of(pid) != "T" for pid in ranks.values()))
        self.let_go(job)
        self.assertEqual(self.finish(job), 0, job.err)

    def test_a_suspension_while_starting_waits_for_all_ranks(self):
        job, _ = self.start_phase("starting")
        os.kill(job.pid, signal.SIGTSTP)
        time.sleep(0.1)
        self.assertNotEqual(state_of(job.pid), "T")
        self.open_gate()
        name = os.path.basename(PHASE_RANK)
        wait_until(lambda: len(self.members().get(name, [])) == RANKS)
        self.wait_until_stopped([job.pid, *self.members()[name]])
        os.kill(job.pid, signal.SIGCONT)
        self.let_go(job)
        self.assertEqual(self.finish(job), 0, job.err)

    def test_a_service_that_is_stopped_gives_the_ranks_their_grace(self):
        # As systemd does it: the same signal to every process at once.
        job, ranks = self.start_phase("told")
        pids = self.launcher_pids(job)
        self.signal_all([*pids.values(), *ranks.values()], signal.SIGTERM)
        self.read_words(job, "told", RANKS)
        time.sleep(0.3)
        self.assertTrue(all(state_of(pid) for pid in ranks.values()))
        self.let_go(job)
        self.assertEqual(self.finish(job), 143, job.err)
        self.assertEqual(len(self.own_lines(job)), 1, job.err)

    def test_a_second_signal_to_the_daemon_cuts_the_grace(self):
        job, _ = self.start_phase("told")
        daemon = self.launcher_pids(job)["daemon"]
        os.kill(daemon, signal.SIGTERM)
        self.read_words(job, "told", RANKS)
        os.kill(daemon, signal.SIGTERM)
        self.assertEqual(self.finish(job, 10), 143, job.err)
        self.assert_nobody_left()


if __name__ == "__main__":
    main()
