"""Laws over a vocabulary: from logits as inference engines make them, and how far two laws are apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj, is_numpy_array

from resispec_ref.arrays.arithmetic import Array, count_while, index_range, is_rational, prefix_sum, take, total
from resispec_ref.arrays.convert import as_float, is_traced, refuse
from resispec_ref.validation import check_law, check_pair

_LEAST_TEMPERATURE = float(np.finfo(np.float64).tiny)  # JAX on a CPU takes less for 0


def law_from_logits(
    logits: Any,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> Array:
    """Softmax of `logits / temperature`, cut by top-k, then top-p, then min-p, renormalised after each cut.

    This is the order of Hugging Face transformers (temperature, top-k, top-p, min-p). Other engines differ: vLLM
    applies min-p before top-k and top-p, llama.cpp applies the temperature last. Target and draft must be given the
    same settings wherever the engine applies them to both.

    Args:
        logits: `(..., vocab)` real numbers; `-inf` masks a token.
        temperature: 0 gives a one-hot law at the first maximum.
        top_k: keep the `top_k` largest logits, and all that tie with the last of them.
        top_p: keep the smallest set of most probable tokens whose mass reaches `top_p` (ties: lower token id first).
        min_p: keep tokens of at least `min_p` times the largest probability.

    Returns:
        `(..., vocab)` float64 probabilities.

    Raises:
        ValueError: NaN or `+inf` among the logits, a row masked entirely, or a setting outside its range.

    >>> law_from_logits([2.0, 1.0, 0.0], temperature=0).tolist()
    [1.0, 0.0, 0.0]
    """
    _check_settings(temperature, top_k, top_p, min_p)
    x = _check_logits(logits)
    xp = array_namespace(x)
    best = xp.max(x, axis=-1, keepdims=True)
    if temperature == 0:
        first = xp.argmax(x, axis=-1, keepdims=True)
        return xp.astype(index_range(x.shape[-1], first) == first, xp.float64)
    weights = _weights(x, best, temperature)
    law = weights / total(weights)
    if top_k is not None:
        kth = xp.sort(law, axis=-1, descending=True)[..., min(top_k, x.shape[-1]) - 1 : min(top_k, x.shape[-1])]
        law = _keep(law, law >= kth)
    if top_p is not None and top_p < 1:
        law = _keep(law, _nucleus(law, top_p))
    if min_p is not None:
        law = _keep(law, law >= min_p * xp.max(law, axis=-1, keepdims=True))
    return law


def total_variation(first: Any, second: Any) -> Array:
    """`TV(f, g) = ½ Σ |f − g|` of two laws `(..., vocab)`, shape `(...)`, in `[0, 1]`.

    >>> from fractions import Fraction as F
    >>> total_variation([F(1, 3)] * 3, [F(1, 2), F(1, 2), F(0)])
    Fraction(1, 3)
    """
    return scalar(tv(*check_pair(first, second)))


def overlap(target: Any, draft: Any) -> Array:
    """`Σ min(p, q) = 1 − TV(p, q)`: the acceptance rate of one candidate under the best exact rule.

    >>> float(overlap([0.5, 0.5], [0.75, 0.25]))
    0.75
    """
    p, q = check_pair(target, draft)
    return scalar(total(array_namespace(p, q).minimum(p, q))[..., 0])


def kl_divergence(target: Any, draft: Any) -> Array:
    """`KL(p ‖ q) = Σ p log(p / q)` in nats, `inf` where the target has a token that the draft lacks; floats only.

    >>> round(float(kl_divergence([0.5, 0.5], [0.75, 0.25])), 4)
    0.1438
    """
    p, q = check_pair(target, draft)
    if is_rational(p):
        raise ValueError("target: the logarithm of a rational is not rational; pass floats to kl_divergence")
    xp = array_namespace(p, q)
    both = (p > 0) & (q > 0)
    one = xp.ones_like(p)
    terms = xp.where(both, p * (xp.log(xp.where(both, p, one)) - xp.log(xp.where(both, q, one))), xp.zeros_like(p * q))
    missing = xp.any((p > 0) & (q == 0), axis=-1)
    return scalar(xp.where(missing, xp.asarray(float("inf"), dtype=p.dtype), total(terms)[..., 0]))


def tv(f: Array, g: Array) -> Array:
    """`total_variation` of arrays that were checked before."""
    return total(abs(f - g))[..., 0] / 2


def scalar(x: Array) -> Array:
    """A NumPy array of no dimensions as the number it holds (`Fraction`, `float64`); anything else as it is."""
    return x[()] if is_numpy_array(x) and x.ndim == 0 else x


def _weights(x: Array, best: Array, temperature: float) -> Array:
    """`e^{(x − best) / T}` without overflow in the difference or the quotient."""
    xp = array_namespace(x)
    gone = x * 0.5 - best * 0.5 < -500 * temperature  # e^{−1000} is 0
    scale = 0.125 if temperature > 1 else 1.0  # exact; so that neither a difference of the rest nor 1/T leaves floats
    gap = xp.where(gone, best, x) * scale - best * scale
    divisor = xp.full_like(gap, temperature * scale)  # of one shape: JAX would multiply by the reciprocal of a number
    return xp.where(gone, xp.zeros_like(x), xp.exp(gap / divisor))


def _keep(law: Array, kept: Array) -> Array:
    law = array_namespace(law).where(kept, law, law * 0)
    return law / total(law)


def _nucleus(law: Array, top_p: float) -> Array:
    """Kept tokens: rank in descending order at most the number of prefixes that do not reach `top_p`."""
    xp = array_namespace(law)
    order = xp.argsort(law, axis=-1, descending=True, stable=True)
    reached = prefix_sum(take(law, order))
    size = law.shape[-1]
    short = count_while(lambda i: take(reached, i[..., 0, :])[..., None, :] < top_p, size, order[..., :1] * 0)
    return xp.argsort(order, axis=-1, stable=True) <= short


def _check_logits(logits: Any) -> Array:
    x = logits if is_array_api_obj(logits) else np.asarray(logits, dtype=np.float64)
    xp = array_namespace(x)
    x = as_float(x, "logits")
    if x.ndim < 1 or x.shape[-1] == 0:
        raise ValueError(f"logits: shape {tuple(x.shape)} has no tokens; logits have shape (..., vocab)")
    if not is_traced(x):
        refuse((x != x) | (x == float("inf")), x, "logits", "is not a logit (finite, or -inf to mask a token)")
        masked = xp.max(x, axis=-1, keepdims=True) == float("-inf")
        refuse(masked, xp.max(x, axis=-1, keepdims=True), "logits", "is the largest logit: every token is masked")
    return x


def _check_settings(temperature: float, top_k: int | None, top_p: float | None, min_p: float | None) -> None:
    if not 0 <= temperature < float("inf"):
        raise ValueError(f"temperature: {temperature} is not a finite number, 0 or more")
    if 0 < temperature < _LEAST_TEMPERATURE:
        raise ValueError(f"temperature: {temperature} is below the least normal float; give 0 for the largest logit")
    if top_k is not None and (not hasattr(top_k, "__index__") or top_k < 1):
        raise ValueError(f"top_k: {top_k} is not a number of tokens; give an integer, 1 or more, or None for no cut")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p: {top_p} is not in (0, 1]; None means no cut")
    if min_p is not None and not 0 <= min_p <= 1:
        raise ValueError(f"min_p: {min_p} is not in [0, 1]; None means no cut")


__all__ = ["check_law", "kl_divergence", "law_from_logits", "overlap", "total_variation"]
