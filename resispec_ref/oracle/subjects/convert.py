"""Arrays on the way to an implementation and back: its library, its number type, its kind of input."""

from __future__ import annotations

import importlib
import random
import sys
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from resispec_ref.oracle.subjects.calls import CallError
from resispec_ref.residual import check_option

Library = Literal["numpy", "torch", "jax"]
Inputs = Literal["probabilities", "logits"]
Dtype = Literal["float64", "float32", "float16", "bfloat16"]
_ROUNDOFF = {"float64": 0.0, "float32": 0.0, "float16": 2.0**-10, "bfloat16": 2.0**-7}


@dataclass(frozen=True)
class Format:
    """How an implementation wants its laws: array library, number type, probabilities or their logarithms."""

    library: Library = "numpy"
    dtype: Dtype = "float64"
    inputs: Inputs = "probabilities"

    def __post_init__(self) -> None:
        check_option("library", self.library, Library)
        check_option("dtype", self.dtype, Dtype)
        check_option("inputs", self.inputs, Inputs)
        try:
            importlib.import_module("ml_dtypes" if self.dtype == "bfloat16" != self.library else self.library)
        except ImportError:
            needed = self.library if self.library != "numpy" else "jax"
            raise ValueError(
                f"library: {self.library!r} with {self.dtype} needs a package that is not installed; "
                f"pip install 'resispec-ref[{needed}]'"
            ) from None

    @property
    def tolerance(self) -> float:
        """The total variation that arithmetic in this number type may cost: its spacing, for the 16-bit types."""
        return _ROUNDOFF[self.dtype]

    def laws(self, p: np.ndarray) -> Any:
        """Float64 laws as the implementation is given them: new arrays."""
        if self.inputs == "logits":
            with np.errstate(divide="ignore"):
                p = np.log(p)
        return self._floats(p, self.dtype)

    def seen(self, p: np.ndarray) -> np.ndarray:
        """The laws that `laws(p)` stands for, after rounding: what an exact implementation emits then."""
        x = self.numpy(self.laws(p)).astype(np.float64)
        if self.inputs == "logits":
            x = np.exp(x - x.max(-1, keepdims=True))
        return x / x.sum(-1, keepdims=True)

    def noise(self, u: np.ndarray) -> Any:
        """Noise in float64 where laws are, and else in float32, as engines have it."""
        return self._floats(u, "float64" if self.dtype == "float64" else "float32")

    def integers(self, x: np.ndarray) -> Any:
        if self.library == "torch":
            return importlib.import_module("torch").from_numpy(x.astype(np.int64))
        if self.library == "jax":
            return importlib.import_module("jax.numpy").asarray(x.astype(np.int32))
        return x.astype(np.int64)

    def generator(self, rng: np.random.Generator) -> Any:
        """A source of randomness of the library, seeded from `rng`."""
        if self.library == "torch":
            return importlib.import_module("torch").Generator().manual_seed(int(rng.integers(2**62)))
        if self.library == "jax":
            return importlib.import_module("jax").random.key(int(rng.integers(2**31)))
        return np.random.default_rng(rng.integers(2**62))

    def seed_globally(self, rng: np.random.Generator) -> None:
        """Seeds the global sources of randomness, Torch's wherever it is loaded: what draws from them is repeatable."""
        ours, numpys, torchs = (int(rng.integers(2**31)) for _ in range(3))
        random.seed(ours)
        np.random.seed(numpys)
        if "torch" in sys.modules:
            sys.modules["torch"].manual_seed(torchs)

    def numpy(self, x: Any) -> np.ndarray:
        """An array of the library as a NumPy array; half types as float32."""
        if isinstance(x, int) and not isinstance(x, bool):
            return np.array(x, dtype=np.int64)
        if hasattr(x, "detach"):
            x = x.detach().cpu()
            if str(x.dtype) in ("torch.bfloat16", "torch.float16"):
                x = x.float()
        a = np.asarray(x)
        return a.astype(np.float32) if a.dtype.itemsize == 2 and a.dtype.kind not in "iu" else a

    def _floats(self, x: np.ndarray, dtype: str) -> Any:
        if self.library == "torch":
            torch = importlib.import_module("torch")
            return torch.tensor(x, dtype=getattr(torch, dtype))
        if self.library == "jax":
            jax = importlib.import_module("jax")
            if dtype == "float64" and not jax.config.jax_enable_x64:
                raise ValueError("dtype: this JAX computes in 32 bits; choose dtype='float32', or enable x64")
            return jax.numpy.asarray(x, dtype=dtype)
        if dtype == "bfloat16":
            return np.array(x, dtype=importlib.import_module("ml_dtypes").bfloat16)
        return np.array(x, dtype=dtype)


def token_array(answer: Any, form: Format, given: dict[str, Any]) -> np.ndarray:
    """What an implementation returned, as an integer array.

    Raises:
        CallError: it is no array of integers.
    """
    try:
        a = form.numpy(answer)
    except Exception as error:
        raise CallError("shape", f"returned {answer!r:.80}, which is no array of token ids ({error})", given) from None
    if a.dtype == object or a.dtype.kind not in "iub":
        raise CallError("dtype", f"returned {a.dtype} {answer!r:.80}; token ids are integers", given)
    if a.dtype.kind == "b":
        raise CallError("dtype", f"returned booleans {answer!r:.80}; token ids are integers", given)
    return a.astype(np.int64, copy=False)
