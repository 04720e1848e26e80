"""What the library accepts: laws, candidates and uniforms, or a `ValueError` that says where and why.

Values are inspected when they are concrete. Under `jax.jit` or `jax.vmap` they are not known, so only shapes are
checked there; check laws outside (`check_law`) before tracing.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

from resispec_ref.arrays.arithmetic import Array, is_rational, quotient, take, total
from resispec_ref.arrays.convert import as_arrays, from_sequence, is_traced, move, number_type, objects, refuse


def check_law(law: Any, *, name: str = "law") -> Array:
    """A law as the library computes with it: float64, or exact rationals, each row summing to 1.

    Args:
        law: `(..., vocab)` probabilities; an array of any array-API library, a nested sequence of numbers, or a
            sequence or object array of `Fraction` / gmpy2 `mpq`.
        name: how errors call the argument.

    Returns:
        The same rows, never the same memory. Floats become float64 and are divided by their sum, which must be 1
        within the rounding of their own dtype (`sum_tolerance`); rationals must sum to 1 exactly and keep their type.

    Raises:
        ValueError: not an array of probabilities; an entry that is NaN, infinite or negative; a row that does not sum
            to 1. The message names the argument, the row and the value.

    >>> check_law([[0.25, 0.75], [1.0, 0.0]])
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """
    (x,) = as_arrays(**{name: law})
    return _check_rows(x, name, sum_tolerance(law, x))


def check_pair(target: Any, draft: Any) -> tuple[Array, Array]:
    """`check_law` of both, in one namespace and number type, over one vocabulary; leading dimensions must broadcast."""
    p, q = as_arrays(target=target, draft=draft)
    if p.shape[-1] != q.shape[-1]:
        raise ValueError(
            f"target has a vocabulary of {p.shape[-1]} tokens and draft one of {q.shape[-1]}; "
            "both laws must be over the same tokens"
        )
    check_broadcast(target=p.shape[:-1], draft=q.shape[:-1])
    return (
        _check_rows(p, "target", sum_tolerance(target, p)),
        _check_rows(q, "draft", sum_tolerance(draft, q)),
    )


def check_drafts(target: Any, drafts: Any) -> tuple[Array, Array]:
    """`check_pair` where `drafts`, `(..., K, vocab)`, holds a law for each of `K` candidates."""
    p, q = as_arrays(target=target, drafts=drafts)
    if q.ndim < 2 or p.shape[-1] != q.shape[-1]:
        raise ValueError(
            f"drafts: shape {tuple(q.shape)}; (..., K, {p.shape[-1]}) is needed beside target {tuple(p.shape)}"
        )
    check_broadcast(target=p.shape[:-1], drafts=q.shape[:-2])
    return (
        _check_rows(p, "target", sum_tolerance(target, p)),
        _check_rows(q, "drafts", sum_tolerance(drafts, q)),
    )


def valid_rows(law: Any) -> Array:
    """Which rows of `(..., vocab)` are laws: a boolean mask `(...)`, for callers who want to set bad rows aside.

    >>> valid_rows([[float("nan"), float("nan"), float("nan")], [0.2, 0.8, 0.0]])
    array([False,  True])
    """
    (x,) = as_arrays(law=law)
    xp = array_namespace(x)
    entries_good = (x >= 0) & (x == x) & (x <= 2)
    sums = total(xp.where(entries_good, x, x * 0 if is_rational(x) else xp.zeros_like(x)))
    return xp.all(entries_good, axis=-1) & (abs(sums - 1) <= sum_tolerance(law, x))[..., 0]


def check_candidates(count: Any) -> int:
    """`candidates` as a non-negative `int`."""
    if isinstance(count, bool) or not hasattr(count, "__index__") or int(count.__index__()) < 0:
        raise ValueError(f"candidates: {count!r} is not a number of candidates (an integer, 0 or more)")
    return int(count.__index__())


def check_masses(**given: Any) -> list[Array]:
    """Masses `(..., vocab)` in one namespace and number type: finite and not negative, of any sum."""
    arrays = as_arrays(**given)
    for name, x in zip(given, arrays, strict=True):
        if not is_traced(x):
            _check_entries(x, name)
    return arrays


def check_tokens(
    tokens: Any, q: Array, *, distinct: bool = False, own_laws: bool = False, absent: bool = True
) -> Array:
    """Candidate ids `(..., K)` against the draft law `q` they were drawn from; `-1`, if allowed, is an absent one.

    With `own_laws`, `q` holds a law for each candidate, `(..., K, vocab)`.

    Raises:
        ValueError: not integers; not a row for each law; an id outside the vocabulary or of draft probability 0; a
            present candidate after an absent one; a repeated id, where `distinct` says that candidates are drawn
            without replacement.
    """
    xp = array_namespace(q)
    if not is_array_api_obj(tokens):
        tokens = from_sequence(tokens, "tokens")
        if tokens.size and not np.issubdtype(tokens.dtype, np.integer):
            raise ValueError(f"tokens: token ids are integers, not {tokens.dtype}; mark an absent candidate by -1")
    x = move(tokens, q, "tokens")
    if not xp.isdtype(x.dtype, "integral") and x.size:
        raise ValueError(f"tokens: token ids are integers, not {x.dtype}")
    if xp.isdtype(x.dtype, "unsigned integer") and not is_traced(x):  # the largest would wrap to -1, absent
        refuse(x >= q.shape[-1], x, "tokens", f"is not a token id of a vocabulary of {q.shape[-1]} (or -1, absent)")
    x = xp.astype(x, xp.int64)
    if x.ndim < 1:
        raise ValueError("tokens: shape () has no axis of candidates; the shape is (..., K)")
    if own_laws and q.shape[-2] != x.shape[-1]:
        raise ValueError(
            f"tokens: {x.shape[-1]} candidates beside {q.shape[-2]} laws; give one for each law (-1, absent)"
        )
    check_rows_of_noise(check_broadcast(laws=q.shape[: -2 if own_laws else -1], tokens=x.shape[:-1]), tokens=x)
    if is_traced(x) or is_traced(q) or x.shape[-1] == 0:
        return x
    vocab = q.shape[-1]
    least, or_absent = (-1, " (or -1, absent)") if absent else (0, "")
    outside = f"is not a token id of a vocabulary of {vocab}{or_absent}"
    refuse((x < least) | (x >= vocab), x, "tokens", outside)
    before = xp.concat([x[..., :1] * 0, x[..., :-1]], axis=-1)
    refuse((x >= 0) & (before < 0), x, "tokens", "comes after an absent candidate (-1); absent ones go last")
    present = xp.where(x < 0, x * 0, x)
    drawn = take(q, present[..., None])[..., 0] if own_laws else take(q, present)
    refuse((drawn <= 0) & (x >= 0), x, "tokens", "has draft probability 0, so it cannot have been drawn from draft")
    if distinct:
        earlier = xp.tril(xp.ones((x.shape[-1], x.shape[-1]), dtype=xp.int64, device=device(x)), k=-1) > 0
        again = xp.any((x[..., :, None] == x[..., None, :]) & earlier, axis=-1) & (x >= 0)
        refuse(again, x, "tokens", "was drawn before, and this rule's candidates are drawn without replacement")
    return x


def check_uniforms(uniforms: Any, p: Array, *, needed: int) -> Array:
    """Uniforms `(..., needed)` in `[0, 1)`, in the number type of the law `p` (exactly, for rationals)."""
    xp = array_namespace(p)
    if not is_array_api_obj(uniforms):
        uniforms = from_sequence(uniforms, "uniforms")
    if is_rational(p):
        number = number_type(p)
        u = np.asarray(uniforms)
        odd = [v for v in u.reshape(-1).tolist() if not isinstance(v, Real)] if u.dtype.kind in "Ofiu" else [u.dtype]
        if odd:
            raise ValueError(f"uniforms: numbers in [0, 1) are needed, not {odd[0]!r}")
        refuse(~_between_0_and_1(u), u, "uniforms", "is not in [0, 1)")
        u = objects([number(v) for v in u.reshape(-1).tolist()], u.shape)
    else:
        u = move(uniforms, p, "uniforms")
        u = u if is_rational(u) else xp.astype(u, xp.float64)
        u = np.asarray(u, dtype=np.float64) if is_rational(u) else u
        if not is_traced(u):
            refuse(~((u >= 0) & (u < 1)), u, "uniforms", "is not in [0, 1)")
    if u.ndim < 1 or u.shape[-1] != needed:
        raise ValueError(f"uniforms: shape {tuple(u.shape)}; the last axis must hold {needed} uniforms a position")
    check_rows_of_noise(check_broadcast(laws=p.shape[:-1], uniforms=u.shape[:-1]), uniforms=u)
    return u


def check_rows_of_noise(batch: tuple[int, ...], **given: Array) -> None:
    """That what is random has a row for each position of `batch`; laws may broadcast, but shared noise is dependence.

    Raises:
        ValueError: fewer rows.
    """
    for name, x in given.items():
        if tuple(x.shape[:-1]) != batch:
            raise ValueError(
                f"{name}: shape {tuple(x.shape)} beside positions of shape {batch}; one row would decide several, "
                f"which are independent only if each has its own: give shape {(*batch, x.shape[-1])}"
            )


def sum_tolerance(given: Any, x: Array) -> float:
    """How far from 1 a row of floats may sum: what rounding in the dtype `given` came with can cause.

    Entries rounded to a dtype of relative spacing `eps` move the sum by at most `eps`, and those below its smallest
    normal number by the spacing there each; a softmax summed in float32 adds a random walk of `vocab` roundings. Rows
    given in float64 are often float32 rows converted, so they are met with float32's tolerance. Rationals get none.
    """
    if is_rational(x):
        return 0
    single = float(np.finfo(np.float32).eps)
    eps, tiny = single, 0.0
    if is_array_api_obj(given) and not is_rational(given):
        xp = array_namespace(given)
        if xp.isdtype(given.dtype, "real floating"):
            info = xp.finfo(given.dtype)
            eps, tiny = max(eps, float(info.eps)), float(info.smallest_normal) * float(info.eps)
    return eps + 8 * single * math.sqrt(x.shape[-1]) + tiny * x.shape[-1]


def _check_entries(x: Array, name: str) -> None:
    refuse(x != x, x, name, "is not a probability")
    refuse(x < 0, x, name, "is negative")
    if not is_rational(x):
        refuse(array_namespace(x).isinf(x), x, name, "is infinite")


def _check_rows(x: Array, name: str, tolerance: float) -> Array:
    sums = total(x)
    if not is_traced(x):
        _check_entries(x, name)
        off = abs(sums - 1) > tolerance
        refuse(off, sums, name, "is the sum of the row; a law sums to 1 (normalise it, or check what it lacks)")
    return quotient(x, sums)


def _between_0_and_1(u: np.ndarray) -> np.ndarray:
    return np.asarray((u >= 0) & (u < 1), dtype=bool)


def check_broadcast(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that leading dimensions broadcast to."""
    try:
        return np.broadcast_shapes(*(tuple(s) for s in shapes.values()))
    except ValueError:
        listed = ", ".join(f"{k} {tuple(s)}" for k, s in shapes.items())
        raise ValueError(f"leading dimensions do not broadcast: {listed}") from None
