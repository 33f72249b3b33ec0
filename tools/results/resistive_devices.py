#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does a published device cost in accuracy? Pulses in place, and write-verify, where it is the resistor itself."""
import results

CONFIG = "examples/resistive_devices.toml"
SHORT = ["train.steps=5", "sweep.seeds=[11, 12]", 'sweep.grid.device.preset=["idealized", "taox_hfox"]']

results.devices("resistive_devices", CONFIG, ["hardware.level=ideal"], SHORT)
