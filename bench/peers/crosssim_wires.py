#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Crossbars with wire resistance: nudge's LineSolver beside CrossSim's solver and a sparse LU of all nodes, run live.

N x N devices, conductances and row voltages drawn with a fixed seed; every wire segment, those to the driver and to the
sense amplifier included, has the same resistance; rows driven at one end, columns sensed at the far one at 0 V. Reference:
Kirchhoff's current law at all 2 N² nodes, written here from scratch and factored by scipy's SuperLU; the script stops if
its currents do not return the charge that the drivers supply to 1e-10.

Deviation: largest over all columns and vectors from the reference, over the largest reference current. Time: CPU time per
vector on one thread, median over rounds that alternate all contestants; nudge builds its solver anew for every vector.
Both processes first free 31 MiB, so that glibc keeps freed arrays (else 128 x 128 doubles are mapped anew every time).
CrossSim is called at its circuit solver (no converters, no noise), with the relaxation gamma of 1, 0.9, ... 0.3 that takes
the fewest steps for these vectors (its default 1 need not converge); it is printed unless it is 1.

    python3 bench/peers/crosssim_wires.py --source cross-sim --build build/release
"""
import os

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"  # before numpy reads them

import argparse
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

import drivers

VERR = (1e-4, 1e-8)       # CrossSim's criterion: largest voltage error, row voltages up to 1
TOLERANCE = (1e-4, 1e-10)  # nudge's: relative residual; its default is the second
GAMMAS = (1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)


def nodal_matrix(conductance, ohm):
    """Kirchhoff's current law: row nodes i M + j, then column nodes N M + i M + j; and the conductance of a segment."""
    n, m = conductance.shape
    g = 1 / ohm
    row = np.arange(n * m).reshape(n, m)
    column = row + n * m

    def joined(a, b, value):
        """Elements between nodes a and b: into both diagonals, and with the other sign off them."""
        a, b, value = a.ravel(), b.ravel(), np.broadcast_to(value, a.shape).ravel()
        return np.concatenate([a, b, a, b]), np.concatenate([a, b, b, a]), np.concatenate([value, value, -value, -value])

    def grounded(a):
        return a, a, np.full(a.size, g)

    parts = [joined(row, column, conductance), joined(row[:, :-1], row[:, 1:], g), joined(column[:-1], column[1:], g),
             grounded(row[:, 0]), grounded(column[-1])]
    i, j, value = (np.concatenate(part) for part in zip(*parts))
    return sparse.csc_matrix((value, (i, j)), shape=(2 * n * m, 2 * n * m)), g


class SparseLU:
    def __init__(self, conductance, ohm):
        self.shape = conductance.shape
        matrix, self.g = nodal_matrix(conductance, ohm)
        self.factor = linalg.splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0, options={"SymmetricMode": True})

    def solve(self, volts):
        n, m = self.shape
        rhs = np.zeros(2 * n * m)
        rhs[np.arange(n) * m] = self.g * volts
        nodes = self.factor.solve(rhs)
        currents = self.g * nodes[-m:]
        supplied = np.sum(self.g * (volts - nodes[:n * m:m]))
        if abs(supplied - currents.sum()) > 1e-10 * currents.sum():
            sys.exit(f"the sparse LU loses charge: {supplied} A in, {currents.sum()} A out")
        return currents

    def solve_all(self, volts):
        start = time.process_time()
        currents = np.array([self.solve(v) for v in volts])
        return time.process_time() - start, currents


class CrossSim:
    """CrossSim's array (not interleaved, current from the input line), held to one criterion."""

    def __init__(self, conductance, ohm, verr, gamma):
        from simulator import CrossSimParameters
        from simulator.backend import ComputeBackend
        from simulator.circuits.array import NoninterleavedInputSourceArray
        ComputeBackend(use_gpu=False)
        params = CrossSimParameters()
        params.core.style = "OFFSET"
        self.unit = 1 / params.xbar.device.Rmin  # conductances are given in units of 1/Rmin
        parasitics = params.xbar.array.parasitics
        parasitics.enable = True
        parasitics.Rp_row = parasitics.Rp_col = ohm
        params.simulation.Verr_th_mvm = verr
        params.simulation.relaxation_gamma = gamma
        self.gamma, self.array = gamma, NoninterleavedInputSourceArray(params)
        self.matrix = np.ascontiguousarray(conductance.T) / self.unit  # (outputs, inputs)

    def steps(self, volts):
        """Steps of its relaxation for all vectors, infinite if one does not converge within its limit of steps."""
        metric, count = self.array._error_metric, 0  # asked once per step

        def counted(*values, **named):
            nonlocal count
            count += 1
            return metric(*values, **named)

        self.array._error_metric = counted
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                for v in volts:
                    self.array.solve_mvm(v, self.matrix)
        except RuntimeError:
            return float("inf")
        finally:
            del self.array._error_metric
        return count

    def solve_all(self, volts):
        start = time.process_time()
        currents = [self.array.solve_mvm(v, self.matrix) for v in volts]
        return time.process_time() - start, np.array(currents) * self.unit


class Nudge:
    """The driver, one process per crossbar, asked once per round."""

    def __init__(self, program, conductance, ohm, volts):
        self.shape = (len(volts), conductance.shape[1])
        self.process = subprocess.Popen([str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        head = np.array([*conductance.shape, len(volts)], dtype=np.int64)
        self.send(head.tobytes() + np.float64(ohm).tobytes() + conductance.tobytes() + volts.tobytes())

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def solve_all(self, tolerance):
        self.send(np.float64(tolerance).tobytes())
        count = 1 + self.shape[0] * self.shape[1]
        values = np.frombuffer(self.process.stdout.read(8 * count))
        if values.size != count:
            sys.exit(f"the driver ended with status {self.process.wait()}")
        return values[0], values[1:].reshape(self.shape)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def contest(size, ohm, args, program):
    """Rows (name, deviation, ms per vector or None) of one crossbar."""
    rng = np.random.default_rng([args.seed, size])
    conductance = rng.uniform(1e-6, 1e-4, (size, size))
    volts = rng.uniform(0, 1, (args.vectors, size))
    start = time.process_time()
    lu = SparseLU(conductance, ohm)
    factoring = time.process_time() - start
    reference = lu.solve_all(volts)[1]
    nudge = Nudge(program, conductance, ohm, volts)
    runs, failed = {"sparse LU": lambda: lu.solve_all(volts)}, []
    for verr in VERR:
        steps, peer = min(((p.steps(volts), p) for p in (CrossSim(conductance, ohm, verr, g) for g in GAMMAS)),
                          key=lambda pair: pair[0])
        if steps == float("inf"):
            failed.append((f"CrossSim, Verr {verr:.0e}: no gamma converged", None, None))
            continue
        name = f"CrossSim, Verr {verr:.0e}" + (f", gamma {peer.gamma:g}" if peer.gamma != 1 else "")
        runs[name] = lambda peer=peer: peer.solve_all(volts)
    for tolerance in TOLERANCE:
        runs[f"nudge, tolerance {tolerance:.0e}"] = lambda tolerance=tolerance: nudge.solve_all(tolerance)
    seconds, currents = {name: [] for name in runs}, {}
    for _ in range(args.rounds):
        for name, run in runs.items():
            spent, currents[name] = run()
            seconds[name].append(spent / len(volts))
    nudge.close()

    def deviation(values):
        return np.max(np.abs(values - reference)) / np.max(np.abs(reference))

    rows = [("ideal wires", deviation(volts @ conductance), None)]
    rows += [(name, deviation(currents[name]), 1e3 * statistics.median(seconds[name])) for name in runs]
    rows[1] = (f"sparse LU, after {1e3 * factoring:.0f} ms of factoring", None, rows[1][2])
    return rows + failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", required=True, type=pathlib.Path, help="a checkout of CrossSim")
    parser.add_argument("--build", required=True, type=pathlib.Path, help="nudge's build folder")
    parser.add_argument("--sizes", type=int, nargs="+", default=[32, 64, 128])
    parser.add_argument("--ohms", type=float, nargs="+", default=[0.5, 1, 2])
    parser.add_argument("--vectors", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if not (args.source / "simulator" / "circuits" / "array").is_dir():
        sys.exit(f"--source {args.source}: no folder simulator/circuits/array there")
    if not (args.build / "compile_commands.json").is_file():
        sys.exit(f"--build {args.build}: no compile_commands.json there; build nudge first")
    sys.path.insert(0, str(args.source.resolve()))
    program = drivers.nudge_driver(args.build.resolve(), "crosssim_wires")
    np.empty(31 << 20, dtype=np.uint8)  # freed at once
    print("| size | ohm | | largest deviation | ms per vector |\n|---|---|---|---|---|")
    for size in args.sizes:
        for ohm in args.ohms:
            for name, off, ms in contest(size, ohm, args, program):
                off, ms = "–" if off is None else f"{off:.1e}", "–" if ms is None else f"{ms:.3g}"
                print(f"| {size} | {ohm:g} | {name} | {off} | {ms} |", flush=True)


if __name__ == "__main__":
    main()
