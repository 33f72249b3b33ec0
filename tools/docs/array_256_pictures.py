#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/tutorials/array_256.md, array_256_*.svg beside it, 390 units wide with text of 12 units or more:

    python3 tools/docs/array_256_pictures.py build/release/apps/nudge FOLDER

FOLDER is where the commands of the page were run: it holds whole.h5, tiles.h5 and spec.h5. Nothing is run again; the script draws what `nudge
export` says of the files. Python 3 without packages.
"""
import csv
import pathlib
import subprocess
import sys
import tempfile

from lab_day_pictures import STYLE, Plot
from svg import document, text

OUT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "tutorials"


def exported(nudge, file, table):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([nudge, "export", file, "--csv", f"{folder}/csv"], check=True, capture_output=True)
        with open(f"{folder}/csv/{table}.csv", newline="", encoding="utf-8") as source:
            return list(csv.DictReader(source))


def title(plot, what, second):
    plot.parts += [text(12, 20, what, "title"), text(12, 37, second, "small")]


def drop(nudge, folder):
    """Share of the current that is left, column by column."""
    plot = Plot("column of the array", "current, of ideal wires", [0, 64, 128, 192, 256], [0, 0.25, 0.5, 0.75, 1])
    for name, kind, word, at in (("tiles", "two", "tiles of 64 x 64", (250, 0.8)), ("whole", "one", "uncut", (250, 0.37))):
        rows = exported(nudge, folder / f"{name}.h5", "current.W2")
        plot.line([(float(row["column"]), float(row["positive"]) / float(row["positive_ideal"])) for row in rows], kind)
        plot.parts.append(text(plot.x(at[0]), plot.y(at[1]), word, {"two": "ttwo", "one": "tone"}[kind], "end"))
    title(plot, "Uncut, the array loses most of its signal", "all rows at the read voltage, wires of 2.5 Ω a cell")
    return document(282, "Currents of the columns behind wires, uncut and in tiles", STYLE, plot.parts)


def bits(nudge, folder):
    """Test loss over the bits of the forward ADC: runs of each seed."""
    rows = [row for row in exported(nudge, folder / "spec.h5", "points") if row["status"] == "ok" and row["run"] in
            ("design", "clean", "alone crossbar.forward_adc_bits", "together crossbar.forward_adc_bits")]
    plot = Plot("bits of the forward ADC", "test loss", [0, 2, 4, 6, 8, 10, 12], [0.03, 0.1, 0.3, 1, 3], log=True)
    for runs, kind, shift in ((("clean", "alone crossbar.forward_adc_bits"), "dtwo", -0.08), (("design", "together crossbar.forward_adc_bits"), "done", 0.08)):
        plot.dots([(float(row["crossbar.forward_adc_bits"]) + shift, float(row["test_loss"])) for row in rows if row["run"] in runs], kind)
    plot.parts += [text(376, 66, "alone", "ttwo", "end"), text(376, 84, "with the others as specified", "tone", "end")]
    title(plot, "With 4 bits the array learns less", "three seeds, every training of the search")
    return document(282, "Test loss over the bits of the ADC", STYLE, plot.parts)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, place = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    for name, draw in (("drop", drop), ("bits", bits)):
        (OUT / f"array_256_{name}.svg").write_text(draw(program, place), encoding="utf-8")
