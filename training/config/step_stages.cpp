// SPDX-License-Identifier: Apache-2.0
#include "training/config/step_stages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/read_context.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/config/hardware.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"
#include "training/config/train_options.hpp"
#include "training/data/item_columns.hpp"
#include "training/learning/controller.hpp"
#include "training/learning/correlator.hpp"
#include "training/models/block/block_plan.hpp"
#include "training/models/hopfield/hopfield_config.hpp"
#include "training/models/model_options.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

/// The stages of one network, put together.
class Stages {
 public:
  Stages(const Config& config, const NetworkPlan& plan)
      : config_(config), plan_(plan), arrays_(crossbar_spec(config)), phases_(phase_options(config)) {}

  std::vector<StepStage> all() {
    weights();
    nodes();
    phases();
    gradient();
    updates();
    return std::move(stages_);
  }

 private:
  void add(const std::string& stage, StageHome home, const std::string& how) { stages_.push_back({stage, home, how}); }
  bool on_devices() const { return arrays_.device.model != digital_model; }
  const CircuitSpec& circuit() const { return arrays_.circuit; }

  void weights() {
    for (const Parameter& parameter : plan_.parameters()) {
      const bool held = on_devices() && parameter.on_devices;
      add("weights " + parameter.name, held ? StageHome::device : StageHome::digital,
          held ? "an array of " + arrays_.device.model : "a table of digital numbers");
    }
    if (!on_devices()) return;
    std::string noise = circuit().thermal_noise ? "with thermal noise" : "without thermal noise";
    const AmplifierSpec& amplifier = arrays_.periphery.forward.amplifier;
    noise += amplifier.noise_V > 0 ? " and amplifier noise" : ", amplifiers without noise";
    if (amplifier.gain_noise > 0) noise += ", noise of their gains";
    const PortSpec& port = arrays_.periphery.forward;
    if (port.driver_noise_V > 0) noise += ", noise of drivers";
    add("reads of arrays", StageHome::circuit, noise);
    const bool converts = port.dac.converts() || port.adc.converts();
    const bool measured = !port.dac.inl.empty() || !port.adc.inl.empty();
    add("converters at the arrays", converts ? StageHome::circuit : StageHome::digital,
        measured   ? "with rounding and measured INL"
        : converts ? "with rounding"
                   : "ideal: voltages drive and are sensed as they are");
  }

  void nodes() {
    const std::string clamps = !on_devices() ? "exact"
                                             : fmt::format("{}, {}", circuit().thermal_noise ? "kT/C" : "no noise",
                                                           circuit().leak_spread > 0 ? "mismatched" : "all alike");
    for (const Node& node : plan_.nodes()) {
      add("node " + node.name, on_devices() ? StageHome::circuit : StageHome::digital, clamps);
    }
    const AttentionErrors attention = attention_section().read(config_);
    const bool multiplies = on_devices() && attention.analog && network_reads(config_, "attention.products");
    for (const auto& [term, operations] : forces()) {
      add("force " + term, on_devices() ? StageHome::circuit : StageHome::digital,
          mismatched_units() ? "products by arrays; activations mismatched from unit to unit"
          : multiplies
              ? fmt::format(
                    "products by arrays; attention by multipliers with gains within {:g} % and score offsets {:g}",
                    100 * attention.gain_spread, attention.offset_spread)
              : "products by arrays; activations, gates, softmax and norms between them are exact");
      if (on_devices() && operations > 0) {
        add("products of activations, softmax and norms in force " + term, StageHome::digital,
            fmt::format("exact, {:g} operations per evaluation of an example", operations));
      }
    }
    add("amplifiers of the nodes", on_devices() ? StageHome::circuit : StageHome::digital,
        circuit().amplifier_bandwidth_Hz > 0 && on_devices() ? "of finite bandwidth" : "infinitely fast");
  }

  bool mismatched_units() const {
    if (!on_devices()) return false;
    const NeuronOptions neurons = neuron_section().read(config_);
    return neurons.gain_spread > 0 || neurons.offset_spread > 0;
  }

  /// The terms as they name themselves, without repetition, with the digital operations of one evaluation, which those of tokens have.
  std::vector<std::pair<std::string, double>> forces() const {
    std::vector<Matrix<float>> weights;
    plan_.initial(0, weights);
    Maps<float> maps;
    const std::vector<Parameter> parameters = plan_.parameters();
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      maps.push_back(number_map<float>(parameters[p], std::move(weights[p])));
    }
    std::vector<std::pair<std::string, double>> all;
    for (const auto& term : plan_.terms(maps)) {
      const std::string name(term->traits().name);
      const double operations = plan_.couples_rows() ? operations_of(*term) : 0;
      const auto known = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
      if (known == all.end()) {
        all.emplace_back(name, operations);
      } else {
        known->second += operations;
      }
    }
    return all;
  }

  double operations_of(const Term<float>& term) const {
    const auto system = term.make_system(plan_.rows(), 1);
    const Matrix<float> input = Matrix<float>::Zero(plan_.rows(), plan_.inputs());
    const Matrix<float> z = Matrix<float>::Zero(plan_.rows(), columns());
    Matrix<float> f = z;
    ReadMeter meter;
    ReadContext read;
    read.meter = &meter;
    system->bind(input);
    system->force(z, f, Part::all, kAllNodes, Store::add, read);
    return meter.total().operations;
  }

  Index columns() const {
    Index all = 0;
    for (const Node& node : plan_.nodes()) all = std::max(all, node.columns.begin + node.columns.count);
    return all;
  }

  void phases() {
    const bool held = on_devices() && circuit().hold_capacitance_F > 0;
    add("z* and the nudged states, kept between phases", held ? StageHome::circuit : StageHome::digital,
        held ? "sample-and-holds with kT/C and offset" : "copied exactly");
    const bool rounded = on_devices() && circuit().phase_adc.converts();
    add("read-out of these states", rounded ? StageHome::circuit : StageHome::digital,
        rounded ? fmt::format("{} bits", circuit().phase_adc.bits) : "exact");
    if (const Oscillation& swing = phases_.phases.oscillation; swing.on()) {
      add("lock-in of the nudged states", StageHome::digital,
          fmt::format("exact products with the reference, over {} periods", swing.periods));
    }
    const int averaged = std::max(phases_.phases.free.average_last, phases_.phases.average_nudged);
    if (averaged > 1) add("means of the last states of a phase", StageHome::digital, "exact sums");
    add("cost and its derivative", StageHome::digital, "softmax or squared error of the read state");
    add("current of the cost", on_devices() ? StageHome::circuit : StageHome::digital,
        phases_.phases.frozen_cost ? "of z*, held while nudged" : "of the state as it moves");
  }

  void gradient() {
    add("stored point (gates, attention, derivatives of activations)", StageHome::digital,
        "exact functions of the reads at z*");
    add("differences of states over beta", is_local(config_) ? StageHome::circuit : StageHome::digital, "exact");
    const bool trains = on_devices() && pulses_multiply(config_);
    const CorrelatorSpec multipliers = on_devices() ? correlator_section().read(config_) : CorrelatorSpec{};
    if (trains) {
      add("local correlation", StageHome::device, "pulse trains on rows and columns");
    } else if (multipliers.on()) {
      add("local correlation", StageHome::circuit,
          fmt::format("analog products: gains within {:g} %, offset {:g}, noise {:g} of a product of 1",
                      100 * multipliers.gain_spread, multipliers.offset, multipliers.noise));
    } else {
      add("local correlation", StageHome::digital, "outer products, summed exactly");
    }
    const bool local = is_local(config_);
    add("mean over the batch", local ? StageHome::circuit : StageHome::digital,
        local ? "a capacitor per weight, without leak" : "exact");
    if (!local) add("clipping, outlier guard", StageHome::digital, "exact");
  }

  void updates() {
    const TrainOptions train = train_options(config_);
    if (is_local(config_)) {
      add("learning rate and its schedule", StageHome::digital, "one number for all weights");
    } else {
      add("optimizer", StageHome::digital, train.optimizer + ", its state kept as numbers");
    }
    if (train.weight_decay > 0) add("weight decay", StageHome::digital, "reads the exact weights");
    if (on_devices()) {
      const bool verify = arrays_.programming.update == UpdateScheme::write_verify;
      const RuleKind* rule = find_rule(arrays_.programming.update);
      if (rule != nullptr && rule->numbers(arrays_.rule) > 0) {
        add("update rule " + rule->name, StageHome::digital,
            fmt::format("{} numbers per weight", rule->numbers(arrays_.rule)));
      }
      const bool whole = config_.text("device.update") == "pulsed";
      add("changes of weights", StageHome::device,
          verify ? "written and verified" : (whole ? "whole pulses" : "fractions of pulses (not physical)"));
    } else {
      add("changes of weights", StageHome::digital, "exact");
    }
    const StabiliserOptions stabilisers = stabiliser_section().read(config_);
    if (stabilisers.control) add("damping control", StageHome::digital, "of the residual that was read");
    if (stabilisers.memory.fraction > 0 && !plan_.bounds().empty()) {
      add("bound of the memory", StageHome::digital, "power iteration on the digital weights");
    }
    if (growth_section().read(config_).strength > 0) {
      add("growth penalty", StageHome::digital, "of residuals that were read");
    }
  }

  const Config& config_;
  const NetworkPlan& plan_;
  CrossbarSpec arrays_;
  PhaseOptions phases_;
  std::vector<StepStage> stages_;
};

}  // namespace

std::vector<StepStage> step_stages(const Config& config, const NetworkPlan& plan) { return Stages(config, plan).all(); }

const char* home_name(StageHome home) {
  switch (home) {
    case StageHome::device: return "device";
    case StageHome::circuit: return "circuit";
    case StageHome::digital: break;
  }
  return "digital";
}

void write_step_stages(const std::vector<StepStage>& stages, H5Document& document) {
  ItemColumns<StepStage> to(document, stages, "stages", "stage");
  to.add("stage", "stages of a training step, in their order", &StepStage::stage);
  to.add("home", "device, circuit or digital", [](const StepStage& one) { return std::string(home_name(one.home)); });
  to.add("how", "with what physics", &StepStage::how);
}

}  // namespace nudge
