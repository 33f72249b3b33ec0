# SPDX-License-Identifier: Apache-2.0
"""Exceptions: one per exit code of the program."""


class Error(Exception):
    """Base of what nudge raises."""

    exit_code = 1


class InternalError(Error, RuntimeError):
    """A bug of nudge (exit code 1). Please report it with the message and ``nudge.build()``."""


class InputError(Error, ValueError):
    """The input is wrong (exit code 2): where, what, the rule that is broken, and the nearest name.

    All problems of a config are in one message, a line each.
    """

    exit_code = 2


class NumericalError(Error, ArithmeticError):
    """A computation failed numerically (exit code 3). What there is of the result is in ``result``.

    Examples: every step was rejected, a reference did not converge, no point of a sweep ended well.
    """

    exit_code = 3

    def __init__(self, message, result=None):
        super().__init__(message)
        self.result = result


class OutputError(Error, OSError):
    """Results could not be written (exit code 4), or the system refused what a run needs."""

    exit_code = 4
