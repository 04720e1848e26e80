def verify(target, draft, candidates, rng):
    """Laws (V,), candidates (K,) drawn from draft, a NumPy generator; returns the emitted token."""
    for x in candidates:
        if rng.random() * draft[x] < target[x]:
            return x
    return rng.choice(len(target), p=target)
