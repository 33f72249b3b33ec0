#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the free and the nudged phase of one node, docs/explanation/two_phases.svg, 390 units wide with text of 12 units or more:

    python3 tools/docs/two_phases_picture.py docs/explanation/two_phases.svg

The node obeys tau dz/dt = x - z -+ beta dC/dz with x = 1, C = (z - y)^2/2, y = 2 and beta = 0.25. Python 3 without packages.
"""
import math
import pathlib
import sys

X, Y, BETA = 1.0, 2.0, 0.25
FREE, NUDGED = 5.0, 5.0  # lengths of the phases, tau
WIDTH, HEIGHT = 390, 330
LEFT, RIGHT, TOP, BOTTOM = 46, 74, 64, 48

STYLE = """
text { font-family: sans-serif; font-size: 13px; fill: #222 }
.small { font-size: 12px } .title { font-size: 14px; font-weight: bold }
.paper { fill: #fff } .phase { fill: #eef1f4 } .axis { stroke: #444; fill: none } .target { stroke: #777; stroke-dasharray: 2 4 }
.free { stroke: #222; fill: none; stroke-width: 2.5 } .plus { stroke: #c8500a; fill: none; stroke-width: 2.5 }
.minus { stroke: #1f6fb4; fill: none; stroke-width: 2.5; stroke-dasharray: 7 4 } .shift { stroke: #444; stroke-width: 1.5; fill: none }
.tplus { fill: #b04407 } .tminus { fill: #1f6fb4 }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .paper { fill: #1e2129 } .phase { fill: #2a2f3a } .axis, .shift { stroke: #bbb } .free { stroke: #eee }
  .plus { stroke: #ff9a52 } .minus { stroke: #7fbcf0 } .tplus { fill: #ff9a52 } .tminus { fill: #7fbcf0 }
}
""".strip()


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


def text(x, y, what, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"' + (f' class="{kind}"' if kind else "") + f">{what}</text>"


def picture():
    free, plus, minus = settled(0), settled(BETA), settled(-BETA)
    end = across(FREE + NUDGED)
    middle = up((plus + minus) / 2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        "<title>Free and nudged phase of one node: the shift between the two nudged states gives the gradient</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        text(LEFT - 36, 22, "The shift of the settled state is the gradient", "title"),
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
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[1]).write_text(picture(), encoding="utf-8")
