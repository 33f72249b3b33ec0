# SPDX-License-Identifier: Apache-2.0
"""train, resume, gradcheck and sweep: results, errors, and the bits of the program."""

import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import time

import h5py
import numpy as np
import pytest

import nudge
from nudge.config import source_of

SAME = ("train/loss", "train/validation_loss", "parameters/Wm", "parameters/Wq", "parameters/tok")


def values(path):
    with h5py.File(path) as file:
        return {name: file[name][()] for name in SAME}


def test_train_gives_the_bits_of_the_program(block, program, tmp_path):
    config = tmp_path / "c.toml"
    config.write_text(source_of(block, {}).text)
    subprocess.run([program, "train", config, "--out", tmp_path / "p.h5"], check=True, capture_output=True)
    run = nudge.train(block, out=tmp_path / "q.h5")
    expected, found = values(tmp_path / "p.h5"), values(tmp_path / "q.h5")
    for name in SAME:
        assert np.array_equal(expected[name], found[name], equal_nan=True), name
    in_memory = nudge.train(config)
    assert np.array_equal(in_memory.parameters.Wm.values, expected["parameters/Wm"])
    assert run.summary["status"] == "ok" and run.summary["steps"] == 6


def test_summary_has_the_names_of_the_program(block, program, tmp_path):
    config = tmp_path / "c.toml"
    config.write_text(source_of(block, {}).text)
    out = subprocess.run([program, "train", config, "--json", "--out", tmp_path / "p.h5"], check=True, capture_output=True)
    theirs, ours = json.loads(out.stdout), nudge.train(block).summary
    assert set(theirs) - {"file"} == set(ours)
    assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-12)  # printed with 17 digits
    assert set(theirs["hardware"]) == set(ours["hardware"])


LEARNER = (pathlib.Path(__file__).parents[2] / "tests/support/toy_spec.toml").read_text()
#: One requirement instead of two.
SMALL = {"spec.keys": ["crossbar.forward_adc_bits"], "spec.loss": 0.2}


def test_points_of_a_sweep_cost_what_the_card_says(program, tmp_path):
    config = tmp_path / "c.toml"
    config.write_text(LEARNER)
    run = nudge.sweep(config, sweep__grid={"crossbar.forward_adc_bits": [6]}, sweep__seeds=[1])
    subprocess.run([program, "train", config, "--set", "crossbar.forward_adc_bits=6", "--set", "seed=1", "--set", "train.null=off", "--out",
                    tmp_path / "t.h5"], check=True, capture_output=True)
    card = json.loads(subprocess.run([program, "info", tmp_path / "t.h5", "--card", "--json"], check=True, capture_output=True).stdout)
    point = run.summary["points"][0]
    assert point["inference_energy"] == pytest.approx(card["inference_J"], rel=1e-12)
    assert point["area"] == pytest.approx(card["area_m2"], rel=1e-12) and point["latency"] > 0


def test_spec_gives_the_sheet_of_the_program(program, tmp_path):
    config = tmp_path / "c.toml"
    config.write_text(LEARNER)
    settings = [part for key, value in SMALL.items() for part in ("--set", f"{key}={json.dumps(value)}")]
    small = {key.replace(".", "__"): value for key, value in SMALL.items()}
    out = subprocess.run([program, "spec", config, "--json", "--out", tmp_path / "p.h5", *settings], capture_output=True)
    theirs = json.loads(out.stdout)
    run = nudge.spec(config, out=tmp_path / "q.h5", **small)
    assert run.summary["requirements"] == theirs["requirements"] and run.summary["pareto"] == theirs["pareto"]
    again = nudge.spec(config, out=tmp_path / "q.h5", resume=True, **small)
    assert again.summary["requirements"] == theirs["requirements"]
    assert run.attrs["kind"] == "spec" and run["points"].sizes["point"] == theirs["runs"]
    with pytest.raises(nudge.NumericalError, match="no requirement: digital weights"):
        nudge.spec(config, **{**small, "train__steps": 2})  # nobody has learnt anything yet


def test_gradcheck_gives_the_rows_of_the_program(block, program, tmp_path):
    block["gradcheck"] = {"batches": 1, "estimators": ["aep_anchored", "implicit"], "finite_difference_entries": 0}
    config = tmp_path / "c.toml"
    config.write_text(source_of(block, {"precision": "double"}).text)
    theirs = json.loads(subprocess.run([program, "gradcheck", config, "--set", "precision=double", "--json"], check=True,
                                       capture_output=True).stdout)
    ours = nudge.gradcheck(block, precision="double", out=tmp_path / "g.h5")
    assert len(ours.rows) == len(theirs["rows"])
    for a, b in zip(ours.rows, theirs["rows"]):
        assert set(a) == set(b)
        assert a["cosine"] == b["cosine"] or np.isnan(a["cosine"])
        assert a["snr"] == b["snr"] or np.isnan(a["snr"]) and b["snr"] is None
    assert set(theirs["diagnostics"]) == set(ours.diagnostics)
    assert ours.cosine("implicit") > 1 - 1e-9  # the exact adjoint itself: only the free phase of 30 steps differs
    assert set(ours.table.estimator.values) == {"aep_anchored", "implicit", "bptt"}
    assert nudge.open(tmp_path / "g.h5").attrs["kind"] == "gradcheck"
    assert "aep_anchored" in repr(ours)


def test_a_gradcheck_records_steps_without_a_file():
    check = nudge.gradcheck({"network": {"kind": "hopfield"}, "hopfield": {"hidden": [6], "form": "energy"}}, task__kind="classification",
                            precision="double", beta=1e-3, train__batch=2, gradcheck__estimators=["ep"], gradcheck__record=[1],
                            gradcheck__finite_difference_entries=0, relaxation__free_steps=400, relaxation__nudged_steps=20)
    record = check.run.record
    assert record["update"].dims == ("estimator", "sample", "group", "step")
    assert record.free.dims == ("sample", "free_step", "state_row", "unit")
    ours, bptt = record["update"].sel(estimator="ep", sample=1), record.bptt.sel(sample=1)
    # beta^2 of centered nudges, times a curvature of order one; and rounding over beta.
    assert float(abs(ours - bptt).max()) < 1e-4 * float(abs(bptt).max())


def test_sweep_by_overrides(block):
    seen = []
    run = nudge.sweep(block, sweep={"seeds": [1, 2], "grid": {"device.model": ["digital"], "train.learning_rate": [0.01, 0.02]}},
                      progress=seen.append)
    assert len(run.summary["points"]) == 4 == len(seen)
    assert {event["done"] for event in seen} == {1, 2, 3, 4}
    assert [row["runs"] for row in run.summary["summary"]] == [2, 2]
    assert run.points.sizes[run.points.validation_loss.dims[0]] == 4


def test_resume_gives_the_bits_of_an_unbroken_run(block, tmp_path):
    nudge.train(block, out=tmp_path / "whole.h5")
    stopped = nudge.train(block, out=tmp_path / "part.h5", progress=lambda event: event["done"] < 3)
    assert stopped.summary["steps"] == 3
    nudge.resume(tmp_path / "part.h5")
    whole, part = values(tmp_path / "whole.h5"), values(tmp_path / "part.h5")
    for name in SAME:
        assert np.array_equal(whole[name], part[name], equal_nan=True), name


@pytest.mark.parametrize("config, message", [
    ({"model": {"chanels": 8}}, "unknown key model.chanels (did you mean channels"),
    ({"train.steps": -1}, "train.steps = -1"),
    ("nowhere.toml", "nowhere.toml: cannot read the config"),
    ("[model]\nheads = 3\nchannels = 8\n", "heads"),
    ({"seed": object()}, "seed"),
    (7, "must be the path"),
])
def test_what_is_wrong_with_a_config(config, message):
    with pytest.raises(nudge.InputError, match=re.escape(message)) as raised:
        nudge.train(config)
    assert raised.value.exit_code == 2 and isinstance(raised.value, ValueError)


def test_all_problems_come_at_once():
    with pytest.raises(nudge.InputError) as raised:
        nudge.train({"seed": -1, "beta": "1 V", "train.batch": 0})
    assert all(key in str(raised.value) for key in ("seed", "beta", "train.batch"))


def test_a_file_is_not_overwritten(block, tmp_path):
    (tmp_path / "there.h5").write_text("mine")
    with pytest.raises(nudge.InputError, match="exists"):
        nudge.train(block, out=tmp_path / "there.h5")
    assert (tmp_path / "there.h5").read_text() == "mine"


def test_a_run_that_fails_is_a_numerical_error(block):
    block["train"]["steps"] = 3
    with pytest.raises(nudge.NumericalError) as raised:
        nudge.train(block, train__learning_rate=1e30, train__skip_ratio=0)
    assert raised.value.exit_code == 3
    assert raised.value.result.summary["status"] != "ok"


def test_what_a_callback_raises_ends_the_run(block, tmp_path):
    def fail(event):
        if event["done"] == 2:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        nudge.train(block, out=tmp_path / "r.h5", progress=fail)
    assert nudge.open(tmp_path / "r.h5").train.sizes["step"] == 2  # and a checkpoint was written


def test_other_threads_go_on(block):
    import threading

    block["train"]["steps"] = 200
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    nudge.train(block)
    end = time.monotonic()
    done.set()
    thread.join()
    # A GIL that is held would leave no tick within the call; one every 50 ms is asked for, 50 times what sleep() asks.
    assert sum(start < t < end for t in ticks) > (end - start) / 0.05


def test_ctrl_c_writes_a_checkpoint_and_raises(block, tmp_path):
    block["train"]["steps"] = 100000
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(f"""
        import nudge

        def tell(event):
            if event["done"] == 3:
                print("going", flush=True)

        try:
            nudge.train({block!r}, out={str(tmp_path / "r.h5")!r}, progress=tell)
        except KeyboardInterrupt:
            print("interrupted", nudge.open({str(tmp_path / "r.h5")!r}).train.sizes["step"] >= 3)
    """))
    # What runs behind a shell (nohup, &) ignores SIGINT, and so would its child.
    child = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert child.stdout.readline() == "going\n"
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert out == "interrupted True\n" and child.returncode == 0


def test_progress_true_says_something(block, capfd):
    nudge.train(block, progress=True)
    assert "6/6" in capfd.readouterr().err


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("bar", [True, False])
def test_progress_shows_itself_to_a_person(block, monkeypatch, bar):
    """On a terminal, after two seconds; not in a pipe, not where it is switched off."""
    if bar:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # as where it is not installed

    def said(stream, progress=None, late=0.0):
        monkeypatch.setattr(nudge.progress, "LATE", late)
        monkeypatch.setattr(sys, "stderr", stream)
        run = nudge.train(block, progress=progress)
        return stream.getvalue(), run.parameters.Wm.values

    shown, weights = said(Terminal())
    assert "6/6" in shown and "loss" in shown and (bar or shown.startswith("\r") and shown.endswith("\n"))
    silent, same = said(io.StringIO())
    assert silent == "" and np.array_equal(weights, same)  # who watches changes no bit
    assert said(Terminal(), late=1e9)[0] == "" and said(Terminal(), progress=False)[0] == ""
    monkeypatch.setenv("NUDGE_PROGRESS", "0")
    assert said(Terminal())[0] == "" and "6/6" in said(Terminal(), progress=True)[0]


def test_resolve_and_keys(block):
    config = nudge.resolve(block, train__steps=9, device__preset="ecram")
    assert config["train"]["steps"] == 9 and config["model"]["channels"] == 8
    assert "train.steps" in nudge.keys()
    assert nudge.build()["version"] == nudge.__version__
    assert any(preset["name"] == "noisy_reads" for preset in nudge.presets())


def test_a_path_may_be_relative(block, tmp_path):
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        (tmp_path / "beta=1.toml").write_text(source_of(block, {}).text)
        assert nudge.train("beta=1.toml", train__steps=1).summary["steps"] == 1
    finally:
        os.chdir(here)


def test_merged_shards(block, tmp_path):
    config = {**block, "train": {**block["train"], "steps": 2}, "sweep": {"seeds": [1, 2], "grid": {"train.learning_rate": [1e-3, 2e-3]}}}
    parts = [tmp_path / f"part{i}.h5" for i in (1, 2)]
    for i, part in enumerate(parts, 1):
        nudge.sweep(config, out=part, shard=f"{i}/2")
    with pytest.raises(nudge.InputError):
        nudge.merge(parts[:1], tmp_path / "half.h5")
    assert nudge.merge(parts[:1], tmp_path / "half.h5", partial=True).summary == {"points": 4, "finished": 2, "failed": 0, "outside": 0}
    whole, alone = nudge.merge(parts, tmp_path / "whole.h5"), nudge.sweep(config)
    assert whole.summary["finished"] == 4
    assert np.array_equal(whole.points.validation_loss, alone.points.validation_loss)


def test_words_that_stand_for_numbers_are_keywords_too():
    """As in a file: of train.checkpoint_every the word end."""
    words = {"train.checkpoint_every": "end", "train.evaluate_every": "end", "train.cosine_every": "never", "data.split_seed": "seed",
             "data.validation_samples": "all"}
    for key, word in words.items():
        section, name = key.split(".")
        base = {"network.kind": "hopfield", "task.kind": "classification"}
        assert nudge.resolve(base, **{key.replace(".", "__"): word}) == nudge.resolve({**base, key: word})
        assert nudge.resolve(base, **{key.replace(".", "__"): word})[section][name] == word
