#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/explanation, each 390 units wide with text of 12 units or more:

    python3 tools/docs/explanation_pictures.py docs/explanation

two_phases.svg: the free and the nudged phase of one node, tau dz/dt = x - z -+ beta dC/dz with x = 1, C = (z - y)^2/2, y = 2 and
beta = 0.25. nudge_size.svg: the error of an adjoint of size 1 by noise and truncation, s/(sqrt(2) beta) + kappa beta^2
with kappa = 1, for two standard errors s of a state. lost_equilibria.svg: normal forms of fold, branching and Hopf point, solid where
stable. Python 3 without packages.
"""
import math
import pathlib
import sys

from svg import WIDTH, document, text

X, Y, BETA = 1.0, 2.0, 0.25
FREE, NUDGED = 5.0, 5.0  # lengths of the phases, tau
HEIGHT = 330
LEFT, RIGHT, TOP, BOTTOM = 46, 74, 64, 48

STYLE = """
.paper { fill: #fff } .phase { fill: #eef1f4 } .axis { stroke: #444; fill: none } .target { stroke: #777; stroke-dasharray: 2 4 }
.free { stroke: #222; fill: none; stroke-width: 2.5 } .plus { stroke: #c8500a; fill: none; stroke-width: 2.5 }
.minus { stroke: #1f6fb4; fill: none; stroke-width: 2.5; stroke-dasharray: 7 4 } .shift { stroke: #444; stroke-width: 1.5; fill: none }
.lost { stroke: #777; fill: none; stroke-width: 2; stroke-dasharray: 5 4 } .swing { stroke: #c8500a; fill: none; stroke-width: 1.3 }
.tplus { fill: #b04407 } .tminus { fill: #1f6fb4 }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .paper { fill: #1e2129 } .phase { fill: #2a2f3a } .axis, .shift { stroke: #bbb } .free { stroke: #eee }
  .lost { stroke: #aaa } .plus, .swing { stroke: #ff9a52 } .minus { stroke: #7fbcf0 } .tplus { fill: #ff9a52 } .tminus { fill: #7fbcf0 }
}
"""


def settled(beta):
    """Where x - z - beta (z - y) is 0."""
    return (X + beta * Y) / (1 + beta)


def course(beta, start, t):
    end = settled(beta)
    return end + (start - end) * math.exp(-(1 + beta) * t)


def across(t):
    return LEFT + t / (FREE + NUDGED) * (WIDTH - LEFT - RIGHT)


def up(z):
    return HEIGHT - BOTTOM - z / 2.15 * (HEIGHT - TOP - BOTTOM)


def line(beta, start, begin, length):
    steps = 100
    points = ((begin + k * length / steps, course(beta, start, k * length / steps)) for k in range(steps + 1))
    return "M" + "L".join(f"{across(t):.1f},{up(z):.1f}" for t, z in points)


def page(title, told, parts, height=HEIGHT):
    return document(height, told, STYLE, [text(10, 22, title, "title"), *parts])


def two_phases():
    free, plus, minus = settled(0), settled(BETA), settled(-BETA)
    end = across(FREE + NUDGED)
    middle = up((plus + minus) / 2)
    parts = [
        f'<rect class="phase" x="{across(FREE):.1f}" y="{TOP - 24}" width="{end - across(FREE):.1f}" height="{HEIGHT - TOP - BOTTOM + 24}"/>',
        text(across(FREE / 2), TOP - 8, "free phase", anchor="middle"),
        text(across(FREE + NUDGED / 2), TOP - 8, "nudged phases", anchor="middle"),
        f'<path class="axis" d="M{LEFT},{TOP - 24}V{up(0):.1f}H{end:.1f}"/>',
        f'<path class="target" d="M{LEFT},{up(Y):.1f}H{end:.1f}"/>',
        text(across(0.3), up(Y) + 16, "target y", "small"),
        f'<path class="free" d="{line(0, 0, 0, FREE)}"/>',
        f'<path class="plus" d="{line(BETA, free, FREE, NUDGED)}"/>',
        f'<path class="minus" d="{line(-BETA, free, FREE, NUDGED)}"/>',
        f'<circle cx="{across(FREE):.1f}" cy="{up(free):.1f}" r="4"/>'.replace("<circle", '<circle class="free"'),
        text(across(FREE) - 6, up(free) - 10, "z*", anchor="end"),
        text(across(FREE) + 26, up(plus) - 10, "+β: towards y", "small tplus"),
        text(across(FREE) + 26, up(minus) + 20, "−β: away from y", "small tminus"),
        f'<path class="shift" d="M{end + 4:.1f},{up(plus):.1f}h8V{up(minus):.1f}h-8"/>',
        text(end + 16, up(plus) + 2, "z₊", "tplus"),
        text(end + 16, up(minus) + 8, "z₋", "tminus"),
        text(end + 16, middle + 5, "2β|a|"),
        *(text(LEFT - 6, up(z) + 4, f"{z:g}", "small", "end") for z in (0, 1, 2)),
        *(text(across(t), up(0) + 17, f"{t:g}", "small", "middle") for t in (0, 5, 10)),
        text((LEFT + end) / 2, HEIGHT - 10, "time (τ)", anchor="middle"),
        f'<text x="14" y="{(TOP + up(0)) / 2:.1f}" text-anchor="middle" transform="rotate(-90 14 {(TOP + up(0)) / 2:.1f})">output z</text>',
    ]
    return page("The shift of the settled state is the gradient",
                "Free and nudged phase of one node: the shift between the two nudged states gives the gradient", parts)


def nudge_size():
    """Error over beta, both logarithmic: beta from 1e-4 to 1, errors from 1e-6 to 1."""
    end = WIDTH - 20
    right = end - LEFT - 8

    def x_of(beta):
        return LEFT + 8 + (math.log10(beta) + 4) / 4 * right

    def y_of(error):
        return TOP - 24 - math.log10(error) / 6 * (HEIGHT - TOP - BOTTOM + 24)

    def curve(f, low=1e-4, high=1.0):
        betas = (low * (high / low) ** (k / 200) for k in range(201))
        return "M" + "L".join(f"{x_of(b):.1f},{y_of(f(b)):.1f}" for b in betas if 1e-6 <= f(b) <= 1)

    def error(s):
        return lambda b: s / (math.sqrt(2) * b) + b * b

    parts = [f'<path class="axis" d="M{LEFT + 8},{TOP - 24}V{y_of(1e-6):.1f}H{end}"/>']
    for s, kind, name in ((1e-2, "plus", "noise 10⁻²"), (1e-5, "minus", "noise 10⁻⁵")):
        best = (s / (2 * math.sqrt(2))) ** (1 / 3)
        parts += [
            f'<path class="{kind}" d="{curve(error(s))}"/>',
            f'<circle class="free" cx="{x_of(best):.1f}" cy="{y_of(error(s)(best)):.1f}" r="4"/>',
            text(x_of(best) - 10, y_of(error(s)(best)) - 32, name, f"small t{kind}", "middle"),
        ]
    parts += [
        f'<path class="target" d="{curve(lambda b: b * b, 1e-3)}"/>',
        text(x_of(2.6e-3), y_of(2.0e-6), "curvature, β²", "small"),
        text(x_of(4e-4), y_of(1.8e-2) + 28, "noise/β", "small", "middle"),
        *(text(LEFT + 2, y_of(v) + 4, name, "small", "end") for v, name in ((1, "1"), (1e-2, "10⁻²"), (1e-4, "10⁻⁴"), (1e-6, "10⁻⁶"))),
        *(text(x_of(v), y_of(1e-6) + 17, name, "small", "middle") for v, name in ((1e-4, "10⁻⁴"), (1e-2, "10⁻²"), (1, "1"))),
        text((LEFT + end) / 2, HEIGHT - 10, "size of the nudge β", anchor="middle"),
        f'<text x="14" y="{(TOP + y_of(1e-6)) / 2:.1f}" text-anchor="middle" transform="rotate(-90 14 {(TOP + y_of(1e-6)) / 2:.1f})">relative error</text>',
    ]
    return page("A noisy circuit needs a larger nudge",
                "Error of the adjoint over the size of the nudge, for two noise levels: noise falls as 1/β, curvature rises as β²", parts)


def lost_equilibria():
    """Three normal forms side by side, the parameter from -1 to 1 across and the state from -1 to 1 up."""
    height, size, top = 214, 100, 60
    parts = []

    def panel(left, name, told):
        def curve(f, low, high, kind, count=80):
            points = [(low + (high - low) * k / count, f(low + (high - low) * k / count)) for k in range(count + 1)]
            inside = [(left + (p + 1) * size / 2, top + (1 - z) * size / 2) for p, z in points]
            parts.append(f'<path class="{kind}" d="M' + "L".join(f"{x:.1f},{y:.1f}" for x, y in inside) + '"/>')

        parts.append(f'<rect class="phase" x="{left}" y="{top - 4}" width="{size}" height="{size + 8}"/>')
        parts.append(text(left + size / 2, top - 12, name, anchor="middle"))
        parts.append(text(left + size / 2, top + size + 22, told, "small", "middle"))
        return curve

    def root(p):
        return math.sqrt(max(0.0, p)) * 0.9

    fold = panel(22, "fold", "it vanishes")
    fold(lambda p: root(-p), -1, 0, "free")
    fold(lambda p: -root(-p), -1, 0, "lost")
    branching = panel(145, "branching", "another crosses")
    branching(lambda p: 0.0, -1, 0, "free")
    branching(lambda p: 0.0, 0, 1, "lost")
    branching(root, 0, 1, "free")
    branching(lambda p: -root(p), 0, 1, "free")
    hopf = panel(268, "Hopf", "it oscillates")
    hopf(lambda p: 0.0, -1, 0, "free")
    hopf(lambda p: 0.0, 0, 1, "lost")
    hopf(lambda p: root(p) * math.sin(2 * math.pi * p / 0.125), 0, 1, "swing", 400)
    parts.append(text(WIDTH / 2, height - 12, "a number of the circuit changes →", "small", "middle"))
    parts.append(f'<text x="14" y="{top + size / 2}" class="small" text-anchor="middle" transform="rotate(-90 14 {top + size / 2})">state</text>')
    return page("Three ways to lose an equilibrium", "Equilibria over a parameter at a fold, a branching and a Hopf point", parts, height)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, made in (("two_phases", two_phases()), ("nudge_size", nudge_size()), ("lost_equilibria", lost_equilibria())):
        (pathlib.Path(sys.argv[1]) / f"{name}.svg").write_text(made, encoding="utf-8")
