# SPDX-License-Identifier: Apache-2.0
"""dlrun's exit status and what it says: one line for the first failure in time, and nobody left."""
import os
import stat
import tempfile

from launcher_case import LauncherCase, main


class ExitStatus(LauncherCase):
    def assert_line(self, job, *parts):
        lines = [line for line in job.err.splitlines() if "warning" not in line]
        self.assertEqual(len(lines), 1, job.err)
        for part in ("dlrun: ", *parts):
            self.assertIn(part, lines[0])

    def test_all_zero_is_zero_and_silent(self):
        job = self.run_job("-np", 2, "true")
        self.assertEqual((job.returncode, job.out, job.err), (0, "", ""))

    def test_the_first_failure_in_time_wins_not_the_lowest_rank(self):
        script = "test $DLRT_RANK = 2 && exit 3; sleep 60; exit 9"
        job = self.run_job("-np", 4, "sh", "-c", script)
        self.assertEqual(job.returncode, 3)
        self.assert_line(job, "rank 2 (", "pid ", "exited with 3 after ", "3 others terminated")
        self.assertLess(job.seconds, 5)

    def test_every_rank_exits_with_7(self):
        self.assertEqual(self.run_job("-np", 4, "sh", "-c", "exit 7").returncode, 7)

    def test_a_signal_is_128_and_its_number_and_has_a_name(self):
        for number, name in ((11, "segmentation fault"), (9, "killed"), (6, "aborted")):
            script = f"test $DLRT_RANK = 0 && kill -{number} $$; sleep 60"
            job = self.run_job("-np", 2, "sh", "-c", script)
            self.assertEqual(job.returncode, 128 + number)
            self.assert_line(job, "rank 0 (", f"signal {number} ({name}", "1 other terminated")

    def test_short_failures_in_a_row_all_have_their_status(self):
        for index in range(200):
            status = 1 + index % 100
            job = self.run_job("-np", 1 + index % 3, "sh", "-c", f"exit {status}")
            self.assertEqual(job.returncode, status, f"run {index}: {job.err}")

    def test_ranks_that_dlrun_killed_do_not_count(self):
        script = "test $DLRT_RANK = 1 && exit 4; trap 'exit 8' TERM; while :; do sleep 0.05; done"
        self.assertEqual(self.run_job("-np", 3, "sh", "-c", script).returncode, 4)

    def test_timeout_is_124(self):
        job = self.run_job("-np", 2, "--timeout", "0.3", "sleep", 60)
        self.assertEqual(job.returncode, 124)
        self.assert_line(job, "--timeout of 0.3 s", "2 ranks terminated")
        self.assertLess(job.seconds, 3)

    def test_timeout_with_ranks_that_ignore_term_ends_after_the_grace(self):
        job = self.run_job("-np", 2, "--timeout", "0.3", "--grace", "0.5", "sh", "-c",
                           "trap '' TERM; sleep 60; sleep 60")
        self.assertEqual(job.returncode, 124)
        self.assertLess(job.seconds, 4)

    def test_a_program_that_is_not_there_is_127(self):
        for name in ("no-such-program", "./no/such", "/no/such"):
            job = self.run_job("-np", 2, name)
            self.assertEqual((job.returncode, job.out), (127, ""))
            self.assert_line(job, name, "not found")
            self.assertNotIn("terminated", job.err)

    def test_a_file_that_is_not_executable_is_126(self):
        with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
            os.chmod(file.name, stat.S_IRUSR)
            job = self.run_job("-np", 2, file.name)
            self.assertEqual(job.returncode, 126)
            self.assert_line(job, file.name, "ermission denied")
        job = self.run_job("-np", 2, "/tmp")
        self.assertEqual(job.returncode, 126)
        self.assert_line(job, "/tmp", "it is a folder")

    def test_one_bad_block_starts_nothing_of_the_others(self):
        job = self.run_job("-np", 1, "echo", "ran", ":", "-np", 1, "no-such-program")
        self.assertEqual((job.returncode, job.out), (127, ""))

    def test_scripts_without_a_first_line_run_and_bad_interpreters_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("plain", "echo plain $1\n"), ("bad", "#!/no/such/shell\n")):
                path = os.path.join(folder, name)
                with open(path, "w") as file:
                    file.write(text)
                os.chmod(path, 0o755)
            job = self.run_job("-np", 1, os.path.join(folder, "plain"), "word")
            self.assertEqual((job.returncode, job.out), (0, "plain word\n"))
            job = self.run_job("-np", 2, os.path.join(folder, "bad"))
            self.assertEqual(job.returncode, 127)
            self.assert_line(job, "bad", "interpreter")

    def test_wrong_options_are_125_and_start_nothing(self):
        wrong = (("-np", "0"), ("-np", "abc"), ("--tmeout", "3"), ("--stdin", "7", "-np", "2"))
        for words in wrong:
            job = self.run_job(*words, "echo", "ran")
            self.assertEqual((job.returncode, job.out), (125, ""))
            self.assert_line(job, words[0])


if __name__ == "__main__":
    main()
