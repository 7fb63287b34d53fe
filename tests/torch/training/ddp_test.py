# SPDX-License-Identifier: Apache-2.0
"""Data parallel training: nets in jobs of two and four ranks, many checks in each job, since every
process needs seconds to import torch.

usage: ddp_test.py [--all]: the long forms
"""
import sys

import training_case


class TwoRanks(training_case.TrainingCase):
    def test_nets_hooks_and_optimizers(self):
        self.assert_checks_pass(2, "ddp_rank.py")

    def test_runs_and_shards(self):
        self.assert_checks_pass(2, "run_rank.py", STEPS="5000" if IS_FULL else "500")
        if IS_FULL:
            self.assert_checks_pass(2, "shard_rank.py")


class FourRanks(training_case.TrainingCase):
    def test_nets_and_groups(self):
        checks = () if IS_FULL else (
            "convolutional_net", "transformer_block", "optimizer_state_in_shares",
            "groups_of_half_the_ranks")
        self.assert_checks_pass(4, "ddp_rank.py", *checks)

    def test_shards_of_groups(self):
        if IS_FULL:
            self.assert_checks_pass(3, "shard_rank.py")
            self.assert_checks_pass(3, "run_rank.py")
        self.assert_checks_pass(4, "shard_rank.py")


if __name__ == "__main__":
    IS_FULL = "--all" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--all"]
    training_case.main()
