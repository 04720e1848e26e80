"""Recorded pairs of laws: target and draft logits at the same positions of a text, as an ``.npz`` file.

The file holds three arrays of shape ``(positions, width)`` and one string:

=================  ===============================================================================
``target_logits``  float16 (float32 and float64 are read too), natural logarithms up to a constant a row
``draft_logits``   the same for the draft, on the same tokens
``token_ids``      integers: which token each column is *in that row*; -1 marks padding
``metadata``       a JSON object (optional): models, text, versions, the probability mass left out
=================  ===============================================================================

A row lists the most probable tokens of both models, or the whole vocabulary. Laws are the softmax of a row,
so they are **renormalised on the kept tokens**. A row with fewer tokens than the width is padded with
``-inf`` logits on both sides and the token id -1: padding has probability 0 under both laws.

Any program can write such a file with ``numpy.savez``; nothing here needs more than NumPy.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import IO, Any

import numpy as np

__all__ = ["Pairs", "iterate_pairs", "load_pairs", "pairs_shape", "save_pairs"]

EMBEDDED = "smollm2-135m-skip14-17.npz"
ARRAYS = ("target_logits", "draft_logits", "token_ids")

Path = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Target and draft logits at the same positions, checked when made.

    Shapes: the three arrays are ``(positions, width)``. ``first_row`` is the row's number in the file that a
    chunk was cut from, so that messages and reports can name the position. Errors: a ``ValueError`` for
    unequal shapes, NaN or ``+inf`` logits, a row without any token, a token listed twice, a negative token id
    other than -1, or a -1 whose logits are not ``-inf`` on both sides.

    >>> pairs = Pairs(np.log([[0.5, 0.3, 0.2]]), np.log([[0.6, 0.35, 0.05]]), np.array([[0, 1, 2]]))
    >>> pairs.positions, pairs.width
    (1, 3)
    """

    target_logits: np.ndarray
    draft_logits: np.ndarray
    token_ids: np.ndarray
    metadata: Mapping[str, Any] = field(default_factory=dict)
    first_row: int = 0

    def __post_init__(self) -> None:
        _check_layout({key: (getattr(self, key).shape, getattr(self, key).dtype) for key in ARRAYS})
        ids, padding = self.token_ids, self.token_ids == -1
        for key in ("target_logits", "draft_logits"):
            logits = getattr(self, key)
            self._refuse(np.isnan(logits) | (logits == np.inf), key, "logits are finite or -inf")
            self._refuse(padding & (logits != -np.inf), key, "padding (token id -1) has the logit -inf")
            empty = np.all(logits == -np.inf, axis=1, keepdims=True)
            self._refuse(empty, key, "a row needs at least one token with a finite logit")
        self._refuse(ids < -1, "token_ids", "ids are 0 or more, or -1 for padding")
        ordered = np.sort(ids, axis=1)
        repeated = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
        self._refuse(repeated, "token_ids", "a row lists each token once", values=ordered[:, 1:])

    def _refuse(self, bad: np.ndarray, key: str, rule: str, values: np.ndarray | None = None) -> None:
        if bad.any():
            row, column = np.argwhere(bad)[0]
            value = (getattr(self, key) if values is None else values)[row, column]
            raise ValueError(f"{key}, row {self.first_row + row}: found {value}; {rule}")

    @property
    def positions(self) -> int:
        return self.token_ids.shape[0]

    @property
    def width(self) -> int:
        return self.token_ids.shape[1]


def load_pairs(path: Path | None = None) -> Pairs:
    """The whole file in memory; without a path, the recording that comes with the package.

    That one is 128 positions of SmolLM2-135M-Instruct and of the same model with layers 14 to 17 skipped.
    Errors: as `iterate_pairs`.

    >>> pairs = load_pairs()
    >>> pairs.positions, pairs.width, pairs.metadata["skipped_layers"]
    (128, 4096, [14, 15, 16, 17])
    """
    with _opened(path) as rows:
        return rows.take(rows.positions)


def iterate_pairs(source: Path | Pairs | None = None, *, chunk: int = 64) -> Iterator[Pairs]:
    """The pairs of a file in `Pairs` of at most `chunk` rows, never holding more than those in memory.

    `source` is a path, None for the embedded recording, or `Pairs` already in memory. Errors: a ``ValueError``
    that names the file for what is no ``.npz``, a missing or cut-off array, unequal shapes, and all that `Pairs`
    refuses, with the row's number in the file.

    >>> [part.positions for part in iterate_pairs(chunk=50)]
    [50, 50, 28]
    """
    if chunk < 1:
        raise ValueError(f"chunk is {chunk}; a chunk has at least one row")
    if isinstance(source, Pairs):
        for start in range(0, source.positions, chunk):
            f_p, f_q, ids = (getattr(source, key)[start : start + chunk] for key in ARRAYS)
            yield Pairs(f_p, f_q, ids, source.metadata, source.first_row + start)
        return
    with _opened(source) as rows:
        while rows.done < rows.positions:
            yield rows.take(min(chunk, rows.positions - rows.done))


def pairs_shape(source: Path | Pairs | None = None) -> tuple[int, int]:
    """``(positions, width)``, from the headers alone: a large file costs no more than a small one.

    >>> pairs_shape()
    (128, 4096)
    """
    if isinstance(source, Pairs):
        return source.positions, source.width
    with _opened(source) as rows:
        return rows.positions, rows.width


def save_pairs(path: Path, pairs: Pairs) -> None:
    """Write `pairs` as a compressed ``.npz`` under exactly this name; the same pairs give the same bytes.

    >>> import tempfile
    >>> pairs = Pairs(np.log([[0.5, 0.3, 0.2]]), np.log([[0.6, 0.35, 0.05]]), np.array([[0, 1, 2]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_pairs(f"{folder}/mine.npz", pairs)
    ...     load_pairs(f"{folder}/mine.npz").positions
    1
    """
    metadata = json.dumps(dict(pairs.metadata), ensure_ascii=False, allow_nan=False)
    with open(path, "wb") as file:
        np.savez_compressed(
            file,
            target_logits=np.ascontiguousarray(pairs.target_logits),
            draft_logits=np.ascontiguousarray(pairs.draft_logits),
            token_ids=np.ascontiguousarray(pairs.token_ids),
            metadata=np.array(metadata),
        )


class _Rows:
    """The open arrays of one file, all advanced by the same number of rows.

    ``numpy.load`` reads a member of an ``.npz`` whole and cannot map it, so the ``.npy`` header is read here and
    the rows behind it are taken as they come out of the (possibly compressed) member.
    """

    def __init__(self, archive: zipfile.ZipFile, stack: ExitStack) -> None:
        present = set(archive.namelist())
        for key in ARRAYS:
            if f"{key}.npy" not in present:
                raise ValueError(f"no array {key!r}; a pairs file has {', '.join(ARRAYS)}, each (positions, width)")
        self.files: dict[str, IO[bytes]] = {}
        layout = {}
        for key in ARRAYS:
            self.files[key] = stack.enter_context(archive.open(f"{key}.npy"))
            size = archive.getinfo(f"{key}.npy").file_size
            layout[key] = _read_header(self.files[key], key, size)
        _check_layout(layout)
        self.positions, self.width = layout["token_ids"][0]
        self.dtypes = {key: dtype for key, (_, dtype) in layout.items()}
        self.metadata = _read_metadata(archive) if "metadata.npy" in present else {}
        self.done = 0

    def take(self, count: int) -> Pairs:
        f_p, f_q, ids = (self._read(key, count) for key in ARRAYS)
        part = Pairs(f_p, f_q, ids, metadata=self.metadata, first_row=self.done)
        self.done += count
        return part

    def _read(self, key: str, count: int) -> np.ndarray:
        size = count * self.width * self.dtypes[key].itemsize
        data = self.files[key].read(size)
        if len(data) != size:
            raise ValueError(f"{key} ends after row {self.done}; the file is cut off")
        return np.frombuffer(data, self.dtypes[key]).reshape(count, self.width)


@contextmanager
def _opened(path: Path | None) -> Iterator[_Rows]:
    """The rows of a file; what goes wrong in reading it becomes a ``ValueError`` that names the file."""
    name = EMBEDDED if path is None else os.fspath(path)
    with ExitStack() as stack:
        if path is None:
            file = stack.enter_context(files("resispec_ref.models").joinpath("data", EMBEDDED).open("rb"))
        else:
            file = stack.enter_context(open(path, "rb"))
        try:
            yield _Rows(stack.enter_context(zipfile.ZipFile(file)), stack)
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise ValueError(f"{name}: not a readable .npz file ({error})") from error
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error


def _read_header(file: IO[bytes], key: str, size: int) -> tuple[tuple[int, ...], np.dtype]:
    try:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, column_major, dtype = read[version](file)
    except (ValueError, KeyError) as error:
        raise ValueError(f"{key} is not a NumPy array ({error})") from error
    if column_major:
        raise ValueError(f"{key} is stored column by column; save numpy.ascontiguousarray({key})")
    if not dtype.hasobject and size != file.tell() + math.prod(shape) * dtype.itemsize:
        raise ValueError(f"{key} does not hold the {shape} entries that its header states; the file is cut off")
    return shape, dtype


def _read_metadata(archive: zipfile.ZipFile) -> dict[str, Any]:
    with archive.open("metadata.npy") as file:
        text = str(np.lib.format.read_array(file, allow_pickle=False))
    try:
        metadata = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"metadata is not JSON ({error})") from error
    if not isinstance(metadata, dict):
        raise ValueError(f"metadata is {text[:40]!r}; it has to be a JSON object")
    return metadata


def _check_layout(layout: Mapping[str, tuple[tuple[int, ...], np.dtype]]) -> None:
    """Same two-dimensional shape, at least one entry, floating logits and integer ids."""
    shape, _ = layout["target_logits"]
    for key, (other, dtype) in layout.items():
        if len(other) != 2 or 0 in other:
            raise ValueError(f"{key} has shape {other}; it has to be (positions, width), both at least 1")
        if other != shape:
            raise ValueError(f"{key} has shape {other}, but target_logits has shape {shape}; they must be equal")
        kinds, words = ("iu", "integers") if key == "token_ids" else ("f", "floating-point numbers")
        if dtype.kind not in kinds:
            raise ValueError(f"{key} has dtype {dtype}; it has to hold {words}")
