# SPDX-License-Identifier: Apache-2.0
"""The daemon's side of the control protocol, driven by fake_rank.py; and dlrun --status."""
import os
import signal
import subprocess

from launcher_case import DLRUN, HERE, LauncherCase, main, wait_until

RANK = ("python3", HERE / "fake_rank.py")


class Control(LauncherCase):
    def test_join_and_leave_several_times(self):
        job = self.run_job("-np", 2, *RANK, "join", "leave", "join", "leave")
        self.assertEqual((job.returncode, job.out.split(), job.err), (0, ["welcome"] * 4, ""))

    def test_end_without_finalize_is_a_note_and_status_0(self):
        job = self.run_job("-np", 2, *RANK, "join")
        self.assertEqual(job.returncode, 0)
        self.assertIn("note: rank ", job.err)
        self.assertIn("and 1 other ended without finalizing", job.err)

    def test_a_failure_after_joining_keeps_its_status(self):
        for _ in range(20):
            job = self.run_job("-np", 2, *RANK, "join", "fail")
            self.assertEqual(job.returncode, 3)

    def test_abort_gives_its_code_and_text_once(self):
        job = self.run_job("-np", 2, *RANK, "join", "abort")
        self.assertEqual(job.returncode, 42)
        self.assertEqual(job.err.count("the end"), 1, job.err)
        self.assertRegex(job.err, r"rank \d \(.*, pid \d+\) aborted the job with code 42: the end")

    def test_a_second_process_cannot_claim_a_rank(self):
        job = self.run_job("-np", 1, *RANK, "join", "join_in_child", "leave")
        self.assertIn("welcome", job.out)
        self.assertRegex(job.out, r"already claimed by process \d+")

    def test_a_process_below_the_rank_can_be_the_rank(self):
        script = f"python3 {RANK[1]} join leave && echo after"
        job = self.run_job("-np", 2, "sh", "-c", script)
        self.assertEqual((job.returncode, job.err), (0, ""))
        self.assertEqual(sorted(job.out.split()), ["after", "after", "welcome", "welcome"])

    def test_the_death_of_a_process_below_the_rank_is_noticed(self):
        script = f"python3 {RANK[1]} join; sleep 0.5; {DLRUN} --status $DLRT_JOBID"
        job = self.run_job("-np", 1, "sh", "-c", script)
        self.assertIn("gone without finalize", job.out)

    def test_addresses_are_answered_at_once_or_when_they_are_put(self):
        job = self.run_job("-np", 4, *RANK, "join", "put", "get_next", "leave")
        self.assertEqual(job.returncode, 0)
        for rank in range(4):
            self.assertIn(f"address of {rank}\n", job.out)
        late = f"sleep 0.3; python3 {RANK[1]} join put get_next leave"
        job = self.run_job("-np", 1, *RANK, "join", "put", "get_next", "leave", ":",
                           "-np", 1, "sh", "-c", late)
        self.assertEqual(job.returncode, 0)

    def test_doorbells_are_handed_out(self):
        job = self.run_job("-np", 1, *RANK, "join", "wait_for_ring", "leave", ":",
                           "-np", 1, *RANK, "join", "ring_first", "leave")
        self.assertEqual(job.returncode, 0, job.err)
        self.assertIn("rung 1", job.out)

    def test_a_rank_without_its_descriptors_comes_back(self):
        job = self.run_job("-np", 1, *RANK, "reattach", "leave")
        self.assertEqual((job.returncode, job.err), (0, ""))
        self.assertIn("welcome ['/memfd:dlrt-map', '/memfd:dlrt-segment', 'anon_inode:[eventfd]']",
                      job.out)

    def test_strangers_and_nonsense_are_refused(self):
        job = self.run_job("-np", 1, *RANK, "reattach_with_wrong_token")
        self.assertIn("refused", job.out)
        self.assertIn("wrong token", job.out)
        job = self.run_job("-np", 1, *RANK, "wrong_version")
        self.assertIn("version", job.out)
        job = self.run_job("-np", 2, *RANK, "rubbish")
        self.assertEqual((job.returncode, job.out), (0, "closed\nclosed\n"))

    def status(self, *words):
        return subprocess.run([DLRUN, "--status", *words], stdout=subprocess.PIPE, timeout=10,
                              stderr=subprocess.PIPE, env=self.environment, text=True)

    def test_status_shows_running_and_stopped_ranks(self):
        job = self.start("-v", "-np", 2, *RANK, "join", "sleep")
        first = job.stderr.readline().decode()
        job_id = first.split("job ")[1].split(":")[0]
        for _ in range(2):
            job.stdout.readline()
        os.kill(self.members()["python3"][0], signal.SIGSTOP)
        shown = wait_until(lambda: (lambda s: "stopped" in s.stdout and s)(self.status(job_id)))
        self.assertEqual(shown.returncode, 0)
        self.assertIn(f"job {job_id}: 2 ranks", shown.stdout)
        self.assertRegex(shown.stdout, r"rank 0 \(.*, pid \d+\): ")
        self.assertRegex(shown.stdout, r"rank 1 \(.*, pid \d+\): ")
        self.assertIn("has not called dlrt", shown.stdout)
        wrong = self.status("nosuchjob")
        self.assertEqual(wrong.returncode, 125)
        self.assertIn(job_id, wrong.stderr)
        job.kill()
        self.finish(job)
        self.assert_nobody_left(within_s=2)
        self.assertEqual(self.status(job_id).returncode, 125)


if __name__ == "__main__":
    main()
