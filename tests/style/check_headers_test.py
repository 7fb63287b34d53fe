# SPDX-License-Identifier: Apache-2.0
"""check_headers.py finds a header that needs another include before it, in C and in C++."""
import unittest

from planted_tree import HEADER, PlantedTree


class CheckHeaders(PlantedTree):
    def check(self):
        return self.run_tool("check_headers.py", "c++")

    def test_a_header_that_stands_alone_is_accepted(self):
        self.plant("runtime/a.hpp", HEADER + "#include <vector>\ninline std::vector<int> a;\n")
        self.assertEqual(self.check()[0], 0)

    def test_a_header_that_forgets_an_include_is_found(self):
        self.plant("runtime/a.hpp", HEADER + "inline std::vector<int> a;\n")
        self.plant("runtime/b.hpp", HEADER)
        status, said = self.check()
        self.assertEqual(status, 1)
        self.assertIn("runtime/a.hpp: does not compile alone", said)
        self.assertNotIn("b.hpp", said)

    def test_only_the_first_include_of_its_own_source_proves_a_header(self):
        self.plant("runtime/a.hpp", HEADER + "inline std::vector<int> a;\n")
        self.plant("runtime/a.cpp", '#include "runtime/a.hpp"\n')
        self.assertEqual(self.check()[0], 0)
        self.plant("runtime/a.cpp", '#include <vector>\n#include "runtime/a.hpp"\n')
        self.assertEqual(self.check()[0], 1)

    def test_a_public_header_is_c99_and_without_warnings(self):
        self.plant("runtime/include/a.h", "/* x */\nstatic inline int f(int x) { return 1; }\n")
        self.assertEqual(self.check()[0], 1)
        self.plant("runtime/include/a.h", "/* x */\nenum class a { b };\n")
        self.assertEqual(self.check()[0], 1)
        self.plant("runtime/include/a.h", "/* x */\nint f(void);\n")
        self.assertEqual(self.check()[0], 0)


if __name__ == "__main__":
    unittest.main()
