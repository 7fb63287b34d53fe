# SPDX-License-Identifier: Apache-2.0
"""dlsched from its command line. usage: dlsched_test.py DLSCHED"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

DLSCHED = sys.argv[1]


def run(*words):
    done = subprocess.run([DLSCHED, *words], capture_output=True, text=True, timeout=20,
                          check=False)
    return done.returncode, done.stdout, done.stderr


class Dlsched(unittest.TestCase):
    def test_the_list_can_be_asked_for_one_collective(self):
        status, out, _ = run("list", "bcast")
        self.assertEqual(status, 0)
        self.assertTrue(out)
        self.assertTrue(all(line.startswith("bcast ") for line in out.splitlines()), out)
        self.assertIn("binomial", out)
        self.assertIn("allreduce", run("list")[1])

    def test_the_steps_of_a_rank(self):
        status, out, _ = run("print", "barrier", "dissemination", "-p", "2", "--rank", "1")
        self.assertEqual(status, 0)
        self.assertIn("rank 1 of 2", out)
        self.assertIn("recv    signal from 0", out)
        self.assertNotIn("rank 0 of 2", out)

    def test_a_proof_says_what_was_proved(self):
        status, out, _ = run("verify", "bcast", "binomial", "-p", "1:4")
        # As many roots as ranks: 1 + 2 + 3 + 4.
        self.assertEqual(status, 0)
        self.assertEqual(out, "bcast binomial: right on 1 to 4 ranks "
                              "(10 operations proved exactly)\n")
        self.assertEqual(run("verify", "allreduce", "-p", "5", "--in-place")[0], 0)

    def test_sets_that_would_fill_the_memory_give_way_to_random_values(self):
        status, out, err = run("verify", "allreduce", "recursive_doubling", "-p", "9000")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out, "allreduce recursive_doubling: right on 9000 ranks "
                              "(1 operation proved with random values)\n")
        out = run("verify", "reduce", "binomial", "-p", "64", "--root", "5")[1]
        self.assertEqual(out, "reduce binomial: right on 64 ranks (1 operation proved exactly)\n")

    def test_predicted_times_with_what_is_chosen(self):
        status, out, _ = run("cost", "allreduce", "-p", "8", "--bytes", "1k,64k,1M")
        self.assertEqual(status, 0)
        self.assertEqual(out.splitlines()[1].split(), ["1k", "64k", "1m"])
        rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()[2:]}
        listed = run("list", "allreduce")[1].splitlines()
        grouped = [line.split()[1] for line in listed if "needs several groups" in line]
        self.assertEqual(list(rows) + grouped, [line.split()[1] for line in listed])
        self.assertEqual(grouped, ["hierarchical", "hierarchical_lanes"])
        chosen = [[name for name in rows if rows[name][i].endswith("*")] for i in range(3)]
        self.assertEqual(chosen, [["recursive_doubling"], ["recursive_doubling"], ["ring"]])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "machine.json")
            path.write_text(json.dumps({"latency_ns": 1000, "overhead_ns": 0, "cores": 0,
                                        "gap_ns_per_byte": 1}))
            # One message of 1,000 bytes, and a microsecond until the first is there.
            out = run("cost", "bcast", "-p", "2", "--bytes", "1000", "--machine", path)[1]
            self.assertIn("binomial                       2.00*", out)
            for text, part in (("{\n", "line 2: not JSON"), ("[]", "must be an object"),
                               ('{"latencyns": 1}', "unknown field 'latencyns'; did you mean "
                                                  "latency_ns?"),
                               ('{"switch_ns": -1}', "field 'switch_ns' must be a number"),
                               ('{"cores": 1.5}', "field 'cores' must be a whole number")):
                path.write_text(text)
                status, out, err = run("cost", "bcast", "--machine", path)
                self.assertEqual((status, out), (2, ""))
                self.assertIn(f"--machine: '{path}': {part}", err)

    def test_hierarchical_algorithms_are_told_the_groups(self):
        status, out, _ = run("verify", "allreduce", "hierarchical", "-p", "8", "--groups", "4x2")
        self.assertEqual((status, out), (0, "allreduce hierarchical: right on 8 ranks "
                                            "(1 operation proved exactly)\n"))
        self.assertEqual(run("verify", "all", "-p", "6", "--groups", "0,3,4/1,2,5")[0], 0)
        self.assertNotIn("hierarchical", run("verify", "all", "-p", "3")[1])
        out = run("print", "bcast", "hierarchical", "-p", "4", "--groups", "2", "--rank", "2")[1]
        self.assertIn("recv    output[0] from 0", out)
        self.assertIn("send    output[0] to 3", out)
        for words, part in ((("draw", "bcast", "hierarchical"),
                             "bcast hierarchical needs several groups, one of several ranks; "),
                            (("verify", "scan", "hierarchical", "--groups", "cyclic:2"),
                             "scan hierarchical needs several groups of consecutive ranks"),
                            (("cost", "bcast", "-p", "8", "--groups", "3x3"),
                             "'3x3' does not divide 8 ranks into groups; valid: 4, 2x4,")):
            with self.subTest(words=words):
                status, out, err = run(*words)
                self.assertEqual((status, out), (2, ""))
                self.assertIn(f"dlsched: --groups: {part}", err)

    def test_between_hosts_messages_cost_more(self):
        def costs(*words):
            lines = run("cost", "bcast", "-p", "8", "--bytes", "8", *words)[1].splitlines()[2:]
            return {line.split()[0]: float(line.split()[1].rstrip("*")) for line in lines}
        near, far = costs(), costs("--groups", "cyclic:2")
        self.assertGreater(far["binomial"], near["binomial"])
        self.assertLess(far["hierarchical"], far["binomial"])

    def test_drawings(self):
        with tempfile.TemporaryDirectory() as folder:
            for form, parse in (("svg", xml.dom.minidom.parseString), ("json", json.loads),
                                ("dot", lambda text: text.startswith("digraph"))):
                path = pathlib.Path(folder, "ring." + form)
                self.assertEqual(run("draw", "allreduce", "ring", "-p", "4", "-o", path)[0], 0)
                self.assertTrue(parse(path.read_text()))
        out = run("draw", "bcast", "binomial", "--format", "dot")[1]
        self.assertTrue(out.startswith("digraph"), out)

    def test_a_drawing_that_cannot_be_written_is_an_error(self):
        status, _, err = run("draw", "bcast", "binomial", "-o", "/no/such/x.svg")
        self.assertEqual((status, err), (1, "dlsched: '/no/such/x.svg' cannot be written\n"))

    def test_what_is_wrong_is_named_with_what_is_valid(self):
        for words, part in (
            (("list", "x"), "no collective 'x'; valid: barrier"),
            (("draw", "allreduce"), "name one algorithm of allreduce; valid:"),
            (("draw", "allreduce", "x"), "no algorithm 'x'; valid:"),
            (("verify", "bcast", "-p", "0"), "'0' is no number of ranks; valid: 1 to"),
            (("verify", "bcast", "-p", "4:2"), "'4:2' is no range"),
            (("print", "bcast", "binomial", "-p", "1:2"), "not a range"),
            (("print", "bcast", "binomial", "--root", "8"), "8 is no rank of 8"),
            (("print", "barrier", "tree", "--root", "1"), "barrier has no root"),
            (("print", "barrier", "tree", "--rank", "9"), "9 is no rank of 8"),
            (("verify", "bcast", "-p", "3:5", "--root", "3"), "3 is no rank of 3"),
            (("verify", "allreduce", "ring", "-p", "100000"), "too many steps and chunks"),
            (("cost", "bcast", "--bytes", "1k,x"), "--bytes: 'x' is no size"),
            (("cost", "all"), "name one collective"),
            (("cost", "bcast", "--machine", "/no/such"), "'/no/such' cannot be read"),
            (("draw", "bcast", "binomial", "-p", "5000"), "5000 ranks are too many to draw"),
            (("draw", "bcast", "binomial", "-o", "x.png"), "'png' is no form"),
            (("print", "bcast", "--rnak", "1"), "--rnak"),
            ((), "subcommand"),
        ):
            with self.subTest(words=words):
                status, out, err = run(*words)
                self.assertEqual((status, out), (2, ""))
                self.assertIn(part, err)
                self.assertEqual(err.count("\n"), 1, err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
