# SPDX-License-Identifier: Apache-2.0
"""Loads ``_core`` so that its threads wait for each other at full speed for microseconds, not milliseconds: beside other programs two
threads would take two to nine times as long as one (apps/main.cpp). OpenMP reads the variable while it is loaded; others see no change."""

import os

_own = "GOMP_SPINCOUNT" not in os.environ and "OMP_WAIT_POLICY" not in os.environ
if _own:
    os.environ["GOMP_SPINCOUNT"] = "2000"
try:
    from . import _core  # noqa: F401
finally:
    if _own:
        del os.environ["GOMP_SPINCOUNT"]
