"""Measuring: the best of interleaved runs, and the memory that a run adds."""

from __future__ import annotations

import ctypes
import os
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Work = Callable[[], Any]
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
"""`cpu` adds up the processor time of all threads: on a machine that others use, the figure that can be repeated."""


def best_seconds(works: Mapping[str, Work], *, runs: int, clock: str = "wall") -> dict[str, float]:
    """The least time of each of `works`, run in turn so that what else the machine does meets all of them alike."""
    now = CLOCKS[clock]
    best = dict.fromkeys(works, float("inf"))
    for work in works.values():
        work()
    for _ in range(runs):
        for name, work in works.items():
            start = now()
            work()
            best[name] = min(best[name], now() - start)
    return best


def added_bytes(work: Work) -> int | None:
    """By how much `work` raises the resident memory at its highest, on Linux, the least of three runs; None elsewhere.

    Memory that was freed before is given back to the system first, so that its reuse counts. An upper bound: what the
    allocator takes in advance counts too.
    """
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not status.exists():
        return None
    added = []
    for _ in range(4):
        ctypes.CDLL(None).malloc_trim(0)
        reset.write_text("5")
        before = _kilobytes(status, "VmRSS")
        work()
        added.append(max(0, _kilobytes(status, "VmHWM") - before) * 1024)
    return min(added[1:])


def _kilobytes(status: Path, field: str) -> int:
    lines = (line.split() for line in status.read_text().splitlines())
    return int(next(words[1] for words in lines if words[0] == f"{field}:"))


def machine(device: str = "cpu") -> dict[str, Any]:
    """What the figures were measured on, and what else it was doing."""
    info = Path("/proc/cpuinfo")
    models = (
        [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        if (info.exists())
        else []
    )
    found: dict[str, Any] = {"processor": models[0] if models else platform.machine(), "cores": os.cpu_count()}
    if device == "cuda":
        import torch

        found["accelerator"] = torch.cuda.get_device_name()
    return found | {"load": round(os.getloadavg()[0], 1), "system": platform.system()}
