# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # A sweep on a cluster
# A sweep is a list of runs that know nothing of each other. Any machine can take any part. Here one machine plays two, one of them is killed, and the parts
# become one file with the same numbers that one process would have written.

# %%
import pathlib
import tempfile

import numpy as np

import nudge
import nudge.plot

folder = pathlib.Path(tempfile.mkdtemp())
config = {
    "threads": 1, "estimator": "ep", "beta": 0.25,
    "network": {"kind": "hopfield"}, "task": {"kind": "classification"},
    "hopfield": {"hidden": [24], "form": "projected"},
    "device": {"preset": "ecram"}, "train": {"steps": 40},
    "sweep": {"seeds": [1, 2], "grid": {"device.read_noise": ["0 %", "3 %", "10 %"],
                                         "device.programming_error": ["0 %", "10 %"]}},
}

# %% [markdown]
# ## In parts
# Job *i* of *n* runs `shard="i/n"`. On Slurm: an array job, `nudge sweep question.toml --shard $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT`.

# %%
first = nudge.sweep(config, out=folder / "part1.h5", shard="1/2")
print("part 1:", len(first.summary["points"]), "runs, of", 2 * 3 * 2)

# %% [markdown]
# The second machine goes down after its second run. What has ended is in the file. (`progress` returning False does here what Ctrl-C or SIGTERM do.)

# %%
second = nudge.sweep(config, out=folder / "part2.h5", shard="2/2",
                     progress=lambda event: event["done"] < 2)
print("part 2, broken off:", second.points.seed.size, "runs in the file")
try:
    nudge.merge([folder / "part1.h5", folder / "part2.h5"], folder / "early.h5")
except nudge.InputError as error:
    print("merge says:", str(error).replace(str(folder) + "/", ""))

# %% [markdown]
# ## Go on, and join

# %%
second = nudge.sweep(config, out=folder / "part2.h5", shard="2/2", resume=True)
whole = nudge.merge([folder / "part1.h5", folder / "part2.h5"], folder / "whole.h5")
print("part 2, resumed:", second.points.seed.size, "runs; merged:", whole.summary)

# %% [markdown]
# ## The same numbers as one process
# Not nearly: to the last bit. Random numbers are a function of seed, purpose, array and step, never of the order of work.

# %%
alone = nudge.sweep(config, out=folder / "alone.h5")
for name in whole.points.data_vars:
    one, other = whole.points[name], alone.points[name]
    assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f"), name
print(len(whole.points.data_vars), "columns of", whole.points.seed.size, "runs are equal, bit by bit")
nudge.plot.heat_map(whole);

# %% [markdown]
# ## More seeds later
# A finished sweep takes more seeds, values and axes. What is there is kept.

# %%
more = nudge.sweep(config, out=folder / "whole.h5", resume=True, sweep__seeds=[1, 2, 3])
print(more.points.seed.size, "runs now")
nudge.plot.ranking(more);

# %% [markdown]
# **Caveat.** The same bits on the same build and processor: another instruction set may round products differently, and `merge` refuses parts of different
# processors. [Clusters](../how_to/run_on_a_cluster.md) has recipes for Slurm and MPI, and what they cost.

# %%
assert whole.summary == {"points": 12, "finished": 12, "failed": 0, "outside": 0} and more.points.seed.size == 18
