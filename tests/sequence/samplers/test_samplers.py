"""Targets of sequences and samplers: the numbers of the page, and the laws by sums over whole sequences."""

import itertools
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import laws

from resispec_ref.sequence import ToyModel, joint_law
from resispec_ref.sequence.divergence import expected_reward, sequence_total_variation
from resispec_ref.sequence.samplers import flow_imbalance, importance_law, particle_law, policy_law
from resispec_ref.sequence.targets import power, tilted, token_temperature

FAIR, SURE = [F(1, 2), F(1, 2)], [F(0), F(1)]


@st.composite
def models(draw):
    return ToyModel([draw(laws(2, 2)), [draw(laws(2, 2)), draw(laws(2, 2))]])


def by_sequences(model, weight):
    """The target by one sum over all pairs of tokens, with no recursion."""
    first, second = model.tables
    masses = {(x, y): weight((x, y), first[x] * second[x][y]) for x, y in itertools.product(range(2), repeat=2)}
    return {s: m / sum(masses.values()) for s, m in masses.items() if m}


def test_power_is_not_token_temperature():
    """Root fair, after 0 fair, after 1 certain: the first token has (1/3, 2/3); each token by itself gives 1/2."""
    target = power(ToyModel([FAIR, [FAIR, SURE]]), 2, 2)
    assert list(target.law(())) == [F(1, 3), F(2, 3)]
    assert list(token_temperature(target.model, 2).law(())) == FAIR
    law, right = joint_law(token_temperature(target.model, 2), 2), joint_law(target, 2)
    assert law == {(0, 0): F(1, 4), (0, 1): F(1, 4), (1, 1): F(1, 2)}
    assert right == {(0, 0): F(1, 6), (0, 1): F(1, 6), (1, 1): F(2, 3)}
    assert sequence_total_variation(law, right) == F(1, 6)


@given(model=models(), alpha=st.integers(1, 3))
def test_token_temperature_by_sums(model, alpha):
    law = token_temperature(model, alpha)
    for prefix in ((), (0,), (1,)):
        raised = [m**alpha for m in model.law(prefix)]
        assert list(law.law(prefix)) == [m / sum(raised) for m in raised]


@given(row=laws(2, 2), alpha=st.integers(1, 3))
def test_where_the_last_token_does_not_depend_on_the_first_they_agree(row, alpha):
    """`ζ` is then the same for all first tokens."""
    model = ToyModel([row, [FAIR, FAIR]])
    assert joint_law(token_temperature(model, alpha), 2) == joint_law(power(model, alpha, 2), 2)


@given(model=models(), alpha=st.integers(1, 3))
def test_power_by_sequences(model, alpha):
    target = power(model, alpha, 2)
    assert joint_law(target, 2) == by_sequences(model, lambda s, mass: mass**alpha)


@given(model=models(), rewards=st.tuples(*[st.integers(1, 5)] * 4))
def test_tilted_by_sequences_and_its_policy(model, rewards):
    def reward(s):
        return F(rewards[2 * s[0] + s[1]])

    target = tilted(model, reward, 2)
    right = by_sequences(model, lambda s, mass: mass * reward(s))
    assert joint_law(target, 2) == policy_law(target, target) == right
    assert flow_imbalance(target, target.value, target) == 0
    assert expected_reward(right, reward) >= expected_reward(joint_law(model, 2), reward)


def test_importance_resampling_by_hand():
    """`p = (2/3, 1/3)`, `α = 2`: two draws emit (20/27, 7/27) for (4/5, 1/5), 8/135 away."""
    target = power(ToyModel([[F(2, 3), F(1, 3)]]), 2, 1)
    found = importance_law(target, 2)
    assert found.law == {(0,): F(20, 27), (1,): F(7, 27)}
    assert sequence_total_variation(found.law, joint_law(target, 1)) == F(8, 135)
    away = [sequence_total_variation(importance_law(target, n).law, joint_law(target, 1)) for n in range(1, 6)]
    assert away == sorted(away, reverse=True)


@pytest.mark.parametrize("particles", [1, 2])
@pytest.mark.parametrize(("block", "horizon"), [(1, 0), (1, 1), (2, 0)])
@given(model=models())
def test_the_estimate_is_unbiased(model, particles, block, horizon):
    target = power(model, 2, 2)
    found = particle_law(target, particles, block=block, horizon=horizon)
    assert found.normaliser == importance_law(target, particles).normaliser == target.value(())
    assert sum(found.law.values()) == 1


@pytest.mark.parametrize("rollouts", [1, 2])
@pytest.mark.parametrize(("block", "horizon"), [(1, 1), (1, 2), (2, 1)])
@given(model=models())
def test_rollouts_leave_the_estimate_unbiased(model, rollouts, block, horizon):
    """Each particle keeps the estimate that it was picked for, and the next weight takes it back."""
    target = power(model, 2, 2)
    found = particle_law(target, 2, block=block, horizon=horizon, rollouts=rollouts)
    assert found.normaliser == target.value(())
    assert sum(found.law.values()) == 1


def test_more_rollouts_come_nearer_to_the_value_itself():
    tables = [
        FAIR,
        [[F(3, 5), F(2, 5)], [F(1, 10), F(9, 10)]],
        [[FAIR, [F(1, 4), F(3, 4)]], [[F(1, 3), F(2, 3)], SURE]],
    ]
    target = power(ToyModel(tables), 2, 3)

    def away(**options):
        return sequence_total_variation(particle_law(target, 2, **options).law, joint_law(target, 3))

    for horizon in (1, 2):
        row = [away(), *(away(horizon=horizon, rollouts=r) for r in (1, 2)), away(horizon=horizon)]
        assert row == sorted(row, reverse=True)
        assert len(set(row)) == 4
    assert away(horizon=2) < away(horizon=1)


def test_rollouts_that_are_certain_are_the_value_itself():
    """After every first token the model is sure, so that one rollout knows."""
    target = power(ToyModel([[F(2, 3), F(1, 3)], [SURE, SURE]]), 2, 2)
    assert particle_law(target, 2, horizon=1, rollouts=1) == particle_law(target, 2, horizon=1)


@given(model=models())
def test_one_block_is_importance_resampling(model):
    target = power(model, 2, 2)
    assert particle_law(target, 2, block=2).law == importance_law(target, 2).law


@given(model=models())
def test_the_whole_horizon_and_the_targets_own_proposal_are_exact(model):
    target = power(model, 2, 2)
    assert particle_law(target, 1, horizon=2, proposal=target).law == joint_law(target, 2)


@given(model=models(), rewards=st.tuples(*[st.integers(0, 4)] * 3))
def test_sequences_that_end_early(model, rewards):
    """Token 1 ends: `F(0) = P(1|0) R(01) + P(0|0) R(00)`, and one token is a whole sequence."""
    whole = {(1,): model.law(())[1], **{(0, x): model.law(())[0] * model.law((0,))[x] for x in (0, 1)}}
    worth = dict(zip(whole, map(F, rewards), strict=True))
    masses = {s: m * worth[s] for s, m in whole.items()}
    if not sum(masses.values()):
        return
    target = tilted(model, worth.__getitem__, 2, end=1)
    assert target.value(()) == sum(masses.values())
    right = {s: m / sum(masses.values()) for s, m in masses.items() if m}
    assert {s: m for s, m in policy_law(target, target).items() if m} == right
    assert flow_imbalance(target, target.value, target) == 0


@given(model=models())
def test_only_the_rewards_flow_is_balanced(model):
    """The model itself as a policy, with rewards that differ, is seen wherever it has another law."""
    target = tilted(model, lambda s: F(1 + 2 * s[0] + s[1]), 2)
    same = policy_law(model, target) == policy_law(target, target)
    assert (flow_imbalance(model, target.value, target) == 0) == same


def test_more_particles_and_a_longer_look_come_nearer():
    """Root fair, after 0 fair, after 1 certain, `α = 2`; by hand for one particle: the model itself, 1/6 away."""
    target = power(ToyModel([FAIR, [FAIR, SURE]]), 2, 2)

    def away(n, **options):
        return sequence_total_variation(particle_law(target, n, **options).law, joint_law(target, 2))

    assert [away(n) for n in (1, 2, 3, 4)] == [F(1, 6), F(1, 8), F(11, 120), F(3839, 53760)]
    assert [away(2, horizon=h) for h in (0, 1)] == [F(1, 8), F(1, 12)]
    assert away(2, block=2) == F(1, 12)
    assert away(1, horizon=2, proposal=target) == 0


def test_bad_arguments():
    model = ToyModel([FAIR])
    for call, message in (
        (lambda: power(model, F(1, 2), 1), "alpha: 1/2 is not whole"),
        (lambda: power(model, 0, 1), "alpha: 0 is not positive"),
        (lambda: tilted(model, lambda s: 0, 1), "reward: 0 for every sequence"),
        (lambda: tilted(model, lambda s: -1, 1), "reward: -1 for"),
        (lambda: importance_law(power(model, 2, 1), 0), "draws: 0"),
        (lambda: particle_law(power(model, 2, 1), 0), "particles: 0"),
        (lambda: particle_law(power(model, 2, 1), 1, rollouts=0), "rollouts: 0"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
