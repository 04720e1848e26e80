"""What all tests share: Hypothesis profiles, JAX in 64 bits, and one fixture over array libraries.

Profiles are chosen by `--hypothesis-profile dev | ci | thorough`; `dev` is the default, also where the environment
sets `CI` (for which Hypothesis would load its own `ci`).
"""

import os

os.environ["JAX_ENABLE_X64"] = "True"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")  # small arrays: compiling is what costs

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
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


@dataclass(frozen=True)
class Backend:
    """An array library as a test uses it."""

    name: str
    asarray: Callable[[Any], Any]
    """Nested lists or a NumPy array, as an array of this library."""
    run: Callable[..., Any]
    """`run(f, *arrays)` is `f(*arrays)`, under `jit` where the library compiles."""

    def numpy(self, x: Any) -> np.ndarray:
        """An answer as a NumPy array."""
        return x.detach().numpy() if self.name == "torch" else np.asarray(x)


BACKENDS = ("numpy", "numpy-read-only", "array-api-strict", "jax", "jax-jit", "torch")


def make_backend(name: str) -> Backend:
    """The array library called `name`; a library that is not installed skips the test."""

    def eagerly(f: Callable[..., Any], *arrays: Any) -> Any:
        return f(*arrays)

    if name == "numpy":
        return Backend(name, np.array, eagerly)
    if name == "numpy-read-only":
        return Backend(name, read_only, eagerly)
    if name == "torch":
        torch = pytest.importorskip("torch")
        torch.set_num_threads(1)
        return Backend(name, lambda x: torch.asarray(np.array(x)), eagerly)
    if name == "array-api-strict":
        strict = pytest.importorskip("array_api_strict")
        return Backend(name, lambda x: strict.asarray(np.array(x)), eagerly)
    jax = pytest.importorskip("jax")

    def compiled(f: Callable[..., Any], *arrays: Any) -> Any:
        return jax.jit(f)(*arrays)

    return Backend(name, jax.numpy.asarray, compiled if name == "jax-jit" else eagerly)


def read_only(x: Any) -> np.ndarray:
    x = np.array(x)
    x.flags.writeable = False
    return x


@pytest.fixture(params=BACKENDS)
def xp(request: pytest.FixtureRequest) -> Backend:
    """Every array library that the package promises to run on, one after the other."""
    return make_backend(request.param)
