"""The batched step on Torch and JAX: the reference's answers, what it refuses, and what it leaves alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import resispec_gpu as batched
import resispec_ref as rs
from resispec_gpu import _torch, _torch_passes, cases, levels, validate

K = 3


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def problem(rule="resispec", seed=1):
    # one shape for all tests, the one that JAX has compiled for
    batch, vocab = 12, 1537
    rng = np.random.default_rng(seed)
    p, q = (x.astype(np.float32) for x in cases.laws("random", batch, vocab, rng))
    x = cases.candidates(q.astype(float), K, rng, distinct="without" in rule)
    return p, q, x, rng.random((batch, rs.uniforms_needed(rule, K)), dtype=np.float32).astype(np.float64)


def on(backend, *arrays):
    return [torch.as_tensor(a) if backend == "torch" else jnp.asarray(a) for a in arrays]


@pytest.mark.parametrize("storage", validate.STORAGE)
@pytest.mark.parametrize("rule", batched.RULES)
def test_torch_is_the_reference(rule, storage):
    for kind, batch, vocab, candidates in (
        ("adversarial", 24, 1, 3),
        ("adversarial", 24, 2, 3),
        ("adversarial", 24, 513, 4),
        ("random", 1, 1000, 1),
        ("real", 16, 4096, 8),
        ("flat", 16, 2048, 2),
        *(("near", 16, 1000, candidates) for candidates in (2, 4, 8)),
        ("random", 4, 100, 0),
        ("adversarial", 1, 262_144, 2),
    ):
        result = validate.check("torch", rule, kind, storage, batch, vocab, candidates)
        assert result.passed, validate.line(result)


@pytest.mark.parametrize(
    ("rule", "storage"),
    [
        ("resispec", "logits"),
        ("resispec", "float16"),
        ("recursive-rejection", "bfloat16"),
        *((rule, "float32") for rule in batched.RULES),
    ],
)
def test_jax_is_the_reference(rule, storage):
    for kind in cases.KINDS:
        result = validate.check("jax", rule, kind, storage, 12, 1537, 3)
        assert result.passed, validate.line(result)


@pytest.mark.parametrize(("rule", "vocab"), [("resispec", 1537), ("optimal", 100_000)])
def test_jax_without_64_bits_is_the_reference(rule, vocab):
    """As JAX is by default; with thousands of tokens in one bin of the ratio."""
    with jax.enable_x64(False):
        result = validate.check("jax", rule, "adversarial", "float32", 12, vocab, 3)
        found = batched.verify(rule, *on("jax", *problem(rule)))
    assert result.passed, validate.line(result)
    assert found.token.dtype == np.int32


@pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")
def test_compiled_torch_is_the_reference():
    for kind in ("random", "adversarial"):
        result = validate.check("torch-compiled", "resispec", kind, "float32", 12, 1537, 3)
        assert result.passed, validate.line(result)


@pytest.mark.parametrize("fault", ["weights", "draw", "bands", "ratio"])
def test_validation_sees_planted_faults(monkeypatch, fault):
    """Weights that are not the residuals' masses, a draw from the target, a band that grows too far, a wrong winner."""
    rule = "optimal" if fault == "ratio" else "resispec"
    if fault == "weights":
        at = levels.Profile.at
        monkeypatch.setattr(levels.Profile, "at", lambda self, t: at(self, t) * 0.99)
    if fault == "draw":
        monkeypatch.setattr(_torch_passes, "band_mass", lambda p, q, *levels: p.law())
    if fault == "ratio":
        at = _torch.Laws.bin_at
        monkeypatch.setattr(_torch.Laws, "bin_at", lambda self, tokens: at(self, tokens) + 40)
    if fault == "bands":
        capped = levels.capped
        monkeypatch.setattr(levels, "capped", lambda p, q, level: 1.01 * capped(p, q, level))
    batch = 8 if rule == "optimal" else 64
    results = [validate.check("torch", rule, kind, "float32", batch, 500, 4) for kind in ("random", "adversarial")]
    assert not all(result.passed for result in results)


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_ragged_candidates(backend):
    """`-1` ends a row's candidates; a row without any draws from the target. Levels of later candidates stay unused."""
    p, q, x, u = problem()
    for row in range(len(x)):
        x[row, row % (K + 1) :] = -1
    u[:, :K] = np.where(np.arange(len(x))[:, None] % 2, u[:, :K], 1 - 2**-24)  # many rejections
    for rule in ("recursive-rejection", "recursive-rejection-without-replacement"):
        y = np.where(x[:, :1] == x, np.where(np.arange(K) == 0, x, -1), x) if "without" in rule else x
        y = np.where(np.minimum.accumulate(y, axis=-1) < 0, -1, y)
        found, expected = batched.verify(rule, *on(backend, p, q, y, u)), rs.verify(rule, p, q, y, u)
        assert np.array_equal(np.asarray(found.token), expected.token)
        assert np.array_equal(np.asarray(found.accepted_index), expected.accepted_index)
    for rule in ("resispec", "optimal"):
        v = np.concatenate([*[u[:, :1]] * (rs.uniforms_needed(rule, K) - K - 1), u], axis=-1)
        found, expected = batched.verify(rule, *on(backend, p, q, x, v)), rs.verify(rule, p, q, x, v)
        assert np.mean(np.asarray(found.token) == expected.token) > 0.7  # other knots, and bins
        empty = x[:, 0] < 0
        assert np.array_equal(np.asarray(found.token)[empty], expected.token[empty])


@pytest.mark.parametrize("backend", ["torch", "jax"])
@pytest.mark.parametrize("rule", batched.RULES)
def test_shapes_and_inputs(rule, backend):
    """Leading dimensions are kept, a batch of none is answered, and the inputs are not written to."""
    p, q, x, u = problem(rule)
    arrays = on(backend, p, q, x, u)
    before = [np.array(a.tolist()) for a in arrays]
    whole = batched.verify(rule, *arrays)
    folded = batched.verify(rule, *(a.reshape(3, 4, -1) for a in arrays))
    assert tuple(folded.token.shape) == (3, 4)
    assert np.array_equal(np.asarray(folded.token).ravel(), np.asarray(whole.token))
    if backend == "torch":
        assert tuple(batched.verify(rule, *(a[0] for a in arrays)).token.shape) == ()
    assert tuple(batched.verify(rule, *(a[:0] for a in arrays)).token.shape) == (0,)
    for a, b in zip(arrays, before, strict=True):
        assert np.array_equal(np.array(a.tolist()), b)


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_candidates_of_narrow_types(backend):
    """The answer may be a token that the type of the candidates does not hold."""
    p, q, x, u = problem()
    p[:, :200], x = 0, np.tile([0, 100, -1], (len(x), 1))
    p /= p.sum(-1, keepdims=True)
    wide = batched.verify("resispec", *on(backend, p, q, x, u))
    for narrow in (np.int8, np.int16, np.int32):
        found = batched.verify("resispec", *on(backend, p, q, x.astype(narrow), u))
        assert np.asarray(found.token).min() >= 200
        assert np.array_equal(np.asarray(found.token), np.asarray(wide.token))


@pytest.mark.parametrize("backend", ["torch", "jax"])
@pytest.mark.parametrize("rule", batched.RULES)
def test_no_candidates(rule, backend):
    """A draw from the target, as the reference's."""
    p, q, _, u = problem()
    x, u = np.zeros((len(p), 0), int), u[:, : rs.uniforms_needed(rule, 0)]
    found, expected = batched.verify(rule, *on(backend, p, q, x, u)), rs.verify(rule, p, q, x, u)
    assert np.array_equal(np.asarray(found.token), expected.token)
    assert not np.asarray(found.accepted_index).any()


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_equal_laws_accept_the_first_candidate(backend):
    """For every uniform, also where a row has fewer candidates than others."""
    p, _, x, u = problem()
    x[:, 0], x[::2, 1:], u[:, :K] = p.argmax(-1), -1, 1 - 2**-24
    found = batched.verify("resispec", *on(backend, p, p, x, u))
    assert np.array_equal(np.asarray(found.token), x[:, 0])
    assert not np.asarray(found.accepted_index).any()


def test_jit_and_vmap():
    p, q, x, u = on("jax", *problem())
    plain = batched.verify("resispec", p, q, x, u)
    jitted = jax.jit(lambda *a: batched.verify("resispec", *a))(p, q, x, u)
    mapped = jax.vmap(lambda *a: batched.verify("resispec", *a))(p, q, x, u)
    for found in (jitted, mapped):
        assert np.array_equal(found.token, plain.token)
        assert np.array_equal(found.accepted_index, plain.accepted_index)
    with pytest.raises(ValueError, match="cut on the host"):
        jax.jit(lambda *a: batched.verify("optimal", *a))(*on("jax", *problem("optimal")))


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_what_is_refused(backend):
    p, q, x, u = problem()
    q[1, 4] = 0
    q[1] /= q[1].sum()

    def refused(message, rule="resispec", logits=False, **changed):
        given = {"target": p, "draft": q, "tokens": x, "uniforms": u} | changed
        step = batched.verify_logits if logits else batched.verify
        with pytest.raises(ValueError, match=message):
            step(rule, *on(backend, *given.values()))

    def put(a, row, column, value):
        b = a.copy()
        b[row, column] = value
        return b

    refused("rule: 'best' is not one of", rule="best")
    refused("target, row 1.* is negative|target, row 1: -", target=put(p, 1, 0, -0.25))
    refused("target, row 1: nan", target=put(p, 1, 0, np.nan))
    refused("draft, row 0: .* is the sum", draft=put(q, 0, 0, 0.9))
    for name, law in (("target", p), ("draft", q)):
        v = problem("optimal")[3]
        refused(f"{name}, row 1: nan", rule="optimal", uniforms=v, **{name: put(law, 1, 7, np.nan)})
    refused("tokens, row 1, entry 0: 1537 is not a token id", tokens=put(x, 1, 0, 1537))
    refused("tokens, row 1, entry 2: 4 has probability 0 in draft", tokens=put(x, 1, 2, 4))
    refused("comes after an absent candidate", tokens=put(x, 0, 0, -1))
    refused("was drawn before", rule=batched.RULES[1], tokens=x * 0)
    refused(r"uniforms, row 0, entry 1: 1.0 is not in \[0, 1\)", uniforms=put(u, 0, 1, 1))
    refused("3 candidates needs 4", uniforms=u[:, :3])
    refused("shapes .* are needed", target=p[:1])
    refused("integral numbers", tokens=x.astype(np.float32))
    refused("target_logits, row 0: nan", logits=True, target=put(np.log(p), 0, 0, np.inf), draft=np.log(p))
    refused("target_logits, row 1: nan", logits=True, target=put(np.log(p), 1, slice(None), -np.inf), draft=np.log(p))


def test_one_library_and_a_positive_temperature():
    p, q, x, u = problem()
    with pytest.raises(ValueError, match="Torch tensors, or all are JAX arrays"):
        batched.verify("resispec", torch.as_tensor(p), jnp.asarray(q), torch.as_tensor(x), torch.as_tensor(u))
    with pytest.raises(ValueError, match="temperature"):
        batched.verify_logits("resispec", *on("torch", p, q, x, u), temperature=0)


@pytest.mark.parametrize(("options", "said"), [([], "not covered"), (["--thorough"], "vocabularies 50 to 262,144")])
def test_the_validation_says_what_it_covered(capsys, monkeypatch, options, said):
    def small(backend, thorough):
        yield "random", "float32", 2, 50, 2
        if thorough:
            yield "random", "float32", 1, 262144, 1

    monkeypatch.setattr(validate, "suite", small)
    monkeypatch.setattr(validate, "RULES", ("recursive-rejection",))
    assert validate.main(["--backend", "torch", *options]) == 0
    out = capsys.readouterr().out
    assert "torch: rows random; stored as float32" in out
    assert said in out


@pytest.mark.parametrize("backend", validate.BACKENDS)
def test_what_is_validated_by_default_is_validated_thoroughly_too(backend):
    short, whole = (list(validate.suite(backend, thorough)) for thorough in (False, True))
    assert whole[: len(short)] == short
    assert max(vocab for *_, vocab, _ in short) <= 5000
    assert {vocab for *_, vocab, _ in whole} >= {1, 2, 32000, 262144}
