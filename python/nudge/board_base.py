# SPDX-License-Identifier: Apache-2.0
"""What a lab writes for its own instruments: ``nudge.Board``."""

import warnings

__all__ = ["Board", "METHODS"]

METHODS = {"settle": "settle(x, nudge), which returns the measured states (rows, cols)",
            "read": "read(), which returns {array: conductances in S}",
            "write": "write(pulses), which sends {array: whole pulses, negative: down}"}


class Board:
    """A chip in the loop. Implement three methods for your instruments, and give it to ``nudge.train(law, data, board=board)``.

    The chip owns its conductances: the program holds what ``read`` returns. ``law`` is a ``nudge.Dynamics`` with the equations that the chip was
    built for. Its local rule makes a gradient of measured states, ``crossbar.update`` makes pulses of the gradient, and ``write`` sends them:

        x, nudge → settle → z* , z₊, z₋ → ⟨·, ∂F/∂θ⟩ → optimizer → update rule → pulses → write → read

    **Arrays.** A parameter ``w`` of the law is two arrays, "w+" and "w-", with w = (G⁺ − G⁻)/k and k = (g_max − g_min)/w_max. A parameter in
    ``law.conductances`` is one array, "w", with w = G/k and k = g_max/w_max. Parameters that ``law.on_devices`` leaves out are numbers; the board
    finds them in ``self.numbers``.

    - g_min, g_max: the window of a device, S.
    - pulses: mean pulses from g_min to g_max, in which the update rule counts.
    - w_max: the weight at the end of the window, in the units of the law.
    - beta: size of a nudge where the config says none. The nudge must stand out of the noise of ``settle``.
    - settings: other keys of the section [device], such as ``{"pulse_voltage_up": "1 V"}``.
    - twin: the ``nudge.board.Twin`` that watches the run; None: nothing does.

    A missing method, a wrong shape or an unknown array raises InputError. So does a nudge that moves no state, and pulses that change no read, beyond the
    noise: the first of a run are compared with the law. Where noise hides them the run warns. A state that is not finite costs its step, with a warning. An exception of
    an instrument goes through; ``nudge.resume(file, system=law, board=board)`` continues from the last checkpoint. ``nudge.board.SimulatedBoard`` is
    an example with faults.
    """

    g_min = None
    g_max = None
    pulses = None
    w_max = None
    beta = 0.1
    settings = {}
    numbers = {}
    twin = None

    def settle(self, x, nudge):
        """Applies inputs and a nudge, waits, and returns the measured states.

        - x: (rows, features), samples one after the other.
        - nudge: None for a free phase, or a ``nudge.Nudge``: ``value`` (rows, outputs) is what drives the outputs, in units of the state per τ.

        Returns (rows, cols), in the units of the law. A ``Calibration`` turns raw readings into them.
        """
        raise NotImplementedError(METHODS["settle"])

    def read(self):
        """Returns {array: conductances (inputs, outputs)} of all arrays, S."""
        raise NotImplementedError(METHODS["read"])

    def write(self, pulses):
        """Sends pulses: {array: whole numbers (inputs, outputs)}, > 0 up, < 0 down, 0 none. Only arrays that get any are there."""
        raise NotImplementedError(METHODS["write"])

    def wait(self, seconds):
        """Lets time pass between writes and reads. By default nothing happens: on a bench time passes by itself."""

    def left(self, report):
        """Called once when the states leave what the twin predicts. By default a warning; raise to stop the run. report: ``Twin.report()``."""
        warnings.warn("the chip has left its twin: " + report["verdict"], RuntimeWarning, stacklevel=2)
