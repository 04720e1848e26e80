"""The lab's page on whole trees in a real browser: its fractions against `resispec_ref`, its bars and its tokens."""

from fractions import Fraction as F
from itertools import product

import pytest
from sphinx_and_chromium import LAB, errors, overflow

from resispec_ref.sequence import ToyModel, complete_tree, expected_accepted_length, walk_law, whole_tree_law
from resispec_ref.sequence.law import joint_law
from resispec_ref.sequence.whole_tree import DraftedTrees, accepted_masses, target_weights
from resispec_ref.sequence.whole_tree.law import spread, stepper
from resispec_ref.sequence.whole_tree.walk import State, below

TREE = complete_tree((2, 2))
MODELS = {
    "repeats": (["1/2,1/2", "1,0", "0,1"], ["1/2,1/2"] * 3),
    "two tokens": (["5/6,1/6", "3/7,4/7", "2/3,1/3"], ["9/17,8/17", "9/13,4/13", "2/3,1/3"]),
    "nothing in common": (["1,0", "1/2,1/2", "1,0"], ["0,1", "1,0", "0,1"]),
    "the draft repeats": (["1/2,1/2", "1/2,1/2", "1,0"], ["1/3,2/3", "1,0", "0,1"]),
    "three tokens": (["1/2,3/10,1/5"] * 4, ["3/5,7/20,1/20"] * 4),
    "memory": (
        ["1/2,1/3,1/6", "1/5,1/5,3/5", "1/4,1/2,1/4", "0,0,1"],
        ["2/3,1/6,1/6", "2/5,2/5,1/5", "1/2,1/4,1/4", "1/2,0,1/2"],
    ),
}

COMPUTE = """
const [p, q, trees] = arguments;
const models = {p: p.map((t) => t.split(",").map(Rational.parse)), q: q.map((t) => t.split(",").map(Rational.parse))};
const {law, joint} = wholeTreeLaw(models);
const {whole, nodes} = acceptedMasses(models);
return {law: [...law].map(([key, m]) => [key, String(m)]), joint: joint.map((row) => row.map(String)),
        whole: whole.map(String), nodes: nodes.map(String),
        ends: trees.map((tree) => [verifyWhole(models, tree).masses, verifyNodes(models, tree)]
          .map((f) => f.map(String)))};
"""


@pytest.fixture
def page(desktop, address):
    desktop.get(f"{address}/lab/whole-tree.html")
    return desktop


def models(name):
    """Target and draft of the library; what comes after two tokens is of no account."""
    found = []
    for rows in MODELS[name]:
        laws = [[F(x) for x in row.split(",")] for row in rows]
        found.append(ToyModel([laws[0], laws[1:], [[laws[0]] * len(laws[0])] * len(laws[0])]))
    return found


def trees_of(name):
    """Some trees that the draft can draw."""
    _, draft = models(name)
    return [
        tree
        for tree in product(range(draft.vocab), repeat=6)
        if all(draft.law(())[x] for x in tree[:2])
        and all(draft.law((tree[j // 2],))[y] for j, y in enumerate(tree[2:]))
    ][:: 5 if draft.vocab == 2 else 67]


def ends_of_the_library(target, draft, tree):
    """Stop masses of the root, of nodes 0 and 1, and shares of the leaves, by the state after both levels."""
    step = stepper(target, DraftedTrees(draft, TREE, siblings="independent"), target_weights, (), None)
    state, revealed = State([F(1)], []), ()
    ends = dict.fromkeys(range(-1, 6), F(0))
    for lists in ((tree[:2],), (tree[2:4], tree[4:])):
        _, stops, plan, parents, one = step(revealed, state)
        # the stops of this level are the last ones; name them by node, since two nodes may be the same string
        old, new = stops[: len(stops) - len(parents)], stops[len(stops) - len(parents) :]
        named = [*old, *(s._replace(node=-1 if not revealed else j) for j, s in zip(parents, new, strict=True))]
        revealed = (*revealed, lists)
        state = spread(below(state, named, plan, [lists[j] for j in parents], one), lists, parents, one)
    for stop in state.stops:
        ends[stop.node] = stop.mass
    ends |= dict(zip(range(2, 6), state.shares, strict=True))
    return list(ends.values())


def fractions(values):
    return [F(x) for x in values]


@pytest.mark.parametrize("name", MODELS)
def test_the_page_computes_what_the_library_does(page, name):
    """With `==`: the emitted law, the target's joint law, accepted masses, and where each of some trees ends."""
    target, draft = models(name)
    trees = trees_of(name)
    assert trees
    found = page.execute_script(COMPUTE, *MODELS[name], trees)
    wanted, law = {}, whole_tree_law(target, draft, TREE, weights=target_weights)
    for (tokens, accepted), mass in law.items():
        key = f"{','.join(map(str, tokens[:2]))}|{accepted}"
        wanted[key] = wanted.get(key, 0) + mass
    assert {key: F(m) for key, m in found["law"]} == wanted
    joint = {(x, y): F(m) for x, row in enumerate(found["joint"]) for y, m in enumerate(row) if F(m)}
    assert joint == joint_law(target, 2)
    masses = accepted_masses(law)
    assert fractions(found["whole"]) == masses + [0] * (2 - len(masses))
    assert sum(fractions(found["nodes"])) == expected_accepted_length("recursive-rejection", target, draft, TREE)
    nodes = accepted_masses(walk_law("recursive-rejection", target, draft, TREE))
    assert fractions(found["nodes"]) == nodes + [0] * (2 - len(nodes))
    for tree, (whole, walk) in zip(trees, found["ends"], strict=True):
        assert fractions(whole) == ends_of_the_library(target, draft, tree), tree
        assert sum(fractions(walk)) == 1, tree


def test_where_the_walk_ends_on_a_tree(page):
    """In the mean over all trees, weighted by the draft, the walk's ends are those of `walk_law`."""
    target, draft = models("two tokens")
    trees = list(product((0, 1), repeat=6))
    found = page.execute_script(COMPUTE, *MODELS["two tokens"], trees)["ends"]
    reached = [F(0)] * 3
    for tree, (_, walk) in zip(trees, found, strict=True):
        chance = F(1)
        for j, x in enumerate(tree):
            chance *= draft.law(() if j < 2 else (tree[0 if j < 4 else 1],))[x]
        for accepted, part in enumerate((walk[:1], walk[1:3], walk[3:])):
            reached[accepted] += chance * sum(fractions(part))
    law = walk_law("recursive-rejection", target, draft, TREE)
    assert reached == [sum(m for (_, n), m in law.items() if n == accepted) for accepted in range(3)]


def test_a_fault_in_the_page_would_be_seen(page):
    """The comparisons can fail: where all of a pick is kept the law is not the target's; where stops are not
    multiplied it is, in the mean, but the masses on a tree are not the library's."""
    target, draft = models("two tokens")
    tree = trees_of("two tokens")[1]
    keeps_all = "const right = levelOf; levelOf = (...a) => { const f = right(...a);"
    keeps_all += "return {...f, kept: f.kept.map((row) => row.map(() => ONE))}; };"
    found = page.execute_script(keeps_all + COMPUTE, *MODELS["two tokens"], [])
    joint = {(x, y): F(m) for x, row in enumerate(found["joint"]) for y, m in enumerate(row)}
    assert joint != joint_law(target, 2)
    page.refresh()
    as_they_were = "const right = below; below = (...a) => ({...right(...a), factor: ONE});"
    found = page.execute_script(as_they_were + COMPUTE, *MODELS["two tokens"], [tree])
    assert fractions(found["ends"][0][0]) != ends_of_the_library(target, draft, tree)


def text(browser, selector):
    return browser.execute_script("return document.querySelector(arguments[0]).textContent", selector)


def test_the_page_as_it_opens(page):
    """The tree by hand of the explanation: 31/16 as a whole, 7/4 node by node."""
    assert "Exact" in text(page, "#verdict")
    assert "31/16" in text(page, "#lengths")
    assert "7/4" in text(page, "#lengths")
    assert errors(page) == []


def test_bars_and_tokens_change_the_picture(page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    before = text(page, "#ends")
    page.find_element(By.CSS_SELECTOR, "[data-node='2']").click()
    assert text(page, "#ends") != before
    handle = page.find_element(By.CSS_SELECTOR, "#laws section:nth-child(1) .token:nth-child(1) .handle.target")
    lengths = text(page, "#lengths")
    handle.send_keys(Keys.ARROW_UP, Keys.ARROW_UP)
    assert page.execute_script("return String(shown.p[0][0])") == "8/15"
    assert text(page, "#lengths") != lengths
    page.find_element(By.ID, "more").click()
    assert page.execute_script("return shown.p.map((law) => law.length).join()") == "3,3,3,3"
    assert "Exact" in text(page, "#verdict")
    assert errors(page) == []


def test_on_a_phone_and_without_a_server(phone, desktop, address):
    phone.get(f"{address}/lab/whole-tree.html")
    assert overflow(phone) == 0
    assert errors(phone) == []
    desktop.get((LAB / "whole-tree.html").as_uri())
    assert "31/16" in text(desktop, "#lengths")
    assert errors(desktop) == []
