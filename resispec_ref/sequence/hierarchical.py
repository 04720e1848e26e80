"""Hierarchical speculative decoding, in its paper's own terms: what it is as defined, and as its listing has it.

With `r_t = Π_{i ≤ t} p_i(x_i) / q_i(x_i)` and `r_0 = 1`, a prefix of length `t` weighs

    min(r*_t, 1) = r_t / max_{j ≤ t} r_j,

which is the weight `p_t = min(1, p_{t-1} p/q)` of block verification: both start at 1, and a step that would lead above
1 is a new maximum. The chance `h_t` to keep a prefix and the residual after it are block verification's too. So as
defined it is block verification, exact and of the same accepted length.

The published listing keeps the whole draft with `min(1, r_n)`, the product that is not divided by the maximum, and that
is biased.
"""

from __future__ import annotations

from typing import Any

from resispec_ref.arrays.arithmetic import normalise, positive_part, total
from resispec_ref.sequence.law import WalkLaw
from resispec_ref.sequence.toy import Model, Tokens, joint_law
from resispec_ref.validation import check_pair


def hierarchical_law(
    target: Model, draft: Model, length: int, *, as_listed: bool = False, prefix: Tokens = ()
) -> WalkLaw:
    """The exact law of hierarchical speculative decoding of `length` drafted tokens: `(tokens, accepted length)`.

    By enumeration of the drafts. As defined it is the law of `verify_block`; `as_listed` keeps the whole draft with the
    product of ratios instead of the capped one, as the published listing does.

    Raises:
        ValueError: laws that are no laws, or not of one vocabulary.

    Source: Zhou et al. 2026 (arXiv 2601.05724), its definitions of capped ratios, and the listing of its code.
    Theorem: `hierarchical_is_block`, `listing_law` (proofs/hierarchical.v).

    >>> from fractions import Fraction as F
    >>> from resispec_ref.sequence.law import completed
    >>> from resispec_ref.sequence.toy import NGram
    >>> p, q = NGram([F(1, 3), F(2, 3)]), NGram([F(2, 3), F(1, 3)])
    >>> for listed in (False, True):
    ...     law = hierarchical_law(p, q, 2, as_listed=listed)
    ...     first_two = {}
    ...     for s, m in completed(law, p, 3).items():
    ...         first_two[s[:2]] = first_two.get(s[:2], 0) + m
    ...     print([str(first_two[s]) for s in sorted(first_two)], sum(kept * m for (_, kept), m in law.items()))
    ['1/9', '2/9', '2/9', '4/9'] 11/9
    ['1/9', '2/9', '1/3', '1/3'] 4/3
    """
    found: WalkLaw = {}
    for drafted, chance in joint_law(draft, length, prefix).items():
        ratios, left = [chance * 0 + 1], chance
        kept: list[tuple[Any, Any]] = []  # of every prefix, the chance to be kept, and the law of the token after it
        for t in range(length):
            p, q = check_pair(target.law(prefix + drafted[:t]), draft.law(prefix + drafted[:t]))
            weight = ratios[t] / max(ratios)
            more, less = total(positive_part(weight * p - q))[0], total(positive_part(q - weight * p))[0]
            h = more / max(more, less) if more or less else more + 1
            kept.append((h, normalise(positive_part(weight * p - q), otherwise=p)))
            ratios.append(ratios[t] * p[drafted[t]] / q[drafted[t]])
        last = min(ratios[-1], 1) if as_listed else ratios[-1] / max(ratios)
        kept.append((last, target.law(prefix + drafted)))
        for t in range(length, -1, -1):  # the longest prefix that is kept
            h, after = kept[t]
            passed = left * h if t else left
            left = left - passed
            for y, m in enumerate(after.tolist()):
                if m and passed:
                    key = ((*drafted[:t], y), t)
                    found[key] = found.get(key, 0) + passed * m
    return found
