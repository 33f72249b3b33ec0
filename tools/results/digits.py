#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does EP classify as well as backprop? Hopfield network on the shipped digits, tuned alike, fresh seeds, test part."""
import results

CONFIG = "examples/compare_digits.toml"
SHORT = ["train.steps=5", "compare.test_seeds=[11, 12]", "compare.tuning_seeds=[1]", "compare.grid.beta=[0.3]",
         "compare.grid.train.learning_rate=[1e-3, 2e-3]"]

results.comparison("digits", CONFIG, SHORT)
