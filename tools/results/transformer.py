#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The comparison of parity.py for the transformer whose layers are nodes."""
import parity

parity.main("transformer")
