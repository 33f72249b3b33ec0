# SPDX-License-Identifier: Apache-2.0
"""What the code of a system, a cost or an estimator of one's own is, as a run file keeps it."""

import hashlib
import inspect
import sys

import numpy as np

from .errors import InputError

__all__ = ["code_of", "expect_same_code"]


def _of_code(code):
    """What a function does, where its source is not at hand."""
    constants = [_of_code(one) if inspect.iscode(one) else repr(one) for one in code.co_consts]
    return repr((code.co_code, code.co_names, constants))


def _text(thing):
    """The source of a class or function; else of its code."""
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        parts = vars(thing).values() if inspect.isclass(thing) else [thing]
        codes = [getattr(getattr(one, "__func__", one), "__code__", None) for one in parts]
        return "".join(_of_code(code) for code in codes if code is not None)


def _is_ours(cls):
    return cls is object or cls.__module__.partition(".")[0] == __name__.partition(".")[0]


def code_of(part):
    """A hash of the source of the classes of an object and of the functions that it holds, and the versions of the libraries that they use:
    NumPy, and PyTorch and JAX where the module of one of them names it. What these call elsewhere is not in it."""
    if part is None:
        return ""
    classes = [cls for cls in type(part).__mro__ if not _is_ours(cls)]
    held = {**getattr(part, "__dict__", {}), **getattr(part, "_laws", {})}
    functions = [value for _, value in sorted(held.items()) if inspect.isfunction(value)]
    source = "".join(_text(one) for one in [*classes, *functions])
    libraries = {"numpy": np}
    for one in [*type(part).__mro__, *functions]:
        names = vars(sys.modules.get(one.__module__, object)).values()
        found = {value.__name__.partition(".")[0] for value in names if inspect.ismodule(value)}
        libraries.update({name: sys.modules[name] for name in ("torch", "jax") if name in found and name in sys.modules})
    versions = [f"{name} {library.__version__}" for name, library in sorted(libraries.items())]
    return ", ".join([f"sha256 {hashlib.sha256(source.encode()).hexdigest()[:16]}", *versions])


def _differences(there, here):
    """What two texts of code_of differ in, in words."""
    for one, other in zip(there.split(", "), here.split(", ")):
        if one != other:
            yield "its source has changed" if one.startswith("sha256 ") else f"{one} ran it, here is {other}"
    if there.count(", ") != here.count(", "):
        yield f"{there} ran it, here is {here}"


def expect_same_code(file, own, parts, otherwise):
    """InputError where a part is not the one of the run in the file. own: the section [own] of its config; parts: {"system": (name, object), ...}; otherwise: what to do.
    A file of an older version keeps names alone."""
    problems = []
    for role, (name, part) in parts.items():
        was, code = own.get(role, ""), own.get(f"{role}_code", "")
        if part is None:
            continue
        if name != was:
            problems.append(f"{role} = {name}: the run has {was or 'none of its own'}")
        elif code:
            problems += [f"{role} = {name}: {one}" for one in _differences(code, code_of(part))]
    if problems:
        raise InputError("\n".join([f"{file}: {one}" for one in problems]) + f"\nTo go on anyway: {otherwise}.")
