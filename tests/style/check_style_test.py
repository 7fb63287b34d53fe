# SPDX-License-Identifier: Apache-2.0
"""check_style.py finds each planted fault and is silent about a tree without any."""
import unittest

from planted_tree import HEADER, SOURCE, PlantedTree


def function_of(lines, head="void f()"):
    return SOURCE + head + " {\n" + "    g();\n" * (lines - 2) + "}\n"


class CheckStyle(PlantedTree):
    def check(self, name, text, build="'a.cpp'"):
        self.plant("meson.build", "project('x')\n")
        self.plant("runtime/meson.build", f"sources = [{build}]\n")
        self.plant(name, text)
        return self.run_tool("check_style.py")

    def assert_found(self, name, text, what, line=None):
        status, said = self.check(name, text)
        self.assertEqual(status, 1, f"nothing found in {text!r}")
        self.assertIn(what, said)
        self.assertIn(f"{name}:{line}:" if line else f"{name}:", said)
        self.assertEqual(said.count("\n"), 1, said)

    def assert_clean(self, name, text):
        status, said = self.check(name, text)
        self.assertEqual(status, 0, said)

    def test_a_file_may_have_500_lines(self):
        self.assert_clean("runtime/a.cpp", SOURCE + "int x;\n" * 499)
        self.assert_found("runtime/a.cpp", SOURCE + "int x;\n" * 500, "501 lines")

    def test_a_function_may_have_70_lines(self):
        self.assert_clean("runtime/a.cpp", function_of(70))
        self.assert_found("runtime/a.cpp", function_of(71), "f has 71 lines", line=2)

    def test_long_functions_are_found_wherever_they_stand(self):
        for head in (
            "Thing::Thing(int a) : a_(a), b_()", "auto operator()(int a) const -> int",
            "template<typename T = int> requires(sizeof(T) > 4) T f(T a)",
            'TEST_CASE("x: a sentence", "[x]")', "Result<std::vector<int>> A::f(int a) noexcept",
            "struct stat* f(struct stat* a)", "int main(int argc, char** argv)",
        ):
            with self.subTest(head=head):
                self.assert_found("runtime/a.cpp", function_of(71, head), "has 71 lines")
        inner = "namespace a {\nstruct [[nodiscard]] B final : C {\nvoid f() {\n"
        text = SOURCE + inner + "g();\n" * 69 + "}\n};\n}\n"
        self.assert_found("runtime/a.cpp", text, "f has 71 lines", line=4)

    def test_tables_and_types_may_be_long(self):
        self.assert_clean("runtime/a.cpp", SOURCE + "int x[] = {\n" + "1,\n" * 100 + "};\n")
        self.assert_clean("runtime/a.cpp", SOURCE + "struct A {\n" + "int x;\n" * 100 + "};\n")
        self.assert_clean("runtime/a.cpp", SOURCE + "enum class A : int {\n" + "x,\n" * 99 + "};\n")

    def test_a_function_may_have_six_parameters(self):
        self.assert_clean("runtime/a.cpp", SOURCE + "void f(int a, int, int, int, int, int);\n")
        for text in (
            "void f(int a, int, int, int, int, int, int);\n",
            "void f(int a, int, int, int, int, int, int) {}\n",
            "class A {\n    A(int a, int, int, int,\n      int, int, int) : x_(1) {}\n};\n",
        ):
            with self.subTest(text=text):
                self.assert_found("runtime/a.cpp", SOURCE + text, "7 parameters")

    def test_commas_of_types_and_calls_are_not_parameters(self):
        self.assert_clean(
            "runtime/a.cpp",
            SOURCE + "template<class A, class B, class C, class D, class E, class F, class G>\n"
            "void f(std::map<int, std::array<int, 4>> a, std::function<void(int, int, int)> b);\n"
            "int x = g(1, 2, 3, 4, 5, 6, 7, 8);\n"
            "void h() { g(1, 2, 3, 4, 5, 6, 7, 8); }\n",
        )

    def test_the_public_c_functions_have_the_shape_of_the_field(self):
        self.assert_clean(
            "runtime/a.cpp", SOURCE + "dlrt_err dlrt_f(int, int, int, int, int, int, int, int);\n"
        )

    def test_a_line_may_have_100_columns(self):
        self.assert_clean("runtime/a.cpp", SOURCE + "//" + "→" * 98 + "\n")
        self.assert_found("runtime/a.cpp", SOURCE + "//" + "x" * 99 + "\n", "101 columns", line=2)

    def test_first_lines(self):
        self.assert_found("runtime/a.cpp", "int x;\n", "SPDX", line=1)
        (self.root / "runtime/a.cpp").unlink()
        self.assert_found("runtime/a.hpp", SOURCE + "#pragma once\n", "what it is for", line=2)
        (self.root / "runtime/a.hpp").unlink()
        self.assert_found("tools/run", "#!/bin/sh\ntrue\n", "SPDX", line=2)
        (self.root / "tools/run").unlink()
        self.assert_clean("runtime/a.hpp", HEADER)

    def test_words_that_may_not_stand_anywhere(self):
        for words in ("TODO", "FIXME", "for now", "/" + "work/x", "/" + "root/x", "Copyright"):
            with self.subTest(words=words):
                self.assert_found("runtime/a.cpp", SOURCE + f"// see {words}\n", words, line=2)
                (self.root / "runtime/a.cpp").unlink()
                self.assert_found("docs/guide.md", f"see {words}\n", words, line=1)
                (self.root / "docs/guide.md").unlink()
        self.assert_found("docs/a.md", "see https://example.org/x\n", "name the document")

    def test_blanks_and_tabs(self):
        self.assert_found("runtime/a.cpp", SOURCE + "int x; \n", "blanks at the end", line=2)
        self.assert_found("runtime/a.cpp", SOURCE + "\tint x;\n", "a tab", line=2)
        self.assert_found("runtime/a.cpp", SOURCE + "int x;", "no line end", line=2)
        self.assert_found("runtime/a.cpp", SOURCE + "int x;\n\n", "an empty line", line=3)

    def test_code_that_is_not_written_here(self):
        for code in (
            "void f() { goto end; }", "using namespace std;", "#if 0", "auto x = std::endl;",
            "void f() { std::atomic_thread_fence(order); }", "int* x = NULL;",
        ):
            with self.subTest(code=code):
                self.assert_found("runtime/a.cpp", SOURCE + code + "\n", "runtime/a.cpp", line=2)

    def test_code_in_comments_is_found_and_prose_is_not(self):
        self.assert_found("runtime/a.cpp", SOURCE + "// call(x);\n", "commented out", line=2)
        self.assert_clean("runtime/a.cpp", SOURCE + "// It waits: nothing is lost.\n")

    def test_an_atomic_names_its_memory_order(self):
        for access in ("x.load()", "x->store(1)", "x.fetch_add(1)", "x.exchange(a)"):
            with self.subTest(access=access):
                self.assert_found("runtime/a.cpp", SOURCE + f"int y = {access};\n", "memory order")
        self.assert_clean("runtime/a.cpp", SOURCE + "int y = x.load(std::memory_order_relaxed);\n")

    def test_a_source_that_nobody_builds_is_found(self):
        self.assert_found("runtime/b.cpp", SOURCE, "no meson.build names it")
        (self.root / "runtime/b.cpp").unlink()
        self.plant("tests/meson.build", "foreach name : ['thing']\n")
        self.assert_clean("tests/thing_test.cpp", SOURCE)

    def test_only_the_agreed_entries_stand_at_the_top(self):
        self.assert_found("notes.txt", "x\n", "stand at the top")


if __name__ == "__main__":
    unittest.main()
