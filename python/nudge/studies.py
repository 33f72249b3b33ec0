# SPDX-License-Identifier: Apache-2.0
"""The three questions: train, gradcheck, sweep; and resume."""

import math
import os
import warnings

import numpy as np
import xarray as xr

from . import _core
from .board_link import Link, connected
from .config import flat, source_of
from .dynamics import Dynamics
from .errors import InputError, NumericalError
from .own import gradcheck_rows, sweep_table
from .own_code import expect_same_code
from .progress import watching
from .runs import Run, written
from .own_device import handed_over
from .system import ROLES, lent, named, own_run

__all__ = ["train", "resume", "gradcheck", "sweep", "spec", "merge", "Gradcheck"]


def _trained(run):
    status = run.summary["status"]
    if status == "ok":
        return run
    told = run.summary.get("equilibrium", {}).get("verdict", "")
    helps = told.split("; ")[-1] if told and told.split(":")[0] in status else "a smaller beta or learning rate, or estimator=\"aep_transposed\", may help"
    raise NumericalError(f"the run failed: {status} ({helps})", run)


def _out_of(out, data):
    if isinstance(data, (str, os.PathLike)):
        raise InputError(f"data = {os.fspath(data)!r} (a file to write is out=..., a file of samples data__file=...)")
    return out


def train(config=None, data=None, out=None, progress=None, devices=None, cost=None, estimator=None, board=None, **overrides):
    """Trains a network to the bits of the command ``nudge train``, and returns a ``Run``.

    - config: a path, TOML text, a dict, or a ``nudge.Dynamics`` (below).
    - overrides: keys with ``__`` for the dot: ``train__steps=100`` sets ``train.steps``.
    - data: (features, targets). Whole numbers from 0 on, one per sample, are classes. Other targets are values to fit. ``task__kind`` overrides this.
    - out: HDF5 file to write, which must not exist. None: the run stays in memory.
    - progress: None shows a bar on a terminal and in a notebook, after two seconds. True shows it at once and anywhere, False never. A function gets a dict after
      every step (done, total, loss, validation_loss, residual, damping) and stops the run when it returns False.
    - devices: {name: ``nudge.devices.Device``} that ``device.model`` may name.
    - estimator: a name, or a ``nudge.Estimator``.
    - cost: a ``nudge.Cost`` in place of the network's own, for networks of samples.
    - board: a ``nudge.Board`` that measures the states of a network of your own and has its devices. ``summary["board"]`` says what it was asked for.

    **A network of your own** is a ``nudge.Dynamics`` in place of a config, with ``data``, or with ``data__file`` and ``task__kind``. Without a cost it
    learns by half the squared error of the output. All keys of ``nudge train`` work. It computes in double unless ``precision`` says otherwise. The arrays are kept
    beside ``out`` (run.data.npz for run.h5), and the run file names them. Only one such run goes at a time: a second thread waits.

    Other Python threads continue meanwhile. Ctrl-C ends the step, writes a checkpoint to ``out`` and raises KeyboardInterrupt.
    ``nudge.resume(out)`` continues to the bits of an unbroken run. A wrong input raises InputError. A failed run raises NumericalError, with the run in ``result``.
    """
    with own_run(config, data, _out_of(out, data), devices, cost, estimator, overrides, keep_code=True, board=board) as (source, own), \
            written(out) as output, watching(progress) as watcher:
        summary = _core.train(source.name, source.text, source.settings, output.path, own, watcher)
        run = output(_with_board(summary, own))
    return _trained(run)


def _with_board(summary, parts):
    """The summary of a run, with what it asked of its board; without the energy of reads, which the program has not made."""
    if not isinstance(parts[3], Link):
        return summary
    kept = ("devices", "pulses", "verify_reads", "write_failures")
    return {**summary, "hardware": {key: summary["hardware"][key] for key in kept}, "board": parts[3].report()}


def _expect_same_parts(file, parts, otherwise):
    """InputError where parts of one's own are not those of the run in the file."""
    if all(part is None for part in parts):
        return
    stored = Run(file).config
    if isinstance(stored, dict):  # text where this Python cannot read TOML
        own = {role: getattr(part, "device", part) for role, part in zip(ROLES, parts)}
        expect_same_code(os.fspath(file), stored.get("own", {}), {role: (named(part), part) for role, part in own.items()}, otherwise)


def resume(file, config=None, progress=None, system=None, cost=None, estimator=None, device=None, board=None, changed=False, **overrides):
    """Continues the run of a file of ``train`` to the bits of an unbroken run, and returns a ``Run``.

    - config: if given, it must be that of the file.
    - system, cost, estimator, device, board: the run's own parts, if it had such. A device is needed only if it has states; others are in the file.
      A run on a board goes on from what the chip holds then.
    - changed: True accepts parts whose names, sources or libraries are not those of the run. False raises InputError.
    """
    own_device = handed_over(device, "device")
    if board is not None:
        system, own_device, _ = connected(board, system, resumes=True)
    parts = lent(system, cost, estimator, own_device)
    if not changed:
        _expect_same_parts(file, parts, "nudge.resume(..., changed=True)")
    if overrides or config is not None:
        source = source_of(config, overrides)
        text, settings = source.text, source.settings
    else:
        text, settings = None, []
    with watching(progress) as watcher:
        summary = _core.resume(os.fspath(file), text, settings, parts, watcher)
    return _trained(Run(file, _with_board(summary, parts)))


class Gradcheck:
    """Gradient estimators against the exact gradient.

    - rows: dicts with estimator, group, cosine, relative_l2, sign_agreement, snr, force_evaluations.
    - diagnostics: why a gradient is wrong: residuals, eigenvalues, a verdict.
    - run: the file. With ``gradcheck__record`` there is one in memory without a file: ``run.record`` has states and gradients per step.
    """

    def __init__(self, result, run=None):
        self.rows, self.diagnostics, self.run = result["rows"], result["diagnostics"], run

    def cosine(self, estimator, group="all"):
        """Returns the cosine with the exact gradient, of one group or of all parameters of the equilibrium."""
        return float(self.table.cosine.sel(estimator=estimator, group=group))

    @property
    def table(self):
        """The rows as an xarray Dataset over estimator and group."""
        estimators = list(dict.fromkeys(row["estimator"] for row in self.rows))
        groups = list(dict.fromkeys(row["group"] for row in self.rows))
        names = ("cosine", "relative_l2", "sign_agreement", "force_evaluations")
        values = {name: np.full((len(estimators), len(groups)), math.nan) for name in names}
        for row in self.rows:
            at = estimators.index(row["estimator"]), groups.index(row["group"])
            for name in names:
                values[name][at] = row[name]
        data = {name: (("estimator", "group"), value, {"units": "1"}) for name, value in values.items()}
        return xr.Dataset(data, {"estimator": estimators, "group": groups})

    def __repr__(self):
        lines = [self.diagnostics["verdict"], f"{'estimator':<18} {'group':<6} {'1 - cosine':>11} {'relative L2':>12} {'signs':>8}"]
        for row in self.rows:
            if row.get("refused"):
                lines.append(f"{row['estimator']:<18} refused: {row['refused']}")
                continue
            lines.append(f"{row['estimator']:<18} {row['group']:<6} {max(0.0, 1 - row['cosine']):>11.2e} {row['relative_l2']:>12.2e} "
                         f"{100 * row['sign_agreement']:>6.1f} %")
        return "\n".join(lines)


def _finite(found, run=None):
    result = Gradcheck(found, run)
    if found.get("failure"):
        raise NumericalError(found["failure"], result)
    if not found["finite"]:  # of a force of one's own
        raise NumericalError("a gradient is not finite. A smaller beta or step helps", result)
    return result


def _refuse(out, what):
    if out is not None:
        raise InputError(f"{what} of a Dynamics: out={os.fspath(out)!r} (no file is written: the result is in memory)")


def _refuse_devices(devices, what):
    if devices:
        raise InputError(f"{what} of a Dynamics: devices (it has none; nudge.Crossbar(w, device=...) is a map on devices)")


def _own_gradcheck(dynamics, out, progress, options):
    _refuse(out, "gradcheck")
    with watching(progress) as watcher:
        return _finite(gradcheck_rows(dynamics, options.pop("cost", None), progress=watcher, **options))


def _own_sweep(dynamics, out, progress, options):
    _refuse(out, "sweep")
    asked = dict(options.pop("sweep", {}))
    unknown = sorted(set(asked) - {"grid", "seeds"})
    if unknown:
        raise InputError(f"sweep of a Dynamics: unknown {', '.join(unknown)} (known: grid, seeds)")
    with watching(progress) as watcher:
        return sweep_table(dynamics, options.pop("cost", None), asked.get("grid"), seeds=asked.get("seeds", (1,)), progress=watcher,
                           **options)


def _on_data(system, data, overrides):
    """Whether a study of a Dynamics is one on data, of the program, and not one of a single state."""
    return isinstance(system, Dynamics) and (data is not None or "data__file" in overrides or "task__kind" in overrides)


def _warn_of_one_start(system, overrides):
    """Of seeds whose intervals leave out what a start changes."""
    seeds = dict(flat(overrides)).get("sweep.seeds", ())
    if isinstance(system, Dynamics) and not system.draws and len(seeds) > 1:
        warnings.warn(f"all seeds start from the same parameters of {type(system).__name__}: intervals over seeds do not cover the start. "
                      "Write initial(rng), or give parameters as functions of a generator", RuntimeWarning, stacklevel=3)


def gradcheck(config=None, data=None, out=None, progress=None, devices=None, cost=None, estimator=None, board=None, **overrides):
    """Compares gradient estimators with the exact adjoint, as ``nudge gradcheck`` does, and returns a ``Gradcheck``.

    Arguments are those of ``train``. progress is called with the text of each part that starts. NumericalError, with the Gradcheck in ``result``, says that a
    gradient is not finite or the reference did not converge.

    **A force of your own** is a ``Dynamics`` in place of a config:

        gradcheck(system, cost=cost, estimators=[...], finite_difference_entries=4, z0=None, **options)

    It is compared with a dense solve of Jᵀ a = −∂C/∂z at its equilibrium and with central differences. Groups are its parameters; options are those of
    ``nudge.estimate``. An estimator that cannot work on it is a row whose ``refused`` says why. No file is written, so ``out`` is an error. With ``data``, as in ``train``, this is
    the gradcheck of the program, on a batch and on devices (``gradcheck__estimators=["ep", "own"]``; own is the ``estimator``).
    """
    if isinstance(config, Dynamics) and not _on_data(config, data, overrides):
        _refuse_devices(devices, "gradcheck")
        return _own_gradcheck(config, out, progress, {**overrides, "cost": cost})
    with own_run(config, data, _out_of(out, data), devices, cost, estimator, overrides, board=board) as (source, own), watching(progress) as watcher:
        found = _core.gradcheck(source.name, source.text, source.settings, None if out is None else os.fspath(out), own, watcher)
    image = found.pop("image")
    return _finite(found, Run(out, image=image or None) if out is not None or image else None)


def sweep(config=None, data=None, out=None, progress=None, resume=False, shard="", devices=None, cost=None, estimator=None, **overrides):
    """Runs sweep.grid × sweep.seeds, as ``nudge sweep`` does, and returns a ``Run``. Its ``summary`` has the points and their means.

    Arguments are those of ``train``; progress is called after every point.

    - resume: True keeps the points of ``out`` that ended well. Those outside the present grid go to the group ``outside``; ``summary["outside"]`` counts them.
    - shard: "2/4" runs a part.

    Ctrl-C writes what has ended and raises KeyboardInterrupt. NumericalError says that no point ended well.

    **A force of your own** is a ``Dynamics`` in place of a config:

        sweep(system, cost=cost, estimators=[...], **options,
              sweep={"grid": {"beta": [...], "noise": [...]}, "seeds": [1, 2]})

    It returns a Dataset of ``cosine`` and ``relative_l2`` with the exact gradient, which is computed at the options as given and without noise. Keys of the grid are
    options of ``nudge.estimate``, and ``noise``: the σ of τ dz = F dt + σ dW in the force of all phases. With ``data``, as in ``train``, this is a sweep of trainings.
    """
    if isinstance(config, Dynamics) and not _on_data(config, data, overrides):
        _refuse_devices(devices, "sweep")
        return _own_sweep(config, out, progress, {**overrides, "cost": cost})
    _warn_of_one_start(config, overrides)
    with own_run(config, data, _out_of(out, data), devices, cost, estimator, overrides, keep_code=True) as (source, own), \
            written(out) as output, watching(progress) as watcher:
        if resume and out is not None and os.path.exists(out):
            _expect_same_parts(out, own, "nudge.sweep to another file")
        summary = _core.sweep(source.name, source.text, source.settings, output.path, resume, shard, own, watcher)
        run = output(summary)
    if summary["failure"]:
        raise NumericalError(summary["failure"], run)
    return run


def spec(config=None, out=None, progress=None, resume=False, shard="", **overrides):
    """Finds how good each part of a chip must be, as ``nudge spec`` does, and returns a ``Run``.

    Its ``summary`` is what the command prints with ``--json``: ``requirements``, ``pareto``, the scores and losses they stand on. The file has every training as a point.

    - config, overrides, out: as of ``train``; the config is of a network on devices, with a section ``[spec]``.
    - progress: called after every training, as of ``sweep``.
    - resume: True keeps the trainings of ``out`` that ended well.
    - shard: "2/4" runs a part of the present stage. ``summary["waits"]`` is True until the parts are merged.

    Ctrl-C writes what has ended and raises KeyboardInterrupt. NumericalError says why no requirement is known.
    """
    source = source_of(config, overrides)
    with written(out) as output, watching(progress) as watcher:
        summary = _core.spec(source.name, source.text, source.settings, output.path, resume, shard, watcher)
        run = output(summary)
    if summary["unknown"] and not summary["waits"]:
        raise NumericalError("no requirement: " + summary["unknown"], run)
    return run


def merge(files, out, partial=False):
    """Joins files of parts of one sweep into ``out``, as ``nudge merge`` does, and returns a ``Run``.

    The result has the content of the file of one process, but for times and machine. Parts are files of ``shard``, of interrupted runs, or merged files. ``summary`` has the
    counts points, finished, failed, outside. Parts of other configs, builds or points, or with different numbers, raise InputError.

    - partial: True merges although points are missing.
    """
    counts = _core.merge([os.fspath(file) for file in files], os.fspath(out), partial)
    return Run(out, counts)
