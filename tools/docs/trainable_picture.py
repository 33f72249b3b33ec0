#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/reference/trainable_pulses.svg and trainable_write_verify.svg from results/trainable.json: what states and asymmetry cost, with the presets.

    python3 tools/docs/trainable_picture.py

Python 3 without packages.
"""
import json
import math
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/results"))

import sections  # noqa: E402
import trainable_rows as rows  # noqa: E402
import trainable_tables as tables  # noqa: E402
from svg import WIDTH, document, text  # noqa: E402

LEFT, RIGHT, TOP, BOTTOM = 48, 14, 50, 290
BANDS = ((0.05, "b0", "under 5 %"), (0.1, "b1", "5 to 10 %"), (0.3, "b2", "10 to 30 %"), (math.inf, "b3", "more"))
STEPS = 60  # of the shading, along either axis
STYLE = """
.paper { fill: #fff } .axis { stroke: #444; fill: none } .small { fill: #222 }
.b0 { fill: #d7eadb } .b1 { fill: #f3ecc0 } .b2 { fill: #f6cfa3 } .b3 { fill: #eda596 }
.well { fill: #1a1a1a } .badly { stroke: #1a1a1a; stroke-width: 1.5; fill: none }
@media (prefers-color-scheme: dark) {
  text, .small { fill: #ddd } .paper { fill: #1e2129 } .axis { stroke: #bbb }
  .b0 { fill: #22422b } .b1 { fill: #4a4520 } .b2 { fill: #5e3d1c } .b3 { fill: #662b22 }
  .well { fill: #fff } .badly { stroke: #fff }
}
"""


def band(share):
    return next(kind for limit, kind, _ in BANDS if share < limit)


def number(share):
    return "all" if share >= 1 else f"{round(100 * share)}".replace("-", "−")


def shading(grid, x, y):
    """Rectangles of one band each, row by row."""
    states, asymmetries = sorted({n for n, _ in grid}), sorted({a for _, a in grid})
    low, high = math.log(states[0]), math.log(states[-1])
    parts, step = [], asymmetries[-1] / STEPS
    for row in range(STEPS):
        kinds = [band(tables.contour(grid, math.exp(low + (high - low) * (k + 0.5) / STEPS), (row + 0.5) * step)) for k in range(STEPS)]
        begin = 0
        for k in range(1, STEPS + 1):
            if k == STEPS or kinds[k] != kinds[begin]:
                left, right = (x(math.exp(low + (high - low) * at / STEPS)) for at in (begin, k))
                top, bottom = y((row + 1) * step), y(row * step)
                parts.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left + 0.3:.1f}" height="{bottom - top + 0.3:.1f}" class="{kinds[begin]}"/>')
                begin = k
    return parts


def marks(losses, devices, rule, grid, x, y):
    """A preset at its states, fewer for noisier pulses, and its asymmetry: a dot where it loses less than 10 % by itself, a cross where more."""
    states, parts = sorted({n for n, _ in grid}), []
    for name, device in devices.items():
        own = losses.shares("presets", rule, "ep", name, losses.exact)
        if not own:
            continue
        at = x(min(max(tables.fewer_states(device), states[0]), states[-1])), y(min(device["asymmetry"], max(a for _, a in grid)))
        if statistics.mean(own) < 0.1:
            parts.append(f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="3" class="well"/>')
        else:
            parts.append(f'<path d="M{at[0] - 3:.1f} {at[1] - 3:.1f} l6 6 m0 -6 l-6 6" class="badly"/>')
    return parts


def drawn(result, rule, name):
    data = result["data"]
    losses = rows.Losses(data["points"])
    grid = tables.grid_of(losses, rule)
    states, asymmetries = sorted({n for n, _ in grid}), sorted({a for _, a in grid})
    x = lambda n: LEFT + (WIDTH - LEFT - RIGHT) * math.log(n / states[0]) / math.log(states[-1] / states[0])
    y = lambda a: BOTTOM - (BOTTOM - TOP) * a / asymmetries[-1]
    parts = [text(12, 20, f"{name}: percent lost", "title"),
             text(12, 38, "of what exact numbers learn; numbers were measured", "small"), *shading(grid, x, y)]
    for (n, a), share in grid.items():
        anchor = "start" if n == states[0] else "end" if n == states[-1] else "middle"
        parts.append(text(x(n) + {"start": 3, "end": -3, "middle": 0}[anchor], y(a) + (12 if a == asymmetries[-1] else -4), number(share), "small", anchor))
    parts += marks(losses, data["devices"], rule, grid, x, y)
    parts += [f'<path d="M{LEFT} {TOP} V{BOTTOM} H{WIDTH - RIGHT}" class="axis"/>']
    parts += [text(x(n), BOTTOM + 16, f"{n:g}", "small", "end" if n == states[-1] else "middle") for n in states]
    parts += [text(LEFT - 6, y(a) + 4, f"{a:g}", "small", "end") for a in asymmetries]
    parts += [text((LEFT + WIDTH - RIGHT) / 2, BOTTOM + 34, "states: pulses across the window", "small", "middle"),
              f'<text transform="translate(13 {(TOP + BOTTOM) / 2:g}) rotate(-90)" class="small" text-anchor="middle">asymmetry</text>']
    for k, (_, kind, word) in enumerate(BANDS):
        parts += [f'<rect x="{12 + 92 * k}" y="{BOTTOM + 44}" width="12" height="12" class="{kind}"/>', text(28 + 92 * k, BOTTOM + 55, word, "small")]
    parts.append(text(12, BOTTOM + 76, "Presets, noisy pulses as fewer: dots lose under 10 %.", "small"))
    parts.append(f"<desc>{sections.digest(data)}</desc>")
    return document(BOTTOM + 86, f"{name}: what states and asymmetry cost", STYLE, parts)


def main():
    result = sections.load()["trainable"]
    for rule, name in (("pulses", "Pulses in place"), ("write_verify", "Write–verify")):
        out = ROOT / "docs" / "reference" / f"trainable_{rule}.svg"
        out.write_text(drawn(result, rule, name), encoding="utf-8")
        print(f"{out.relative_to(ROOT)}: {out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
