#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of docs/tutorials/lab_day.md, examples/lab_day/*: **synthetic** measurements, written as instruments write them.

    python3 tools/docs/lab_day_files.py            # writes the four files
    python3 tools/docs/lab_day_files.py --check    # whether they are what this script writes

Nothing of nudge is used. The laws, with seed 61 of Python's random and all numbers below:

- pulses.txt: soft bounds. A pulse changes G by up (g_max - G)/w or -down (G - g_min)/w, w the window, times 1 + 0.25 ξ; reads have 0.4 % noise.
  Four devices, bounds lognormal with 6 %, two cycles of 50 pulses up and 50 down. One reading is the instrument's overflow.
- iv.csv: I = G V0 sinh(V/V0), V0 = 0.7 V. G = 1/(R_off + x (R_on - R_off)); dx/dt = 30/s (V/0.6 V - 1)² (1 - x) above 0.6 V, -40/s (-V/0.7 V - 1)² x
  below -0.7 V. Two loops to ±1.4 V at 1 V/s, limited to 40 µA in the set; reads have 1 % noise.
- relaxation.csv: four levels, 60 cells each. After the time t a cell has moved by X - 0.1 µS lg(1 + t/1 s); X is a Gaussian walk in lg t of the standard
  deviation 0.3 µS a decade, from 1 ms on.
- endurance.csv: 12 devices, lives lognormal about 2e6 cycles with 0.9, both states with 4 % from look to look; after its life a device stays on.
"""
import math
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "lab_day"
G_MIN, G_MAX, V0 = 3.0, 30.0, 0.7  # µS, V


def pulses(draw):
    """Resistances in kΩ after pulses, by tabs behind a header of the instrument."""
    rows = ["Pulse test\tltp_ltd_50", "Setup\tread 0.1 V, 1 ms; set 0.9 V, reset -1.0 V, 100 us", "Chip\tsynthetic (tools/docs/lab_day_files.py, seed 61)", "",
            "DUT\tloop\tpulse #\tpolarity\tR (kOhm)\tT (degC)"]
    for device in range(1, 5):
        low, high = (g * math.exp(0.06 * draw.gauss(0, 1)) for g in (G_MIN, G_MAX))
        window, g = high - low, low
        for cycle in (1, 2):
            for n in range(101):
                if n:
                    step = 1.5 * (high - g) / window if n <= 50 else -2.2 * (g - low) / window
                    g = min(max(g + step * (1 + 0.25 * draw.gauss(0, 1)), low), high)
                read = g * (1 + 0.004 * draw.gauss(0, 1))
                shown = "9.91E+37" if (device, cycle, n) == (3, 2, 71) else f"{1e3 / read:.3f}"
                rows.append(f"{device}\t{cycle}\t{n}\t{'' if n == 0 else 'set' if n <= 50 else 'reset'}\t{shown}\t{25 + 0.1 * draw.gauss(0, 1):.1f}")
    return "\n".join(rows) + "\n"


def sweeps(draw):
    """Currents in µA over volts, with semicolons and decimal commas."""
    rows, peak, points, steps, x = ["Voltage (V);Current (µA);Time (s);Cycle"], 1.4, 160, 100, 0.01

    def volts(part):
        p = 4 * part
        return peak * (p if p < 1 else 2 - p if p < 3 else p - 4)

    duration = 4 * peak / points  # of a row at 1 V/s
    for cycle in (1, 2):
        for n in range(points):
            for k in range(steps if n else 0):
                v, dt = volts((n - 1 + (k + 0.5) / steps) / points), duration / steps
                if v > 0.6:
                    x += dt * 30 * (v / 0.6 - 1) ** 2 * (1 - x)
                if v < -0.7:
                    x -= dt * 40 * (-v / 0.7 - 1) ** 2 * x
            v, resistance = volts(n / points), 1e3 / G_MIN + x * (1e3 / G_MAX - 1e3 / G_MIN)
            current = min(1e3 / resistance * V0 * math.sinh(v / V0) * (1 + 0.01 * draw.gauss(0, 1)), 40.0)
            time = ((cycle - 1) * points + n) * duration
            rows.append(f"{v:.4f};{current:.5g};{time:.4f};{cycle}".replace(".", ","))
    return "\n".join(rows) + "\n"


def relaxation(draw):
    """Cells after a write; the columns have the names of the instrument's channels."""
    rows, times = ["no,target,X1,Y1,Y0"], (1, 10, 100, 1000, 10000)
    for level in range(4):
        for cell in range(60):
            start = 6.0 + 7.0 * level + 0.25 * draw.gauss(0, 1)
            moved = sum(0.3 * draw.gauss(0, 1) for _ in range(2))  # the decades from 1 ms to 0.1 s
            for time in times:
                moved += 0.3 * draw.gauss(0, 1)
                rows.append(f"{60 * level + cell + 1},{level + 1},{time},{start + moved - 0.1 * math.log10(1 + time):.3f},{start:.3f}")
    return "\n".join(rows) + "\n"


def endurance(draw):
    """Both states of devices over cycles."""
    rows = ["DUT,cycle,LRS (kOhm),HRS (kOhm)"]
    looks = [1] + [round(10 ** (0.25 * k)) for k in range(16, 33)]
    for device in range(1, 13):
        life = 2e6 * math.exp(0.9 * draw.gauss(0, 1))
        for cycle in looks:
            low, high = (1e3 / g * math.exp(0.04 * draw.gauss(0, 1)) for g in (G_MAX, G_MIN))
            rows.append(f"{device},{cycle},{low:.2f},{high if cycle < life else 1.1 * low:.2f}")
    return "\n".join(rows) + "\n"


def files():
    draw = random.Random(61)
    return {"pulses.txt": pulses(draw), "iv.csv": sweeps(draw), "relaxation.csv": relaxation(draw), "endurance.csv": endurance(draw)}


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    for name, text in files().items():
        path = FOLDER / name
        if not sys.argv[1:]:
            FOLDER.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.relative_to(ROOT)} is not what {pathlib.Path(__file__).name} writes: run it")


if __name__ == "__main__":
    main()
