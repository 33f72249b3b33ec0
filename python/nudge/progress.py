# SPDX-License-Identifier: Apache-2.0
"""What a long call shows: a bar of tqdm where it is installed, else lines on standard error."""

import contextlib
import os
import sys
import time
import warnings

LATE = 2.0  # seconds after which a call that nobody asked for progress shows it


def _shown(event):
    """The numbers of an event that fit on a line."""
    names = ("loss", "validation_loss", "residual", "cosine")
    return {name: f"{event[name]:.4g}" for name in names if isinstance(event.get(name), float)}


def _seen():
    """Whether a person reads standard error: it is a terminal, or the cells of a notebook. NUDGE_PROGRESS=0 says no."""
    if os.environ.get("NUDGE_PROGRESS") == "0":
        return False
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel") or (sys.stderr is not None and sys.stderr.isatty())


class _Lines:
    """At most one line a second; where a person reads, one line that is written over."""

    def __init__(self):
        self.last, self.first, self.over, self.width = 0.0, None, _seen(), 0

    def __call__(self, event):
        now = time.monotonic()
        if self.first is None:
            self.first = now, event.get("done", 0)
        if event.get("done") != event.get("total") and now - self.last < 1:
            return
        self.last = now
        text = event.get("text") or "  ".join(f"{k} {v}" for k, v in _shown(event).items())
        line = (f"{event['done']}/{event['total']}  " if "done" in event else "") + text + self._left(event, now)
        print(f"\r{line.ljust(self.width)}" if self.over else line, end="" if self.over else "\n", file=sys.stderr, flush=True)
        self.width = len(line)

    def _left(self, event, now):
        """The time that is left at the rate so far."""
        start, done = self.first[0], event.get("done", 0) - self.first[1]
        seconds = (event["total"] - event["done"]) * (now - start) / done if done > 0 else 0
        return f"  {seconds:.0f} s left" if seconds >= 1 else ""

    def close(self):
        if self.over and self.width:
            print(file=sys.stderr, flush=True)


class _Bar:
    def __init__(self, tqdm):
        self.tqdm, self.bar = tqdm, None

    def __call__(self, event):
        if self.bar is None:  # its rate is that of what it sees
            self.bar = self.tqdm(total=event.get("total"), initial=event.get("done", 0), unit=event["event"])
        if "text" in event:
            self.bar.set_description_str(event["text"])
            self.bar.update(1)
            return
        self.bar.set_postfix(_shown(event), refresh=False)
        self.bar.update(event["done"] - self.bar.n)

    def close(self):
        if self.bar is not None:
            self.bar.close()


class _Late:
    """Shows nothing of a call that ends within ``LATE``."""

    def __init__(self, shown):
        self.shown, self.start = shown, time.monotonic()

    def __call__(self, event):
        if time.monotonic() - self.start >= LATE:
            self.shown(event)


def _display():
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tqdm's, that a notebook has no widgets
            from tqdm.auto import tqdm
    except ImportError:
        return _Lines()
    return _Bar(tqdm)


@contextlib.contextmanager
def watching(progress):
    """The callback of ``progress``: True, or None where a person reads; False; or a function of an event (a dict) that returns False to stop."""
    if progress is not True and not (progress is None and _seen()):
        yield None if progress is False else progress
        return
    display = _display()
    try:
        yield display if progress else _Late(display)
    finally:
        display.close()
