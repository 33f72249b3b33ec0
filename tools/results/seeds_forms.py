# SPDX-License-Identifier: Apache-2.0
"""Closed forms of seeds_rows.py: what a statement of a founding document comes to in numbers.

Every function returns {"ours": what was measured, "holds": whether the numbers bear out the verdict of its row}.
p: prior of tokens, v: their values in one channel, q ∝ p exp(β v): the posterior, F = log(Σ p exp(β v))/β, i*: the best token.
"""
import itertools
import math
import random

DRAWS = 300


def free_energy(p, v, beta):
    top = max(v)
    return top + math.log(sum(a * math.exp(beta * (b - top)) for a, b in zip(p, v))) / beta


def posterior(p, v, beta):
    top = max(v)
    mass = [a * math.exp(beta * (b - top)) for a, b in zip(p, v)]
    return [m / sum(mass) for m in mass]


def divergence(a, b):
    return sum(x * math.log(x / y) for x, y in zip(a, b) if x > 0)


def mean(p, v):
    return sum(a * b for a, b in zip(p, v))


def simplex(draw, n):
    p = [draw.expovariate(1) for _ in range(n)]
    return [x / sum(p) for x in p]


def drawn(seed, n=9):
    draw = random.Random(seed)
    return simplex(draw, n), [draw.gauss(0, 1) for _ in range(n)]


def best_of(v):
    return max(range(len(v)), key=lambda i: v[i])


def every_draw():
    """p, v, β of DRAWS draws: β is 0.1, 1 and 10 in turn."""
    return [(*drawn(seed), (0.1, 1, 10)[seed % 3]) for seed in range(DRAWS)]


def mean_improvement():
    worst = max(abs(free_energy(p, v, b) - mean(p, v) - divergence(p, posterior(p, v, b)) / b) for p, v, b in every_draw())
    return {"ours": f"largest gap {worst:.1e} in {DRAWS} draws", "holds": worst < 1e-12}


def variational():
    draw = random.Random(5)
    above = sum(mean(s, v) - divergence(s, p) / b > free_energy(p, v, b) + 1e-12
                for p, v, b in every_draw() for s in (simplex(draw, 9) for _ in range(10)))
    falls = sum(free_energy(p, v, 1.01 * b) <= free_energy(p, v, b) for p, v, b in every_draw())
    return {"ours": f"{above} of {10 * DRAWS} other q score more than F; F rises with β in {DRAWS - falls} of {DRAWS} draws", "holds": above + falls == 0}


def posterior_mean():
    p, v = drawn(1)
    gap = mean(posterior(p, v, 2), v) - free_energy(p, v, 2)
    equal = sum(mean(posterior(p, v, b), v) - free_energy(p, v, b) < 1e-6 for p, v, b in every_draw())
    return {"ours": f"E_q[v] − F = {gap:.3f} = KL(q, p)/β = {divergence(posterior(p, v, 2), p) / 2:.3f} at β = 2; equal in {equal} of {DRAWS} draws",
            "holds": equal == 0}


def spent(p, v, beta):
    return divergence(posterior(p, v, beta), p)


def beta_of_budget(p, v, budget):
    """The β whose posterior spends the budget, by bisection."""
    low, high = 0.0, 1e4
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if spent(p, v, middle) < budget else (low, middle)
    return low


def budget():
    p, v = drawn(2)
    most = -math.log(p[best_of(v)])
    shares = (0.1, 0.5, 0.9, 0.999)
    found = [beta_of_budget(p, v, share * most) for share in shares]
    exact = all(abs(spent(p, v, b) - share * most) < 1e-9 for b, share in zip(found, shares))
    return {"ours": f"`B/(−log p*)` = {', '.join(map(str, shares))}: `β*` = {', '.join(f'{b:.2f}' for b in found)}; "
                    f"KL(q, p) at β = 500 is {spent(p, v, 500):.3f} and `−log p*` is {most:.3f}",
            "holds": exact and found == sorted(found) and spent(p, v, 500) <= most + 1e-12}


def bounds():
    broken = 0
    for p, v, b in every_draw():
        i, f = best_of(v), free_energy(p, v, b)
        margin = v[i] - max(x for k, x in enumerate(v) if k != i)
        broken += not mean(p, v) <= f <= v[i]
        broken += 1 - posterior(p, v, b)[i] > (1 - p[i]) / p[i] * math.exp(-b * margin) + 1e-12
        broken += f < v[i] + math.log(p[i]) / b - 1e-12
    return {"ours": f"{broken} of {3 * DRAWS} bounds broken", "holds": broken == 0}


def approach():
    p, v = drawn(3)
    i = best_of(v)
    gaps = [b * (v[i] - free_energy(p, v, b)) for b in (10, 100, 400)]
    return {"ours": f"β (max − F) = {', '.join(f'{x:.3f}' for x in gaps)} at β = 10, 100, 400; `−log p*` = {-math.log(p[i]):.3f}",
            "holds": abs(gaps[-1] + math.log(p[i])) < 1e-6}


def assignments():
    p, found, least = [0.1, 0.3, 0.6], set(), 1.0
    for pattern in itertools.product(range(3), repeat=2):
        chosen = [posterior(p, [float(i == winner) for i in range(3)], 20) for winner in pattern]
        found.add(tuple(best_of(q) for q in chosen))
        least = min([least] + [max(q) for q in chosen])
    return {"ours": f"{len(found)} of 9 assignments of 3 tokens to 2 channels; smallest `q(i*)` = 1 − {1 - least:.1e} at β Δ = 20", "holds": len(found) == 9}


def concentration():
    missed = 1 - posterior([0.1, 0.9], [1.0, 0.0], 20.0)[0]
    draw, broken = random.Random(6), 0
    for _ in range(DRAWS):
        best, margin, beta = draw.uniform(0.5, 1), draw.expovariate(1) + 1e-3, draw.expovariate(0.2)
        broken += 1 - posterior([best, 1 - best], [margin, 0.0], beta)[0] > math.exp(-beta * margin) + 1e-12
    return {"ours": f"`p*` = 0.1, β Δ = 20: `1 − q(i*)` = {missed:.1e}, print {math.exp(-20):.1e}; `p*` ≥ 0.5: broken in {broken} of {DRAWS} draws",
            "holds": missed > math.exp(-20) and broken == 0}


def second_difference(f, at, along, h=1e-3):
    return (f([x + h * y for x, y in zip(at, along)]) - 2 * f(at) + f([x - h * y for x, y in zip(at, along)])) / h ** 2


def log_weights():
    """Curvature of F in unnormalized log weights w, and in normalized logits b, p = softmax(b)."""
    draw, least, logits = random.Random(7), 1.0, []
    for _ in range(DRAWS):
        w, v, along = ([draw.gauss(0, 1) for _ in range(5)] for _ in range(3))
        raw = lambda x, v=v: free_energy([math.exp(a) for a in x], v, 2.0)
        least = min(least, second_difference(raw, w, along))
        logits.append(second_difference(lambda x, v=v: raw(x, v) - 2 * free_energy([math.exp(a) for a in x], [0.0] * 5, 2.0), w, along))
    return {"ours": f"least curvature in w {least:.1e}; in b from {min(logits):.2f} to {max(logits):.2f}, {DRAWS} draws",
            "holds": least > -1e-6 and min(logits) < 0 < max(logits)}


def starting_temperature():
    ours = math.log(1 + math.exp(1.8))
    return {"ours": f"softplus(1.8) = {ours:.2f}; 1 takes softplus({math.log(math.e - 1):.2f})", "holds": abs(ours - 1) > 0.5}


def tail(radius, degree):
    return sum(radius ** n / math.factorial(n) for n in range(degree + 1, degree + 150))


def least_degree(radius, error):
    return next(degree for degree in itertools.count() if tail(radius, degree) <= error)


RADII, ERRORS = (5, 10), (1e-4, 1e-6, 1e-8)


def minimal_degrees():
    ours = {radius: [least_degree(radius, error) for error in ERRORS] for radius in RADII}
    return {"ours": f"R = 5: {ours[5]}, R = 10: {ours[10]}", "holds": ours == {5: [19, 22, 25], 10: [33, 36, 40]}}


def safety_condition():
    safe = sum(error * math.exp(radius) <= 0.5 for radius in RADII for error in ERRORS)
    return {"ours": f"{safe} of 6 do; ε e^R = {1e-4 * math.exp(10):.2g} at R = 10, ε = 1e-4", "holds": safe == 5}


def coin():
    """P(next = 1) of a hidden coin seen through flips: equation 2 as printed against the law itself, three tokens at most."""
    apart, other = 0.0, 0.0
    for flip in (0.1, 0.3):
        for seen in (x for n in range(4) for x in itertools.product((0, 1), repeat=n)):
            ones, n = sum(seen), len(seen)
            likely = [(1 - flip) ** ones * flip ** (n - ones), flip ** ones * (1 - flip) ** (n - ones)]  # of Z = 1, of Z = 0
            law = (likely[0] * (1 - flip) + likely[1] * flip) / sum(likely)
            a, b = (flip / (1 - flip)) ** ones, ((1 - flip) / flip) ** ones
            printed = (a * (1 - flip) ** (n + 1) + b * flip ** (n + 1)) / (a * (1 - flip) ** n + b * flip ** n)
            apart, other = max(apart, abs(printed - law)), max(other, abs(printed - (1 - law)))
    return {"ours": f"eq. 2 is up to {apart:.2f} from P(1), and P(0) within {other:.0e}", "holds": apart > 0.1 and other < 1e-12}


def encoder_share():
    weights = [2 ** 16 * width / size for width, size in ((1536, 1.5e9), (4096, 8e9))]
    return {"ours": f"one block of 28: {100 / 28:.1f} %, of 32: {100 / 32:.1f} %; the map from 2^16 states to D channels: "
                    f"{100 * weights[0]:.1f} and {100 * weights[1]:.1f} % of the weights", "holds": True}


def curvature():
    """F*'' at the middle of two tokens at ±ρ, and of the bound F~ anywhere (one dimension, ρ = 1)."""
    elastic = lambda t: second_difference(lambda z: -t * math.log(sum(math.exp(-(z[0] - k) ** 2 / (2 * t)) for k in (-1, 1))), [0.0], [1.0])
    inner = max(second_difference(lambda z: -t * math.log(sum(math.exp(z[0] * k / t) for k in (-1, 1))), [z], [1.0])
                for t in (0.5, 2.0) for z in (-1.0, 0.0, 1.0))
    at = [elastic(t) for t in (0.5, 2.0)]
    return {"ours": f"tokens at ±ρ: `F*″` = {at[0]:.2f} at T = ρ²/2, {at[1]:.2f} at T = 2 ρ²; bound: `F~″` ≤ {inner:.2f}",
            "holds": at[0] < 0 < at[1] and inner < 0}
