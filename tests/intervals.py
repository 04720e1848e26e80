"""The law of any procedure that only compares its uniforms with thresholds, exactly: a second route to every law here.

A `Uniform` starts as the interval [0, 1). Where a comparison `u c < t` does not have the same answer on the whole
interval, the procedure is run once for each part. The outcomes and the lengths of the parts are the law. Nothing is
shared with the package's recursions, and what is run is the code that users run.
"""

from fractions import Fraction

import numpy as np


class Uniform:
    def __init__(self, run):
        self.run, self.low, self.high = run, Fraction(0), Fraction(1)

    def __mul__(self, scale):
        return NotImplemented if isinstance(scale, np.ndarray) else _Scaled(self, scale)

    __rmul__ = __mul__

    def __lt__(self, threshold):
        return NotImplemented if isinstance(threshold, np.ndarray) else self.below(threshold)

    def below(self, threshold):
        """Whether `u < threshold`, on the part of the interval that this run is on."""
        if threshold <= self.low:
            return False
        if threshold >= self.high:
            return True
        answer = self.run.decide()
        if answer:
            self.high = threshold
        else:
            self.low = threshold
        return answer


class _Scaled:
    def __init__(self, uniform, scale):
        self.uniform, self.scale = uniform, Fraction(scale)

    def __lt__(self, threshold):
        return self.uniform.below(threshold / self.scale) if self.scale > 0 else threshold > 0

    def __ge__(self, threshold):
        return not self < threshold


class _Run:
    def __init__(self, decisions):
        self.decisions, self.made = decisions, []

    def decide(self):
        n = len(self.made)
        self.made.append(self.decisions[n] if n < len(self.decisions) else True)
        return self.made[-1]


def law_of(procedure, shape):
    """`{outcome: probability}` of `procedure(uniforms)` for an array of independent uniforms of `shape`."""
    law, pending = {}, [[]]
    while pending:
        run = _Run(pending.pop())
        uniforms = np.empty(shape, dtype=object)
        flat = [Uniform(run) for _ in range(uniforms.size)]
        uniforms.reshape(-1)[:] = flat
        outcome = procedure(uniforms)
        chance = Fraction(1)
        for u in flat:
            chance *= u.high - u.low
        law[outcome] = law.get(outcome, 0) + chance
        pending += [[*run.made[:n], False] for n in range(len(run.decisions), len(run.made))]
    return law
