#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fashion-MNIST at full size (Debian's dataset-fashion-mnist): networks that settle beside perceptrons and a linear model, on numbers and on
devices. Learning rates are chosen by the validation part at seed 1, then three fresh seeds are tested on the official 10,000."""
import results

EPOCH = 3563  # steps of 16 of 57,000 pictures
SEEDS = "sweep.seeds=[11, 12, 13]"
SHORT = ["train.steps=4", "sweep.seeds=[11]", "data.validation_samples=32", "task.references=off"]
DEEP = ["hopfield.hidden=[512, 512]"]
MLP = ["hopfield.feedback=none", "estimator=bptt", "relaxation.free_steps=1"]
CONVOLUTIONAL = ["network.kind=convolutional", "convolutional.maps=[16]", "convolutional.kernel=[3]", "convolutional.pool=[2]", "hopfield.hidden=[]"]
DEVICES = ["estimator=ep"]

# name, settings, epochs, what the learning rate is chosen from (of one epoch), published test error of such a network and where
LANES = [
    ("hopfield 784-512-10, EP", [], 5, [5e-4, 1e-3, 2e-3], ""),
    ("the same layers fed forward, backprop", MLP, 5, [5e-4, 1e-3, 2e-3], ""),
    ("hopfield 784-512-512-10, EP", DEEP + ["relaxation.free_steps=30", "relaxation.nudged_steps=12"], 4, [5e-4, 1e-3],
     "11.23 % (resistive, three hidden layers, EP), 9.55 % (perceptron): code beside Scellier, ICML 2024"),
    ("the same layers fed forward, backprop", DEEP + MLP, 5, [5e-4, 1e-3], ""),
    ("convolutional, 16 maps of 3 x 3, EP", CONVOLUTIONAL, 1, [1e-3], ""),
    ("hopfield 784-512-10 on `ecram`, pulses in place", DEVICES + ["device.preset=ecram"], 1, [1e-3], ""),
    ("the same, frozen", DEVICES + ["device.preset=ecram", "crossbar.update=none"], 1, [1e-3], ""),
    ("on `taox_hfox`, pulses in place", DEVICES + ["device.preset=taox_hfox"], 1, [1e-3], ""),
    ("on `taox_hfox`, written and verified", DEVICES + ["device.preset=taox_hfox", "crossbar.update=write_verify"], 1, [1e-3], ""),
]


def steps(epochs):
    return [f"train.steps={epochs * EPOCH}", f"train.evaluate_every={EPOCH}", f"train.checkpoint_every={EPOCH}"]


def chosen(number, settings, rates):
    """The learning rate with the best validation accuracy after one epoch; the only one."""
    if len(rates) < 2:
        return f"{rates[0]:g}"
    listed = ", ".join(f"{rate:g}" for rate in rates)
    answer = results.study("sweep", "examples/fashion.toml", f"fashion_tuning_{number}",
                           settings + steps(1) + ["task.references=off", f"sweep.grid.train.learning_rate=[{listed}]"], SHORT)
    best = max(answer["summary"], key=lambda cell: results.number(cell["validation_accuracy"]) or 0)
    return best["train.learning_rate"]


commits = results.noted("fashion")
rows = [["network", "epochs", "learning rate", "validation accuracy", "test accuracy", "test error", "published error"]]
commands, reference = [], None
for number, (name, settings, epochs, rates, published) in enumerate(LANES):
    rate = chosen(number, settings, rates)
    whole = settings + steps(epochs) + ["sweep.test=true", SEEDS, f"sweep.grid.train.learning_rate=[{rate}]"]
    answer = results.study("sweep", "examples/fashion.toml", f"fashion_{number}", whole + (["task.references=off"] if number else []), SHORT)
    reference = reference or answer.get("reference")
    (cell,) = answer["summary"]
    error = "–" if results.number(cell["test_accuracy"]) is None else f"{100 * (1 - results.number(cell['test_accuracy'])):.1f} %"
    rows.append([name, epochs, rate, results.percent(cell["validation_accuracy"]),
                 results.percent(cell["test_accuracy"]), error, published or "–"])
    commands.append(results.shown("sweep", "examples/fashion.toml", whole, f"fashion_{number}"))
body = results.table(rows) + ("\n\nMean ± standard deviation of three seeds that chose nothing; on devices with the physics of the circuit on. "
                              "A command per row, in order.")
if reference:
    body += " " + results.trivial(reference)
results.write("fashion", commands, body, commits)
