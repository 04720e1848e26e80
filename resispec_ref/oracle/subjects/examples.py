"""What `resispec audit --example --kind ...` prints: for each protocol a right implementation to start from.

All are recursive rejection, the shortest right rule.
"""

EXAMPLES = {
    "verifier": '''\
import numpy as np

def verify(target, draft, candidates, rng):
    """One position: laws (V,), candidates (K,) drawn from draft, a NumPy generator -> the emitted token."""
    for x in candidates:
        if rng.random() * draft[x] < target[x]:
            return x
        residual = np.maximum(target - draft, 0)
        target = residual / residual.sum()
    return rng.choice(len(target), p=target)
''',
    "sampler": '''\
import numpy as np

def verify(target, draft, k, rng, n):
    """Laws (V,); draws k candidates from draft itself and emits a token, n times -> tokens (n,)."""
    emitted, everyone = np.full(n, -1), np.arange(n)
    for _ in range(k):
        x = rng.choice(len(draft), size=n, p=draft)
        accepted = (emitted < 0) & (rng.random(n) * draft[x] < target[x])
        emitted[accepted] = x[accepted]
        residual = np.maximum(target - draft, 0)
        if residual.sum() > 0:  # else every candidate is accepted
            target = residual / residual.sum()
    return np.where(emitted < 0, rng.choice(len(target), size=n, p=target), emitted)
''',
    "chain": '''\
import numpy as np

def verify(target, draft, drafted, rng):
    """Rows (K + 1, V) and (K, V) of both models along the tokens drafted (K,) -> 1 to K + 1 emitted tokens.

    Row i is the law of token i after the first i drafted tokens; the target's last row is that of the extra token.
    """
    for i, x in enumerate(drafted):
        if rng.random() * draft[i, x] >= target[i, x]:
            residual = np.maximum(target[i] - draft[i], 0)
            return [*drafted[:i], rng.choice(len(residual), p=residual / residual.sum())]
    return [*drafted, rng.choice(target.shape[1], p=target[-1])]
''',
    "tree": '''\
import numpy as np

def verify(target, draft, tokens, parents, rng):
    """Nodes (N,): tokens, and the number of each one's parent, -1 below the root -> the emitted tokens.

    Rows (N + 1, V) of both models: the root's first, so node i has row i + 1. Siblings are drawn independently.
    """
    emitted, node = [], -1
    while True:
        p, q = target[node + 1], draft[node + 1]
        for child in np.flatnonzero(parents == node):
            x = tokens[child]
            if rng.random() * q[x] < p[x]:
                break
            residual = np.maximum(p - q, 0)
            p = residual / residual.sum()
        else:  # every child is rejected, or there is none
            return [*emitted, rng.choice(len(p), p=p)]
        emitted, node = [*emitted, x], child
''',
    "law": '''\
import numpy as np

def verify(target, draft):
    """Laws (V,) -> accepted mass (V,), and the law after a rejection (V,), or (V, V): a row for each rejected token.

    Laws are arrays of Fraction where the code works with these, and then compared with ==; else float64.
    """
    accepted = np.minimum(target, draft)
    residual = target - accepted
    rejected = residual.sum()
    return accepted, residual / rejected if rejected > 0 else residual
''',
}
"""Kind -> the text of a module with the function `verify`."""

TORCH = '''\
import torch

def verify(target, draft, candidates, generator):
    """One position: tensors, laws (V,) and candidates (K,) drawn from draft, a torch.Generator -> the emitted token."""
    for x in candidates:
        if torch.rand((), generator=generator, dtype=torch.float64) * draft[x] < target[x]:
            return x
        residual = torch.clamp(target - draft, min=0)
        target = residual / residual.sum()
    return torch.multinomial(target, 1, generator=generator)[0]
'''
"""The example of kind verifier for `--library torch`."""


def example(kind: str, library: str) -> str:
    """The text for this kind and library.

    Raises:
        ValueError: there is none; says which there are.
    """
    if (kind, library) == ("verifier", "torch"):
        return TORCH
    if library != "numpy" and kind != "law":
        raise ValueError(
            f"--example: there is none of kind {kind} for {library}; take that for NumPy, without --library: the "
            "shapes are the same"
        )
    return EXAMPLES[kind]
