#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Synthetic pictures of 28 x 28 pixels in MNIST's files, for those who do not have MNIST: every one is a digit of
training/digits.csv (8 x 8 pixels), enlarged to about 20 x 20, turned, sheared, scaled and shifted at random, with noise.

Every fifth digit is kept for the test files, so that no original is in both parts. The four files have MNIST's names and format
(IDX, gzip) and are the same for the same seed. Not MNIST: its error rates cannot be compared with published ones.

    python3 tools/data/digits28.py FOLDER [--training 12000] [--test 2000] [--seed 1]
    nudge train examples/mnist.toml ... --set data.file=FOLDER/train-images-idx3-ubyte.gz ...
"""
import argparse
import csv
import gzip
import math
import pathlib
import random
import struct
import sys

SIDE, SMALL = 28, 8


def originals(path):
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    out = [(int(row[0]), [float(v) for v in row[1:]]) for row in rows[1:]]
    if not out or len(out[0][1]) != SMALL * SMALL:
        raise SystemExit(f"digits28.py: {path} has no rows of a label and {SMALL * SMALL} pixels")
    return out


def picture(pixels, dice):
    """28 x 28 bytes: bilinear interpolation of the small picture at places of a random affine map."""
    angle, shear, scale = dice.gauss(0, 0.15), dice.gauss(0, 0.1), dice.uniform(2.2, 2.8)
    dx, dy = dice.uniform(-2.5, 2.5), dice.uniform(-2.5, 2.5)
    cosine, sine = math.cos(angle) / scale, math.sin(angle) / scale
    noise = dice.uniform(0, 20)
    middle, centre = (SIDE - 1) / 2, (SMALL - 1) / 2
    out = bytearray(SIDE * SIDE)
    for row in range(SIDE):
        for column in range(SIDE):
            u, v = column - middle - dx, row - middle - dy
            x, y = cosine * u + (sine + shear / scale) * v + centre, -sine * u + cosine * v + centre
            if not (-1 < x < SMALL and -1 < y < SMALL):
                continue
            left, top = math.floor(x), math.floor(y)
            value = 0.0
            for j, weight_y in ((top, 1 - y + top), (top + 1, y - top)):
                for i, weight_x in ((left, 1 - x + left), (left + 1, x - left)):
                    if 0 <= i < SMALL and 0 <= j < SMALL:
                        value += weight_x * weight_y * pixels[j * SMALL + i]
            value = 255 / 16 * value
            if value > 8:
                value += dice.gauss(0, noise)
            out[row * SIDE + column] = min(255, max(0, round(value)))
    return bytes(out)


def write(folder, name, originals_of_part, count, dice):
    images, labels = bytearray(), bytearray()
    for _ in range(count):
        label, pixels = dice.choice(originals_of_part)
        images += picture(pixels, dice)
        labels.append(label)
    for kind, magic, shape, content in (("images-idx3", 0x803, (count, SIDE, SIDE), images), ("labels-idx1", 0x801, (count,), labels)):
        path = folder / f"{name}-{kind}-ubyte.gz"
        with open(path, "wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as file:  # no time: the same bytes
            file.write(struct.pack(f">I{len(shape)}I", magic, *shape) + content)
        print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--training", type=int, default=12000)
    parser.add_argument("--test", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.training < 1 or options.test < 1:
        sys.exit("digits28.py: --training and --test must be at least 1")
    options.folder.mkdir(parents=True, exist_ok=True)
    digits = originals(pathlib.Path(__file__).resolve().parents[2] / "training" / "digits.csv")
    write(options.folder, "train", [d for n, d in enumerate(digits) if n % 5 != 0], options.training, random.Random(options.seed))
    write(options.folder, "t10k", digits[::5], options.test, random.Random(options.seed + 1))


if __name__ == "__main__":
    main()
