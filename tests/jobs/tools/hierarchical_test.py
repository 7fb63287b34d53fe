# SPDX-License-Identifier: Apache-2.0
"""Hierarchical algorithms on ranks of one host that DLRT_GROUPS divides: every collective in its
three forms, reductions that don't commute, and long vectors.
usage: hierarchical_test.py API_COLLECTIVES API_REDUCTIONS DLPERF"""
import sys
import unittest

from launcher_case import LauncherCase

COLLECTIVES, REDUCTIONS, DLPERF = sys.argv[1:]
NAMES = ("barrier bcast reduce allreduce gather scatter allgather reduce_scatter alltoall scan "
         "exscan").split()
LONG = {"bcast": "hierarchical_pipelined", "reduce": "hierarchical_pipelined",
        "allreduce": "hierarchical_lanes", "alltoall": "hierarchical_lanes"}
USUAL_FORMS = ";".join(f"{name}:hierarchical" for name in NAMES)
OTHER_FORMS = ";".join(f"{name}:{LONG.get(name, 'hierarchical')},hierarchical" for name in NAMES)


class Hierarchy(LauncherCase):
    def job(self, ranks, groups, algorithms, *words):
        self.environment.update(DLRT_EXPLAIN="1", DLRT_GROUPS=groups, DLRT_ALGO=algorithms)
        job = self.run_job("-np", ranks, *words)
        self.assertEqual(job.returncode, 0, f"{groups} {algorithms}: {job.err}")
        told = f" bytes on {ranks} ranks: "
        return {line.split("explain: ")[1].split()[0]: line.split(told)[1]
                for line in job.err.splitlines() if "explain: " in line and told in line}

    def test_every_collective_has_the_right_values(self):
        for ranks, all_groups in ((1, ["1"]), (2, ["1"]), (3, ["2"]), (4, ["2", "cyclic:2"]),
                                  (5, ["2", "cyclic:3"]), (6, ["3", "cyclic:2", "1+3+2"])):
            for groups in all_groups:
                for forms in (USUAL_FORMS, OTHER_FORMS):
                    used = self.job(ranks, groups, forms, COLLECTIVES)
                    if ranks < 3:
                        continue
                    for name in NAMES:
                        is_usual = name in ("scan", "exscan") and "cyclic" in groups
                        self.assertEqual(used[name].startswith("hierarchical"), not is_usual,
                                         f"{groups}: {used}")

    def test_reductions_that_do_not_commute_keep_their_order(self):
        for groups in ("2", "cyclic:2"):
            self.job(5, groups, USUAL_FORMS, REDUCTIONS)

    def test_long_vectors(self):
        for test in ("all_reduce", "broadcast", "all_to_all"):
            for groups in ("2", "cyclic:2"):
                self.job(4, groups, OTHER_FORMS, DLPERF, "--validate", "--batches", 1, "--sizes",
                         "1048576:1048576", test)

    def test_what_lacks_its_groups_is_told(self):
        self.environment.update(DLRT_EXPLAIN="1", DLRT_GROUPS="4", DLRT_ALGO=USUAL_FORMS)
        job = self.run_job("-np", 4, COLLECTIVES)
        self.assertEqual(job.returncode, 0, job.err)
        self.assertIn("the usual one for this size; hierarchical needs several groups, one of "
                      "several ranks", job.err)

    def test_groups_that_do_not_fit_are_refused(self):
        for groups, part in (("3x2", "'3x2' does not divide 4 ranks into groups; valid: 4, 2x4"),
                             ("x", "'x' does not divide 4 ranks into groups")):
            self.environment.update(DLRT_GROUPS=groups)
            job = self.run_job("-np", 4, COLLECTIVES)
            self.assertEqual(job.returncode, 1, job.err)
            self.assertIn(f"DLRT_GROUPS={groups}: {part}", job.err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
