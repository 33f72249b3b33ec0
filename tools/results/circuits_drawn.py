# SPDX-License-Identifier: Apache-2.0
"""Random circuits and what they are to learn: netlists and tables in results/, and the settings that name them."""
import json
import math
import random

import results


def random_edges(draw, nodes, edges):
    """A connected random graph without repetitions."""
    found = {(draw.randrange(k), k) for k in range(1, nodes)}
    while len(found) < edges:
        found.add(tuple(sorted(draw.sample(range(nodes), 2))))
    return sorted(found)


def resistors(draw, edges, name=str):
    return [f"R{k} {name(a)} {name(b)} {1000 * math.exp(0.3 * draw.gauss(0, 1)):.6g}" for k, (a, b) in enumerate(edges)]


def write(file, lines):
    results.FOLDER.mkdir(parents=True, exist_ok=True)
    path = results.FOLDER / file
    path.write_text("\n".join(lines) + "\n")
    return path


def listed(key, names):
    return f"{key}=" + json.dumps(list(names))


def driven(draw, file, title, nodes, edges, features, outputs, rails=()):
    """Draws a connected random graph of so many nodes and edges that features and their negatives drive, and rails (name, volts). Returns
    what of the config names its netlist, its outputs and what learns."""
    edges = random_edges(draw, nodes, edges)
    places = draw.sample(range(nodes), 2 * features + outputs + len(rails))
    read = places[2 * features:2 * features + outputs]
    lines = [title] + [f"V{name} n{place} 0 {volts}" for (name, volts), place in zip(rails, places[2 * features + outputs:])]
    for k in range(features):
        lines += [f"Vx{k} n{places[k]} 0 0", f"Vy{k} n{places[features + k]} 0 0"]
    netlist = write(file, lines + resistors(draw, edges, "n{}".format) + [".end"])
    return [f"netlist.file={netlist}", listed("netlist.outputs", [f"n{p}" for p in read]), 'netlist.learn=["r*"]']


RAILS = (("high", 1), ("low", -1))


def regression(nodes, seed):
    """A graph of three resistors a node, driven at 8 nodes by 4 features and their negatives, read at 2, and data of a linear function that
    convex combinations of the sources can be."""
    draw = random.Random(seed)
    graph = driven(draw, f"graph_{nodes}.cir", f"random graph of {nodes} nodes", nodes, 3 * nodes, 4, 2)
    weights = [[draw.uniform(-0.15, 0.15) for _ in range(4)] for _ in range(2)]
    rows = ["x1,x2,x3,x4,y1,y2"]
    for _ in range(120):
        x = [draw.uniform(-1, 1) for _ in range(4)]
        rows.append(",".join(f"{v:.6g}" for v in x + [sum(w * v for w, v in zip(row, x)) for row in weights]))
    table = write(f"graph_{nodes}.csv", rows)
    return graph + [f"data.file={table}"]


def digits(nodes, degree, seed):
    """A random graph of `degree` resistors a node that is driven by the 64 pixels of a digit, their negatives and two rails, and read at 10."""
    graph = driven(random.Random(seed), f"digits_{nodes}.cir", f"random graph of {nodes} nodes for digits", nodes, degree * nodes // 2, 64, 10, RAILS)
    return graph + ["task.kind=classification", "data.file=", "data.labels=", "data.scaling=standard"]


def iris(nodes, seed):
    """A random graph of three resistors a node for the three species of iris: 4 features, their negatives and two rails in, 3 outputs."""
    graph = driven(random.Random(seed), f"iris_{nodes}.cir", f"random graph of {nodes} nodes for irises", nodes, 3 * nodes, 4, 3, RAILS)
    return graph + ["task.kind=classification", "data.file=examples/iris.csv", "data.labels=species", "data.scaling=standard"]


def forest(draw, edges, count):
    """So many random edges without loops, whose drops would not be free, as (child, parent): an output takes the place of its first node."""
    group, chosen = {}, []
    root = lambda node: node if group.get(node, node) == node else root(group[node])
    for a, b in draw.sample(edges, len(edges)):
        if len(chosen) < count and root(a) != root(b):
            group[root(a)] = root(b)
            chosen.append((a, b))
    ordered, seen = [], set()
    while chosen:
        edge = next((e for e in chosen if seen & set(e)), chosen[0])
        chosen.remove(edge)
        ordered.append(edge if edge[1] in seen or edge[0] not in seen else edge[::-1])
        seen |= set(edge)
    return ordered


def allostery(nodes, targets, change, seed):
    """The allosteric task of Rocks et al. (PNAS 116 (2019) 2506): one edge of a random graph of three resistors a node is held at 1 V, and the
    drops over `targets` other edges are to become (1 ± change) of what they are at first."""
    draw = random.Random(1000 * seed + targets)
    edges = random_edges(draw, nodes, 3 * nodes)
    plus, minus = draw.choice(edges)
    edges.remove((plus, minus))
    name = lambda node: "0" if node == minus else f"n{node}"
    netlist = write(f"allostery_{nodes}_{targets}_{seed}.cir",
                    [f"allostery: {targets} targets in a random graph of {nodes} nodes", f"Vs {name(plus)} 0 1"] +
                    resistors(draw, edges, name) + [".end"])
    volts = json.loads(results.execute([results.PROGRAM, "netlist", str(netlist), "--op", "--json"]))["nodes"] | {"0": 0.0}
    chosen = []
    for child, parent in forest(draw, [edge for edge in edges if not {plus, minus} & set(edge)], targets):
        drop = volts[name(child)] - volts[name(parent)]
        chosen.append((f"{name(child)},{name(parent)}", drop * (1 + draw.choice((-1, 1)) * change)))
    xs = [draw.uniform(-1, 1) for _ in range(40)]
    table = write(netlist.stem + ".csv", ["x," + ",".join(f"y{k}" for k in range(targets))] +
                  [",".join(f"{v:.9g}" for v in [x] + [want * x for _, want in chosen]) for x in xs])
    return [f"netlist.file={netlist}", f"data.file={table}", listed("netlist.outputs", [pair for pair, _ in chosen]),
            "data.labels=" + ",".join(f"y{k}" for k in range(targets))]
