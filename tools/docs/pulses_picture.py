#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what pulses do to a device, docs/explanation/devices_and_pulses.svg, 390 units wide with text of 12 units or more:

    python3 tools/docs/pulses_picture.py docs/explanation/devices_and_pulses.svg

Soft bounds, dg/dn = s_up (1 - g) up and -s_down g down with g in [0, 1], s_up = 0.08 and s_down = 0.14, noise of 30 % of a pulse.
Above: 30 pulses up, 30 down, then up and down by turns. Below: the step over g; both are equal at the symmetry point
g = s_up/(s_up + s_down). Python 3 without packages.
"""
import pathlib
import random
import sys

from svg import WIDTH, document, text

UP, DOWN, NOISE = 0.08, 0.14, 0.3
LEFT, RIGHT = 46, 14

STYLE = """
.paper { fill: #fff } .axis { stroke: #444; fill: none } .point { stroke: #777; stroke-dasharray: 2 4; fill: none }
.up { stroke: #c8500a; fill: none; stroke-width: 2 } .dup { fill: #c8500a } .tup { fill: #b04407 }
.down { stroke: #1f6fb4; fill: none; stroke-width: 2 } .ddown, .tdown { fill: #1f6fb4 }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .paper { fill: #1e2129 } .axis { stroke: #bbb } .point { stroke: #999 }
  .up { stroke: #ff9a52 } .dup, .tup { fill: #ff9a52 } .down { stroke: #7fbcf0 } .ddown, .tdown { fill: #7fbcf0 }
}
"""


def staircase():
    """(pulse, conductance, direction) after every pulse."""
    draw = random.Random(5)
    g, points = 0.05, []
    for n, up in enumerate([True] * 30 + [False] * 30 + [k % 2 == 0 for k in range(60)]):
        step = (UP * (1 - g) if up else -DOWN * g) * (1 + NOISE * draw.gauss(0, 1))
        g = min(max(g + step, 0.0), 1.0)
        points.append((n + 1, g, up))
    return points


def axes(left, right, top, bottom, across, along):
    return [f'<path d="M{left} {top} V{bottom} H{right}" class="axis"/>', text((left + right) / 2, bottom + 18, across, "small", "middle"),
            f'<text transform="translate({left - 10} {(top + bottom) / 2}) rotate(-90)" class="small" text-anchor="middle">{along}</text>']


def picture():
    right, symmetry = WIDTH - RIGHT, UP / (UP + DOWN)
    points = staircase()
    top, bottom = 58, 222
    x = lambda n: LEFT + (right - LEFT) * n / len(points)  # noqa: E731
    y = lambda g: bottom - (bottom - top) * g  # noqa: E731
    parts = [text(12, 22, "Opposite pulses pull to one point", "title"), *axes(LEFT, right, top, bottom, "pulse", "conductance")]
    parts.append(f'<path d="M{LEFT} {y(symmetry):g} H{right}" class="point"/>')
    parts += [f'<circle cx="{x(n):.1f}" cy="{y(g):.1f}" r="2.2" class="{"dup" if up else "ddown"}"/>' for n, g, up in points]
    parts += [text(x(15), 50, "30 up", "tup", "middle"), text(x(45), 50, "30 down", "tdown", "middle"), text(x(90), 50, "up, down, up, …", "", "middle"),
              text(right, y(symmetry) - 26, "symmetry point", "small", "end")]
    top, bottom = 316, 480
    sx = lambda g: LEFT + (right - LEFT) * g  # noqa: E731
    sy = lambda s: bottom - (bottom - top) * s / 0.15  # noqa: E731
    parts += [text(12, 282, "A step depends on the conductance", "title"), *axes(LEFT, right, top, bottom, "conductance before the pulse", "size of the step")]
    parts += [f'<path d="M{sx(0):g} {sy(UP):g} L{sx(1):g} {sy(0):g}" class="up"/>', f'<path d="M{sx(0):g} {sy(0):g} L{sx(1):g} {sy(DOWN):g}" class="down"/>',
              f'<path d="M{sx(symmetry):g} {top} V{bottom}" class="point"/>', text(sx(0.06), sy(0.09), "up", "tup"), text(sx(0.97), sy(0.108), "down", "tdown", "end"),
              text(sx(symmetry) + 6, top + 12, "symmetry point:", "small"), text(sx(symmetry) + 6, top + 27, "both steps equal", "small")]
    return parts


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[1]).write_text(document(520, "What pulses do to a device", STYLE, picture()), encoding="utf-8")
