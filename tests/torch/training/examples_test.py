# SPDX-License-Identifier: Apache-2.0
"""The examples of tools/examples/torch as a new user runs them."""
import re

import training_case

EXAMPLES = training_case.TOP / "tools" / "examples" / "torch"
# By hand, for three ranks.
COLLECTIVES = """\
all_gather: rank 0: [1, 1, 1, 1] -> [[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]]
all_gather: rank 1: [2, 2, 2, 2] -> [[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]]
all_gather: rank 2: [3, 3, 3, 3] -> [[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]]
all_reduce: rank 0: [1, 1, 1, 1] -> [6, 6, 6, 6]
all_reduce: rank 1: [2, 2, 2, 2] -> [6, 6, 6, 6]
all_reduce: rank 2: [3, 3, 3, 3] -> [6, 6, 6, 6]
barrier: rank 0: here -> everybody was here
barrier: rank 1: here -> everybody was here
barrier: rank 2: here -> everybody was here
broadcast: rank 0: [1, 1, 1, 1] -> [1, 1, 1, 1]
broadcast: rank 1: [2, 2, 2, 2] -> [1, 1, 1, 1]
broadcast: rank 2: [3, 3, 3, 3] -> [1, 1, 1, 1]
gather: rank 0: [1, 1, 1, 1] -> [[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]]
gather: rank 1: [2, 2, 2, 2] -> nothing
gather: rank 2: [3, 3, 3, 3] -> nothing
reduce: rank 0: [1, 1, 1, 1] -> [6, 6, 6, 6]
reduce: rank 1: [2, 2, 2, 2] -> nothing
reduce: rank 2: [3, 3, 3, 3] -> nothing
reduce_scatter: rank 0: [[1, 1], [10, 10], [100, 100]] -> [6, 6]
reduce_scatter: rank 1: [[2, 2], [20, 20], [200, 200]] -> [60, 60]
reduce_scatter: rank 2: [[3, 3], [30, 30], [300, 300]] -> [600, 600]
scatter: rank 0: [[0, 0, 0, 0], [10, 10, 10, 10], [20, 20, 20, 20]] -> [0, 0, 0, 0]
scatter: rank 1: nothing -> [10, 10, 10, 10]
scatter: rank 2: nothing -> [20, 20, 20, 20]
"""


class Examples(training_case.TrainingCase):
    def test_collectives_show_what_they_do(self):
        job = self.run_ranks(3, EXAMPLES / "collectives.py")
        self.assertEqual(job.returncode, 0, job.err)
        self.assertEqual(sorted(job.out.splitlines()), COLLECTIVES.splitlines())

    def test_an_operation_that_is_not_there_is_named(self):
        job = self.run_ranks(1, EXAMPLES / "collectives.py", "all_to_one")
        self.assertEqual(job.returncode, 1, job.err)
        self.assertIn("there is no all_to_one; valid: broadcast,", job.err)

    def train(self, ranks):
        job = self.run_ranks(ranks, EXAMPLES / "train_ddp.py", "--epochs", 3)
        self.assertEqual(job.returncode, 0, job.err)
        return [(float(loss), float(part)) for loss, part in re.findall(
            r"epoch \d: loss ([\d.]+), accuracy ([\d.]+) %", job.out)]

    def test_any_number_of_ranks_learns_the_same(self):
        two, three = self.train(2), self.train(3)
        self.assertEqual(len(two), 3)
        self.assertLess(two[-1][0], 0.5 * two[0][0])
        self.assertGreater(two[-1][1], 80)
        for one, other in zip(two, three):
            self.assertAlmostEqual(one[0], other[0], delta=0.02)


if __name__ == "__main__":
    training_case.main()
