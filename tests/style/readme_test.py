# SPDX-License-Identifier: Apache-2.0
"""README.md quotes hello.cpp and hello.c of tools/examples as they are, and they stay short.

The SPDX line and the comment that follows it are not quoted.
"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES_MAX = 30


def fenced_blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def quoted_part(program):
    """The program from its first include on."""
    return program[program.index("#include"):]


class Readme(unittest.TestCase):
    def test_the_quoted_programs_are_the_examples(self):
        readme = (ROOT / "README.md").read_text("utf-8")
        for language in ("cpp", "c"):
            with self.subTest(language=language):
                program = (ROOT / f"tools/examples/hello.{language}").read_text("utf-8")
                blocks = fenced_blocks(readme, language)
                self.assertEqual(len(blocks), 1)
                self.assertEqual(quoted_part(blocks[0]), quoted_part(program))
                self.assertLessEqual(program.count("\n"), LINES_MAX)


if __name__ == "__main__":
    unittest.main()
