# SPDX-License-Identifier: Apache-2.0
"""A chip on a board of your own in the loop: its states are measured, its devices are pulsed, and the one trainer does the rest.

``nudge.Board`` is what a lab writes for its instruments, ``SimulatedBoard`` one with faults, ``calibrate`` and ``Twin`` compare it with its law,
``export_targets``, ``export_program``, ``export_vectors`` and ``Recorded`` write files for a bench.
"""

from .board_base import Board
from .board_export import Recorded, export_program, export_targets, export_vectors
from .board_simulated import SimulatedBoard
from .board_twin import Calibration, Twin, calibrate
from .dynamics import Nudge

__all__ = ["Board", "Calibration", "Nudge", "Recorded", "SimulatedBoard", "Twin", "calibrate", "export_program", "export_targets", "export_vectors"]
