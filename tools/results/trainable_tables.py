# SPDX-License-Identifier: Apache-2.0
"""Tables of trainable.py, of its points alone: results/trainable.md, and the short one of docs/reference/trainable_devices.md."""
import math
import statistics

import intervals
import results
import sections
import trainable_rows as rows

LEVELS = (0.01, 0.1)
RULES = {"pulses": "pulses", "write_verify": "write–verify"}
# Heading of a property, and its value in `idealized`.
PROPERTIES = {"states": ("states: pulses across the window", "10000"), "asymmetry": ("asymmetry: down pulses are 1 − a of up pulses", "0"),
              "update_noise": ("noise of a pulse, in pulses", "0.3"), "write_noise": ("noise of a write, in pulses of 1/10000 of the window", "0"),
              "spread": ("spread of pulses and of both bounds over devices", "0.3"), "curvature": ("curvature: relative loss of a step at its bound", "0"),
              "symmetry": ("symmetry points: deviation over devices, of the window (soft bounds)", "–"), "leak": ("leak: steps of training in its time constant", "none")}
APART = 4  # a cell whose seeds scatter by more than so many pooled deviations has no interval
SCALE = {"leak": 1000}  # steps in a second
FIGURES = [f"docs/reference/trainable_{rule}.svg" for rule in RULES]
CLOSE = 0.1  # a prediction within so much of what is learnt is no miss; whatever loses all is level


def percent(share, digits=1):
    """A share in percent; beyond the null it says no more than that."""
    return "> 100 %" if share > 1 else f"{100 * share:.{digits}f} %"


class Means:
    """Mean shares as text, in percent. Their deviation is pooled over cells; all intervals of one table hold together (Bonferroni)."""

    def __init__(self, losses, family):
        self.losses, self.family = losses, family

    def text(self, own, rule, estimator="ep"):
        deviation, degrees = self.losses.deviation(rule, estimator)
        if not own or deviation is None:
            return "–"
        width = intervals.student_t(1 - intervals.LEVEL / (2 * self.family), degrees) * deviation / math.sqrt(len(own))
        return "> 100" if statistics.mean(own) > 1 else f"{intervals.signed(100 * statistics.mean(own), 1)} ± {100 * width:.1f}"


def at_levels(losses, own, rule, falls, estimator="ep"):
    """Thresholds as text, one for each level."""
    deviation, _ = losses.deviation(rule, estimator)
    return ["–" if len(own) < 2 or deviation is None else rows.reached(own, deviation, level, falls) for level in LEVELS]


def scaled(losses, study, rule, estimator="ep"):
    return [(value * SCALE.get(study, 1), shares) for value, shares in rows.series(losses, study, rule, estimator)]


def thresholds(losses):
    table = [["property", "`idealized`", *(f"{name}: {percent(level, 0)} lost" for name in RULES.values() for level in LEVELS)]]
    for study, (title, base) in PROPERTIES.items():
        cells = [text for rule in RULES for text in at_levels(losses, scaled(losses, study, rule), rule, study in rows.FALLS)]
        if any(cell != "–" for cell in cells):
            table.append([title, base, *cells])
    return results.table(table)


def singles(losses):
    """Every value that was tried, one property at a time."""
    own = {(study, rule): found for study in PROPERTIES for rule in RULES if (found := scaled(losses, study, rule))}
    means = Means(losses, sum(len(found) for found in own.values()))
    table = [["property", "rule", "value: lost, percent"]]
    table += [[PROPERTIES[study][0], RULES[rule], "; ".join(f"{value:g}: {means.text(shares, rule)}" for value, shares in found)] for (study, rule), found in own.items()]
    return results.table(table) + f"\n\nAgainst `idealized`, which stands more or less by itself; 95 % over all {means.family} numbers together, deviations pooled over cells of a rule."


def grid_of(losses, rule, estimator="ep"):
    """Mean shares on the grid: {(states, asymmetry): share}."""
    found = {}
    for cell in losses.names("grid", rule, estimator):
        own = losses.shares("grid", rule, estimator, cell)
        if own:
            found[tuple(float(one) for one in cell.split(" "))] = statistics.mean(own)
    return found


def needed(losses):
    """States that are needed at an asymmetry."""
    table = [["asymmetry", *(f"{name}: {percent(level, 0)} lost" for name in RULES.values() for level in LEVELS)]]
    for asymmetry in sorted({a for rule in RULES for _, a in grid_of(losses, rule)}):
        line = [f"{asymmetry:g}"]
        for rule in RULES:
            own = [(float(cell.split(" ")[0]), losses.shares("grid", rule, "ep", cell)) for cell in losses.names("grid", rule, "ep") if float(cell.split(" ")[1]) == asymmetry]
            line += at_levels(losses, sorted((pair for pair in own if len(pair[1]) > 1), key=lambda pair: -pair[0]), rule, True)
        if any(cell != "–" for cell in line[1:]):
            table.append(line)
    return results.table(table)


def between(axis, value):
    """Index and share of the interval of an axis that holds a value; its ends hold what lies outside."""
    value = min(max(value, axis[0]), axis[-1])
    k = max(i for i in range(len(axis) - 1) if axis[i] <= value)
    return k, (value - axis[k]) / (axis[k + 1] - axis[k])


def contour(grid, states, asymmetry):
    """Share at states and asymmetry: bilinear in log(states) and asymmetry between the cells of the grid; the edge outside."""
    columns, lines = sorted({n for n, _ in grid}), sorted({a for _, a in grid})
    i, u = between([math.log(n) for n in columns], math.log(states))
    j, v = between(lines, asymmetry)
    at = lambda di, dj: grid[columns[i + di], lines[j + dj]]
    return (1 - u) * ((1 - v) * at(0, 0) + v * at(0, 1)) + u * ((1 - v) * at(1, 0) + v * at(1, 1))


def lost_to_writes(losses, rule, noise):
    """Share that the noise of writes costs, a share of the window: linear between what was tried, from 0 on."""
    own = [(0.0, 0.0)] + [(value / 10000, statistics.mean(shares)) for value, shares in rows.series(losses, "write_noise", rule, "ep")]
    if len(own) < 2:
        return 0.0
    k, u = between([value for value, _ in own], noise)
    return (1 - u) * own[k][1] + u * own[k + 1][1]


def fewer_states(device):
    """States that count. |δ| of a change in steps of s, sent as whole pulses at random with noise σ of a pulse, has the variance |δ| s (1 + σ²): noise acts as
    larger steps. `idealized` has its own noise."""
    return max(device["states"] * (1 + rows.NOISE ** 2) / (1 + device["pulse_noise"] ** 2), 1.0)


def predictions(losses, rule, device):
    """What the contour tells of a device from states and asymmetry; and the same with fewer states for noisier pulses, and with the noise of its writes."""
    grid = grid_of(losses, rule)
    return contour(grid, device["states"], device["asymmetry"]), contour(grid, fewer_states(device), device["asymmetry"]) + lost_to_writes(losses, rule, device["write_noise"])


def ranks(values):
    ordered = sorted(values)
    return [statistics.mean(k for k, one in enumerate(ordered) if one == value) for value in values]


def rank_correlation(left, right):
    """Spearman's, with a 95 % interval by Fisher's z of variance 1.06/(n − 3) (Fieller, Hartley and Pearson, Biometrika 44 (1957) 470)."""
    a, b = ranks(left), ranks(right)
    spread = math.sqrt(statistics.pvariance(a) * statistics.pvariance(b))
    if len(a) < 5 or spread == 0:
        return "–"
    rho = statistics.mean((x - statistics.mean(a)) * (y - statistics.mean(b)) for x, y in zip(a, b)) / spread
    z, width = math.atanh(max(min(rho, 0.999999), -0.999999)), 1.96 * math.sqrt(1.06 / (len(a) - 3))
    return f"{rho:.2f} [{math.tanh(z - width):.2f}, {math.tanh(z + width):.2f}]"


def presets(losses, devices):
    """What each preset loses against exact numbers, and what the contours tell of it; after the table the sentence on both."""
    table = [["preset", "states", "asymmetry", "noise of a pulse", "noise of a write", *(f"{name}: {what}" for name in RULES.values() for what in ("lost", "told by states and asymmetry", "and by noise"))]]
    found = {rule: [] for rule in RULES}
    for name, device in devices.items():
        line = [f"`{name}`", f"{device['states']:.0f}", f"{device['asymmetry']:.2f}", f"{device['pulse_noise']:.2g}", percent(device["write_noise"])]
        for rule in RULES:
            own = losses.shares("presets", rule, "ep", name, losses.exact)
            base = losses.shares("grid", rule, "ep", rows.BASE, losses.exact)
            if not own or not base:
                line += [f"{losses.failed[('presets', rule, 'ep', name)]} failed" if ("presets", rule, "ep", name) in losses.failed else "–", "–", "–"]
                continue
            told = [one + statistics.mean(base) for one in predictions(losses, rule, device)]
            found[rule].append((name, statistics.mean(own), *told))
            line += [percent(statistics.mean(own)), *(percent(one) for one in told)]
        table.append(line)
    sentences = []
    for rule, own in found.items():
        if len(own) < 5:
            continue
        for at, what in ((2, "states and asymmetry alone"), (3, "with noise of pulses and writes")):
            missed = [f"`{one[0]}`" for one in own if abs(min(one[at], 1) - min(one[1], 1)) > CLOSE]
            sentences.append(f"{RULES[rule]}, {what}: rank correlation {rank_correlation([one[1] for one in own], [one[at] for one in own])} over {len(own)} presets; "
                             f"{len(missed)} misses by more than {percent(CLOSE, 0)}" + (f" ({', '.join(missed)})" if missed else "") + ".")
    return results.table(table) + "\n\n" + "\n".join(f"- {one}" for one in sentences)


def materials(losses):
    """Is ECRAM before ReRAM? Test loss of the one less that of the other, paired by seed."""
    table = [["order of the papers", "rule", "difference of the test loss"]]
    for rule, title in RULES.items():
        for other in ("reram_sb", "reram_es"):
            own, its = (losses.of("presets", rule, "ep", name) for name in ("ecram", other))
            gaps = [own[seed] - its[seed] for seed in own if seed in its]
            if len(gaps) > 1:
                table.append([f"`ecram` before `{other}`", title, results.paired(gaps, 3)])
    return results.table(table) if len(table) > 1 else ""


def estimators(losses):
    """Does equilibrium propagation ask for more than backprop?"""
    found = []
    for study in ("states", "asymmetry"):
        backprop = dict(rows.series(losses, study, "pulses", "backprop"))
        found += [(study, value) for value, _ in rows.series(losses, study, "pulses", "ep") if value in backprop]
    table = [["property", "value", "EP: lost", "backprop: lost", "EP less backprop, points"]]
    spreads = [losses.deviation("pulses", one) for one in ("ep", "backprop")]
    for study, value in found:
        cell = f"{value:g} 0" if study == "states" else f"10000 {value:g}"
        runs, bases = ([losses.of("grid", "pulses", one, which) for one in ("ep", "backprop")] for which in (cell, rows.BASE))
        seeds = sorted(set(runs[0]) & set(runs[1]) & set(bases[0]) & set(bases[1]))
        gaps = [((runs[0][s] - bases[0][s]) - (runs[1][s] - bases[1][s])) / losses.range for s in seeds]
        one_gap = math.hypot(*(one for one, _ in spreads))
        width = intervals.student_t(1 - intervals.LEVEL / (2 * len(found)), sum(n for _, n in spreads)) * one_gap / math.sqrt(len(gaps))
        apart = statistics.stdev(gaps) > APART * one_gap
        table.append([PROPERTIES[study][0], f"{value:g}", *(percent(statistics.mean(losses.shares("grid", "pulses", one, cell))) for one in ("ep", "backprop")),
                      "not told: one run stands apart" if apart else f"{intervals.signed(100 * statistics.mean(gaps), 1)} ± {100 * width:.1f}"])
    return results.table(table) + f"\n\nEach against `idealized` under its own estimator; 95 % over all {len(found)} differences together, deviations pooled." if found else ""


def baselines(losses):
    """What exact numbers, the null and `idealized` reach."""
    table = [["what learns", "test loss", "lost, percent"]]
    for name, own in (("exact numbers", losses.exact), ("strongest null: a linear network, trained alike", losses.null)):
        table.append([name, results.mean_deviation(own.values(), 4) if own else "–", "0" if own is losses.exact else "100"])
    means = Means(losses, len(RULES))
    for rule, title in RULES.items():
        own = losses.of("grid", rule, "ep", rows.BASE)
        table.append([f"`idealized`, {title}", results.mean_deviation(own.values(), 4) if own else "–", means.text(losses.shares("grid", rule, "ep", rows.BASE, losses.exact), rule)])
    return results.table(table)


def scatter(losses):
    """How far one run says anything, and how many seeds tell 1 %: the interval of a mean of n differences is ± 1.96 deviations/√n."""
    told = []
    for rule, title in RULES.items():
        deviation, degrees = losses.deviation(rule, "ep")
        if degrees:
            told.append(f"{title} {percent(deviation)}, so {math.ceil((1.96 * deviation / 0.01) ** 2)} seeds would tell 1 %")
    return f"Deviation of one difference between seeds: {'; '.join(told)}." if told else ""


def failures(losses):
    text = [f"{count} of {' '.join(one for one in key if one)}" for key, count in losses.failed.items()]
    return f"Runs that failed, and stay out of all means: {'; '.join(text)}." if text else "No run failed."


def full(losses, devices, seconds, short):
    """The page of results/."""
    note = f"{seconds / 60:.1f} minutes of one core in all. " + ("**Short runs**: one network of 32 hidden units, 2,000 steps, far from the plateau. " if short else "")
    parts = [note + failures(losses) + " " + scatter(losses), baselines(losses), "**Where a property costs 1 % and 10 %**, all others as in `idealized`:", thresholds(losses), singles(losses),
             "**States that are needed at an asymmetry**:", needed(losses), "**Equilibrium propagation beside backprop on the same devices**, pulses:", estimators(losses),
             "**Presets**, against exact numbers:", presets(losses, devices), "**ECRAM before ReRAM?** Below 0 the order holds:", materials(losses)]
    return "\n\n".join(part for part in parts if part)


def briefly(losses):
    """The tables of the reference page."""
    return "\n\n".join(["Value of a property at which so much is lost, all others as in `idealized`:", thresholds(losses), "States that are needed at an asymmetry:", needed(losses)])


def save(study, commits):
    """Keeps points and tables; the pictures are drawn by tools/docs/trainable_picture.py."""
    devices = {name: rows.properties_of(name) for name in rows.learning_presets()}
    losses = rows.Losses(study.points)
    data = {"columns": list(rows.COLUMNS), "points": study.points, "devices": devices, "seconds": rows.seconds_of(study.name)}
    where = f" {data['seconds'] / 60:.1f} minutes of one core. [Every value, the presets and the commands](../../results/trainable.md)."
    results.write("trainable", study.commands, full(losses, devices, data["seconds"], not study.size), commits, "results/trainable.md",
                  {"docs/reference/trainable_devices.md": (briefly(losses), where)}, data, FIGURES)
