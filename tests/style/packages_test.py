# SPDX-License-Identifier: Apache-2.0
"""packages.sh installs what is missing where it may, and else says what to type.

Runs it with stand-ins for dpkg-query, id, sudo and apt-get in a PATH of its own.
"""
import os
import shutil
import subprocess
import unittest

from planted_tree import TOOLS, PlantedTree

BASH = shutil.which("bash")


class Packages(PlantedTree):
    def setUp(self):
        super().setUp()
        for name in ("awk", "dirname", "tr", "grep", "mktemp", "tail", "rm", "env"):
            (self.root / name).symlink_to(shutil.which(name))

    def stand_in(self, name, script):
        self.plant(name, f"#!{BASH}\n{script}\n")
        (self.root / name).chmod(0o755)

    def stand_ins(self, missing, user=0, sudo=False):
        """sudo: whether there is one that needs no password."""
        self.stand_in("dpkg-query", f'case " {missing} " in *" ${{@: -1}} "*) exit 1 ;; esac\n'
                      "echo installed")
        self.stand_in("id", f"echo {user}")
        self.stand_in("apt-get", f'echo "$@" >> {self.root}/apt.log')
        if sudo:
            self.stand_in("sudo", '[ "$1" = -n ] && exit 0\n"$@"')

    def need(self, *parts):
        script = f". {TOOLS}/packages.sh; need_packages {' '.join(parts)}; echo went on"
        done = subprocess.run(
            [BASH, "-eu", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False,
            env={**os.environ, "PATH": str(self.root)},
        )
        log = self.root / "apt.log"
        return done.returncode, done.stdout, log.read_text("utf-8") if log.is_file() else ""

    def test_nothing_is_done_when_all_are_there(self):
        self.stand_ins("")
        self.assertEqual(self.need("build", "test"), (0, "went on\n", ""))

    def test_root_installs_just_what_is_missing(self):
        self.stand_ins("meson ninja-build")
        status, said, log = self.need("build")
        self.assertEqual(status, 0, said)
        self.assertIn("install -y -q --no-install-recommends meson ninja-build\n", log)

    def test_parts_that_are_not_asked_for_are_left_alone(self):
        self.stand_ins("catch2 clang-14")
        self.assertEqual(self.need("build"), (0, "went on\n", ""))

    def test_another_user_gets_the_one_command_to_type(self):
        self.stand_ins("meson g++", user=1000)
        status, said, log = self.need("build")
        self.assertEqual((status, log), (1, ""))
        self.assertIn("missing packages: g++ meson", said)
        self.assertIn("sudo apt-get install -y g++ meson", said)
        self.assertNotIn("went on", said)

    def test_another_user_with_sudo_installs(self):
        self.stand_ins("meson", user=1000, sudo=True)
        status, said, log = self.need("build")
        self.assertEqual(status, 0, said)
        self.assertIn("install -y -q --no-install-recommends meson\n", log)

    def test_a_failed_installation_ends_with_the_reason(self):
        self.stand_ins("meson")
        self.stand_in("apt-get", "echo no such mirror; exit 100")
        status, said, _ = self.need("build")
        self.assertEqual(status, 1)
        self.assertIn("no such mirror", said)
        self.assertIn("could not install: meson", said)
        self.assertNotIn("went on", said)

    def test_the_two_commands_refuse_unknown_arguments(self):
        for command in ("check", "quickstart"):
            with self.subTest(command=command):
                done = subprocess.run(
                    [BASH, str(TOOLS / command), "--bogus"], stdin=subprocess.DEVNULL,
                    capture_output=True, text=True, check=False,
                )
                self.assertEqual(done.returncode, 2)
                self.assertIn("unknown argument '--bogus'", done.stderr)


if __name__ == "__main__":
    unittest.main()
