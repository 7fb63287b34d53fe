# SPDX-License-Identifier: Apache-2.0
"""The example train_mlp as a job: any number of ranks learns the same, and in every way of doing it
the loss falls and memory is as foretold.

usage: train_mlp_test.py DLRUN TRAIN_MLP [CASE]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

DLRUN, TRAIN_MLP = sys.argv[1:3]
SHORT = ("--samples", "640", "--epochs", "3")


class Outcome:
    def __init__(self, text, weights):
        self.text = text
        self.losses = [float(x) for x in re.findall(r"loss ([\d.e+-]+), accuracy", text)]
        self.accuracies = [float(x) for x in re.findall(r"accuracy ([\d.]+) %", text)]
        self.memory = {
            name.strip(): (int(predicted), int(measured)) for name, predicted, measured
            in re.findall(r"^([a-z ]+?) +(\d+) +(\d+)$", text, re.MULTILINE)}
        self.weights = weights

    def number(self, pattern):
        return int(re.search(pattern, self.text).group(1))


class TrainMlpCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, ranks, *options, settings=None):
        return subprocess.run(
            [DLRUN, "-np", str(ranks), TRAIN_MLP, *options], env={**os.environ, **(settings or {})},
            capture_output=True, text=True, timeout=60, check=False)

    def train(self, ranks, *options, settings=None):
        path = self.folder / "weights"
        job = self.start(
            ranks, *options, "--memory", "--output", str(path), settings=settings)
        self.assertEqual(job.returncode, 0, job.stdout + job.stderr)
        self.assertIn("weights are equal on all ranks", job.stdout)
        weights = [float(line) for line in path.read_text("utf-8").split()]
        outcome = Outcome(job.stdout, weights)
        self.assertEqual(len(outcome.memory), 6, job.stdout)
        for name, (predicted, measured) in outcome.memory.items():
            self.assertEqual(predicted, measured, name)
        return outcome


class Ranks(TrainMlpCase):
    def assert_near(self, first, second, tolerance):
        """Of the size of the largest weight."""
        self.assertEqual(len(first.losses), len(second.losses))
        for one, other in zip(first.losses, second.losses):
            self.assertLess(abs(one - other), tolerance * one)
        largest = max(map(abs, first.weights))
        furthest = max(abs(a - b) for a, b in zip(first.weights, second.weights, strict=True))
        self.assertLess(furthest, tolerance * largest)

    def assert_ranks_agree(self, tolerance, *options):
        alone = self.train(1, *options)
        self.assertLess(alone.losses[-1], 0.8 * alone.losses[0])
        for ranks in (2, 4):
            with self.subTest(ranks=ranks, options=options):
                self.assert_near(alone, self.train(ranks, *options), tolerance)

    def test_any_number_of_ranks_learns_the_same(self):
        # Sums of gradients differ by roundings of 2^-53 and 2^-24, which 30 steps carry on.
        self.assert_ranks_agree(1e-11, *SHORT, "--precision", "double")
        self.assert_ranks_agree(1e-5, *SHORT)
        self.assert_ranks_agree(
            1e-5, *SHORT, "--optimizer", "sgd", "--rate", "0.2", "--loss", "cross-entropy",
            "--bucket-bytes", "1")

    def test_digits_are_learnt(self):
        outcome = self.train(2)
        self.assertLess(outcome.losses[-1], 0.25)
        self.assertGreater(outcome.accuracies[-1], 85)

    def test_a_seed_decides_everything(self):
        first, again = self.train(2, *SHORT), self.train(2, *SHORT)
        self.assertEqual((first.losses, first.weights), (again.losses, again.weights))
        other = self.train(2, *SHORT, "--seed", "2")
        self.assertNotEqual(first.losses, other.losses)


class Ways(TrainMlpCase):
    def test_the_loss_falls_with_every_loss_optimizer_and_schedule(self):
        for options in (
                ("--loss", "mse"), ("--loss", "l1"), ("--optimizer", "sgd", "--rate", "0.2"),
                ("--optimizer", "sgd", "--momentum", "0", "--rate", "0.5"),
                ("--optimizer", "rmsprop"), ("--schedule", "step"),
                ("--schedule", "exponential"), ("--schedule", "warmup"),
                ("--schedule", "constant", "--activation", "relu")):
            with self.subTest(options=options):
                losses = self.train(2, *SHORT, *options).losses
                self.assertLess(losses[-1], 0.9 * losses[0])

    def test_a_loss_scale_that_overflows_comes_down(self):
        options = (*SHORT, "--precision", "half", "--loss-scale", "16777216")
        outcome = self.train(2, *options)
        skipped = outcome.number(r"(\d+) steps skipped")
        self.assertGreater(skipped, 0)
        self.assertIn(f"loss scale: {2 ** (24 - skipped)},", outcome.text)
        self.assertLess(outcome.losses[-1], 0.9 * outcome.losses[0])


class Memory(TrainMlpCase):
    def test_memory_is_what_the_formulas_say(self):
        weights = 64 * 64 + 64 + 64 * 48 + 48 + 48 * 32 + 32 + 32 * 10 + 10
        memory = self.train(2, *SHORT).memory
        self.assertEqual(memory["weights"][1], 4 * weights)
        self.assertEqual(memory["gradients"][1], 4 * weights)
        self.assertEqual(memory["optimizer state"][1], (4 + 4) * weights)
        # 32 samples of a rank; the widest neighbours whose gradients there are: 64 and 48.
        self.assertEqual(memory["activations"][1], 4 * 32 * (64 + 64 + 48 + 32 + 10))
        self.assertEqual(memory["activation gradients"][1], 4 * 32 * (64 + 48))
        memory = self.train(2, *SHORT, "--precision", "half", "--optimizer", "rmsprop").memory
        self.assertEqual(memory["weights"][1], (2 + 4) * weights)
        self.assertEqual(memory["gradients"][1], 2 * weights)
        self.assertEqual(memory["optimizer state"][1], 4 * weights)

    def test_micro_batches_and_recomputation_change_memory_but_not_one_bit(self):
        deep = (*SHORT, "--hidden", "48,48,48,48,48,48,48")
        whole = self.train(2, *deep)
        for options in (
                ("--micro-batches", "4"), ("--keep-every", "3"),
                ("--micro-batches", "2", "--keep-every", "2")):
            with self.subTest(options=options):
                other = self.train(2, *deep, *options)
                self.assertEqual(whole.losses[0], other.losses[0])
                self.assertEqual(whole.weights, other.weights)
                self.assertLess(other.memory["activations"], whole.memory["activations"])
        self.assertEqual(whole.number(r"computed anew: (\d+)"), 0)
        self.assertGreater(other.number(r"computed anew: (\d+)"), 0)

    def test_mixed_precision_learns_from_half_the_bytes(self):
        single = self.train(2, *SHORT)
        for precision in ("bfloat16", "half"):
            with self.subTest(precision=precision):
                low = self.train(2, *SHORT, "--precision", precision)
                self.assertLess(low.losses[-1], 0.8 * low.losses[0])
                self.assertAlmostEqual(low.losses[-1], single.losses[-1], delta=0.1)
                for name in ("gradients", "activations", "activation gradients"):
                    self.assertEqual(2 * low.memory[name][1], single.memory[name][1])
                # The low precision copy is in addition.
                self.assertEqual(2 * low.memory["weights"][1], 3 * single.memory["weights"][1])
                self.assertIn("loss scale: 1024, 0 steps skipped", low.text)

    def test_a_picture_of_memory_is_drawn(self):
        path = self.folder / "memory.svg"
        job = self.start(2, *SHORT, "--micro-batches", "2", "--memory-svg", str(path))
        self.assertEqual(job.returncode, 0, job.stderr)
        root = xml.etree.ElementTree.parse(path).getroot()
        texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        phases = [text for text in texts if text in ("forward", "backward", "update")]
        self.assertEqual(phases, ["forward", "backward"] * 2 + ["update"])


class Communication(TrainMlpCase):
    def test_a_progress_thread_changes_no_bit(self):
        alone = self.train(2, *SHORT)
        helped = self.train(2, *SHORT, settings={"DLRT_PROGRESS_THREAD": "1"})
        self.assertEqual((alone.losses, alone.weights), (helped.losses, helped.weights))

    def test_buckets_set_out_before_backward_ends(self):
        # Layers of 16640, 12480, 6272 and 1320 bytes; 10 steps in an epoch.
        for size, buckets in (("1", 4), ("4096", 3), ("8192", 2), ("1000000", 1)):
            with self.subTest(size=size):
                text = self.train(2, *SHORT, "--bucket-bytes", size).text
                self.assertIn(
                    f"buckets: {buckets} a step; of {buckets * 30} begun, {(buckets - 1) * 30} "
                    "before", text)


class Arguments(TrainMlpCase):
    def assert_refused(self, message, *options):
        with self.subTest(message=message):
            job = self.start(3, *options)
            self.assertEqual(job.returncode, 2, job.stderr)
            self.assertEqual(job.stderr.count(message), 1, job.stderr)
            self.assertEqual(job.stdout, "")

    def test_wrong_options_are_named_once_with_what_is_valid(self):
        self.assert_refused(
            "--loss: huber not in {cross-entropy,l1,mse}", "--loss", "huber")
        self.assert_refused("--epochs: Value x not in range 1 to 100000", "--epochs", "x")
        self.assert_refused("--hidden: Value 0 not in range 1 to 4096", "--hidden", "8,0")
        self.assert_refused("argument was not expected: --fast", "--fast")
        self.assert_refused(
            "--batch is 64; it must be a multiple of ranks times micro-batches (3 x 2), such as "
            "66", "--micro-batches", "2")
        self.assert_refused(
            "--samples is 100; it must be a multiple of --batch (3), such as 102", "--samples",
            "100", "--batch", "3")
        self.assert_refused(
            "--loss-scale goes with --precision bfloat16 and half only", "--batch", "3",
            "--samples", "3", "--loss-scale", "2")
        self.assert_refused(
            "--momentum goes with --optimizer sgd only", "--batch", "3", "--samples", "3",
            "--momentum", "0.5")

    def test_a_file_that_cannot_be_written_ends_the_job(self):
        job = self.start(2, *SHORT, "--output", "/nowhere/weights")
        self.assertEqual(job.returncode, 1, job.stderr)
        self.assertEqual(
            job.stderr.count("train_mlp: cannot write '/nowhere/weights': No such file"), 1)


if __name__ == "__main__":
    del sys.argv[1:3]
    unittest.main()
