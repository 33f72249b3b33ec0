#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the two reads of one crossbar, docs/explanation/crossbar_reads.svg, 390 units wide with text of 12 units or more:

    python3 tools/docs/crossbar_picture.py docs/explanation/crossbar_reads.svg

Above: rows driven, columns sensed, y = x W. Below: the same devices, columns driven, rows sensed. Python 3 without packages.
"""
import pathlib
import sys

from svg import document, text

ROWS, COLUMNS = 3, 2
PITCH_X, PITCH_Y = 92, 62
LEFT = 96

STYLE = """
.paper { fill: #fff } .wire { stroke: #555; stroke-width: 1.5; fill: none } .dot { fill: #555 } .device { stroke: #222; fill: #eef1f4 }
.drive { stroke: #c8500a; stroke-width: 2.5; fill: none } .tdrive { fill: #b04407 } .hdrive { fill: #c8500a }
.sense { stroke: #1f6fb4; stroke-width: 2.5; fill: none } .tsense { fill: #1f6fb4 } .hsense { fill: #1f6fb4 } .amp { stroke: #1f6fb4; fill: #fff }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .paper { fill: #1e2129 } .wire { stroke: #999 } .dot { fill: #999 } .device { stroke: #ccc; fill: #2a2f3a }
  .drive { stroke: #ff9a52 } .tdrive, .hdrive { fill: #ff9a52 } .sense { stroke: #7fbcf0 } .tsense, .hsense { fill: #7fbcf0 }
  .amp { stroke: #7fbcf0; fill: #1e2129 }
}
"""


def line(x1, y1, x2, y2, kind):
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class="{kind}"/>'


def arrow(x1, y1, x2, y2, kind):
    """A line with a head at its end; only along one axis."""
    dx, dy = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
    tip = f"{x2:g},{y2:g} {x2 - 9 * dx + 4.5 * dy:g},{y2 - 9 * dy + 4.5 * dx:g} {x2 - 9 * dx - 4.5 * dy:g},{y2 - 9 * dy - 4.5 * dx:g}"
    return line(x1, y1, x2 - 7 * dx, y2 - 7 * dy, kind) + f'<polygon points="{tip}" class="h{kind}"/>'


def array(top):
    """Wires and devices; a device joins its row and its column."""
    parts = []
    for i in range(ROWS):
        y = top + i * PITCH_Y
        parts.append(line(LEFT, y, LEFT + COLUMNS * PITCH_X + 8, y, "wire"))
    for j in range(COLUMNS):
        x = LEFT + 58 + j * PITCH_X
        parts.append(line(x, top - 8, x, top + ROWS * PITCH_Y - 22, "wire"))
    for i in range(ROWS):
        for j in range(COLUMNS):
            x, y = LEFT + 58 + j * PITCH_X, top + i * PITCH_Y
            parts.append(line(x - 34, y, x - 34, y + 24, "wire") + line(x - 34, y + 24, x, y + 24, "wire"))
            parts.append(f'<rect x="{x - 41:g}" y="{y + 6:g}" width="14" height="24" rx="2" class="device"/>')
            parts.append(f'<circle cx="{x:g}" cy="{y + 24:g}" r="3" class="dot"/>')
            parts.append(text(x + 5, y + 20, f"G<tspan dy='3' font-size='12'>{i + 1}{j + 1}</tspan>", "small"))
    return parts


def amplifier(x, y, down):
    """A triangle that senses a line: its input is at 0 V, its feedback has the conductance k."""
    points = f"{x - 13},{y} {x + 13},{y} {x},{y + 22}" if down else f"{x},{y - 13} {x},{y + 13} {x - 22},{y}"
    return f'<polygon points="{points}" class="amp"/>'


def sub(name, k):
    return f"{name}<tspan dy='3' font-size='12'>{k}</tspan>"


def forward(top):
    parts = [text(12, top - 34, "Forward read: y = x W", "title"), *array(top)]
    for i in range(ROWS):
        y = top + i * PITCH_Y
        parts += [arrow(52, y, LEFT, y, "drive"), text(26, y + 5, sub("x", i + 1), "tdrive")]
    bottom = top + ROWS * PITCH_Y - 22
    for j in range(COLUMNS):
        x = LEFT + 58 + j * PITCH_X
        parts += [amplifier(x, bottom, True), arrow(x, bottom + 22, x, bottom + 48, "sense"), text(x + 8, bottom + 46, sub("y", j + 1), "tsense")]
    parts += [text(LEFT + 58 + 2 * PITCH_X - 48, bottom + 8, "amplifiers", "small tsense"), text(LEFT + 58 + 2 * PITCH_X - 48, bottom + 23, "hold 0 V", "small tsense")]
    parts += [text(12, bottom + 14, "voltages", "small tdrive"), text(12, bottom + 29, "drive rows", "small tdrive")]
    return parts


def transposed(top):
    parts = [text(12, top - 62, "Transposed read: x = y Wᵀ, same devices", "title"), *array(top)]
    for j in range(COLUMNS):
        x = LEFT + 58 + j * PITCH_X
        parts += [arrow(x, top - 36, x, top - 8, "drive"), text(x + 8, top - 24, sub("y", j + 1), "tdrive")]
    for i in range(ROWS):
        y = top + i * PITCH_Y
        parts += [amplifier(LEFT, y, False), arrow(LEFT - 22, y, LEFT - 46, y, "sense"), text(26, y + 5, sub("x", i + 1), "tsense")]
    return parts


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[1]).write_text(document(590, "Two reads of one crossbar", STYLE, [*forward(58), *transposed(390)]), encoding="utf-8")
