# SPDX-License-Identifier: Apache-2.0
"""What a cost written in Python adds to the training of a network of the program, beside the time of its own functions: the same squared
error once the program's, once as a nudge.Cost, in turns. Run as PYTHONPATH=build/release/python OPENBLAS_NUM_THREADS=1 python3 bench/own_cost.py.
Processor time of the thread that trains, which other programs change little; the least of several turns is compared."""

import time

import numpy as np

import nudge

spent = [0.0, 0]


class Squared(nudge.Cost):
    def value(self, y, target):
        start = time.thread_time()
        out = 0.5 * float(np.sum((y - target) ** 2))
        spent[0] += time.thread_time() - start
        spent[1] += 1
        return out

    def gradient(self, y, target):
        start = time.thread_time()
        out = y - target
        spent[0] += time.thread_time() - start
        spent[1] += 1
        return out


def step(cost, data, hidden, batch, steps, warm=3):
    """(s a step, of them in its functions, calls a step)"""
    marks = []

    def progress(event):
        marks.append((time.thread_time(), *spent))

    nudge.train({"network.kind": "hopfield", "hopfield.hidden": hidden}, data, cost=cost, estimator="ep", train__steps=steps, train__batch=batch,
                train__evaluate_every=steps, data__validation_samples=batch, data__side_by_side=batch, relaxation__free_steps=60,
                relaxation__nudged_steps=30, task__references="off", threads=1, progress=progress)
    first, last = marks[warm - 1], marks[steps - 2]
    return [(b - a) / (steps - 1 - warm) for a, b in zip(first, last)]


if __name__ == "__main__":
    print("features hidden batch   program ms   own ms   in its functions ms   calls   overhead of a step")
    for features, hidden, batch in ((64, [128], 16), (784, [128], 16), (784, [512], 64), (784, [512, 512], 64)):
        rng = np.random.default_rng(0)
        data = rng.normal(size=(512, features)).astype(np.float32), rng.integers(0, 10, 512)
        steps = 400 if features * hidden[0] < 2e5 else 12
        turns = [(step(None, data, hidden, batch, steps), step(Squared(), data, hidden, batch, steps)) for _ in range(3)]
        base = min(one[0][0] for one in turns)
        whole, own, calls = min((one[1] for one in turns), key=lambda one: one[0] - one[1])
        print(f"{features:8} {'-'.join(map(str, hidden)):>7} {batch:5} {1e3 * base:12.2f} {1e3 * whole:8.2f} {1e3 * own:21.2f} {calls:7.0f} "
              f"{(whole - own) / base - 1:18.1%}")
