# SPDX-License-Identifier: Apache-2.0
"""Forces, energies and costs written in Python, under every estimator."""

import inspect
import zlib

import numpy as np

from . import _core
from .errors import InputError

__all__ = ["Dynamics", "EnergyDynamics", "SquaredError", "settle", "estimate", "check"]


#: Estimators of networks that solve themselves (netlists), whose layers have energies of their own, or that stand in a bath; and
#: coupled_learning, which follows the power that holds the outputs and not the cost.
ELSEWHERE = ("coupled_learning", "adjoint", "energy_alternating", "finite_nudge", "echo")


#: What a method of a Dynamics returns.
RETURNS = {"force": "F(z)", "jvp": "J v, J = dF/dz at z", "vjp": "J' u", "parameter_gradient": "{name: <u, dF/dtheta>}", "energy": "E(z), F = -dE/dz",
           "energy_gradient": "{name: dE/dtheta}"}


def _drawn(laws, rng):
    """{name: array} of functions of a generator. Each gets a generator of its own, keyed by one number of ``rng`` and the parameter's name:
    a further parameter changes no other's numbers."""
    if not laws:  # rng stays as it is for who draws from it next
        return {}
    key = int(rng.integers(2**63))
    return {name: np.asarray(law(np.random.Generator(np.random.Philox(key=[key, zlib.crc32(name.encode())]))), np.float64) for name, law in laws.items()}


class Dynamics:
    """A force of your own: τ dz/dt = F(z, θ) with a state z (rows, cols) of float64 and a dict of parameters.

    A parameter is an array, from which every seed starts, or a function that draws it: ``{"w": lambda rng: 0.3 * rng.normal(size=(8, 8))}`` with a generator of
    NumPy. A run draws it anew for its ``seed``. The object itself has the draw of seed 1.

    A subclass has ``force``, ``jvp``, ``vjp`` and, where it has parameters, ``parameter_gradient``. J v and Jᵀ u are not replaced by finite differences, because those check
    the estimators. ``nudge.torch.dynamics`` takes all three from one function.

    - conservative: True says F = −∂E/∂z with ``energy(z)``. Plain EP is then exact to first order. Else AEP corrects the whole force.
    - leak: L of a part −L z that every unit has; 0: not known.

    **To train it on data** (``nudge.train(system, data)``) its rows must not act on each other: they are samples. Then ``self.input`` (rows, features) is what clamps them.
    ``self.parameters`` are arrays of numbers, or arrays of devices, of which every product ``x @ self.parameters["w"]`` is a read. Functions of ``nudge.torch`` and ``nudge.jax`` get one read of
    the elements.

    - output: (begin, end) of the columns that the cost compares with the targets; None: all.
    - conductances: names of parameters that are conductances: never below 0, one device each.
    - on_devices: names of those that devices may hold; None: all.
    """

    conservative = False
    leak = 0.0
    input = None
    output = None
    conductances = ()
    on_devices = None
    _laws = {}
    _board = None  # what measures its states, in a training with board=...

    def __init__(self, rows, cols, parameters=None):
        self.rows, self.cols = int(rows), int(cols)
        self.parameters = dict(parameters or {})
        self._laws = {name: value for name, value in self.parameters.items() if callable(value)}
        self.parameters.update(_drawn(self._laws, np.random.default_rng(1)))

    @property
    def contrastive(self):
        """Whether it is conservative and has ``energy_gradient``."""
        return self.conservative and type(self).energy_gradient is not Dynamics.energy_gradient

    @property
    def solves(self):
        """Whether its states are measured on a board."""
        return self._board is not None

    def initial(self, rng):
        """Returns the parameters at the start of a run. rng: a generator of NumPy of its seed. By default arrays stay, and functions draw theirs."""
        return {**self.parameters, **_drawn(self._laws, rng)}

    @property
    def draws(self):
        """Whether runs of different seeds start from different parameters."""
        return not self.parameters or bool(self._laws) or type(self).initial is not Dynamics.initial

    def energy_gradient(self, z):
        """Returns {name: ∂E/∂θ} of a conservative force, for the contrastive rule."""
        raise self._missing("energy_gradient")

    def force(self, z):
        """Returns F(z), an array like z."""
        raise self._missing("force")

    def jvp(self, z, v):
        """Returns J v with J = ∂F/∂z at z."""
        raise self._missing("jvp")

    def vjp(self, z, u):
        """Returns Jᵀ u."""
        raise self._missing("vjp")

    def parameter_gradient(self, z, u):
        """Returns {name: ⟨u, ∂F/∂θ⟩}."""
        if self.parameters:
            raise self._missing("parameter_gradient")
        return {}

    def energy(self, z):
        """Returns E(z) of a conservative force, a number."""
        raise self._missing("energy")

    def _missing(self, method):
        """The error of a method that the subclass does not have."""
        arguments = ", ".join(list(inspect.signature(getattr(Dynamics, method)).parameters)[1:])
        return NotImplementedError(f"{type(self).__name__} has no {method}({arguments}), which returns {RETURNS[method]}")

    def _require(self):
        """Raises InputError for the methods that a training calls and that the subclass does not have."""
        needed = ["force", "jvp", "vjp"] + ["parameter_gradient"] * bool(self.parameters) + ["energy"] * bool(self.conservative)
        lacking = [str(self._missing(one)) for one in needed if getattr(getattr(self, one), "__func__", None) is vars(Dynamics)[one]]
        if lacking:
            raise InputError("; ".join(lacking) + (" (a training logs it)" if needed[-1] == "energy" and len(lacking) == 1 else ""))

    def _named(self, found, method):
        """{name: array} in the order of the parameters, each as a matrix: a vector is one row."""
        if not isinstance(found, dict):
            raise InputError(f"{method}: returned {type(found).__name__} (must be a dict of one array per parameter)")
        if set(found) != set(self.parameters):
            raise InputError(f"{method} must return {sorted(self.parameters)}, found {sorted(found)}")
        out = {}
        for name, value in self.parameters.items():
            if np.iscomplexobj(found[name]):
                raise InputError(f"{method}: {name} is complex (must be real)")
            one, shape = np.asarray(found[name], np.float64), np.shape(value)
            if one.shape != shape:
                raise InputError(f"{method}: {name} has the shape {one.shape} (must be {shape})")
            out[name] = np.ascontiguousarray(one.reshape(_matrix(shape)))
        return out

    def _solve(self, z, value, load, held, settled):
        """(state, "") or (None, what failed): measured on the board; settled: of the law itself, to be computed."""
        nudge = None if value is None else Nudge(value, load, held)
        if not settled:
            return self._board.measured(self, z, nudge)
        z, found = newton(self, z, nudge)
        return z, "" if found.all() else f"Newton's method found no equilibrium of the law in {np.sum(~found)} of {len(z)} rows"

    def _solve_transposed(self, z, c):
        """(a, "") with Jᵀ a = −c at z."""
        return np.linalg.solve(jacobians(self, z).swapaxes(1, 2), -c[..., None])[..., 0], ""

    def _correlate(self, z, u):
        return list(self._named(self.parameter_gradient(z, u), "parameter_gradient").values())

    def _contrast(self, z):
        return list(self._named(self.energy_gradient(z), "energy_gradient").values())

    def _initial(self, rng):
        return self._named(self.initial(rng), "initial")

    def _output_columns(self):
        begin, end = (0, self.cols) if self.output is None else self.output
        if not 0 <= begin < end <= self.cols:
            raise InputError(f"output = ({begin}, {end}) (must be columns of a state of {self.cols})")
        return int(begin), int(end)


class Nudge:
    """What acts on the outputs of a system while it settles: the force ``value − load z``, in units of the state per τ. A current, with load 0 (``nudge.cost_current = "frozen"``).
    held: the outputs are at ``value`` instead, whatever that takes.

    - value: (rows, outputs).
    - load: a number, below 0 for nudges −β of a cost that is not frozen.
    """

    def __init__(self, value, load=0.0, held=False):
        self.value, self.load, self.held = np.asarray(value, np.float64), float(load), bool(held)

    def force(self, z):
        """Returns value − load z at outputs z (rows, outputs)."""
        return self.value - self.load * z

    def __repr__(self):
        how = "held" if self.held else f"load {self.load:g}"
        return f"<nudge.Nudge {self.value.shape}, {how}>"


def jacobians(dynamics, z):
    """J of every row, (rows, cols, cols), of a system whose rows do not act on each other: column by column."""
    rows, cols = z.shape
    out, v = np.empty((rows, cols, cols)), np.zeros((rows, cols))
    for column in range(cols):
        v[:, column] = 1
        out[:, :, column] = dynamics.jvp(z, v)
        v[:, column] = 0
    return out


def nudged_force(dynamics, z, nudge):
    """F(z) of a system and of what nudges it; 0 where outputs are held."""
    f = np.array(dynamics.force(z), np.float64)
    if nudge is not None:
        begin, end = dynamics._output_columns()
        f[:, begin:end] = 0 if nudge.held else f[:, begin:end] + nudge.force(z[:, begin:end])
    return f


def newton(dynamics, z, nudge=None, tolerance=1e-10, most=50):
    """(z, found): where F(z) and the nudge are 0 in every row, by Newton's method from z, steps halved while they do not help; and the rows where it found that."""
    z, (begin, end) = np.array(z, np.float64), dynamics._output_columns()
    if nudge is not None and nudge.held:
        z[:, begin:end] = nudge.value
    f = nudged_force(dynamics, z, nudge)
    for _ in range(most):
        size = np.linalg.norm(f, axis=1)
        found = size <= tolerance * np.maximum(1.0, np.linalg.norm(z, axis=1))
        if found.all():
            break
        j = jacobians(dynamics, z)
        if nudge is not None:
            ends = np.arange(begin, end)
            if nudge.held:
                j[:, ends, :] = 0
                j[:, ends, ends] = 1
            else:
                j[:, ends, ends] -= nudge.load
        try:
            step = np.linalg.solve(j, -f[..., None])[..., 0]
        except np.linalg.LinAlgError:
            break
        share = np.ones((len(z), 1))
        for _ in range(12):
            after = nudged_force(dynamics, z + share * step, nudge)
            worse = ~(np.linalg.norm(after, axis=1) < size) & ~found
            if not worse.any():
                break
            share[worse] /= 2
        z, f = z + share * step, after
    return z, found


class ArrayRead(np.lib.mixins.NDArrayOperatorsMixin):
    """A parameter that an array of devices holds, as a call of a method sees it.

    ``x @ w`` and ``y @ w.T`` (or ``w @ x``) are reads of the array, each with noise of its own in every row, through its converters and
    amplifiers, as in the networks of the program. A vector, or a matrix of one row, beside rows of the
    state, ``x + b``, is read by each row. Anything else, as
    ``np.asarray(w)``, is a read of every element by itself; on noisy devices methods are then called for one row at a time."""

    def __init__(self, shape, product, elements, rows, transposed=False):
        self._own, self._transposed = (shape, product, elements, rows), transposed
        self.shape = tuple(shape[::-1] if transposed else shape)
        self.ndim, self.size, self.dtype = len(shape), int(np.prod(shape)), np.dtype(np.float64)

    @property
    def T(self):
        if self.ndim > 2:
            return np.asarray(self).T
        return ArrayRead(*self._own, not self._transposed) if self.ndim == 2 else self

    def __array__(self, dtype=None, copy=None):
        found = self._own[2]()
        return np.array(found.T if self._transposed else found, dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if any(isinstance(one, ArrayRead) for one in options.get("out", ())):
            raise TypeError("a read of an array of devices cannot be written to")
        if ufunc is np.matmul and method == "__call__" and not options:
            left, right = inputs
            if isinstance(right, ArrayRead) and right._drives(left):
                return right._product(left)
            if isinstance(left, ArrayRead) and np.ndim(right) <= 2 and left.ndim == 2 and left._drives(right):
                return left.T._product(np.asarray(right).T).T
        plain = [one for one in inputs if not isinstance(one, ArrayRead)]
        elementwise = method == "__call__" and ufunc.signature is None
        return getattr(ufunc, method)(*((one._beside(plain) if elementwise else np.asarray(one)) if isinstance(one, ArrayRead) else one
                                        for one in inputs), **options)

    def _drives(self, x):
        """Whether x may drive it: real rows."""
        return self.ndim in (1, 2) and not isinstance(x, ArrayRead) and np.ndim(x) >= 1 and not np.iscomplexobj(x)

    def _product(self, x):
        x = np.asarray(x, np.float64)
        if x.shape[-1] != self.shape[0]:
            raise ValueError(f"matmul: shapes {x.shape} and {self.shape} do not fit")
        rows = np.ascontiguousarray(x.reshape(-1, x.shape[-1]))
        if self.ndim == 1:  # the array's one row, read from its columns
            return self._own[1](True, rows).reshape(x.shape[:-1])[()]
        return self._own[1](self._transposed, rows).reshape(*x.shape[:-1], self.shape[1])

    def _beside(self, others):
        """As an operand of an operation on elements."""
        rows = self._own[3]()
        if self.ndim and self.size == self.shape[-1] and any(np.shape(one) == (rows, self.size) for one in others):
            return self._own[1](self._transposed, np.ones((rows, 1)))
        return np.asarray(self)

    def __float__(self):
        return float(np.asarray(self))

    def __iter__(self):
        return iter(np.asarray(self))

    def __getitem__(self, index):
        return np.asarray(self)[index]

    def __len__(self):
        return self.shape[0]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)


def elements(parameters):
    """Parameters as arrays, each from one read of its elements."""
    return {name: np.asarray(value) for name, value in parameters.items()}


def takes_input(function):
    """Whether a function of (z, parameters) also takes the input."""
    return len(inspect.signature(function).parameters) > 2


def _matrix(shape):
    return (int(np.prod(shape[:-1])), shape[-1]) if shape else (1, 1)


class EnergyDynamics(Dynamics):
    """A force of your own that has an energy: F = −∂E/∂z.

    A subclass has ``energy(z)``, ``force(z)`` and ``jvp(z, v)``. J is symmetric, so Jᵀ u = J u.
    """

    conservative = True

    def vjp(self, z, u):
        """Returns J u, as J is symmetric."""
        return self.jvp(z, u)


class SquaredError:
    """C = ½ Σ (z − y)² over the columns [begin, end) of the state, with the target y."""

    def __init__(self, target, begin=0, end=None):
        self.target = np.asarray(target, np.float64)
        self.columns = slice(begin, end)

    def value(self, z):
        """Returns C(z)."""
        return 0.5 * float(np.sum((z[:, self.columns] - self.target) ** 2))

    def gradient(self, z):
        """Returns ∂C/∂z."""
        out = np.zeros_like(z)
        out[:, self.columns] = z[:, self.columns] - self.target
        return out


def _start(dynamics, z0):
    return np.zeros((dynamics.rows, dynamics.cols)) if z0 is None else np.ascontiguousarray(z0, np.float64)


def settle(dynamics, z0=None, **options):
    """Returns (``z*``, report) of a ``Dynamics`` from z0 (by default zeros).

    - options: solver (euler, rk4, dopri5, anderson, newton_gmres), step, free_steps, tolerance.
    """
    _known(options)
    return _core.settle(dynamics, _start(dynamics, z0), options)


def estimate(dynamics, cost, z0=None, estimator="aep_anchored", **options):
    """Returns (gradients by parameter, report) of a cost ``C(z*)`` by any estimator. The report has ``state``, ``adjoint``, loss and residuals.

    - cost: an object with ``value(z)`` and ``gradient(z)``.
    - estimator: a name, or a ``nudge.Estimator``.
    - options: solver, step, free_steps (200), tolerance, nudged_steps (200), beta, sides, points, adjoint_tolerance, adjoint_iterations.

    It runs on one thread; every call of a method takes the GIL.
    """
    _known(options)
    sizes = [_matrix(np.shape(value)) for value in dynamics.parameters.values()]
    flat, report = _core.estimate(dynamics, cost, _start(dynamics, z0), estimator, sizes, options)
    shapes = {name: np.shape(value) for name, value in dynamics.parameters.items()}
    return {name: one.reshape(shape) for one, (name, shape) in zip(flat, shapes.items())}, report


def _known(options):
    known = {"solver", "step", "free_steps", "tolerance", "nudged_steps", "beta", "sides", "points", "adjoint_tolerance",
             "adjoint_iterations"}
    if not set(options) <= known:
        raise InputError(f"unknown options {sorted(set(options) - known)} (known: {', '.join(sorted(known))})")


def check(dynamics, cost, z0=None, estimators=None, **options):
    """Compares estimators with the exact adjoint (a dense solve of Jᵀ a = −∂C/∂z at ``z*``), over all parameters as one vector.

    Returns rows {estimator, cosine, relative_l2, force_evaluations}. By default ``ep_contrastive`` is left out. ``nudge.gradcheck`` also compares single parameters and central differences.
    """
    exact, _ = estimate(dynamics, cost, z0, "implicit_dense", **options)
    reference = np.concatenate([one.ravel() for one in exact.values()])
    rows = []
    for name in estimators or [one for one in _core.estimators() if one not in ("ep_contrastive", *ELSEWHERE)]:
        gradient, report = estimate(dynamics, cost, z0, name, **options)
        found = np.concatenate([one.ravel() for one in gradient.values()])
        sizes = np.linalg.norm(found) * np.linalg.norm(reference)
        rows.append({
            "estimator": name,
            "cosine": float(found @ reference / sizes) if sizes > 0 else float("nan"),
            "relative_l2": float(np.linalg.norm(found - reference) / np.linalg.norm(reference)),
            "force_evaluations": report["cost_in_forces"],
        })
    return rows
