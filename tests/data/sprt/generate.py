#!/usr/bin/env python3
"""Computes vectors.json beside it: log-likelihood ratios, stops and estimates by plain methods in
50 digits (bisection, the fixed point iterated to its end), as something to hold libsprt against.

    python3 tests/data/sprt/generate.py > tests/data/sprt/vectors.json
"""
import json
import random
from decimal import Decimal as D, getcontext

getcontext().prec = 50
C = D(800) / D(10).ln()
HALF = D(1) / 2
Z95 = D("1.95996398454005423552459443052055152795555007786954839847695264")


def law(counts):
    n = [D(c) if c else D("0.001") for c in counts]
    total = sum(n)
    return total, [c / total for c in n], [D(i) / (len(n) - 1) for i in range(len(n))]


def secular(p, b):
    low, high = -1 / max(b), -1 / min(b)
    for _ in range(190):
        x = (low + high) / 2
        if sum(q * c / (1 + x * c) for q, c in zip(p, b)) > 0:
            low = x
        else:
            high = x
    return [q / (1 + x * c) for q, c in zip(p, b)]


def score(elo):
    return 1 / (1 + D(10) ** (-D(elo) / 400))


def nearest(model, elo, p, a):
    if model == "logistic":
        return secular(p, [x - score(elo) for x in a])
    t = D(elo) / C * (D(2).sqrt() if len(a) == 5 else 1)
    q = [1 / D(len(a))] * len(a)
    for _ in range(400):
        mean = sum(x * y for x, y in zip(q, a))
        sd = sum(x * (y - mean) ** 2 for x, y in zip(q, a)).sqrt()
        after = secular(p, [y - HALF - t * sd * (1 + ((mean - y) / sd) ** 2) / 2 for y in a])
        moved = max(abs(x - y) for x, y in zip(q, after))
        q = after
        if moved < D("1e-22"):
            return q
    raise ArithmeticError("no convergence")


def llr(model, elo0, elo1, counts):
    total, p, a = law(counts)
    q0, q1 = (nearest(model, e, p, a) for e in (elo0, elo1))
    return total * sum(x * (y / z).ln() for x, y, z in zip(p, q1, q0))


def llr_case(model, elo0, elo1, counts):
    return {"model": model, "elo0": elo0, "elo1": elo1, "results": counts,
            "llr_exact": float(llr(model, elo0, elo1, counts))}


def elo_of(s):
    s = max(D("0.001"), min(s, D("0.999")))
    return -400 * (1 / s - 1).log10()


def elo_case(counts):
    total, p, a = law(counts)
    mean = sum(x * y for x, y in zip(p, a))
    m2, m3, m4 = (sum(x * (y - mean) ** k for x, y in zip(p, a)) for k in (2, 3, 4))
    reach = Z95 * (m2 / total).sqrt()
    t, skew, kurt = (mean - HALF) / m2.sqrt(), m3 / m2 / m2.sqrt(), m4 / m2 / m2 - 3
    scale = C / D(2).sqrt() if len(counts) == 5 else C
    var_t = max(D(0), 1 - t * skew + t * t / 4 * (kurt + 2))
    return {"results": counts, "elo": float(elo_of(mean)),
            "error": float((elo_of(mean + reach) - elo_of(mean - reach)) / 2),
            "nelo": float(scale * t), "nelo_error": float(scale * Z95 * (var_t / total).sqrt())}


def ladder(state, side, value, new):
    ref, total, squares = state[side]
    state[side] = (new, total + (new - ref), squares + (new - ref) ** 2) if value else state[side]


def stop_case(seed, weights, model, elo0, elo1, batch, pairs_max):
    rng = random.Random(seed)
    outcomes, counts, state = "", [0] * 5, [(D(0),) * 3, (D(0),) * 3]
    bound = (D("0.95") / D("0.05")).ln()
    verdict, value = "", D(0)
    while not verdict and len(outcomes) < pairs_max:
        for i in rng.choices(range(5), weights=weights, k=batch):
            counts[i] += 1
            outcomes += str(i)
        value = llr(model, elo0, elo1, counts)
        ladder(state, 0, value < state[0][0], value)
        ladder(state, 1, value > state[1][0], value)
        excess = [abs(sq / (2 * m)) if m else D(0) for _, m, sq in state]
        verdict = ("rejected" if value < -bound + excess[0] else
                   "accepted" if value > bound - excess[1] else "")
    return {"elo_model": model, "elo0": elo0, "elo1": elo1, "alpha": 0.05, "beta": 0.05,
            "batch_size_pairs": batch, "outcomes": outcomes, "stop_pairs": len(outcomes),
            "state": verdict, "llr_at_stop": float(value), "o0": float(excess[0]),
            "o1": float(excess[1])}


FIVES = [[0, 0, 0, 0, 0], [0, 0, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 3, 9, 4, 0],
         [10, 20, 40, 22, 8], [0, 5, 90, 10, 0], [43, 61, 144, 55, 37], [0, 0, 0, 0, 10000000],
         [100000, 1, 0, 0, 0], [0, 1, 10000, 2, 0], [0, 100, 100000, 140, 0],
         [39, 2226, 31451, 2412, 40], [10789, 19328, 33806, 19402, 10543],
         [889950, 4391, 19247, 1475, 0]]
THREES = [[0, 0, 0], [0, 1, 0], [300, 400, 350], [10, 20, 700], [5, 99990, 5],
          [75137, 1386993, 153486], [105, 1233, 318]]
HYPOTHESES = [("logistic", 0, 2), ("logistic", -5, 0), ("logistic", 100, 200),
              ("normalized", 0, 2), ("normalized", -1.75, 0.25), ("normalized", -5, 0),
              ("normalized", 20, 60)]
UHO, TIGHT = [55, 2345, 5200, 2345, 55], [1, 60, 878, 80, 1]

print(json.dumps({
    "llr_pentanomial": [llr_case(*h, c) for h in HYPOTHESES for c in FIVES],
    "llr_trinomial": [llr_case(*h, c) for h in HYPOTHESES for c in THREES],
    "estimates": [elo_case(c) for c in FIVES + THREES],
    "stop_sequences": [
        stop_case(1, UHO, "logistic", 0, 30, 4, 1200),
        stop_case(2, [5, 230, 520, 260, 9], "logistic", 0, 20, 16, 1600),
        stop_case(3, TIGHT, "normalized", 0, 30, 1, 400),
        stop_case(4, UHO[::-1], "normalized", -30, 0, 8, 1600),
        stop_case(5, UHO, "normalized", 0, 2, 16, 320),
    ],
}, indent=None, separators=(",", ":")).replace("},{", "},\n{"))
