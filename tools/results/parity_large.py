#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The comparison of parity.py at the founding note's size."""
import parity

parity.main("parity_large")
