"""The registry as the tests see it: every rule with every choice of its options, and exact walks along its states."""

import itertools
import typing

import numpy as np

import resispec_ref as rs


def variants(names=None):
    """Every rule of the registry under every combination of its `Literal` options; new rules come by themselves."""
    for name in rs.verifier_names() if names is None else names:
        hints = typing.get_type_hints(type(rs.get_verifier(name)))
        options = {k: typing.get_args(t) for k, t in hints.items() if typing.get_origin(t) is typing.Literal}
        for chosen in itertools.product(*options.values()):
            yield rs.get_verifier(name, **dict(zip(options, chosen, strict=True)))


def label(rule):
    """A test id: the rule's name and its options."""
    fields = getattr(rule, "__dataclass_fields__", {})
    return "-".join([rule.name, *(str(getattr(rule, f)) for f in fields)])


VARIANTS = list(variants())
EXACT = [rule for rule in VARIANTS if rule.exact]


def candidates_for(rule, q, x):
    """The tokens `x`, `(..., K)`; where the rule has a candidate drawn from another law than `q`, one of that law."""
    laws = rule.candidate_laws(np.asarray(q), x.shape[-1]) if x.shape[-1] else None
    if laws is None:
        return x
    laws = np.broadcast_to(laws.astype(float), (*x.shape, laws.shape[-1]))
    possible = np.take_along_axis(laws, np.maximum(x, 0)[..., None], axis=-1)[..., 0] > 0
    return np.where(laws.sum(axis=-1) > 0, np.where(possible & (x >= 0), x, laws.argmax(axis=-1)), -1)


def exact(law):
    """A list of rationals as the object array that carries them."""
    x = np.empty(len(law), dtype=object)
    x[:] = law
    return x


def states(rule, p, q, K):
    """Every state that `rule` reaches, with the states that follow it by rejected token of positive probability."""
    level = [rule.start(exact(p), exact(q), K)]
    for _ in range(rule.steps(K)):
        following = []
        for state in level:
            left = state.proposal - rule.accepted(state)
            after = {x: rule.reject(state, np.array(x)) for x in range(len(p)) if left[x]}
            yield state, after
            following += after.values() if rule.path_dependent else list(after.values())[:1]
        level = following
