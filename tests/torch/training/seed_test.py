# SPDX-License-Identifier: Apache-2.0
"""The seed's scripts run from their folder beside the checkout with the backend's name changed,
under mp.spawn as written and as one process per rank under dlrun.

usage: seed_test.py [--all]: every operation under mp.spawn, each of which costs four imports
"""
import pathlib
import re
import sys
import tempfile
import unittest

import training_case

SCRIPTS = ("commu_funcs.py", "ddp_simple.py", "ddp_utils.py", "dist_utils.py")
OPERATIONS = (
    "broadcast", "reduce", "all_reduce", "gather", "all_gather", "scatter", "reduce_scatter",
    "barrier")
SPAWNED = ("reduce_scatter",)
LINE = re.compile(r"\[Rank (\d)\] (.*)")


def tensor(*values):
    return "tensor([" + ", ".join(f"{value}." for value in values) + "])"


def five(value):
    return tensor(*[value] * 5)


def tensors(*values):
    return "[" + ", ".join(tensor(*[value] * 5) for value in values) + "]"


# Worked out by hand for three ranks, whose tensors are five times rank + 1.
AFTER = {
    "broadcast": ("After Broadcast: ", [tensor(1, 2, 3, 4, 5)] * 3),
    # What the others hold afterwards nobody promises.
    "reduce": ("After Reduce: ", [five(6), None, None]),
    "all_reduce": ("After AllReduce: ", [five(6)] * 3),
    "gather": ("After Gather: ", [tensors(1, 2, 3)]),
    "all_gather": ("After AllGather: ", [tensors(1, 2, 3)] * 3),
    "scatter": ("After Scatter: ", [five(1), five(2), five(3)]),
    "reduce_scatter": (
        "After ReduceScatter: ", [tensor(6, 6), tensor(12, 12), tensor(18, 18)]),
    "barrier": ("Passed barrier.", ["", "", ""]),
}


@unittest.skipUnless(training_case.SEED.is_dir(), "needs the seed's scripts in ../shared/seed")
class SeedCase(training_case.TrainingCase):
    def copy(self, backend):
        """The scripts with the backend's name and its import; nothing else is touched."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name in SCRIPTS:
            text = (training_case.SEED / name).read_text("utf-8")
            if backend != "gloo":
                text = re.sub(r"(['\"])gloo\1", f'"{backend}"', text)
                text = text.replace("import torch\n", "import torch\nimport dlrt_torch\n", 1)
            (pathlib.Path(folder.name) / name).write_text(text, "utf-8")
        return folder.name

    def run_seed(self, folder, script, *words):
        job = self.run_alone(pathlib.Path(folder) / script, *words)
        job.out, job.err = job.stdout, job.stderr
        return job

    def lines(self, job):
        """rank -> its lines; every line must be a whole one."""
        self.assertEqual(job.returncode, 0, job.out + job.err)
        found = {}
        for line in job.out.splitlines():
            match = LINE.fullmatch(line)
            self.assertIsNotNone(match, f"{line!r} in {job.out}")
            self.assertNotIn("[Rank", match.group(2))
            self.assertNotIn("xception", line)
            found.setdefault(int(match.group(1)), []).append(match.group(2))
        return found

    def assert_right(self, found, name):
        prefix, expected = AFTER[name]
        for rank, value in enumerate(expected):
            lines = [line for line in found[rank] if line.startswith(prefix)]
            self.assertEqual(len(lines), 1, (name, found))
            if value is not None:
                self.assertEqual(lines[0], prefix + value, (name, rank))


class Primitives(SeedCase):
    def test_all_operations_as_written_under_spawn(self):
        folder = self.copy(training_case.BACKEND)
        for name in SPAWNED if not IS_FULL else OPERATIONS:
            with self.subTest(name=name):
                job = self.run_seed(folder, "commu_funcs.py", name)
                self.assert_right(self.lines(job), name)

    def test_all_operations_with_a_process_for_each_rank(self):
        job = self.run_ranks(
            3, training_case.HERE / "seed_rank.py", self.copy(training_case.BACKEND), "primitives",
            *(f"{name}:{training_case.free_port()}" for name in OPERATIONS),
            # Python then writes the end of a line by itself.
            PYTHONUNBUFFERED="1")
        found = self.lines(job)
        for name in OPERATIONS:
            self.assert_right(found, name)


class Training(SeedCase):
    def test_training_as_written_under_spawn(self):
        job = self.run_seed(self.copy(training_case.BACKEND), "ddp_simple.py")
        found = self.lines(job)
        self.assertEqual(found[1], ["initialized"])
        self.assertEqual(found[0][0], "initialized")
        losses = [re.fullmatch(r"Epoch (\d), Loss: (\d\.\d{4})", line) for line in found[0][1:]]
        self.assertEqual([match.group(1) for match in losses], ["0", "1"])
        # Labels are drawn by chance, as the weights: any loss about that of a guess is right.
        for match in losses:
            self.assertTrue(0.1 < float(match.group(2)) < 5, match.group(0))

    def test_training_equals_gloos_under_equal_seeds(self):
        told = {}
        for name in dict.fromkeys((training_case.BACKEND, "gloo")):
            job = self.run_ranks(
                2, training_case.HERE / "seed_rank.py", self.copy(name), "training", 2, 17)
            told[name] = self.lines(job)
        ours, theirs = told[training_case.BACKEND], told["gloo"]
        self.assertEqual(len(ours[0]), 4)
        self.assertEqual(ours[0][-1], ours[1][-1], "the ranks' weights")
        # Two gradients are added: one order, the same bits.
        self.assertEqual(ours, theirs)


if __name__ == "__main__":
    IS_FULL = "--all" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--all"]
    training_case.main()
