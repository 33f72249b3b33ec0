#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run by `make test`: every example config is accepted, and every example runs (long trainings for a few steps only):
# check.sh PROGRAM
set -uo pipefail
program=$(realpath -- "$1")
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf -- "$folder"' EXIT
passed=0
failed=0

# try NAME COMMAND...: counts it, and shows what it printed when it failed
try() {
  local name=$1
  shift
  if "$@" >"$folder/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "example failed: $name" >&2
    sed 's/^/  /' "$folder/log" >&2
  fi
}

for config in examples/*.toml; do try "$config" "$program" config check "$config"; done
try "train" "$program" train examples/train_charlm.toml --out "$folder/train.h5" --set train.steps=6
try "resume" "$program" train --resume "$folder/train.h5"
try "shakespeare_small" "$program" train examples/shakespeare_small.toml --out "$folder/small.h5" --set train.steps=2 \
  --set data.text= --set train.evaluation_batches=1
try "shakespeare_large" "$program" train examples/shakespeare_large.toml --out "$folder/large.h5" --set train.steps=1 \
  --set data.text= --set train.evaluation_batches=1
try "transformer" "$program" train examples/transformer.toml --out "$folder/transformer.h5" --set train.steps=2 \
  --set train.evaluation_batches=1 --set train.test_batches=1 --set train.batch=2
try "transformer, backprop" "$program" train examples/transformer.toml --out "$folder/transformer_bptt.h5" \
  --set estimator=bptt --set train.steps=2 --set train.evaluation_batches=1 --set train.test_batches=1 --set train.batch=2
try "digits" "$program" train examples/digits.toml --out "$folder/digits.h5" --set train.steps=3
try "digits by ep" "$program" train examples/digits.toml --out "$folder/digits_ep.h5" --set train.steps=3 --set estimator=ep
try "digits_deep" "$program" train examples/digits_deep.toml --out "$folder/deep.h5" --set train.steps=3
try "digits_conv" "$program" train examples/digits_conv.toml --out "$folder/conv.h5" --set train.steps=2
try "compare_digits" "$program" compare examples/compare_digits.toml --out "$folder/compare_digits.h5" --set train.steps=2 \
  --set compare.test_seeds=[11] --set compare.tuning_seeds=[1] --set 'compare.grid.beta=[0.3]' \
  --set 'compare.grid.train.learning_rate=[1e-3]'
try "hfox_reset" "$program" compare examples/hfox_reset.toml --out "$folder/hfox_reset.h5" --set train.steps=2 \
  --set compare.test_seeds=[11] --set compare.tuning_seeds=[1] --set 'compare.grid.train.learning_rate=[1e-3]'
try "hfo2_1t1r" "$program" sweep examples/hfo2_1t1r.toml --out "$folder/hfo2_1t1r.h5" --set train.steps=2 --set sweep.seeds=[1]
try "digits_devices" "$program" sweep examples/digits_devices.toml --out "$folder/digits_devices.h5" --set train.steps=1 \
  --set sweep.seeds=[1]
try "rules_digits" "$program" sweep examples/rules_digits.toml --out "$folder/rules_digits.h5" --set train.steps=1 \
  --set sweep.seeds=[1] --set 'sweep.grid.device.preset=["taox_hfox"]'
try "spec_digits" "$program" spec examples/spec_digits.toml --out "$folder/spec_digits.h5" --set train.steps=60 \
  --set 'spec.keys=["crossbar.forward_adc_bits"]' --set spec.seeds=[1,2] --set spec.bisections=1 --set spec.designs=0
try "digits_noise" "$program" sweep examples/digits_noise.toml --out "$folder/digits_noise.h5" --set train.steps=1 \
  --set sweep.seeds=[1]
try "digits_nudge" "$program" sweep examples/digits_nudge.toml --out "$folder/digits_nudge.h5" --set train.steps=1 \
  --set sweep.seeds=[1]
try "digits_lock_in" "$program" sweep examples/digits_lock_in.toml --out "$folder/digits_lock_in.h5" --set gradcheck.train_steps=1 \
  --set sweep.seeds=[1] --set 'sweep.grid.beta=[0.3]' --set 'sweep.grid.nudge.frequency=[0.8]' --set 'sweep.grid.nudge.periods=[1]'
try "stability_map" "$program" sweep examples/stability_map.toml --out "$folder/map.h5" --set sweep.seeds=[1] \
  --set 'sweep.grid.model.damping=[1]'
try "mixer_forces" "$program" train examples/mixer_forces.toml --out "$folder/mixer.h5" --set train.steps=2 \
  --set train.evaluation_batches=1
try "resistive" "$program" train examples/resistive.toml --out "$folder/resistive.h5" --set train.steps=20
try "resistive on devices" "$program" train examples/resistive.toml --out "$folder/resistive_devices.h5" --set train.steps=3 \
  --set device.preset=ecram --set relaxation.solver=euler --set relaxation.free_steps=60 --set relaxation.nudged_steps=40
try "netlist, operating point" "$program" netlist examples/grid.cir --op --json
try "netlist_grid" "$program" train examples/netlist_grid.toml --out "$folder/grid.h5" --set train.steps=20
try "netlist, trained" "$program" netlist --trained "$folder/grid.h5" -o "$folder/grid.cir"
try "transistor_xor" "$program" train examples/transistor_xor.toml --out "$folder/xor.h5" --set train.steps=20
try "netlist, how it settles" "$program" netlist examples/grid.cir --tran "2 us" --capacitance "100 pF" --json
try "allostery" "$program" train examples/allostery.toml --out "$folder/allostery.h5" --set train.steps=20
try "resistive_diodes, netlist" "$program" crossbar examples/resistive_diodes.toml --block "$folder/diodes.cir"
try "netlist_diodes" "$program" train examples/netlist_diodes.toml --out "$folder/diodes.h5" --set train.steps=5 \
  --set netlist.file="$folder/diodes.cir"
try "resistive_diodes" "$program" train examples/resistive_diodes.toml --out "$folder/layers.h5" --set train.steps=2
try "oscillator" "$program" train examples/oscillator.toml --out "$folder/oscillator.h5" --set train.steps=3
try "thermal" "$program" train examples/thermal.toml --out "$folder/thermal.h5" --set train.steps=3
try "thermal, bits" "$program" train examples/thermal.toml --out "$folder/bits.h5" --set train.steps=3 \
  --set thermal.units=binary --set thermal.temperature=1 --set beta=20 --set nudge.sides=positive
try "hopfield, netlist" "$program" crossbar examples/digits.toml --block "$folder/digits.cir" \
  --set device.model=soft_bounds --set hopfield.hidden=[5]
try "resistive, netlist" "$program" crossbar examples/resistive.toml --block "$folder/resistive.cir" \
  --set device.model=soft_bounds --set resistive.hidden=[5]
try "compare_resistive" "$program" compare examples/compare_resistive.toml --out "$folder/compare_resistive.h5" \
  --set train.steps=2 --set compare.test_seeds=[11] --set 'compare.grid.train.learning_rate=[1e-3]' \
  --set compare.grid.beta=[0.5]
try "resistive_noise, sweep" "$program" sweep examples/resistive_noise.toml --out "$folder/resistive_noise.h5" \
  --set train.steps=2 --set 'sweep.seeds=[11]' --set 'sweep.grid.device.read_noise=[0, "0.1 %"]'
try "resistive_reads, sweep" "$program" sweep examples/resistive_reads.toml --out "$folder/resistive_reads.h5" \
  --set train.steps=2 --set 'sweep.seeds=[11]'
try "resistive_devices, sweep" "$program" sweep examples/resistive_devices.toml --out "$folder/resistive_sweep.h5" \
  --set train.steps=1 --set sweep.seeds=[11] --set 'sweep.grid.device.preset=["idealized"]'
install_and_use() {
  cmake --install build/release --prefix "$folder/installed" &&
    cmake -S examples/out_of_tree -B "$folder/mine" -DCMAKE_PREFIX_PATH="$folder/installed" -DCMAKE_BUILD_TYPE=Release &&
    cmake --build "$folder/mine" && "$folder/mine/mine" && "$folder/installed/bin/nudge" --version
}
if [ "$program" = "$(realpath -m build/release/apps/nudge)" ]; then try "an installed nudge in another project" install_and_use; fi
if command -v python3 >/dev/null; then
  for page in docs/start/command_line.md docs/tutorials/{device,lab_day,gradients,sweeps}.md \
    docs/how_to/{fit_a_device,age_a_network,it_does_not_learn,pulses_or_write_verify}.md; do
    try "$page" python3 tools/docs/run_blocks.py "$program" "$page"
  done
else
  echo "skipped: the commands of docs/start, docs/tutorials and docs/how_to (no python3)"
fi
try "devices fit" "$program" devices fit examples/lab_pulses.csv --model soft_bounds --out "$folder/device.toml"
try "fit aihwkit's columns" "$program" devices fit examples/pulses_up_down.csv --model soft_bounds --out "$folder/up_down.toml"
try "fit CrossSim's files" "$program" devices fit examples/pulses_set.csv examples/pulses_reset.csv --read-voltage "0.1 V" \
  --model soft_bounds --out "$folder/set_reset.toml"
try "characterize a fit" "$program" devices characterize examples/lab_pulses.csv --model soft_bounds --out "$folder/lab.h5"
try "characterize a config" "$program" devices characterize "$folder/device.toml" --set "device.read_noise=1 %"
try "report of a device" "$program" report "$folder/lab.h5" -o "$folder/lab.html"
try "export" "$program" export "$folder/train.h5" --csv "$folder/train_csv"
try "attention_energy" "$program" energy examples/attention_energy.toml --out "$folder/energy.h5"
try "gradcheck" "$program" gradcheck examples/compare_gradients.toml --out "$folder/gradients.h5"
try "gradient_steps" "$program" gradcheck examples/gradient_steps.toml --out "$folder/steps.h5" --set relaxation.free_steps=50
try "sweep" "$program" sweep examples/sweep_noise.toml --out "$folder/sweep.h5" --set train.steps=5
try "sweep_reciprocity" "$program" sweep examples/sweep_reciprocity.toml --out "$folder/reciprocity.h5"
try "converters" "$program" sweep examples/converters.toml --out "$folder/converters.h5" --set gradcheck.train_steps=2 \
  --set train.batch=1 --set model.tokens=8
try "device_gradients" "$program" sweep examples/device_gradients.toml --out "$folder/device.h5" --set sweep.seeds=[1] \
  --set gradcheck.train_steps=2 --set train.batch=1 --set model.tokens=8
try "device_training" "$program" sweep examples/device_training.toml --out "$folder/training.h5" --set train.steps=1 \
  --set data.text= --set train.evaluation_batches=1 --set train.batch=2
try "compare_parity" "$program" compare examples/compare_parity.toml --out "$folder/parity.h5" --set train.steps=2 \
  --set train.batch=2 --set model.tokens=8 --set train.evaluation_batches=1 --set train.test_batches=1 \
  --set compare.tuning_seeds=[1] --set compare.test_seeds=[11,12] --set 'compare.grid.train.learning_rate=[1e-3, 3e-3]'
try "compare_transformer" "$program" compare examples/compare_transformer.toml --out "$folder/compare_transformer.h5" \
  --set train.steps=1 --set train.batch=1 --set train.evaluation_batches=1 --set train.test_batches=1 \
  --set compare.test_seeds=[11] --set 'compare.grid.train.learning_rate=[1e-3]'
try "sweep_feedback" "$program" sweep examples/sweep_feedback.toml --out "$folder/feedback.h5" --set train.steps=1 \
  --set train.batch=1 --set train.evaluation_batches=1 --set sweep.seeds=[1] \
  --set 'sweep.grid.transformer.feedback=[0, 0.2]'
try "imperfections_loops" "$program" sweep examples/imperfections_loops.toml --out "$folder/loops.h5" --set train.steps=1 \
  --set train.batch=1 --set train.evaluation_batches=1 --set sweep.seeds=[1]
try "imperfections_block" "$program" sweep examples/imperfections_block.toml --out "$folder/block.h5" --set train.steps=1 \
  --set train.batch=1 --set train.evaluation_batches=1 --set sweep.seeds=[1]
try "digits28" python3 tools/data/digits28.py "$folder/digits28" --training 200 --test 30
digits28=()
for key in file=train-images-idx3 labels=train-labels-idx1 test_file=t10k-images-idx3 test_labels=t10k-labels-idx1; do
  digits28+=(--set "data.${key%%=*}=$folder/digits28/${key##*=}-ubyte.gz")
done
try "mnist" "$program" train examples/mnist.toml --out "$folder/mnist.h5" "${digits28[@]}" --set train.steps=2
try "compare_digits28" "$program" compare examples/compare_digits28.toml --out "$folder/compare28.h5" "${digits28[@]}" \
  --set train.steps=2 --set compare.tuning_seeds=[1] --set compare.test_seeds=[11,12]
try "compare_parity_large" "$program" compare examples/compare_parity_large.toml --out "$folder/parity_large.h5" \
  --set train.steps=1 --set train.batch=1 --set model.tokens=8 --set train.evaluation_batches=1 \
  --set train.test_batches=1 --set compare.test_seeds=[11] --set 'compare.grid.train.learning_rate=[1e-3]'
short=(--set train.steps=1 --set train.batch=4 --set train.evaluation_batches=1 --set train.test_batches=1)
try "argmax" "$program" sweep examples/argmax.toml --out "$folder/argmax.h5" "${short[@]}" --set model.channels=32
try "characters" "$program" sweep examples/characters.toml --out "$folder/characters.h5" "${short[@]}"
try "writer" "$program" train examples/characters.toml --out "$folder/writer.h5" "${short[@]}" --set sequence.mixer=fem_softmax
try "latent" "$program" sweep examples/latent.toml --out "$folder/latent.h5" "${short[@]}" --set latent.pairs=1
try "mad" "$program" sweep examples/mad.toml --out "$folder/mad.h5" "${short[@]}" --set task.examples=4
try "memorization" "$program" sweep examples/memorization.toml --out "$folder/memorization.h5" "${short[@]}"
try "report" "$program" report "$folder/train.h5" "$folder/gradients.h5" "$folder/sweep.h5" "$folder/converters.h5" \
  "$folder/device.h5" "$folder/training.h5" "$folder/parity.h5" "$folder/digits.h5" "$folder/compare_digits.h5" -o "$folder/report.html"
try "info" "$program" info "$folder/train.h5"
try "crossbar" "$program" crossbar examples/train_charlm.toml --array Wo --spice "$folder/array.cir"
try "devices" "$program" devices show soft_bounds
try "characterize" "$program" devices characterize ecram --out "$folder/ecram.h5"
for example in "$(dirname -- "$program")"/../examples/example_*; do
  if [ -x "$example" ] && [ -f "$example" ]; then try "${example##*/}" "$example"; fi
done
echo "examples: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
