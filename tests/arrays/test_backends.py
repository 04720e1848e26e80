"""Every function on every array library: the answers of NumPy, in the caller's array type, for any batch shape."""

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from backends import BACKENDS, make_backend
from rules import VARIANTS, candidates_for, label

import resispec_ref as rs
from resispec_ref.verifiers.independent import k_seq

CALLS = {
    "emitted_law": lambda p, q: rs.emitted_law("recursive-rejection", p, q, candidates=2),
    "emitted_law by paths": lambda p, q: rs.emitted_law("naive", p, q, candidates=2),
    "optimal_acceptance": lambda p, q: rs.optimal_acceptance(p, q, candidates=3),
    "schedule": lambda p, q: rs.schedule(p, q, candidates=2),
    "overlap": rs.overlap,
    "total_variation": rs.total_variation,
    "kl_divergence": rs.kl_divergence,
    "standard_residual": rs.standard_residual,
    "shaped_residual": lambda p, q: rs.shaped_residual(p, q, 0.5),
    "published_proxy": lambda p, q: rs.published_proxy(p, q, 0, spread="water-filling"),
    "future_capacity": lambda p, q: rs.future_capacity(p, q[None, :, :], iterations=3),
    "law_from_logits": lambda p, q: rs.law_from_logits(10 * p + q, temperature=0.7, top_k=3, top_p=0.9, min_p=0.1),
    "greedy law_from_logits": lambda p, q: rs.law_from_logits(p, temperature=0),
}


def rows(n=3, vocab=4):
    rng = np.random.default_rng(3)
    return rng.dirichlet(np.ones(vocab), n), rng.dirichlet(np.ones(vocab), n)


def parts(found):
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("library", [name for name in BACKENDS if name != "jax"])  # which test_golden.py runs
def test_functions(library, call):
    xp = make_backend(library)
    wanted, arrays = CALLS[call](*rows()), [xp.asarray(a) for a in rows()]
    found = xp.run(CALLS[call], *arrays)
    for a, b in zip(parts(found), parts(wanted), strict=True):
        assert type(a) is type(arrays[0])
        assert a.shape == b.shape
        assert xp.numpy(a).dtype == b.dtype == np.float64
        np.testing.assert_allclose(xp.numpy(a), b, rtol=0, atol=1e-13)


def law_and_tokens(rule):
    """A call and its arrays: law and tokens of a rule; uniforms on no edge, as compiled code may round otherwise."""
    u = np.random.default_rng(5).random((3, rs.uniforms_needed(rule, 2)))

    def call(p, q, x, u):
        return rs.emitted_law(rule, p, q, candidates=2).law, *rs.verify(rule, p, q, x, u)

    return call, (*rows(), candidates_for(rule, rows()[1], np.array([[0, 1], [2, 3], [1, 0]])), u)


@pytest.mark.parametrize("library", ["numpy-read-only", "array-api-strict", "torch"])
@pytest.mark.parametrize("rule", VARIANTS, ids=label)
def test_rules(rule, library):
    xp, (call, arrays) = make_backend(library), law_and_tokens(rule)
    found = xp.run(call, *map(xp.asarray, arrays))
    for a, b in zip(found, call(*arrays), strict=True):
        assert type(a) is type(xp.asarray(arrays[0]))
        np.testing.assert_allclose(xp.numpy(a), b, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", [name for name in rs.verifier_names() if not rs.get_verifier(name).on_host])
def test_rules_compiled(name, monkeypatch):
    """Under `jit`; K-SEQ with a rougher `ρ`, which compiles sooner."""
    monkeypatch.setitem(k_seq._BISECTIONS, "float", 6)
    xp, (call, arrays) = make_backend("jax-jit"), law_and_tokens(rs.get_verifier(name))
    found = xp.run(call, *map(xp.asarray, arrays))
    for a, b in zip(found, call(*arrays), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", [name for name in rs.verifier_names() if rs.get_verifier(name).on_host])
def test_rules_made_on_the_host_say_so(name):
    xp, (call, arrays) = make_backend("jax-jit"), law_and_tokens(rs.get_verifier(name))
    with pytest.raises(ValueError, match=rf"{name}: computed by NumPy on the host; call it outside of jax\.jit"):
        xp.run(call, *map(xp.asarray, arrays))


def test_vmap():
    import jax

    call, arrays = law_and_tokens(rs.get_verifier("recursive-rejection-without-replacement"))
    found = jax.jit(jax.vmap(call))(*map(jax.numpy.asarray, arrays))
    for a, b in zip(found, call(*arrays), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-14)


SHAPES = [((3,), (3,)), ((0, 3), (0, 3)), ((2, 3), (3,)), ((4, 1, 3), (2, 3)), ((2, 1), (2, 1)), ((1,), (1,))]
every_shape = pytest.mark.parametrize(("of_p", "of_q"), SHAPES, ids=str)
every_number = pytest.mark.parametrize("library", ["numpy", "torch", "rationals"])


def equal_masses(library, *shapes):
    """What makes arrays of the library, the batch shape, and laws of equal masses."""
    exact = library == "rationals"
    array = np.asarray if exact else make_backend(library).asarray
    laws = [array(np.full(shape, Fraction(1, shape[-1]) if exact else 1 / shape[-1])) for shape in shapes]
    return array, np.broadcast_shapes(*(shape[:-1] for shape in shapes)), *laws


@every_number
@every_shape
@pytest.mark.parametrize("rule", VARIANTS, ids=label)
def test_batch_shapes_of_rules(rule, of_p, of_q, library):
    """Leading dimensions broadcast; an empty batch and a vocabulary of one token are no special cases."""
    array, batch, p, q = equal_masses(library, of_p, of_q)
    vocab = of_p[-1]
    found = rs.emitted_law(rule, p, q, candidates=2)
    assert [np.shape(a) for a in found] == [(*batch, vocab), batch, (*batch, 2), batch]
    x = np.zeros((*batch, 2), dtype=np.int64)
    x[..., 1] = min(1, vocab - 1) if rule.replacement or vocab > 1 else -1
    x = candidates_for(rule, np.full(of_q, 1 / of_q[-1]), x)
    u = np.full((*batch, rs.uniforms_needed(rule, 2)), 0.5)
    found = rs.verify(rule, p, q, array(x), array(u))
    assert [np.shape(a) for a in found] == [batch, batch]


@every_number
@every_shape
def test_batch_shapes_of_functions(of_p, of_q, library):
    _, batch, p, q = equal_masses(library, of_p, of_q)
    vocab = of_p[-1]
    assert np.shape(rs.optimal_acceptance(p, q, candidates=2)) == batch
    assert np.shape(rs.optimal_acceptance(p, q, candidates=2, replacement=False)) == batch
    assert np.shape(rs.total_variation(p, q)) == np.shape(rs.overlap(p, q)) == batch
    assert np.shape(rs.shaped_residual(p, q, 1)) == (*batch, vocab)
    W, w, u = rs.schedule(p, q, candidates=2)
    assert (np.shape(W), np.shape(w), np.shape(u)) == (batch, (*batch, 2), (*batch, 3, vocab))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_dtypes_become_float64(dtype):
    p, q = (np.array([0, 1]), np.array([1, 0])) if dtype is np.int64 else (np.array([0.25, 0.75]), np.array([0.5, 0.5]))
    found = rs.emitted_law("resispec", p.astype(dtype), q.astype(dtype), candidates=2)
    assert found.law.dtype == np.float64
    assert found.law.tolist() == p.tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_integer_dtypes_of_tokens(dtype):
    found = rs.verify("naive", [0.25, 0.75], [0.5, 0.5], np.array([1], dtype=dtype), [0.1, 0.0])
    assert (int(found.token), int(found.accepted_index)) == (1, 0)


def test_jax_in_32_bits_is_refused():
    program = """
import jax.numpy as jnp, resispec_ref as rs
try:
    rs.total_variation(jnp.asarray([0.5, 0.5]), jnp.asarray([0.5, 0.5]))
except ValueError as error:
    print(error)
"""
    environment = os.environ | {"JAX_ENABLE_X64": "0"}
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert "this JAX computes in 32 bits; call jax.config.update('jax_enable_x64', True)" in found.stdout
