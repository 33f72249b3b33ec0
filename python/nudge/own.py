# SPDX-License-Identifier: Apache-2.0
"""Gradcheck and sweeps of forces of one's own: what ``nudge.gradcheck`` and ``nudge.sweep`` do with a ``Dynamics``."""

import itertools
import math

import numpy as np
import xarray as xr

from .dynamics import ELSEWHERE, Dynamics, estimate, settle
from .errors import InputError

__all__ = ["gradcheck_rows", "sweep_table"]

_MOST_FOR_SPECTRUM = 512  # a dense J of more numbers than 512² takes longer than the estimators


def _default_estimators(dynamics):
    from . import _core

    left_out = ["implicit_dense", *ELSEWHERE] + ([] if dynamics.contrastive else ["ep_contrastive"])
    return [name for name in _core.estimators() if name not in left_out]


def _compared(found, exact):
    """cosine, relative L2 and share of equal signs of two flat gradients; NaN cosine where one of them is zero."""
    sizes = np.linalg.norm(found) * np.linalg.norm(exact)
    scale = np.linalg.norm(exact)
    return {
        "cosine": float(found @ exact / sizes) if sizes > 0 else math.nan,
        "relative_l2": float(np.linalg.norm(found - exact) / scale) if scale > 0 else math.nan,
        "sign_agreement": float(np.mean(np.sign(found) == np.sign(exact))),
    }


def _flat(gradient):
    return np.concatenate([one.ravel() for one in gradient.values()])


def _rows_of(name, gradient, exact, evaluations):
    pairs = [("all", _flat(gradient), _flat(exact))]
    if len(exact) > 1:
        pairs += [(group, gradient[group].ravel(), exact[group].ravel()) for group in exact]
    return [{"estimator": name, "group": group, **_compared(a, b), "snr": math.nan, "force_evaluations": evaluations} for group, a, b in pairs]


def _differences(dynamics, cost, z0, entries, options):
    """Central differences (C(θ + h) − C(θ − h))/2h of a few entries of every parameter, each by two settlings, and which entries.
    h = 1e-5: the truncation is h² and the rounding 1e-16/h, both 1e-10 and less of numbers of the size of 1."""
    h, rng, out, places = 1e-5, np.random.default_rng(0), {}, {}
    for name, value in list(dynamics.parameters.items()):
        value = np.asarray(value, np.float64)
        places[name] = np.sort(rng.choice(value.size, min(entries, value.size), replace=False))
        found = []
        for place in places[name]:
            losses = []
            for sign in (1, -1):
                moved = value.copy()
                moved.flat[place] += sign * h
                dynamics.parameters[name] = moved
                try:
                    losses.append(cost.value(settle(dynamics, z0, **options)[0]))
                finally:
                    dynamics.parameters[name] = value
            found.append((losses[0] - losses[1]) / (2 * h))
        out[name] = np.asarray(found)
    return out, places


def _spectrum(dynamics, z, options):
    """(asymmetry |J − Jᵀ|/|J|, abscissa, of Euler steps their decay max |1 + ελ|) of J at an equilibrium z, from its columns; {} for large states."""
    n = z.size
    if n > _MOST_FOR_SPECTRUM:
        return {}
    jacobian = np.empty((n, n))
    for column in range(n):
        v = np.zeros(n)
        v[column] = 1
        jacobian[:, column] = np.asarray(dynamics.jvp(z, v.reshape(z.shape))).ravel()
    values = np.linalg.eigvals(jacobian)
    facts = {"asymmetry": float(np.linalg.norm(jacobian - jacobian.T) / np.linalg.norm(jacobian)), "abscissa": float(values.real.max())}
    if options.get("solver", "euler") == "euler":
        facts["decay"] = float(np.abs(1 + options.get("step", 0.3) * values).max())
    return facts


def _error(found, wanted):
    """|found − wanted| over |wanted|."""
    return float(np.linalg.norm(found - wanted) / max(np.linalg.norm(wanted), np.finfo(float).tiny))


def _derivative_faults(dynamics, z):
    """Sentences on derivatives at z that are not what they should be, each tried in one random direction.
    Central differences with h = 1e-5 are wrong by h² F‴ and by rounding/h, 1e-10 of smooth forces of the size of 1: 1e-4 and more is a fault.
    Where the two one-sided differences are apart by more than 1e-3 (a kink, single precision, a random force) they judge nothing."""
    h, rng = 1e-5, np.random.default_rng(1)
    v, u = rng.normal(size=(2, *z.shape))
    jv, ju = np.asarray(dynamics.jvp(z, v)), np.asarray(dynamics.vjp(z, u))
    below, middle, above = (np.asarray(dynamics.force(z + sign * h * v)) for sign in (-1, 0, 1))
    slope, faults = (above - below) / (2 * h), []
    smooth = np.linalg.norm(above - 2 * middle + below) < 1e-3 * np.linalg.norm(above - below)
    if smooth and (off := _error(jv, slope)) > 1e-4:
        faults.append(f"jvp differs from central differences of force by {100 * off:.2g} %")
    sides = np.linalg.norm(u) * np.linalg.norm(jv)  # 1e-5: single precision has 1e-7
    if dynamics.conservative and abs(np.sum(u * jv) - np.sum(v * np.asarray(dynamics.jvp(z, u)))) > 1e-5 * sides:
        faults.append("J is not symmetric, so force has no energy (derive from nudge.Dynamics, with vjp)")
    elif abs(np.sum(u * jv) - np.sum(v * ju)) > 1e-5 * sides:
        faults.append("vjp is not the transpose of jvp")
    return faults


def _faults(dynamics, z, rows, settled):
    """"WRONG: …" where a derivative of the dynamics is; empty where none is seen. A gradient is held against the loss only where the
    phase has settled to a residual of 1e-6. What is left of a transient then changes differences of the loss by 1e-6 times the slowest
    mode's time, 1 % for a mode of 10⁴ steps."""
    faults = _derivative_faults(dynamics, z)
    for row in rows if settled else ():
        one_group = row["group"] != "all" or len(dynamics.parameters) == 1
        if row["estimator"] == "finite_difference" and one_group and row["relative_l2"] > 1e-2:
            name = row["group"] if row["group"] != "all" else next(iter(dynamics.parameters))
            faults.append(f"the gradient of {name!r} differs from central differences of the loss by {100 * row['relative_l2']:.2g} %")
    return f"WRONG: {'; '.join(faults)}. " if faults else ""


def _once(what, values):
    """The list; InputError when a value stands in it twice: the same run twice is no second, independent one."""
    values = list(values)
    for i, value in enumerate(values):
        if value in values[:i]:
            raise InputError(f"{what}[{i}] = {value!r} (is [{values.index(value)}] again: list each once)")
    return values


def gradcheck_rows(dynamics, cost, z0=None, estimators=None, finite_difference_entries=4, progress=None, **options):
    """{"rows", "diagnostics", "finite"} as the gradcheck of a config: see ``nudge.gradcheck``."""
    if cost is None:
        raise InputError("gradcheck of a Dynamics: no cost (cost=nudge.SquaredError(target), or an object with value(z) and gradient(z))")
    if not dynamics.parameters:
        raise InputError("gradcheck of a Dynamics: it has no parameters")
    names = _once("gradcheck of a Dynamics: estimators", estimators or _default_estimators(dynamics))
    exact, reference = estimate(dynamics, cost, z0, "implicit_dense", **options)
    rows = []
    for name in names:
        if progress is not None:
            progress({"event": "estimator", "text": name})
        shown = name if isinstance(name, str) else type(name).__name__
        try:
            gradient, report = estimate(dynamics, cost, z0, name, **options)
        except (InputError, NotImplementedError) as error:
            rows.append({"estimator": shown, "group": "all", "cosine": math.nan, "relative_l2": math.nan, "sign_agreement": math.nan,
                         "snr": math.nan, "force_evaluations": math.nan, "refused": str(error)})
            continue
        rows += _rows_of(shown, gradient, exact, report["cost_in_forces"])
    if finite_difference_entries > 0:
        settling = {key: options[key] for key in ("solver", "step", "free_steps", "tolerance") if key in options}
        found, places = _differences(dynamics, cost, z0, finite_difference_entries, settling)
        at = {name: exact[name].ravel()[places[name]] for name in exact}
        rows += _rows_of("finite_difference", found, at, math.nan)
    facts = {"loss": float(cost.value(reference["state"])), "residual": float(reference["free"]["residual"]),
             "reference_converged": reference["equilibrium"]["settled"] == 1, "equilibrium": reference["equilibrium"]}
    if facts["reference_converged"]:
        facts.update(_spectrum(dynamics, np.asarray(reference["state"]), options))
    facts["verdict"] = (_faults(dynamics, np.asarray(reference["state"]), rows, facts["residual"] < 1e-6)
                        + reference["equilibrium"]["verdict"])
    return {"rows": rows, "diagnostics": facts, "finite": all(math.isfinite(row["relative_l2"]) for row in rows if not row.get("refused"))}


class _Noisy(Dynamics):
    """A Dynamics with white noise of its force, τ dz = F dt + σ dW: a force that is held for a step ε gets N(0, σ²/ε)."""

    def __init__(self, inner, sigma, step, seed):
        super().__init__(inner.rows, inner.cols, inner.parameters)
        self.inner, self.conservative, self.leak = inner, inner.conservative, inner.leak
        self.deviation, self.rng = sigma / math.sqrt(step), np.random.default_rng(seed)

    def force(self, z):
        return self.inner.force(z) + self.deviation * self.rng.standard_normal(z.shape)

    def jvp(self, z, v):
        return self.inner.jvp(z, v)

    def vjp(self, z, u):
        return self.inner.vjp(z, u)

    def parameter_gradient(self, z, u):
        return self.inner.parameter_gradient(z, u)

    def energy(self, z):
        return self.inner.energy(z)


def sweep_table(dynamics, cost, grid, z0=None, estimators=None, seeds=(1,), progress=None, **options):
    """Cosine and relative L2 of estimators over a grid of options: see ``nudge.sweep``."""
    if cost is None:
        raise InputError("sweep of a Dynamics: no cost (cost=nudge.SquaredError(target), or an object with value(z) and gradient(z))")
    if not grid:
        raise InputError("sweep of a Dynamics: no grid (sweep={\"grid\": {\"beta\": [...]}})")
    if "noise" in grid and options.get("solver", "euler") != "euler":
        raise InputError("sweep of a Dynamics: noise needs solver=\"euler\" (its size depends on the step)")
    names, keys = _once("sweep of a Dynamics: estimators", estimators or ["aep_anchored"]), list(grid)
    seeds = _once("sweep of a Dynamics: seeds", seeds)
    grid = {key: _once(f"sweep of a Dynamics: grid {key}", grid[key]) for key in keys}
    exact = _flat(estimate(dynamics, cost, z0, "implicit_dense", **options)[0])
    shape = (len(names), len(seeds), *(len(grid[key]) for key in keys))
    cosine, relative = np.full(shape, math.nan), np.full(shape, math.nan)
    places = list(itertools.product(*(range(n) for n in shape)))
    for done, place in enumerate(places, 1):
        here = {**options, **{key: grid[key][i] for key, i in zip(keys, place[2:])}}
        sigma = here.pop("noise", 0.0)
        system = _Noisy(dynamics, sigma, here.get("step", 0.3), seeds[place[1]]) if sigma else dynamics
        found = _compared(_flat(estimate(system, cost, z0, names[place[0]], **here)[0]), exact)
        cosine[place], relative[place] = found["cosine"], found["relative_l2"]
        if progress is not None and progress({"event": "point", "done": done, "total": len(places)}) is False:
            break
    dims = ("estimator", "seed", *keys)
    return xr.Dataset({"cosine": (dims, cosine, {"long_name": "cosine with the exact gradient, all parameters"}),
                       "relative_l2": (dims, relative, {"long_name": "|g - exact|/|exact|"})},
                      {"estimator": names, "seed": seeds, **{key: list(grid[key]) for key in keys}})
