"""The benchmark on small arrays: that it runs, what it prints, and that a record is shown as it was measured."""

import io
import json
from contextlib import redirect_stdout

import numpy as np
import pytest
import torch

from resispec_gpu import RULES, benchmark, context, engines, scaling, works


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """What `--json` prints, in a file, with the picture that `--plot` draws beside it."""
    folder = tmp_path_factory.mktemp("benchmark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(benchmark, "BATCH", 4)
        patch.setattr(benchmark, "VOCAB", 3000)
        patch.setattr(torch, "compile", lambda function, **options: function)
        patch.setattr(benchmark, "sweep", small_sweep)
        options = ["--backend", "torch", "--threads", "1", "--runs", "1", "--json", "--plot", str(folder / "all.svg")]
        with redirect_stdout(io.StringIO()) as printed:
            assert benchmark.main(options) == 0
    (folder / "record.json").write_text(printed.getvalue())
    return folder / "record.json"


def small_sweep(backends, clock, runs, device, quick):
    for batch, vocab in ((1, 2000), (2, 2000), (4, 2000), (2, 4000), (2, 8000)):
        given = works.inputs("torch", "float32", batch, vocab, scaling.CANDIDATES)
        timed = {works.UNIT: works.passes("torch", given)[works.UNIT]}
        timed["resispec [torch]"] = works.step("torch", "resispec", given)
        yield from benchmark._timed(timed, "torch", given, "float32", 4, clock, runs, memory=False)


def test_what_is_measured(record):
    found = json.loads(record.read_text())
    by_name = {(t["what"], t["candidates"]): t for t in found["main"]}
    assert {"processor", "cores", "load", "clock", "threads"} <= set(found["machine"])
    for name in ("read both", "minimum + sum", "sort one [NumPy]", *(f"{rule} [torch]" for rule in RULES)):
        t = by_name[name, 4]
        assert t["added"] >= 0
        assert t["ratio"] == pytest.approx(t["milliseconds"] / by_name[works.UNIT, 4]["milliseconds"])
    assert by_name["transformers, looped over the batch, from logits", 1]["ratio"] > 1
    assert (record.parent / "all.svg").read_text().count("slope") == 2


def test_a_record_is_shown_as_it_was_measured(record, tmp_path, capsys):
    assert benchmark.main(["--from", str(record), "--plot", str(tmp_path / "again.png")]) == 0
    printed = capsys.readouterr().out
    found = json.loads(record.read_text())
    for t in found["main"]:
        assert f" {t['ratio']:.2f} |" in printed
    assert "resispec [torch], batch: " in printed
    assert "resispec [torch], vocabulary: " in printed
    assert (tmp_path / "again.png").read_bytes().startswith(b"\x89PNG")


def test_a_record_of_the_cost_beside_a_model_is_shown(tmp_path, capsys):
    seconds = {context.TARGET: 0.1, "resispec, compiled": 0.004}
    about = {"machine": {"processor": "some"}, "model": "m", "dtype": "float32", "candidates": 4, "positions": 1}
    (tmp_path / "context.json").write_text(json.dumps(about | {"seconds": seconds}))
    assert context.main(["--from", str(tmp_path / "context.json")]) == 0
    assert "4.0%" in capsys.readouterr().out
    assert context.main(["--from", str(tmp_path / "missing.json")]) == 2
    assert "missing.json" in capsys.readouterr().err


def test_transformers_takes_part_with_the_right_arguments():
    """Each row: the drafted token and one more, or a token of the residual."""
    given = works.inputs("torch", "float32", 8, 50, 1)
    work = engines.transformers_loop(engines.Step(given.target, given.draft, given.tokens, given.uniforms["resispec"]))
    for (tokens, accepted), drafted in zip(work(), given.tokens[:, 0].tolist(), strict=True):
        assert accepted in (0, 1)
        assert tokens.shape == (1, int(accepted) + 1)
        assert (tokens[0, 0] == drafted) or not accepted


def test_a_fitted_line_is_found_again():
    n = np.array([1, 4, 16, 64])
    line = scaling.fit(n.tolist(), (3 + 0.5 * n).tolist())
    assert (line.fixed, line.each) == pytest.approx((3, 0.5))
    assert line.deviation < 1e-9
    assert scaling.fit(n.tolist(), (0.5 * n).tolist()).slope == pytest.approx(1)
