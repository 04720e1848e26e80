import numpy as np
import pytest

from resispec_ref.sequence.whole_tree import verify


@pytest.fixture
def intervals(monkeypatch):
    """Let uniforms be intervals (`law_of`): they are compared, but are no numbers to be checked."""
    monkeypatch.setattr(verify, "check_uniforms", lambda u, p, needed: np.asarray(u))
