"""From what users hold to what the library computes with: float64 on their backend, or exact rationals."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj, is_jax_array, is_torch_array

from resispec_ref.arrays.arithmetic import Array, is_rational


def as_arrays(**given: Any) -> list[Array]:
    """Every argument as float64, or every one as exact rationals, in one namespace."""
    arrays = [v if is_array_api_obj(v) else from_sequence(v, k) for k, v in given.items()]
    for k, a in zip(given, arrays, strict=True):
        if a.ndim < 1 or a.shape[-1] == 0:
            raise ValueError(
                f"{k}: shape {tuple(a.shape)} has no tokens; laws have shape (..., vocab), vocab 1 or more"
            )
    foreign = [a for a in arrays if not isinstance(a, np.ndarray)]
    if not foreign and any(a.dtype == object for a in arrays):
        if not any(np.issubdtype(a.dtype, np.inexact) and a.size for a in arrays):
            return [_as_rational(a, k) for k, a in zip(given, arrays, strict=True)]
        exact = [k for k, a in zip(given, arrays, strict=True) if a.dtype == object]
        if any(isinstance(v, Rational) and not isinstance(v, int) for a in arrays if a.dtype == object for v in a.flat):
            other = [k for k in given if k not in exact]
            raise ValueError(
                f"{exact[0]} is exact but {other[0]} holds floats; give both as rationals, or both as floats"
            )
    for k, a in zip(given, arrays, strict=True):
        if foreign and a.dtype == object and any(not isinstance(v, int) for v in a.flat):
            library = type(foreign[0]).__module__.partition(".")[0]
            raise ValueError(f"{k}: {a.flat[0]!r} beside an array of {library}; exact laws go with exact laws")
    like = foreign[0] if foreign else arrays[0]
    return [as_float(move(a, like, k), k) for k, a in zip(given, arrays, strict=True)]


def from_sequence(value: Any, name: str) -> np.ndarray:
    try:
        x = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name}: not a rectangular array of numbers ({error})") from None
    if x.dtype == object or x.dtype.kind in "iu":
        return x.astype(object) if name in ("target", "draft", "drafts", "law") or x.dtype == object else x
    if x.dtype.kind not in "f":
        raise ValueError(f"{name}: numbers are needed, not {x.dtype}")
    return x


def _as_rational(x: np.ndarray, name: str) -> np.ndarray:
    values = x.reshape(-1).tolist()
    kinds = {type(v) for v in values if not isinstance(v, int | np.integer)}
    if len(kinds) > 1 or not all(issubclass(k, Rational) for k in kinds):
        odd = next(v for v in values if not isinstance(v, Rational) or len(kinds) > 1)
        raise ValueError(
            f"{name}: {odd!r} among exact entries; use one rational type (Fraction or gmpy2.mpq) throughout"
        )
    number = kinds.pop() if kinds else Fraction
    return objects([number(int(v)) if isinstance(v, int | np.integer) else v for v in values], x.shape)


def objects(values: list, shape: tuple[int, ...]) -> np.ndarray:
    x = np.empty(len(values), dtype=object)
    x[:] = values
    return x.reshape(shape)


def as_float(x: Array, name: str) -> Array:
    if is_rational(x):
        x = x.astype(np.float64)
    if isinstance(x, np.ndarray) and x.dtype.kind not in "fiub":
        raise ValueError(f"{name}: probabilities are real numbers, not {x.dtype}; convert them to float32 first")
    xp = array_namespace(x)
    if xp.isdtype(x.dtype, ("bool", "complex floating")):
        raise ValueError(f"{name}: probabilities are real numbers, not {x.dtype}")
    wide = xp.astype(x, xp.float64)
    if wide.dtype != xp.float64:
        raise ValueError(
            f"{name}: this JAX computes in 32 bits; call jax.config.update('jax_enable_x64', True) before making arrays"
        )
    return wide


def move(x: Array, like: Array, name: str) -> Array:
    """`x` in the namespace and on the device of `like`."""
    xp = array_namespace(like)
    if isinstance(x, np.ndarray) and not isinstance(like, np.ndarray):
        x = x.astype(np.float64) if x.dtype == object else x
        return xp.asarray(np.array(x), device=device(like))
    try:
        array_namespace(x, like)
    except TypeError:
        libraries = " beside one of ".join(type(a).__module__.split(".")[0] for a in (x, like))
        raise ValueError(f"{name}: an array of {libraries}; give all arguments in one array library") from None
    return x


def is_traced(x: Array) -> bool:
    """Whether the values of `x` are unknown because JAX is tracing."""
    return is_jax_array(x) and isinstance(x, sys.modules["jax"].core.Tracer)


def refuse(bad: Array, values: Array, name: str, why: str) -> None:
    """Raise for the first entry where `bad`: argument, row, position in the row, value, reason."""
    xp = array_namespace(bad)
    if not bool(xp.any(bad)):
        return
    flat = int(xp.argmax(xp.astype(xp.reshape(bad, (-1,)), xp.int8)))
    *row, entry = (int(i) for i in np.unravel_index(flat, tuple(bad.shape)))
    where = f"row {row[0] if len(row) == 1 else tuple(row) if row else 0}"
    value = xp.reshape(values, (-1,))[flat]
    if not isinstance(value, Rational):
        value = int(value) if xp.isdtype(values.dtype, "integral") else float(value)
    place = f", entry {entry}" if values.shape[-1] > 1 or bad.shape[-1] > 1 else ""
    raise ValueError(f"{name}, {where}{place}: {value} {why}")


def rows_on_host(rule: str, *laws: Array) -> list[np.ndarray]:
    """Laws `(..., vocab)` of one shape as NumPy arrays `(rows, vocab)`, for what is computed by NumPy only.

    An empty batch becomes one row of equal masses, which `from_host` leaves out again.

    Raises:
        ValueError: under `jax.jit` or `jax.vmap`, where there are no values to take.
    """
    if any(map(is_traced, laws)):
        raise ValueError(f"{rule}: computed by NumPy on the host; call it outside of jax.jit and jax.vmap")
    host = [np.asarray(x.detach().cpu() if is_torch_array(x) else x) for x in laws]
    vocab = host[0].shape[-1]
    return [x.reshape(-1, vocab) if x.size else np.full((1, vocab), number_type(x)(1) / vocab) for x in host]


def from_host(rows: np.ndarray, like: Array) -> Array:
    """Rows made from `rows_on_host` as an array beside `like`, with its leading dimensions and on its device."""
    batch = like.shape[:-1]
    rows = rows[: math.prod(batch)].reshape(*batch, rows.shape[-1])
    return array_namespace(like).asarray(rows, device=device(like))


def number_like(value: float | Rational, law: Array) -> Any:
    """An option of a rule in the number type of `law`; for rationals a float is the decimal that it prints as."""
    return number_type(law)(Fraction(str(value))) if is_rational(law) else float(value)


def number_type(x: np.ndarray) -> type:
    """The type of the entries; `Fraction` for an empty array of exact rationals."""
    if x.size:
        return type(x.reshape(-1)[0])
    return Fraction if is_rational(x) else float
