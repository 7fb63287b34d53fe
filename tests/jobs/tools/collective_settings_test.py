# SPDX-License-Identifier: Apache-2.0
"""DLRT_ALGO, DLRT_COLLECTIVE_TABLE, DLRT_DETERMINISTIC and DLRT_EXPLAIN, on ranks that do an
all-reduce of 32768 bytes, and the table that dltune --collectives writes.
usage: collective_settings_test.py DLPERF DLTUNE"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from copy_tables import measured_here
from launcher_case import LauncherCase

DLPERF, DLTUNE = sys.argv[1:]


class CollectiveSettings(LauncherCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.environment.update(HOME=folder.name + "/home", XDG_CONFIG_HOME=folder.name)
        self.table = pathlib.Path(folder.name, "dlrt/collective_table.json")
        self.table.parent.mkdir()

    def write_table(self, *rules, measured_on=None):
        self.table.write_text(json.dumps({"measured_on": measured_on or measured_here(),
                                          "rules": rules}))
        return str(self.table)

    sizes = "32768:32768"

    def all_reduce(self, **settings):
        self.environment.update(settings)
        return self.run_job("-np", 4, DLPERF, "--validate", "--batches", 1, "--sizes", self.sizes,
                            "all_reduce")

    def explanations(self, job):
        """Of all-reduces of 32768 bytes; dlperf does others for itself."""
        self.assertEqual(job.returncode, 0, job.err)
        return [line.split("explain: ")[1] for line in job.err.splitlines()
                if "explain: allreduce of 32768 bytes" in line]

    def test_it_is_said_once_which_algorithm_is_used_and_why(self):
        lines = self.explanations(self.all_reduce(DLRT_EXPLAIN="1"))
        self.assertEqual(lines, ["allreduce of 32768 bytes on 4 ranks: recursive_doubling, "
                                 "the usual one for this size"])

    def test_small_ones_go_over_cells_unless_the_user_names_or_excludes_algorithms(self):
        self.sizes = "8:8"
        for rule, part in (("bcast:binomial", "cells, small and all ranks are on one host"),
                           ("allreduce:tree", "tree, DLRT_ALGO names it"),
                           ("allreduce:tree@1k-", "cells, small and all ranks are on one host"),
                           ("allreduce:^recursive_doubling", "DLRT_ALGO excludes the usual one")):
            with self.subTest(rule=rule):
                job = self.all_reduce(DLRT_EXPLAIN="1", DLRT_ALGO=rule)
                self.assertEqual(job.returncode, 0, job.err)
                lines = [line for line in job.err.splitlines() if "allreduce of 8 bytes" in line]
                self.assertEqual(len(lines), 1, job.err)
                self.assertIn(part, lines[0])

    def test_nothing_is_said_unasked(self):
        self.assertEqual(self.explanations(self.all_reduce()), [])

    def test_another_can_be_named_and_carries_the_same_data(self):
        lines = self.explanations(self.all_reduce(DLRT_EXPLAIN="1", DLRT_ALGO="allreduce:ring"))
        self.assertEqual(lines, ["allreduce of 32768 bytes on 4 ranks: ring, DLRT_ALGO names it"])

    def test_the_usual_one_can_be_excluded(self):
        lines = self.explanations(
            self.all_reduce(DLRT_EXPLAIN="1", DLRT_ALGO="allreduce:^recursive_doubling@-64k"))
        self.assertEqual(len(lines), 1, lines)
        self.assertNotIn("recursive_doubling", lines[0])
        self.assertIn("DLRT_ALGO excludes the usual one", lines[0])

    def test_lists_of_counts_have_their_own_choice(self):
        for rule, part in (("bcast:binomial", "linear, the usual one"),
                           ("alltoall:pairwise", "pairwise, DLRT_ALGO names it"),
                           ("alltoall:pairwise@1k-", "linear, the usual one"),
                           ("alltoall:^linear", "pairwise, DLRT_ALGO excludes the usual one")):
            with self.subTest(rule=rule):
                self.environment.update(DLRT_EXPLAIN="1", DLRT_ALGO=rule)
                job = self.run_job("-np", 4, DLPERF, "--validate", "--batches", 1,
                                   "--sizes", "64:64", "all_to_allv")
                self.assertEqual(job.returncode, 0, job.err)
                lines = [line for line in job.err.splitlines() if "with lists of counts" in line]
                self.assertEqual(len(lines), 1, job.err)
                self.assertIn("alltoall with lists of counts on 4 ranks: " + part, lines[0])

    def test_what_is_wrong_fails_init_and_says_what_is_valid(self):
        for value, part in (("allreduce:rinng", "allreduce has no algorithm 'rinng'; valid: "),
                            ("x:ring", "there is no collective 'x'; valid: barrier"),
                            ("allreduce:ring@5-4", "'5-4' is no range of sizes")):
            with self.subTest(value=value):
                job = self.all_reduce(DLRT_ALGO=value)
                self.assertEqual(job.returncode, 1, job.err)
                self.assertIn(f"DLRT_ALGO={value}: {part}", job.err)

    def test_a_measured_table_comes_after_the_users_word_and_before_the_usual_ones(self):
        path = self.write_table({"collective": "allreduce", "ranks_max": 3, "algorithm": "ring"},
                                {"collective": "allreduce", "algorithm": "tree"})
        measured = ["allreduce of 32768 bytes on 4 ranks: tree, measured best on this host"]
        for settings in ({}, {"DLRT_COLLECTIVE_TABLE": path}):
            self.assertEqual(self.explanations(self.all_reduce(DLRT_EXPLAIN="1", **settings)),
                             measured)
        lines = self.explanations(self.all_reduce(DLRT_ALGO="allreduce:ring"))
        self.assertEqual(lines, ["allreduce of 32768 bytes on 4 ranks: ring, DLRT_ALGO names it"])

    def test_a_damaged_table_is_one_warning_but_an_error_when_it_is_named(self):
        path = self.write_table({"collective": "alreduce", "algorithm": "tree"})
        reason = "rule 1: field 'collective' can't be 'alreduce'; did you mean allreduce?"
        job = self.all_reduce()
        self.assertEqual(job.returncode, 0, job.err)
        self.assertEqual(job.err.count(f"collectives: collective table '{path}' is passed over: "
                                       f"{reason}"), 1, job.err)
        job = self.all_reduce(DLRT_COLLECTIVE_TABLE=path)
        self.assertNotEqual(job.returncode, 0)
        self.assertIn(f"DLRT_COLLECTIVE_TABLE={path}: {reason}", job.err)

    def test_a_table_of_another_host_is_passed_over(self):
        self.write_table({"collective": "allreduce", "algorithm": "tree"},
                         measured_on={**measured_here(), "online_cpus": 100000})
        lines = self.explanations(self.all_reduce(DLRT_EXPLAIN="1"))
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("the usual one for this size", lines[0])

    def test_fixed_bits_pass_over_tables_and_refuse_what_contradicts_them(self):
        self.write_table({"collective": "allreduce", "algorithm": "tree"})
        lines = self.explanations(self.all_reduce(DLRT_EXPLAIN="1", DLRT_DETERMINISTIC="1"))
        self.assertEqual(lines, ["allreduce of 32768 bytes on 4 ranks: recursive_doubling, "
                                 "the one with the same bits for every size"])
        job = self.all_reduce(DLRT_ALGO="allreduce:ring")
        self.assertEqual(job.returncode, 1, job.err)
        self.assertIn("DLRT_ALGO=allreduce:ring: contradicts DLRT_DETERMINISTIC=1: the bits of "
                      "allreduce ring depend on sizes; valid: recursive_doubling, rabenseifner",
                      job.err)

    def tune(self, *words):
        return subprocess.run([DLTUNE, *words], capture_output=True, text=True, timeout=100,
                              check=False, env=self.environment, stdin=subprocess.DEVNULL)

    def test_dltune_writes_a_table_that_jobs_use(self):
        done = self.tune("--collectives", "--only", "barrier", "--ranks", "2", "--save")
        self.assertEqual((done.returncode, done.stderr), (0, "barrier on 2 ranks\n"))
        self.assertTrue(done.stdout.startswith(f"written to {self.table}\n"), done.stdout)
        table = json.loads(self.table.read_text())
        self.assertEqual(table["measured_on"], measured_here())
        for rule in table["rules"]:
            self.assertEqual((rule["collective"], rule["ranks_max"]), ("barrier", 2))
        job = self.all_reduce(DLRT_COLLECTIVE_TABLE=str(self.table))
        self.assertEqual(job.returncode, 0, job.err)

    def test_dltune_refuses_before_it_measures(self):
        for words, part in ((("--collectives", "--only", "alreduce"),
                             "--only: 'alreduce' can't be measured; did you mean allreduce?"),
                            (("--collectives", "--ranks", "4,2"), "--ranks: '4,2' is no list"),
                            (("--collectives", "--ranks", "5000"), "--ranks: '5000' is no list"),
                            (("--collectives", "--sizes"), "--sizes: its value is missing"),
                            (("--ranks", "2"), "go with --collectives only")):
            with self.subTest(words=words):
                refused = self.tune(*words)
                self.assertEqual((refused.returncode, refused.stdout), (2, ""))
                self.assertEqual(refused.stderr.count("\n"), 1)
                self.assertIn(part, refused.stderr)

    def test_an_empty_list_starts_nothing(self):
        job = self.all_reduce(DLRT_ALGO="")
        self.assertEqual(job.returncode, 125)
        self.assertIn("DLRT_ALGO=: empty; valid is COLLECTIVE:", job.err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
