# SPDX-License-Identifier: Apache-2.0
"""What ``progress=True`` shows: a bar of tqdm where it is installed, else lines on standard error."""

import contextlib
import sys
import time


def _shown(event):
    """The numbers of an event that fit on a line."""
    names = ("loss", "validation_loss", "residual", "cosine")
    return {name: f"{event[name]:.4g}" for name in names if isinstance(event.get(name), float)}


class _Lines:
    """At most one line a second."""

    def __init__(self):
        self.last = 0.0

    def __call__(self, event):
        now = time.monotonic()
        if event.get("done") != event.get("total") and now - self.last < 1:
            return
        self.last = now
        text = event.get("text") or "  ".join(f"{k} {v}" for k, v in _shown(event).items())
        place = f"{event['done']}/{event['total']}  " if "done" in event else ""
        print(place + text, file=sys.stderr, flush=True)


class _Bar:
    def __init__(self, tqdm):
        self.tqdm, self.bar = tqdm, None

    def __call__(self, event):
        if self.bar is None:
            self.bar = self.tqdm(total=event.get("total"), unit=event["event"])
        if "text" in event:
            self.bar.set_description_str(event["text"])
            self.bar.update(1)
            return
        self.bar.set_postfix(_shown(event), refresh=False)
        self.bar.update(event["done"] - self.bar.n)

    def close(self):
        if self.bar is not None:
            self.bar.close()


@contextlib.contextmanager
def watching(progress):
    """The callback of ``progress``: None, True, or a function of an event (a dict) that returns False to stop."""
    if progress is not True:
        yield None if progress is False else progress
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield _Lines()
        return
    bar = _Bar(tqdm)
    try:
        yield bar
    finally:
        bar.close()
