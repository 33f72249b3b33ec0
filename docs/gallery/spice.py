# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Checked in SPICE
# A small array with wires, exported as a netlist and solved by another program: ngspice. Who believes neither may read the netlist, it is short.

# %%
import hashlib
import pathlib
import re
import shutil
import subprocess
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import nudge
import nudge.plot

rng = np.random.default_rng(3)
w = rng.uniform(-1, 1, (12, 8))
wires = {"crossbar__row_resistance": "20 Ohm", "crossbar__column_resistance": "20 Ohm"}
device = {"model": "soft_bounds", "g_min": "1 uS", "g_max": "100 uS"}
array = nudge.Crossbar(w, device=device, seed=1, **wires)
volts = rng.uniform(0.05, 0.2, 12)
netlist = array.netlist(volts)
print("\n".join(netlist.splitlines()[:12]), "\n...", len(netlist.splitlines()), "lines")

# %% [markdown]
# Every crosspoint is a resistor `1/g`; between neighbours on a row and on a column lies a piece of wire. Rows are driven from one end by a voltage, columns end in
# an amplifier at 0 V, whose current is the output:
#
#     Σ over the neighbours of a node  (v − v') / R_wire  +  (v_row − v_column) g  =  0        at every node
#
# ## Solve it
# With ngspice where it is installed. Else its printed currents are read from the file beside this notebook, which is of this netlist (a hash of it is in the file).

# %%
stored = pathlib.Path("spice_currents.txt")
# The last bits of a number may be the processor's: seven digits name the netlist.
rounded = re.sub(r"\d\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.6e}", netlist)
digest = hashlib.sha256(rounded.encode()).hexdigest()
if shutil.which("ngspice"):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "array.cir"
        path.write_text(netlist)
        done = subprocess.run(["ngspice", "-b", str(path)], capture_output=True, text=True, check=True)
    printed = re.findall(r"i\(vs(\d+)\) = (\S+)", done.stdout)
    currents = {int(column): float(value) for column, value in printed}
    source = "ngspice, run now"
    if not stored.exists() or digest not in stored.read_text():
        lines = [f"A, ngspice, netlist {digest}", *(f"{one:.15e}" for one in currents.values())]
        stored.write_text("\n".join(lines) + "\n")
else:
    lines = stored.read_text().splitlines()
    assert lines[0].endswith(digest), "the stored currents are of another netlist"
    currents = dict(enumerate(float(line) for line in lines[1:]))
    source = "ngspice, stored"
spice = np.array([currents[column] for column in sorted(currents)])
print(source, "-", len(spice), "currents")

# %%
own, without = array.currents(volts), volts @ array.conductances[0]
print("column      ngspice (A)        nudge (A)     without wires (A)")
for j in range(8):
    print(f"{j:>6}  {spice[j]:.9e}  {own[j]:.9e}  {without[j]:.9e}")
difference = np.abs(own - spice).max() / np.abs(spice).max()
print(f"largest difference to ngspice: {difference:.1e} of the largest current")

# %% [markdown]
# ## What the wires take
# The share of each column's current that is lost, for wires of growing resistance. The sense end of the columns is near the last row.

# %%
ax = plt.subplots(figsize=(6, 3), layout="constrained")[1]
for color, ohms in zip(nudge.plot.COLORS, (1, 5, 20, 100)):
    one = nudge.Crossbar(w, device=device, seed=1, crossbar__row_resistance=f"{ohms} Ohm",
                         crossbar__column_resistance=f"{ohms} Ohm")
    ax.plot(100 * (1 - one.currents(volts) / without), "o-", color=color, label=f"{ohms} Ω per cell")
ax.set(xlabel="column", ylabel="current lost (%)")
ax.legend(frameon=False);

# %% [markdown]
# What to see: the currents agree to the digits that ngspice can tell. The loss grows with the way along the row.
#
# **Caveat.** One operating point of one small array with straight devices. What was checked against ngspice beyond this (curved devices, transients of a whole
# block, resistive networks with diodes) is in [validity](../project/checked.md).

# %%
# ngspice's iterations end at a relative change of 1e-3 of a nonlinear circuit; this one is linear, solved once: rounding times its condition.
assert difference < 1e-8
assert np.abs(without / spice - 1).max() > 0.01  # the wires matter here
