"""The same answers whoever computes them: processes, threads, a Dask cluster that loses a worker."""

import importlib
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
import torch  # noqa: F401 - loaded here and not in the processes, on which no draw may depend

import resispec_ref as rs
from resispec_ref.commands.cli import main
from resispec_ref.measurements import parallel
from resispec_ref.measurements.rule_audit import audit_rules
from resispec_ref.models.pairs import Pairs, save_pairs

RULES = ["resispec", "resispec-published", "recursive-rejection-without-replacement"]
OPTIONS = {"candidates": 2, "verifiers": RULES, "paths": 50}


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(4)
    f_p, f_q = rng.normal(size=(2, 96, 8)) * 1.5
    return Pairs(f_p, f_q, np.tile(np.arange(8), (96, 1)))


@pytest.fixture(autouse=True)
def many_parts(monkeypatch):
    monkeypatch.setattr(importlib.import_module("resispec_ref.measurements.measure"), "_CHUNK_ENTRIES", 64)


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture
def cluster():
    """Two worker processes, which are replaced when they end, and a client of them."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def test_a_measurement_is_the_same_with_any_number_of_workers(pairs, processes):
    """To the bit: `==` of every float."""
    alone = rs.measure(pairs, **OPTIONS)
    with ThreadPoolExecutor(3) as threads:
        assert rs.measure(pairs, executor=threads, **OPTIONS) == alone
    assert rs.measure(pairs, executor=processes, **OPTIONS) == alone


def test_an_audit_of_the_rules_is_the_same_in_processes(processes):
    """The counts of cases, the counterexamples, and what is measured beside them."""
    steps = []
    found = audit_rules(RULES[:2], cases=12, executor=processes, progress=lambda *step: steps.append(step))
    assert found == audit_rules(RULES[:2], cases=12)
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert [r.exact for r in found[0]] == [True, False]


def naive(target, draft, candidates, rng):
    return rng.choice(len(target), p=target)


def first(target, draft, candidates, u):
    return candidates[..., 0]


AUDITS = {"sound": (naive, {"kind": "verifier"}), "faulty": (first, {"kind": "verifier", "noise": "uniform:1"})}


@pytest.mark.parametrize(("function", "options"), AUDITS.values(), ids=AUDITS)
def test_an_audit_of_an_implementation_is_the_same_in_processes(function, options, processes):
    """Where draws are the limit, not time: the same counts in every case, and what follows from them."""
    options = {"candidates": 2, "draws": 600, "budget": 100.0, "search": False} | options
    alone, found = (rs.audit(function, executor=executor, **options) for executor in (None, processes))
    assert found.cases == alone.cases
    assert found.draws == alone.draws >= 256
    assert found.verdict == alone.verdict == ("no fault found" if function is naive else "fault found")
    assert [f.message for f in found.findings] == [f.message for f in alone.findings]


def test_a_cluster_that_loses_a_worker_in_the_middle_gives_the_same_answer(pairs, cluster):
    alone, killed = rs.measure(pairs, **OPTIONS), []
    before = set(cluster.run(os.getpid).values())

    def kill(done, wanted):
        if done >= wanted // 4 and not killed:
            killed.append((done, wanted, before.copy().pop()))
            os.kill(killed[0][2], signal.SIGKILL)

    found = rs.measure(pairs, executor=cluster.get_executor(), progress=kill, **OPTIONS)
    ((done, wanted, process),) = killed
    assert done < wanted / 2
    assert process not in cluster.run(os.getpid).values()
    assert found == alone


def test_the_command_line_takes_workers_or_the_address_of_a_scheduler(pairs, cluster, tmp_path, capsys):
    path = tmp_path / "pairs.npz"
    save_pairs(path, pairs)
    rules = [f"--verifier={rule}" for rule in RULES]

    def printed(*options):
        assert main(["measure", str(path), "--candidates=2", "--paths=50", "--json", *rules, *options]) == 0
        return capsys.readouterr().out

    alone = printed()
    assert printed("--workers=2") == alone
    assert printed(f"--scheduler={cluster.scheduler.address}") == alone


ENGINE = """
def make():
    def verify(target, draft, candidates, rng):
        return rng.choice(len(target), p=target)
    return verify

verify = make()
"""


def test_a_file_is_audited_in_processes_that_load_it_themselves(tmp_path, monkeypatch, capsys):
    """Also what Python cannot pickle, a function made by another, and a path that is relative."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some_engine.py").write_text(ENGINE)

    def printed(*options):
        line = ["audit", "some_engine.py:verify", "--candidates=1", "--draws=300", "--budget=100", "--json", *options]
        assert main(line) == 0
        return json.loads(capsys.readouterr().out) | {"seconds": None}

    assert printed("--workers=2") == printed()


def test_what_cannot_be_asked_for(capsys):
    assert main(["measure", "--workers=0"]) == 2
    assert "workers: 0 compute nothing; give 1 or more" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["measure", "--workers=2", "--scheduler=tcp://127.0.0.1:1"])
    assert "not allowed with" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("nonsense", "is no address such as tcp://host:8786 \\(missing port"),
        ("foo://host:8786", "unknown address scheme"),
        ("tcp://host:99999", "no such port"),
        ("tls://127.0.0.1:1", "ssl_context"),
        ("tcp://127.0.0.1:1", "Timed out"),
    ],
)
def test_no_scheduler_is_an_error_and_the_process_ends(address, message):
    line = ["measure", f"--scheduler={address}"]
    program = (
        "import sys; from resispec_ref.commands import cli; from resispec_ref.commands.parts import executors; "
        "executors._ANSWER_WITHIN = 1; sys.exit(cli.main())"
    )
    ended = subprocess.run([sys.executable, "-c", program, *line], capture_output=True, text=True, timeout=30)
    assert ended.returncode == 2
    assert re.fullmatch(f"resispec: error: .*{message}.*\n", ended.stderr)


def test_without_dask_the_extra_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["measure", "--scheduler=tcp://127.0.0.1:1"]) == 2
    assert 'pip install "resispec-ref[cluster]"' in capsys.readouterr().err


def die(part):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_dies_is_an_error_that_says_so():
    pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
    with pool, pytest.raises(ChildProcessError, match="killed, or out of memory"):
        list(parallel.in_order(die, range(3), pool))


class Reluctant(Executor):
    """Finishes nothing until it is asked to."""

    def __init__(self):
        self.handed_out = []

    def submit(self, function, part):
        self.handed_out.append((part, Future()))
        return self.handed_out[-1][1]


def test_parts_are_handed_out_a_bounded_number_ahead_and_given_up_when_nobody_wants_them(monkeypatch):
    monkeypatch.setattr(parallel, "_AHEAD", 4)
    executor, taken = Reluctant(), []
    answers = parallel.in_order(str, (taken.append(i) or i for i in range(100)), executor)
    with ThreadPoolExecutor(1) as other:
        first = other.submit(next, answers)
        while len(executor.handed_out) < 4:
            time.sleep(0.001)
        for i in (3, 1, 0):  # finished out of order
            executor.handed_out[i][1].set_result(i)
        assert first.result(5) == 0
    assert taken == [0, 1, 2, 3]
    answers.close()
    assert executor.handed_out[2][1].cancelled()
