#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does EP classify as well as backprop? A network of resistors on the shipped digits, tuned alike, fresh seeds, test part."""
import results

CONFIG = "examples/compare_resistive.toml"
SHORT = ["train.steps=5", "compare.tuning_seeds=[1]", "compare.test_seeds=[11, 12]", "compare.grid.beta=[0.5]",
         "compare.grid.train.learning_rate=[1e-3, 2e-3]"]

results.comparison("resistive", CONFIG, SHORT)
