# SPDX-License-Identifier: Apache-2.0
"""The examples say what is wrong with their arguments and files, once, and fail; they solve what
they are given.

usage: arguments_test.py DLRUN HEAT WORDCOUNT
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

DLRUN, HEAT, WORDCOUNT = sys.argv[1:4]


def run(program, *arguments, ranks=3):
    return subprocess.run(
        [DLRUN, "-np", str(ranks), program, *arguments],
        capture_output=True, text=True, timeout=30, check=False)


class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, text):
        path = pathlib.Path(self.folder.name) / "file"
        path.write_text(text, "utf-8")
        return str(path)

    def assert_refused(self, status, message, program, *arguments, ranks=3):
        with self.subTest(message=message):
            job = run(program, *arguments, ranks=ranks)
            self.assertEqual(job.returncode, status, job.stderr)
            self.assertEqual(job.stderr.count(message), 1, job.stderr)
            self.assertEqual(job.stdout, "")

    def test_bad_arguments_are_named_once(self):
        self.assert_refused(2, "--steps is 'x'; it must be a whole number", HEAT, "--steps", "x")
        self.assert_refused(2, "--steps is '-1'", HEAT, "--steps", "-1")
        self.assert_refused(2, "--steps needs a value", HEAT, "--steps")
        self.assert_refused(2, "--verify is given twice", HEAT, "--verify", "--verify")
        self.assert_refused(2, "unknown option '--fast'", HEAT, "--fast")
        self.assert_refused(2, "unexpected argument 'b'", WORDCOUNT, "a", "b")
        self.assert_refused(2, "--top is '2.5'", WORDCOUNT, "--top", "2.5")

    def test_bad_files_are_named(self):
        self.assert_refused(1, "heat: cannot read the field '/nowhere'", HEAT, "/nowhere")
        self.assert_refused(
            1, "wordcount: cannot read the text '/nowhere'", WORDCOUNT, "/nowhere")
        self.assert_refused(1, "must begin with two numbers", HEAT, self.file("0 5\n"))
        self.assert_refused(1, "must hold 2 x 2 temperatures", HEAT, self.file("2 2 1 2 3\n"))
        self.assert_refused(1, "must hold 2 x 2 temperatures", HEAT, self.file("2 2 1 2 3 4 5\n"))
        self.assert_refused(1, "must hold 2 x 2 temperatures", HEAT, self.file("2 2 1 2 3 x\n"))

    def test_a_field_too_small_for_the_ranks_is_refused(self):
        self.assert_refused(
            2, "a field of 1 x 4 cells is too small for 2 x 2 ranks", HEAT,
            self.file("1 4\n1 2 3 4\n"), ranks=4)

    def test_heat_solves_a_small_field(self):
        # By hand: the middle takes 0.2 of the differences to its four neighbours.
        path = self.file("# comment\n3 3\n0 10 0\n20 100 30\n0 40 0\n")
        output = str(pathlib.Path(self.folder.name) / "output")
        for ranks in (1, 2, 3, 4, 9):
            with self.subTest(ranks=ranks):
                job = run(HEAT, path, "--steps", "1", "--output", output, "--verify", ranks=ranks)
                self.assertEqual(job.returncode, 0, job.stderr)
                self.assertIn("largest change in the last step 60", job.stdout)
                numbers = pathlib.Path(output).read_text("utf-8").split()
                self.assertEqual(numbers, "3 3 0 10 0 20 40 30 0 40 0".split())

    def test_wordcount_counts_words_across_the_shares(self):
        text = "The cat's tail.\nTHE " + "x" * 500 + " end the\nlast-word" + "\n" * 40
        words = collections.Counter(re.findall("[a-z]+", text.lower()))
        for ranks in (1, 2, 7, 20):
            with self.subTest(ranks=ranks):
                job = run(WORDCOUNT, self.file(text), "--verify", "--top", "100", ranks=ranks)
                self.assertEqual(job.returncode, 0, job.stdout + job.stderr)
                lines = [line.split("\t") for line in job.stdout.splitlines() if "\t" in line]
                self.assertEqual({word: int(count) for count, word in lines}, dict(words))
                self.assertEqual(lines[0], ["3", "the"])

    def test_an_empty_text_and_more_ranks_than_bytes(self):
        for text, expected in (("", "0 words, 0 different"), ("a b", "2 words, 2 different")):
            with self.subTest(text=text):
                job = run(WORDCOUNT, self.file(text), "--verify", ranks=8)
                self.assertEqual(job.returncode, 0, job.stdout + job.stderr)
                self.assertIn(expected, job.stdout)


if __name__ == "__main__":
    del sys.argv[1:4]
    unittest.main()
