# SPDX-License-Identifier: Apache-2.0
"""What a network written in Python costs beside its own functions: the share of a training's time that is spent outside of them, for layered
Hopfield networks of NumPy of several sizes. Run as PYTHONPATH=build/release/python OPENBLAS_NUM_THREADS=1 python3
bench/own_network.py. Processor time of the thread that trains, both times of one run: a busy machine changes the share little. What the reading
of the clock around every call adds outside of what it measures is measured on an empty method and taken off."""

import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python", "tests"))
import nudge  # noqa: E402
from test_train_own import Hopfield  # noqa: E402

spent = [0.0, 0]


def timed(method):
    def call(self, *values):
        start = time.thread_time()
        out = method(self, *values)
        spent[0] += time.thread_time() - start
        spent[1] += 1
        return out

    return call


class Timed(Hopfield):
    pass


for name in ("force", "jvp", "vjp", "parameter_gradient", "energy"):
    setattr(Timed, name, timed(getattr(Hopfield, name)))


class Empty:
    def plain(self, value):
        return value

    watched = timed(plain)


def watching(times=100000):
    """s that watching a call adds outside of its own time"""
    empty = Empty()

    def loop(method):
        start, inside = time.thread_time(), spent[0]
        for _ in range(times):
            method(0)
        return (time.thread_time() - start - (spent[0] - inside)) / times

    return min(loop(empty.watched) for _ in range(3)) - min(loop(empty.plain) for _ in range(3))


def share(features, hidden, batch, steps=12, warm=3):
    rng = np.random.default_rng(0)
    data = rng.normal(size=(512, features)).astype(np.float32), rng.integers(0, 10, 512)
    system = Timed({"W1": rng.normal(size=(features, hidden)) / np.sqrt(features), "W2": rng.normal(size=(hidden, 10)) / np.sqrt(hidden),
                    "b1": np.zeros((1, hidden)), "b2": np.zeros((1, 10))})
    marks = []

    def progress(event):
        marks.append((time.thread_time(), *spent))

    nudge.train(system, data, train__steps=steps, train__batch=batch, train__evaluate_every=steps,
                data__validation_samples=batch, relaxation__free_steps=60, relaxation__nudged_steps=30, task__references="off", threads=1,
                progress=progress)
    first, last = marks[warm - 1], marks[steps - 2]
    whole, own, calls = (b - a for a, b in zip(first, last))
    whole -= calls * watching()
    return whole / (steps - 1 - warm), own / whole, calls / (steps - 1 - warm)


if __name__ == "__main__":
    print("features hidden batch   ms/step  calls  in its functions  overhead of them")
    for sizes in ((64, 32, 16), (64, 128, 16), (784, 128, 16), (784, 256, 64), (784, 512, 128)):
        whole, own, calls = share(*sizes)
        print("{:8} {:6} {:5} {:9.2f} {:6.0f} {:16.1%} {:17.1%}".format(*sizes, 1e3 * whole, calls, own, 1 / own - 1))
