"""Counts that a right verifier may have: how to use counts.jsonl, in twenty lines of integers, in any language.

`python counts.py`: with your engine in the place of `engine`, or written again in yours. Copy it freely.
"""

import json
import random
import sys
from pathlib import Path


def engine(target, draft, candidates, distinct):
    """One position of your engine: draw candidates, verify them. The token emitted, and whether it is a candidate."""
    tokens = range(len(target))
    for _ in range(candidates):
        x = random.choices(tokens, draft)[0]
        if random.random() * draft[x] < target[x]:
            return x, True
        target = [max(p - q, 0.0) for p, q in zip(target, draft, strict=True)]
        if distinct:
            draft = [q * (y != x) for y, q in enumerate(draft)]
            draft = [q / sum(draft) for q in draft] if sum(draft) > 0 else draft
        target = [p / sum(target) for p in target]
        if sum(draft) == 0:
            break
    return random.choices(tokens, target)[0], False


def outside(record, engine, most_draws):
    """The first count that a right verifier cannot have, in words; None if there is none."""
    target, draft = record["target"]["float64"], record["draft"]["float64"]
    counts, accepted, done = [0] * len(target), 0, 0
    for step, draws in enumerate(record["draws"]):
        if draws > most_draws:
            return None
        while done < draws:
            token, is_candidate = engine(target, draft, record["candidates"], record["drafting"] == "distinct")
            counts[token] += 1
            accepted += is_candidate
            done += 1
        for token, count in enumerate(counts):
            low, high = record["low"][step][token], record["high"][step][token]
            if not low <= count <= high:
                return f"token {token} came {count} times in {draws}, not {low} to {high} times"
        if accepted > record["accepted_high"][step]:
            return f"{accepted} accepted in {draws}, more than {record['accepted_high'][step]}"
    return None


if __name__ == "__main__":
    with Path(__file__).with_name("counts.jsonl").open(encoding="utf-8") as lines:
        header, *records = map(json.loads, lines)
    found = {r["id"]: outside(r, engine, 16_000) for r in records if r["kind"] == "counts"}
    for name, words in found.items():
        if words is not None:
            print(f"{name}: {words}")
    print(f"{sum(words is None for words in found.values())} of {len(found)} records have counts as they should be;")
    print(f"a right verifier has one that has not with probability at most {header['false_alarm_rate']}")
    sys.exit(any(found.values()))
