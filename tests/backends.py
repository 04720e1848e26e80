"""The array libraries that the package promises to run on, each as a test uses it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


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
    """The array library called `name`."""

    def eagerly(f: Callable[..., Any], *arrays: Any) -> Any:
        return f(*arrays)

    if name == "numpy":
        return Backend(name, np.array, eagerly)
    if name == "numpy-read-only":
        return Backend(name, read_only, eagerly)
    if name == "torch":
        import torch

        torch.set_num_threads(1)
        return Backend(name, lambda x: torch.asarray(np.array(x)), eagerly)
    if name == "array-api-strict":
        import array_api_strict as strict

        return Backend(name, lambda x: strict.asarray(np.array(x)), eagerly)
    import jax

    def compiled(f: Callable[..., Any], *arrays: Any) -> Any:
        return jax.jit(f)(*arrays)

    return Backend(name, jax.numpy.asarray, compiled if name == "jax-jit" else eagerly)


def read_only(x: Any) -> np.ndarray:
    x = np.array(x)
    x.flags.writeable = False
    return x
