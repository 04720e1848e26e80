import numpy as np
import pytest

from resispec_ref import acceptance
from resispec_ref.sequence import chain, traversal


@pytest.fixture
def intervals(monkeypatch):
    """Let uniforms be intervals (`law_of`): they are compared, but are no numbers to be checked."""
    for module in (acceptance, chain, traversal):
        monkeypatch.setattr(module, "check_uniforms", lambda u, p, needed: np.asarray(u))
