# SPDX-License-Identifier: Apache-2.0
"""What a cost written in Python adds to the training of a network of the program, beside the time of its own functions: the same squared
error once the program's, once as a nudge.Cost, in turns. Run as PYTHONPATH=build/release/python OPENBLAS_NUM_THREADS=1 python3 bench/own_cost.py.
Processor time of the thread that trains, which other programs change little; the least of several turns is compared. The functions are timed by
themselves, on arrays of the same shape: a clock that is read around each of their calls takes longer than what it is to measure."""

import time

import numpy as np

import nudge


class Squared(nudge.Cost):
    calls = 0

    def value(self, y, target):
        return 0.5 * float(np.sum((y - target) ** 2))

    def gradient(self, y, target):
        return y - target


class Counted(Squared):
    def value(self, y, target):
        self.calls += 1
        return super().value(y, target)

    def gradient(self, y, target):
        self.calls += 1
        return super().gradient(y, target)


def step(cost, data, hidden, batch, steps, warm=3):
    """s of a step"""
    marks = []
    nudge.train({"network.kind": "hopfield", "hopfield.hidden": hidden}, data, cost=cost, estimator="ep", train__steps=steps, train__batch=batch,
                train__evaluate_every=steps, data__validation_samples=batch, data__side_by_side=batch, relaxation__free_steps=60,
                relaxation__nudged_steps=30, task__references="off", threads=1, progress=lambda event: marks.append(time.thread_time()))
    return (marks[steps - 2] - marks[warm - 1]) / (steps - 1 - warm)


def alone(function, batch, times=20000):
    """s of a call of a function of y and target"""
    y, target = np.random.default_rng(1).normal(size=(2, batch, 10))
    start = time.thread_time()
    for _ in range(times):
        function(y, target)
    return (time.thread_time() - start) / times


if __name__ == "__main__":
    print("features hidden batch   program ms   own ms   its functions ms   calls   overhead of a step   of a call, us")
    for features, hidden, batch in ((64, [128], 16), (784, [128], 16), (784, [512], 64), (784, [512, 512], 64)):
        rng = np.random.default_rng(0)
        data = rng.normal(size=(512, features)).astype(np.float32), rng.integers(0, 10, 512)
        steps = 400 if features * hidden[0] < 2e5 else 12
        counted = Counted()
        step(counted, data, hidden, batch, steps)
        calls = counted.calls / steps
        base, own = (min(times) for times in zip(*((step(None, data, hidden, batch, steps), step(Squared(), data, hidden, batch, steps)) for _ in range(5))))
        functions = min((calls - 1) * alone(Squared().gradient, batch) + alone(Squared().value, batch) for _ in range(3))  # one value a step
        print(f"{features:8} {'-'.join(map(str, hidden)):>7} {batch:5} {1e3 * base:12.2f} {1e3 * own:8.2f} {1e3 * functions:18.3f} {calls:7.0f} "
              f"{(own - functions) / base - 1:20.1%} {1e6 * (own - functions - base) / calls:15.2f}")
