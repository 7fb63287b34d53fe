# SPDX-License-Identifier: Apache-2.0
"""A small source tree in a temporary folder, for testing the checkers on planted faults."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

HEADER = "// SPDX-License-Identifier: Apache-2.0\n/// What it is for.\n#pragma once\n"
SOURCE = "// SPDX-License-Identifier: Apache-2.0\n"


class PlantedTree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def run_tool(self, tool, *arguments):
        """(exit status, everything printed) of a checker over the tree."""
        done = subprocess.run(
            [sys.executable, str(TOOLS / tool), str(self.root), *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )
        return done.returncode, done.stdout
