#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does a published device cost in accuracy? Pulses in place, and write-verify, on the shipped digits."""
import results

CONFIG = "examples/digits_devices.toml"
SHORT = ["train.steps=5", "sweep.seeds=[11, 12]", 'sweep.grid.device.preset=["idealized", "taox_hfox"]']
IDEAL = ["hardware.level=ideal", "beta=0.5"]  # auto is chosen by the noise of nodes, which is not there

results.devices("digits_devices", CONFIG, IDEAL, SHORT)
