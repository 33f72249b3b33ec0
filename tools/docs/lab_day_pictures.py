#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/tutorials/lab_day.md, lab_day_*.svg beside it, 390 units wide with text of 12 units or more:

    python3 tools/docs/lab_day_pictures.py build/release/apps/nudge

It runs the commands of the page itself (run_blocks.py) in a folder of its own, and draws what `nudge export` says of the files that they write.
Python 3 without packages.
"""
import csv
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import run_blocks
from svg import WIDTH, document, text

ROOT = run_blocks.ROOT
PAGE = ROOT / "docs" / "tutorials" / "lab_day.md"
LEFT, RIGHT = 50, 14
STYLE = """
.paper { fill: #fff } .axis { stroke: #444; fill: none } .grid { stroke: #ddd; fill: none }
.one { stroke: #c8500a; fill: none; stroke-width: 2 } .done { fill: #c8500a } .tone { fill: #b04407 }
.two { stroke: #1f6fb4; fill: none; stroke-width: 2 } .dtwo, .ttwo { fill: #1f6fb4 }
.three { stroke: #666; fill: none; stroke-width: 2; stroke-dasharray: 5 4 } .tthree { fill: #555 }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .paper { fill: #1e2129 } .axis { stroke: #bbb } .grid { stroke: #3a3f4b }
  .one { stroke: #ff9a52 } .done, .tone { fill: #ff9a52 } .two { stroke: #7fbcf0 } .dtwo, .ttwo { fill: #7fbcf0 }
  .three { stroke: #aaa } .tthree { fill: #bbb }
}
"""


class Plot:
    """Axes with ticks; `log` of the vertical one."""

    def __init__(self, across, along, xticks, yticks, log=False, top=44, bottom=236):
        self.x0, self.x1, self.log = xticks[0], xticks[-1], log
        self.y0, self.y1 = (math.log10(one) if log else one for one in (yticks[0], yticks[-1]))
        self.top, self.bottom, right = top, bottom, WIDTH - RIGHT
        self.parts = []
        for tick in yticks:
            self.parts += [f'<path d="M{LEFT} {self.y(tick):.1f} H{right}" class="grid"/>', text(LEFT - 5, self.y(tick) + 4, f"{tick:g}", "small", "end")]
        self.parts += [text(self.x(tick), bottom + 16, f"{tick:g}".replace("-", "−"), "small", "middle") for tick in xticks]
        self.parts += [f'<path d="M{LEFT} {top} V{bottom} H{right}" class="axis"/>', text((LEFT + right) / 2, bottom + 34, across, "small", "middle"),
                       f'<text transform="translate(13 {(top + bottom) / 2:g}) rotate(-90)" class="small" text-anchor="middle">{along}</text>']

    def x(self, value):
        return LEFT + (WIDTH - RIGHT - LEFT) * (value - self.x0) / (self.x1 - self.x0)

    def y(self, value):
        return self.bottom - (self.bottom - self.top) * ((math.log10(value) if self.log else value) - self.y0) / (self.y1 - self.y0)

    def line(self, points, kind):
        self.parts.append(f'<path d="M{" L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points)}" class="{kind}"/>')

    def dots(self, points, kind):
        self.parts += [f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="2" class="{kind}"/>' for x, y in points]

    def word(self, x, y, what, kind, anchor="start"):
        self.parts.append(text(self.x(x), self.y(y), what, kind, anchor))

    def saved(self, name, title):
        path = PAGE.with_name(f"lab_day_{name}.svg")
        path.write_text(document(self.bottom + 44, title, STYLE, [text(12, 24, title, "title"), *self.parts]), encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes; {title}")


def table(program, folder, file, name):
    """Rows of a table that `nudge export` makes of a file."""
    out = folder / f"{file}.csv.d"
    if not out.exists():
        subprocess.run([program, "export", folder / file, "--csv", out], check=True, stdout=subprocess.DEVNULL)
    with open(out / f"{name}.csv", encoding="utf-8") as rows:
        return list(csv.DictReader(rows))


def pulses(rows):
    measured, fitted = ([(float(row["pulse"]), 1e6 * float(row[name])) for row in rows] for name in ("conductance", "replayed"))
    off = math.sqrt(sum((a[1] - b[1]) ** 2 for a, b in zip(measured, fitted)) / len(rows)) / (max(y for _, y in measured) - min(y for _, y in measured))
    plot = Plot("pulse", "conductance (µS)", (0, 25, 50, 75, 100), (0, 10, 20, 30))
    plot.dots(measured, "done")
    plot.line(fitted, "two")
    plot.word(22, 27, "measured", "tone", "end")
    plot.word(49, 14, "fitted device", "ttwo", "end")
    plot.saved("pulses", f"The fit is within {100 * off:.1f} % of the range (rms)")


def sweeps(path):
    lines = [[float(one.replace(",", ".")) for one in line.split(";")] for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    plot = Plot("voltage (V)", "current, either sign (µA)", (-1.5, -1, -0.5, 0, 0.5, 1, 1.5), (0.1, 1, 10, 100), log=True)
    plot.dots([(v, abs(i)) for v, i, _, _ in lines if abs(i) > 0.1], "done")
    plot.word(1.02, 4, "set", "tone", "start")
    plot.word(-0.98, 14, "reset", "tone", "end")
    plot.word(1.45, 55, "limit 40 µA", "small", "end")
    plot.saved("sweeps", "The cell sets near 1 V and resets near −0.9 V")


def training(program, folder):
    plot = Plot("step", "validation loss", (0, 100, 200, 300), (0, 0.2, 0.4, 0.6))
    ends = {}
    for lane, kind, words in (("train", "one", "your devices"), ("null.frozen_devices.train", "two", "devices never written"), ("null.noise_gradient.train", "three", "a gradient of noise")):
        rows = table(program, folder, "mine.h5", f"{lane}.validation_step")
        points = [(float(row["validation_step"]), float(row["validation_loss"])) for row in rows]
        plot.line(points, kind)
        ends[lane] = points[-1][1]
        plot.word(295, points[-1][1] + (0.03 if lane == "train" else -0.055 if lane.endswith("noise_gradient.train") else 0.025), words, "t" + kind, "end")
    plot.saved("training", f"Your devices end at {ends['train']:.2f}, frozen ones at {ends['null.frozen_devices.train']:.2f}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = run_blocks.run_in(program, PAGE, folder)
        if done:
            sys.exit(done)
        os.chdir(folder)
        pulses(table(program, folder, "pulses.h5", "measured"))
        sweeps(ROOT / "examples" / "lab_day" / "iv.csv")
        training(program, folder)


if __name__ == "__main__":
    main()
