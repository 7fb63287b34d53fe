# SPDX-License-Identifier: Apache-2.0
"""Every option of dlrun's own table, wrong in every way: one line that names it and says what is
valid, status 125, nothing started. An option that is added to the table is tested by that alone, or
fails here until its wrong values are listed."""
import os
import subprocess

from launcher_case import DLRUN, LauncherCase, main

OPTION_PAGES = os.environ.get("OPTION_PAGES", "option_pages")

# Of values that have a form of their own: wrong ones, and a right one.
FORMS = {
    "host": (["a:", "a:0", "a:x", "n[3-1]", "n[", ",", "a,,b", "a:99999999999"], "localhost"),
    "x": (["=1", "A*=1", "DLRT_RANK=1"], "A"),
    "env": (["A", "=1", "A?=1", "RANK=1"], "A=1"),
    "unset": (["A=1", "DLRT_TOKEN"], "A"),
    "wrap": (["'gdb", "0-:gdb", "0: ", "''", "a\\"], "env"),
    "map-by": (["board", "ppr", "ppr:0:core", "ppr:1", "ppr:99999999999:core", "slot:pe=0",
                "slot:pe=x", "core:span"], "slot"),
    "bind-to": (["board", "core:x", ":if-supported"], "none"),
    "launcher-cmd": (["rsh", "'rsh {host}", "{hots}"], "rsh {host}"),
    "iface": (["^", "eth0,", "a b", "^^a"], "eth0"),
    "sim-nodes": (["0", "x2", "2x", "2x0", "4097", "2x1025", "2X2", "2x2x2"], "2x2"),
    "port-range": (["0-5", "5-4", "1-", "-1", "1-99999", "x", "1-2-3"], "20000-20010"),
    "stdin": (["99", "99999999999", "/no/such/file", "/"], "none"),
    "tag-format": (["%", "%q", "%1000r"], "%r "),
    "output": (["%", "x.%q", "dir="], "/tmp/unused-%j"),
    "show": (["a", "1-0", "-1", "0,", "99999999999"], "0"),
    "signal": (["TERM", "@1", "TERM@", "TERM@x", "TERM@0", "NONE@1", "0@1", "999@1", "TERM@-1"],
               None),
    "display": (["x", "map,", "map:x", ":json", "map:svg"], "map"),
    "genvlist": (["A,=", "A,", "A=1", "DLRT_RANK"], "A"),
    "envlist": (["A,=", "A,", "A=1", "RANK"], "A"),
}
# Names that can't be opened, and so are wrong only once they are.
MISSING = {"wdir": "/no/such/folder", "hostfile": "/no/such/file", "app": "/no/such/file",
           "report": "/no/such/folder/file"}
NUMBERS = ["x", "-1", "1x", " 1", "1.5", "0", "99999999999", "99999999999999999999999999"]
TIMES = ["x", "-1", "1x", "inf", "nan", "1e99", "0x1"]


class Option:
    def __init__(self, line):
        self.name, aliases, self.scope, self.repeat, self.kind, self.valid = line.split("\t")
        self.names = [self.name] + aliases.split()
        self.spelling = ("--" if len(self.name) > 2 else "-") + self.name

    def right_words(self):
        values = {"nothing": [], "number": ["1"], "seconds": ["50"], "pair": ["A", "1"],
                  "choice": [self.valid.replace("one of ", "").split(", ")[0]],
                  "folder": ["/"], "file": ["/dev/null"]}
        if self.kind == "form":
            value = FORMS[self.name][1]
            return None if value is None else [self.spelling, value]
        return [self.spelling] + values[self.kind]


def read_table():
    text = subprocess.run([OPTION_PAGES, "list"], check=True, capture_output=True, text=True)
    return [Option(line) for line in text.stdout.splitlines()]


class OptionsTable(LauncherCase):
    @classmethod
    def setUpClass(cls):
        cls.table = read_table()

    def refuse(self, option, *words, names=None):
        """Runs dlrun with these words and `echo`, which must not run."""
        with self.subTest(words=words):
            job = subprocess.run(
                [DLRUN, *words, "echo", "started"], env=self.environment, capture_output=True,
                stdin=subprocess.DEVNULL, timeout=30)
            err = job.stderr.decode(errors="replace")
            self.assertEqual(job.returncode, 125, err)
            self.assertEqual(job.stdout, b"")
            self.assertEqual(err.count("\n"), 1, err)
            self.assertTrue(err.startswith("dlrun: "), err)
            self.assertIn(names or option.spelling, err)
            return err

    def with_value(self):
        return [o for o in self.table if o.kind not in ("nothing", "optional")]

    def test_no_option_is_unknown_to_this_test(self):
        self.assertGreater(len(self.table), 40)
        forms = {o.name for o in self.table if o.kind == "form"}
        self.assertEqual(forms, set(FORMS), "wrong values of these options are not listed")
        files = {o.name for o in self.table if o.kind in ("file", "folder")} - {"prefix"}
        self.assertEqual(files, set(MISSING))

    def test_a_missing_value_is_named(self):
        for option in self.with_value():
            job = subprocess.run([DLRUN, option.spelling], env=self.environment,
                                 capture_output=True, timeout=30)
            err = job.stderr.decode()
            with self.subTest(option=option.spelling):
                self.assertEqual(job.returncode, 125)
                self.assertEqual(err.count("\n"), 1, err)
                self.assertIn(f"{option.spelling}: needs a value; valid is {option.valid}", err)

    def test_an_option_is_no_value(self):
        for option in self.with_value():
            self.refuse(option, option.spelling, "--tag")

    def test_an_empty_value_is_refused_and_what_is_valid_said(self):
        for option in self.with_value():
            empty = [option.spelling, "", "x"] if option.kind == "pair" else [option.spelling, ""]
            err = self.refuse(option, *empty)
            self.assertIn(option.valid, err)

    def test_a_wrong_number_is_refused_and_what_is_valid_said(self):
        for option in self.table:
            wrong = {"number": NUMBERS, "seconds": TIMES}.get(option.kind, [])
            for value in wrong:
                err = self.refuse(option, f"{option.spelling}={value}")
                self.assertIn(f"'{value}' is not valid; valid is {option.valid}", err)

    def test_a_wrong_choice_is_refused_and_what_is_valid_said(self):
        for option in self.table:
            if option.kind == "choice":
                for value in ("x", "0", option.right_words()[1] + "x"):
                    err = self.refuse(option, option.spelling, value)
                    self.assertIn(f"'{value}' is not valid; valid is {option.valid}", err)

    def test_a_value_of_the_wrong_form_is_refused(self):
        for option in self.table:
            for value in FORMS[option.name][0] if option.kind == "form" else []:
                self.refuse(option, f"{option.spelling}={value}")

    def test_what_is_not_there_is_named(self):
        for option in self.table:
            if option.name in MISSING:
                path = MISSING[option.name]
                self.refuse(option, f"{option.spelling}={path}", names=path)

    def test_a_value_that_nobody_takes_is_refused(self):
        for option in self.table:
            if option.kind == "nothing":
                err = self.refuse(option, f"{option.spelling}=x")
                self.assertIn("takes no value", err)

    def test_what_can_be_given_once_is_refused_twice(self):
        for option in self.table:
            if option.kind == "optional":
                continue
            words = option.right_words() if option.repeat == "refused" else None
            if words:
                err = self.refuse(option, *words, *words)
                self.assertIn("is given twice", err)

    def test_an_option_of_the_job_is_refused_in_a_later_block(self):
        for option in self.table:
            words = option.right_words() if option.kind != "optional" else None
            if option.scope == "job" and words:
                err = self.refuse(option, "-np", "1", "echo", "started", ":", *words, "-np", "1")
                self.assertIn("holds for the whole job", err)

    def test_a_misspelt_name_is_answered_with_the_right_one(self):
        known = {name for option in self.table for name in option.names}
        for option in self.table:
            name = option.name
            if len(name) < 5:
                continue
            wrong = name[0] + name[2] + name[1] + name[3:]
            if wrong in known or wrong == name:
                continue
            err = self.refuse(option, "--" + wrong, names="--" + wrong)
            self.assertIn("did you mean", err)

    def test_every_name_is_known(self):
        for option in self.table:
            for name in option.names:
                job = subprocess.run([DLRUN, "-" + name], env=self.environment,
                                     capture_output=True, stdin=subprocess.DEVNULL, timeout=30)
                with self.subTest(name=name):
                    self.assertNotIn(b"unknown", job.stderr)
                    self.assertNotIn(b"is not dlrun's", job.stderr)


if __name__ == "__main__":
    main()
