"""What all tests share: Hypothesis profiles, JAX in 64 bits, and one fixture over array libraries.

Profiles are chosen by `--hypothesis-profile dev | ci | thorough`; `dev` is the default, also where the environment
sets `CI` (for which Hypothesis would load its own `ci`).
"""

import os

os.environ["JAX_ENABLE_X64"] = "True"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")  # small arrays: compiling is what costs

import pytest
from backends import BACKENDS, Backend, make_backend
from hypothesis import HealthCheck, settings

EXAMPLES = {"dev": 50, "ci": 150, "thorough": 1000}

for profile, examples in EXAMPLES.items():
    settings.register_profile(
        profile,
        max_examples=examples,
        deadline=None,  # a busy machine is no fault
        derandomize=profile == "ci",
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("dev")


@pytest.fixture(scope="session")
def effort() -> int:
    """By how much loops without Hypothesis are longer than under `dev`: 1, 3 or 20."""
    return max(1, settings.default.max_examples // EXAMPLES["dev"])


@pytest.fixture(params=BACKENDS)
def xp(request: pytest.FixtureRequest) -> Backend:
    """Every array library that the package promises to run on, one after the other."""
    return make_backend(request.param)
