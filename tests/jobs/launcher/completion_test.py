# SPDX-License-Identifier: Apache-2.0
"""The completion for bash and the man page, as the build makes them from the table of options."""
import os
import re
import shlex
import subprocess
import tempfile
import unittest

OPTION_PAGES = os.environ.get("OPTION_PAGES", "option_pages")


def page(kind):
    return subprocess.run([OPTION_PAGES, kind], check=True, capture_output=True, text=True).stdout


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.script = page("bash")

    def complete(self, *words, folder="/"):
        """What bash offers for the last of the words."""
        line = " ".join(shlex.quote(word) for word in words)
        program = self.script + f"""
            COMP_WORDS=({line})
            COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _dlrun
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(["bash", "--norc", "-c", program], cwd=folder, capture_output=True,
                              text=True, timeout=30)
        self.assertEqual(done.stderr, "")
        return sorted(set(done.stdout.split()))

    def test_options_are_completed_by_any_of_their_names(self):
        self.assertEqual(self.complete("dlrun", "--time"),
                         ["--timeout", "--timestamp", "--timestamp-output", "--timestamps"])
        self.assertEqual(self.complete("dlrun", "--tag", "-np", "2", "--gra"), ["--grace"])
        self.assertEqual(self.complete("dlrun", "--genv", "A", "1", "--gra"), ["--grace"])
        self.assertEqual(self.complete("dlrun", "-np", "1", "prog", "x", ":", "--gra"), ["--grace"])

    def test_values_are_completed_by_what_is_valid(self):
        self.assertEqual(self.complete("dlrun", "--on-fail", ""), ["ignore", "kill", "wait"])
        self.assertEqual(self.complete("dlrun", "-bind-to", "n"), ["none", "numa"])
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(folder + "/sub")
            with open(folder + "/some", "w"):
                pass
            self.assertEqual(self.complete("dlrun", "--wdir", "s", folder=folder), ["sub"])
            self.assertEqual(self.complete("dlrun", "--app", "s", folder=folder), ["some", "sub"])
            self.assertEqual(self.complete("dlrun", "--timeout", "s", folder=folder), [])

    def test_a_programs_own_options_are_left_to_it(self):
        self.assertEqual(self.complete("dlrun", "-np", "2", "prog", "--gra"), [])

    def test_the_man_page_has_every_option_and_setting(self):
        man = page("man").replace("\\-", "-")
        for line in page("list").splitlines():
            name = line.split("\t")[0]
            dashes = "--" if len(name) > 2 else "-"
            self.assertRegex(man, r"\.TP\n\\fB" + re.escape(dashes + name) + r"\\fR")
        self.assertIn("\\fBDLRT_EAGER_BYTES\\fR", man)
        for line in man.splitlines():
            self.assertRegex(line, r"^([^.'\\]|\.(TH|SH|SS|TP|PP|br|B)\b|\\f)")


if __name__ == "__main__":
    unittest.main(verbosity=2)
