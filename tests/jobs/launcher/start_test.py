# SPDX-License-Identifier: Apache-2.0
"""What ranks start with: programs, folders, environment, cpus, limits; many ranks, jobs in jobs."""
import os
import pathlib
import subprocess
import tempfile

from launcher_case import DLRUN, LauncherCase, main


class Start(LauncherCase):
    def values(self, names, *words):
        script = "echo " + " ".join(f"$DLRT_RANK:{name}=${{{name}-unset}}" for name in names)
        job = self.run_job(*words, "sh", "-c", script)
        self.assertEqual(job.returncode, 0, job.err)
        return {tuple(word.split(":", 1)) for word in job.out.split()}

    def test_blocks_have_their_own_programs_and_settings(self):
        job = self.run_job("-np", 1, "--env", "A=1", "sh", "-c", "echo $DLRT_RANK a $A", ":",
                           "-n", 2, "--wdir", "/", "sh", "-c", "echo $DLRT_RANK b $A $PWD")
        self.assertEqual(sorted(job.out.splitlines()), ["0 a 1", "1 b /", "2 b /"])

    def test_names_of_ranks_in_both_styles(self):
        for rank in range(2):
            got = dict(v.split("=") for r, v in self.values(
                ["DLRT_SIZE", "DLRT_LOCAL_RANK", "DLRT_LOCAL_SIZE", "DLRT_NODE_RANK",
                 "DLRT_NUM_NODES", "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE",
                 "MASTER_ADDR"], "-np", 2)
                if r == str(rank))
            self.assertEqual(got, {
                "DLRT_SIZE": "2", "DLRT_LOCAL_RANK": str(rank), "DLRT_LOCAL_SIZE": "2",
                "DLRT_NODE_RANK": "0", "DLRT_NUM_NODES": "1", "RANK": str(rank),
                "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2",
                "MASTER_ADDR": "127.0.0.1"})

    def test_other_launchers_names_are_not_passed_on_but_settings_are(self):
        self.environment.update(PMI_RANK="9", OMPI_X="9", SSH_CLIENT="9", DLRT_RANK="9",
                                DLRT_ALGO="ring", MASTER_PORT="1234")
        names = ["PMI_RANK", "OMPI_X", "SSH_CLIENT", "DLRT_ALGO", "MASTER_PORT"]
        got = self.values(names, "-np", 1)
        self.assertEqual({v for _, v in got}, {"PMI_RANK=unset", "OMPI_X=unset", "SSH_CLIENT=unset",
                                               "DLRT_ALGO=ring", "MASTER_PORT=1234"})
        got = self.values(["SSH_CLIENT", "HOME"], "-np", 1, "-x", "SSH_CLIENT", "--unset", "HOME")
        self.assertEqual({v for _, v in got}, {"SSH_CLIENT=9", "HOME=unset"})

    def test_values_with_every_kind_of_letter_arrive(self):
        value = "a b\tc\nd'e\"f;g=h$i*\xff"
        job = self.run_job("-np", 1, "--env", f"ODD={value}", "sh", "-c", 'printf "%s" "$ODD"')
        self.assertEqual(job.out, value + "\n")

    def test_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            odd = pathlib.Path(folder, "with blank \u00e9")
            odd.mkdir()
            self.assertEqual(self.run_job("-np", 2, "pwd", cwd=odd).out, f"{odd}\n" * 2)
            job = self.run_job("-np", 2, "--wdir", "/tmp", "pwd", cwd=odd)
            self.assertEqual(job.out, "/tmp\n" * 2)
            self.assertEqual(self.run_job("-np", 1, "--wdir", odd.name, "pwd", cwd=folder).out,
                             f"{odd}\n")
            for wrong in ("/no/such", "/etc/passwd", "sub"):
                job = self.run_job("-np", 2, "--wdir", wrong, "pwd", cwd=folder)
                self.assertEqual((job.returncode, job.out), (125, ""))
                self.assertIn(wrong, job.err)
                self.assertIn("host ", job.err)

    def test_a_deleted_folder_is_an_error(self):
        script = f"cd $(mktemp -d) && rmdir $PWD && {DLRUN} -np 2 pwd"
        job = subprocess.run(["sh", "-c", script], env=self.environment, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, timeout=10)
        self.assertEqual((job.returncode, job.stdout), (125, ""))
        self.assertIn("the current folder has been deleted", job.stderr)

    def test_ranks_get_even_shares_of_the_cpus_or_all_of_them(self):
        usable = sorted(os.sched_getaffinity(0))
        script = "import os; print(*sorted(os.sched_getaffinity(0)))"
        job = self.run_job("-np", len(usable), "python3", "-c", script)
        self.assertEqual(sorted(map(int, job.out.split())), usable)
        job = self.run_job("-np", len(usable) + 1, "sh", "-c",
                           f'python3 -c "{script}"; echo over $DLRT_OVERSUBSCRIBED')
        self.assertEqual(job.out.count(" ".join(map(str, usable))), len(usable) + 1)
        self.assertEqual(job.out.count("over 1"), len(usable) + 1)
        self.assertIn(f"warning: {len(usable) + 1} ranks share {len(usable)} usable cpu", job.err)

    def test_without_np_there_is_a_rank_for_each_usable_cpu(self):
        cpus = {min(os.sched_getaffinity(0))}
        job = self.run_job("-v", "echo", "x", preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        self.assertEqual(job.out, "x\n")
        self.assertIn("1 usable cpu (no -np: one rank for each)", job.err)

    def test_a_job_within_a_job(self):
        job = self.run_job("-np", 2, DLRUN, "-np", 2, "sh", "-c", "echo $DLRT_RANK of $DLRT_SIZE")
        self.assertEqual(job.returncode, 0, job.err)
        self.assertEqual(sorted(job.out.splitlines()), ["0 of 2"] * 2 + ["1 of 2"] * 2)

    def test_large_environments_arrive(self):
        self.environment.update({f"V{i}": "x" * 4000 for i in range(50)})
        self.assertEqual(self.run_job("-np", 2, "sh", "-c", "echo ${#V49}").out, "4000\n4000\n")


if __name__ == "__main__":
    main()
