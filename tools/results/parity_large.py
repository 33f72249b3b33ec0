#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The comparison of parity.py at C=128, M=512, T=64."""
import parity

parity.main("parity_large")
