# SPDX-License-Identifier: Apache-2.0
"""What ranks find around them: variables, folders, wrappers, checked settings."""
import os
import tempfile

from launcher_case import LauncherCase, main

PRINT_RANK = "echo $DLRT_RANK $DLRT_SIZE $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE " \
             "$GROUP_RANK $GROUP_WORLD_SIZE $DLRT_LOCAL_RANK $DLRT_LOCAL_SIZE " \
             "$DLRT_NODE_RANK $DLRT_NUM_NODES"


def parse(data):
    """Of `env -0`."""
    return dict(entry.split(b"=", 1) for entry in data.split(b"\0") if entry)


class Environment(LauncherCase):
    def environment_of_rank(self, *words):
        job = self.start("-np", "1", *words, "env", "-0")
        out, err = job.communicate(timeout=30)
        self.assertEqual(job.returncode, 0, err)
        # The launcher completes the last line.
        return parse(out.removesuffix(b"\n"))

    def test_every_byte_of_a_value_arrives(self):
        values = {
            "DLTEST_LINES": b"one\ntwo\n\nthree\n", "DLTEST_QUOTES": b"'\"`$(x)\\ \\n",
            "DLTEST_SIGNS": b"a=b;c=d;;|&<>*?[~#!%{}", "DLTEST_BYTES": bytes(range(1, 256)),
            "DLTEST_EMPTY": b"", "DLTEST_BLANKS": b" \t x \t ", "DLTEST_UTF8": "ä€𝄞".encode(),
        }
        self.environment.update({name: os.fsdecode(value) for name, value in values.items()})
        found = self.environment_of_rank()
        for name, value in values.items():
            self.assertEqual(found[name.encode()], value)
        assigned = self.environment_of_rank(
            *[word for name, value in values.items()
              for word in ("--env", name + "=" + os.fsdecode(value))])
        for name, value in values.items():
            self.assertEqual(assigned[name.encode()], value)

    def test_200_kib_of_environment_arrive(self):
        for i in range(2000):
            self.environment[f"DLTEST_MANY_{i}"] = f"{i}=" + "x" * 84
        self.environment["DLTEST_LONG"] = "y" * 100_000
        found = self.environment_of_rank()
        for i in (0, 1, 999, 1999):
            self.assertEqual(found[b"DLTEST_MANY_%d" % i], b"%d=" % i + b"x" * 84)
        self.assertEqual(sum(name.startswith(b"DLTEST_MANY_") for name in found), 2000)
        self.assertEqual(found[b"DLTEST_LONG"], b"y" * 100_000)

    def test_what_belongs_to_the_session_is_passed_on_only_by_name(self):
        self.environment.update(DISPLAY=":9", SSH_AUTH_SOCK="/x", XDG_SEAT="1", PMI_FD="3")
        found = self.environment_of_rank()
        for name in (b"DISPLAY", b"SSH_AUTH_SOCK", b"XDG_SEAT", b"PMI_FD"):
            self.assertNotIn(name, found)
        found = self.environment_of_rank("-x", "SSH_*", "-x", "DISPLAY", "--unset", "DLTEST_*")
        self.assertEqual(found[b"SSH_AUTH_SOCK"], b"/x")
        self.assertEqual(found[b"DISPLAY"], b":9")
        self.assertNotIn(b"XDG_SEAT", found)
        self.assertNotIn(b"DLTEST_MARK", found)
        self.assertEqual(self.environment_of_rank("--env-all")[b"XDG_SEAT"], b"1")

    def test_none_is_none_but_what_is_named_and_the_ranks_own(self):
        found = self.environment_of_rank("--env-none", "--env", "A=1", "-x", "DLTEST_MARK")
        others = {name for name in found if not name.startswith((b"DLRT_", b"MASTER_"))}
        torch = {b"RANK", b"WORLD_SIZE", b"LOCAL_RANK", b"LOCAL_WORLD_SIZE", b"GROUP_RANK",
                 b"GROUP_WORLD_SIZE"}
        self.assertEqual(others - torch, {b"A", b"DLTEST_MARK"})
        self.assertTrue(torch <= set(found))

    def test_ranks_know_themselves_by_both_styles_of_names(self):
        job = self.run_job("-np", "2", "sh", "-c", PRINT_RANK)
        self.assertEqual(sorted(job.out.splitlines()),
                         ["0 2 0 2 0 2 0 1 0 2 0 1", "1 2 1 2 1 2 0 1 1 2 0 1"], job.err)

    def test_a_prefix_leads_the_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(folder + "/bin")
            with open(folder + "/bin/dltest_prog", "w") as script:
                script.write("#!/bin/sh\necho found $LD_LIBRARY_PATH\n")
            os.chmod(folder + "/bin/dltest_prog", 0o755)
            self.environment["LD_LIBRARY_PATH"] = "/old"
            job = self.run_job("-np", "1", "--prefix", folder, "dltest_prog")
            self.assertEqual(job.out, f"found {folder}/lib:/old\n", job.err)

    def test_wraps_are_around_the_ranks_that_they_name(self):
        job = self.run_job(
            "-np", "3", "--wrap", "1-2:sh -c 'echo outer \"$@\"' --", "--wrap",
            "2:sh -c 'echo inner' --", "sh", "-c", "echo plain $DLRT_RANK")
        self.assertEqual(sorted(job.out.splitlines()),
                         ["outer sh -c echo inner -- sh -c echo plain $DLRT_RANK",
                          "outer sh -c echo plain $DLRT_RANK", "plain 0"], job.err)
        job = self.run_job("-np", "2", "--wrap", "env A=7", "sh", "-c", "echo $A")
        self.assertEqual(job.out, "7\n7\n")

    def test_a_wrap_of_ranks_of_another_program_is_refused(self):
        job = self.run_job("-np", "1", "echo", "a", ":", "-np", "1", "--wrap", "0:env", "echo", "b")
        self.assertEqual(job.returncode, 125)
        self.assertEqual(job.err, "dlrun: --wrap: rank 0 does not run 'echo'; valid are 1\n")
        job = self.run_job("-np", "2", "--wrap", "1-2:env", "echo", "b")
        self.assertEqual(job.err, "dlrun: --wrap: rank 2 does not run 'echo'; valid are 0-1\n")
        self.assertEqual(job.out, "")

    def test_a_wrapper_that_is_not_there_is_named(self):
        job = self.run_job("-np", "1", "--wrap", "no_such_wrapper", "echo", "b")
        self.assertEqual(job.returncode, 127)
        self.assertIn("no_such_wrapper", job.err)

    def test_a_wrong_setting_is_refused_before_anything_starts(self):
        wrong = {"DLRT_EAGER_BYTES": "x", "DLRT_LOG": "loud", "DLRT_PROTO": "^",
                 "DLRT_SPIN_US": "-1", "DLRT_CMA": "2", "DLRT_JOIN_TIMEOUT_S": "0",
                 "DLRT_CHECK": "", "DLRT_COPY_TABLE": "", "DLRT_COLLECTIVE_TABLE": "",
                 "DLRT_DETERMINISTIC": "maybe"}
        for name, value in wrong.items():
            with self.subTest(name=name):
                job = self.run_job("-np", "1", "--env", f"{name}={value}", "echo", "started")
                self.assertEqual((job.returncode, job.out), (125, ""), job.err)
                self.assertEqual(job.err.count("\n"), 1, job.err)
                self.assertTrue(job.err.startswith(f"dlrun: {name}={value}: "), job.err)
                self.environment[name] = value
                again = self.run_job("-np", "1", "echo", "started")
                self.assertEqual((again.returncode, again.err), (125, job.err))
                del self.environment[name]

    def test_an_unknown_setting_is_warned_of(self):
        self.environment["DLRT_LOGS"] = "debug"
        job = self.run_job("-np", "1", "echo", "started")
        self.assertEqual((job.returncode, job.out), (0, "started\n"))
        self.assertEqual(
            job.err,
            "dlrun: warning: DLRT_LOGS: dlrt has no such setting; did you mean DLRT_LOG?\n")

    def test_an_app_file_runs_its_programs(self):
        with tempfile.NamedTemporaryFile("w", suffix=".app") as file:
            file.write("# two programs\n-np 1 --env 'A=x y' sh -c 'echo \"$A\" $DLRT_RANK'\n\n"
                       "-np 2 echo other")
            file.flush()
            job = self.run_job("--tag", "--app", file.name)
        self.assertEqual(sorted(job.out.splitlines()),
                         ["[0] x y 0", "[1] other", "[2] other"], job.err)


if __name__ == "__main__":
    main()
