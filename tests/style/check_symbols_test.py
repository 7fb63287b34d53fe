# SPDX-License-Identifier: Apache-2.0
"""check_symbols.py finds each difference between a library, its list and its header."""
import subprocess
import unittest

from planted_tree import PlantedTree


class CheckSymbols(PlantedTree):
    def check(self, code="int dlrt_a(void) { return 1; }\n", listed="dlrt_a@@DLRT_0.1\n",
              declared="DLRT_PUBLIC int dlrt_a(void);\n", script="DLRT_0.1 { global: dlrt_*; };"):
        self.plant("a.c", code)
        self.plant("a.map", script)
        self.plant("list", listed)
        self.plant("a.h", declared)
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-o", "a.so", "a.c", "-Wl,--version-script=a.map"],
            cwd=self.root, check=True,
        )
        self.root, root = self.root / "a.so", self.root
        try:
            return self.run_tool("check_symbols.py", str(root / "list"), str(root / "a.h"))
        finally:
            self.root = root

    def test_what_is_as_listed_is_accepted(self):
        self.assertEqual(self.check(), (0, "symbols: as listed\n"))
        two_lines = "/* dlrt_b(x) */\nDLRT_PUBLIC const char*\n    dlrt_a(\n    int b);\n"
        self.assertEqual(self.check(declared=two_lines)[0], 0)

    def test_each_difference_is_found(self):
        second = "int dlrt_a(void) { return 1; }\nint dlrt_b(void) { return 2; }\n"
        both = "DLRT_PUBLIC int dlrt_a(void);\nDLRT_PUBLIC int dlrt_b(void);\n"
        for said, options in (
            ("dlrt_b@@DLRT_0.1 is exported but not listed", {"code": second}),
            ("dlrt_b@@DLRT_0.1 is listed but not exported",
             {"listed": "dlrt_a@@DLRT_0.1\ndlrt_b@@DLRT_0.1\n"}),
            ("dlrt_b is declared but not listed", {"declared": both}),
            ("dlrt_a is listed but not declared", {"declared": ""}),
            ("has no version node", {"script": "{ global: dlrt_*; };"}),
            ("dlrt_a@@DLRT_0.2 is exported but not listed",
             {"script": "DLRT_0.2 { global: dlrt_*; };"}),
        ):
            with self.subTest(said=said):
                status, output = self.check(**options)
                self.assertEqual(status, 1)
                self.assertIn(said, output)


if __name__ == "__main__":
    unittest.main()
