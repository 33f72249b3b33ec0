// SPDX-License-Identifier: Apache-2.0
#include "training/models/resistive/resistive_plan.hpp"

#include <fmt/format.h>

#include <cmath>

#include "circuits/terms/node_terms.hpp"
#include "circuits/terms/resistive_link.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "training/learning/correlator.hpp"
#include "training/models/layer_rates.hpp"
#include "training/models/model_options.hpp"

namespace nudge {
namespace {

/// Draws uniform in ±bound clipped at 0, a pure function of seed and stream: half of the resistors start open, as in
/// the published runs (Scellier 2024, arXiv 2402.11674).
template <class S>
Matrix<S> half_open(const ParameterShape& shape, double bound, std::uint64_t seed, std::uint32_t stream) {
  Matrix<double> values(shape.rows, shape.cols);
  fill_uniform<double>({seed, Purpose::weight_init, stream}, 0, 0,
                       std::span<double>(values.data(), static_cast<std::size_t>(values.size())));
  return (bound * (2.0 * values.array() - 1.0)).max(0.0).matrix().template cast<S>();
}

template <class S>
void initial_conductances(const ResistivePlan& plan, double scale, std::uint64_t seed,
                          std::vector<Matrix<S>>& weights) {
  weights.clear();
  const int layers = plan.shape().layers();
  const std::vector<Parameter> parameters = plan.parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const ParameterShape& shape = parameters[p].shape;
    if (!parameters[p].conductance) {
      weights.push_back(Matrix<S>::Zero(shape.rows, shape.cols));
      continue;
    }
    const auto fan_in = static_cast<double>(parameters[p % static_cast<std::size_t>(layers)].shape.rows);
    weights.push_back(half_open<S>(shape, scale / std::sqrt(fan_in), seed, static_cast<std::uint32_t>(p)));
  }
}

/// Law of a diode of layer l, P = A_l ⋯ A_{L−1}, in u and units of conductance and voltage: P I(u/P).
template <class S>
DiodeLaw diode_law(const ResistivePlan& plan, int layer, const LinearMap<S>& map) {
  const ResistiveShape& shape = plan.shape();
  const double volts = shape.circuit.read_voltage_V, scale = plan.amplification(layer);
  const DiodeLaw law = shape.shockley->law();
  return {scale * law.saturation / (conductance_unit_S(map, shape.circuit) * volts), scale * law.thermal / volts};
}

template <class S>
std::vector<std::unique_ptr<Term<S>>> resistive_terms(const ResistivePlan& plan, const Maps<S>& maps) {
  using Kind = ResistorDrive::Kind;
  const ResistiveShape& shape = plan.shape();
  const auto map = [&maps](int parameter) -> const LinearMap<S>& { return *maps[static_cast<std::size_t>(parameter)]; };
  std::vector<std::unique_ptr<Term<S>>> terms;
  for (int l = 1; l <= shape.layers(); ++l) {
    ResistorDrive from;
    if (l == 1) {
      from.kind = shape.doubled ? Kind::doubled_input : Kind::input;
      from.gain = plan.amplification(0);
    } else {
      from.node = l - 2;
      from.columns = plan.columns(l - 1);
    }
    terms.push_back(std::make_unique<ResistiveLink<S>>(from, l - 1, plan.columns(l), plan.link(l), map(plan.link(l)),
                                                       1 / plan.amplification(l)));
  }
  for (int l = 1; l <= shape.layers() && shape.bias != ResistiveBias::none; ++l) {
    const int parameter = plan.bias(l);
    if (shape.bias == ResistiveBias::current) {
      const LinkEnd at{l - 1, plan.columns(l), NodeActivation::identity};
      terms.push_back(std::make_unique<NodeBias<S>>(at, parameter, map(parameter)));
      continue;
    }
    ResistorDrive from;
    from.kind = Kind::rails;
    const double rail = plan.amplification(l) * shape.rail;
    from.rails = {rail, -rail};
    terms.push_back(std::make_unique<ResistiveLink<S>>(from, l - 1, plan.columns(l), parameter, map(parameter),
                                                       1 / plan.amplification(l)));
  }
  for (int l = 1; l < shape.layers() && shape.diodes && shape.shockley; ++l) {
    const Columns at = plan.columns(l);
    terms.push_back(std::make_unique<NodeDiodes<S>>(l - 1, at, at.count / 2, diode_law<S>(plan, l, map(plan.link(l)))));
  }
  return terms;
}

}  // namespace

ResistivePlan::ResistivePlan(ResistiveShape shape, double scale) : shape_(std::move(shape)), scale_(scale) {
  NUDGE_EXPECT(shape_.layers() >= 1 && shape_.gains.size() == shape_.widths.size() && shape_.features >= 1);
}

Columns ResistivePlan::columns(int layer) const {
  Index begin = 0;
  for (int l = 1; l < layer; ++l) begin += shape_.widths[static_cast<std::size_t>(l - 1)];
  return {begin, shape_.widths[static_cast<std::size_t>(layer - 1)]};
}

double ResistivePlan::amplification(int layer) const {
  double product = 1;
  for (std::size_t l = static_cast<std::size_t>(layer); l < shape_.gains.size(); ++l) product *= shape_.gains[l];
  return product;
}

std::vector<Node> ResistivePlan::nodes() const {
  std::vector<Node> all;
  for (int l = 1; l <= shape_.layers(); ++l) {
    Node node{fmt::format("layer{}", l), columns(l)};
    node.leak = 0;
    node.scale = amplification(l);
    if (shape_.diodes && !shape_.shockley && l < shape_.layers()) {
      node.lower = 0;
      node.turned = node.columns.count - node.columns.count / 2;
    }
    all.push_back(std::move(node));
  }
  return all;
}

std::vector<Parameter> ResistivePlan::parameters() const {
  std::vector<Parameter> all;
  Index below = shape_.sources();
  for (int l = 1; l <= shape_.layers(); ++l) {
    const Index here = shape_.widths[static_cast<std::size_t>(l - 1)];
    all.push_back({fmt::format("g{}", l), {below, here}, true, true, true});
    all.back().layer = l;
    below = here;
  }
  for (int l = 1; l <= shape_.layers() && shape_.bias != ResistiveBias::none; ++l) {
    const Index here = shape_.widths[static_cast<std::size_t>(l - 1)];
    if (shape_.bias == ResistiveBias::rails) {
      all.push_back({fmt::format("gb{}", l), {2, here}, true, true, true});
    } else {
      all.push_back({fmt::format("b{}", l), {1, here}, false, false, false});
    }
    all.back().layer = l;
  }
  return all;
}

NUDGE_PLAN(ResistivePlan, initial_conductances(*this, scale_, seed, weights), resistive_terms(*this, maps))

namespace {

const Choices<ResistiveBias> biases{
    {"none", ResistiveBias::none}, {"rails", ResistiveBias::rails}, {"current", ResistiveBias::current}};
const Choices<HiddenDiode> diodes{
    {"ideal", HiddenDiode::ideal}, {"shockley", HiddenDiode::shockley}, {"none", HiddenDiode::none}};

}  // namespace

const Section<ResistiveOptions>& resistive_section() {
  using param::flag, param::integers, param::named, param::quantity, param::real, param::reals;
  static const std::string published = "Scellier 2024 (arXiv 2402.11674), network of 100 hidden nodes";
  static const Section<ResistiveOptions> section = [] {
    Section<ResistiveOptions> all = {
        field(integers("resistive.hidden", "100", between(1, 1048576),
                       "Nodes of the hidden layers of a network.kind = resistive, from the inputs to the outputs. "
                       "Diodes keep the first half of a layer at or above 0, the rest at or below 0.",
                       published),
              &ResistiveOptions::hidden),
        field(reals("resistive.gain", "100", above(0),
                    "A_0, A_1, ...: gain behind the inputs, then of the bidirectional amplifier behind each hidden "
                    "layer; those left out are 1.",
                    published),
              &ResistiveOptions::gain),
        field(
            named("resistive.bias", "current",
                  "Bias of the nodes: none, resistors to two rails, or current sources (digital numbers).", published),
            biases, &ResistiveOptions::bias),
        field(real("resistive.rail_voltage", "1", above(0),
                   "Voltage of the rails at plus and minus this, in circuit.read_voltage."),
              &ResistiveOptions::rail_voltage),
        field(named("resistive.diode", "ideal",
                    "Diodes of the hidden nodes, to ground. ideal: a node stays on its side of 0. shockley: current "
                    "I_s (exp(V/(n k T/q)) - 1) with T = circuit.temperature, only for relaxation.solver = "
                    "coordinate. none: a linear circuit."),
              diodes, &ResistiveOptions::diode),
        field(quantity("resistive.saturation_current", "1e-14 A", Unit::ampere, above(0),
                       "I_s of resistive.diode = shockley.",
                       "default of SPICE diode models (ngspice manual, parameter IS)"),
              &ResistiveOptions::saturation_current),
        field(real("resistive.emission", "1", above(0),
                   "Emission coefficient (ideality) n of resistive.diode = shockley.",
                   "default of SPICE diode models (ngspice manual, parameter N)"),
              &ResistiveOptions::emission),
        field(flag("resistive.doubled_inputs", "true",
                   "Sources x and -x for every feature x. Resistors are never negative; with both sources they can "
                   "weigh either sign.",
                   published),
              &ResistiveOptions::doubled_inputs),
        field(real("resistive.initial_scale", "1", above(0),
                   "Conductances start uniform in plus and minus scale/sqrt(n) of the n nodes below, clipped at 0: "
                   "half of them open.",
                   published),
              &ResistiveOptions::initial_scale)};
    all.where(chosen("resistive.diode", {"shockley"}),
              {&ResistiveOptions::saturation_current, &ResistiveOptions::emission});
    all.where(chosen("resistive.bias", {"rails"}), {&ResistiveOptions::rail_voltage});
    return all;
  }();
  return section;
}

ParamTable resistive_keys() {
  ParamTable rows = layer_keys(resistive_section().rows());
  add_rows(rows, correlator_keys());
  return rows;
}

StateFacts resistive_states(const Config& config) {
  StateFacts facts{.loads = true};
  const HiddenDiode diode = resistive_section().read(config).diode;
  if (diode == HiddenDiode::ideal) facts.boxed = "resistive.diode = ideal";
  if (diode == HiddenDiode::shockley) facts.stiff = "resistive.diode = shockley";
  return facts;
}

void check_resistive(const Config& config) {
  const ResistiveOptions options = resistive_section().read(config);
  if (options.diode == HiddenDiode::shockley && circuit_section().read(config).temperature_K == 0) {
    throw UserError(
        "circuit.temperature = 0 K (must be above 0 for resistive.diode = shockley, whose voltages are in units of k "
        "T/q)");
  }
  const std::size_t gains = options.gain.size(), most = options.hidden.size() + 1;
  if (gains <= most) return;
  throw UserError(
      fmt::format("resistive.gain = {} has {} entries (must have at most {}: one behind the inputs and each hidden "
                  "layer of resistive.hidden)",
                  config.as_text("resistive.gain"), gains, most));
}

std::shared_ptr<const NetworkPlan> resistive_plan(const Config& config, const TaskSizes& task) {
  check_resistive(config);
  const ResistiveOptions options = resistive_section().read(config);
  ResistiveShape shape;
  shape.features = task.features;
  shape.doubled = options.doubled_inputs;
  shape.widths = options.hidden;
  shape.widths.push_back(task.classes > 0 ? task.classes : task.values);
  shape.gains = options.gain;
  shape.gains.resize(shape.widths.size(), 1.0);
  shape.bias = options.bias;
  shape.rail = options.rail_voltage;
  shape.diodes = options.diode != HiddenDiode::none;
  shape.circuit = circuit_spec(config);
  if (options.diode == HiddenDiode::shockley) {
    shape.shockley = {options.saturation_current, options.emission, shape.circuit.temperature_K};
    shape.shockley->validate();
  }
  shape.rows = task.rows;
  return std::make_shared<ResistivePlan>(std::move(shape), options.initial_scale);
}

}  // namespace nudge
