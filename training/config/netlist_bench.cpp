// SPDX-License-Identifier: Apache-2.0
#include "training/config/netlist_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "devices/device_levels.hpp"
#include "netlist/operating_point.hpp"
#include "sim/base/errors.hpp"
#include "sim/failure.hpp"
#include "training/data/task.hpp"

namespace nudge {
namespace {

constexpr double kPartTolerance = 0.01;  // of E96

/// Trained circuit that is solved with other values.
class BenchCircuit {
 public:
  explicit BenchCircuit(const LearntNetlist& learnt)
      : learnt_(&learnt), equations_(learnt.after), solver_(equations_), values_(equations_.values()) {}

  const Element& element(std::size_t k) const { return equations_.netlist().elements[k]; }
  /// Value of the equations, of a resistor its conductance; set() changes it.
  double value(std::size_t k) const { return values_[k]; }
  void set(std::size_t k, double value) { values_[k] = value; }

  /// Solves for the unknowns at these inputs.
  std::vector<double> solved(const std::vector<double>& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) values_[learnt_->inputs[i]] = inputs[i];
    std::vector<double> x(static_cast<std::size_t>(equations_.unknowns()), 0.0);
    const OperatingPoint found = solver_.solve(values_, {}, x);
    if (found.status != Status::converged)
      throw NumericalFailure("a test vector has no operating point: " + describe_failure(equations_, found));
    return x;
  }

  double output(std::size_t k, const std::vector<double>& x) const {
    const NodePair& of = learnt_->outputs[k];
    return at(x, of.plus) - at(x, of.minus);
  }

  /// Slopes of an output by the values of resistors, −(w₊ − w₋)(v₊ − v₋), at the point that was solved last.
  std::vector<double> slopes(std::size_t k, const std::vector<double>& x, const std::vector<std::size_t>& of) {
    std::vector<double> w(x.size(), 0.0);
    const NodePair& output = learnt_->outputs[k];
    if (output.plus >= 0) w[static_cast<std::size_t>(output.plus)] += 1;
    if (output.minus >= 0) w[static_cast<std::size_t>(output.minus)] -= 1;
    if (solver_.solve_transposed(values_, x, w).status != Status::converged)
      throw NumericalFailure("the spread of a test vector is not finite: the circuit is singular there");
    std::vector<double> all;
    for (const std::size_t one : of) all.push_back(-across(element(one), w) * across(element(one), x));
    return all;
  }

 private:
  static double at(const std::vector<double>& x, int node) { return node < 0 ? 0 : x[static_cast<std::size_t>(node)]; }

  const LearntNetlist* learnt_;
  NodalEquations equations_;
  OperatingPointSolver solver_;
  std::vector<double> values_;
};

/// True if the element is a device of the run: a memristor, or a resistor of a netlist without memristors.
bool is_bench_device(const LearntNetlist& learnt, const Element& e) {
  if (!has_resistance(e.kind) || !learnt.device) return false;
  return e.memristor != nullptr || first_memristor(learnt.after) == nullptr;
}

std::optional<double> nearest_value(const LearntNetlist& learnt, const Element& e) {
  if (!has_resistance(e.kind)) return std::nullopt;
  if (!is_bench_device(learnt, e)) return nearest_e96(e.value);
  if (learnt.device->levels == 0) return std::nullopt;
  return 1 / nearest_level_S(*learnt.device, 1 / e.value);
}

/// Standard deviation of the conductance of an element as it is written or bought.
double bench_sigma_S(const LearntNetlist& learnt, const Element& e) {
  if (!has_resistance(e.kind)) return 0;
  const double siemens = 1 / e.value;
  if (!is_bench_device(learnt, e)) return siemens * kPartTolerance / std::sqrt(3.0);
  const DeviceSpec& device = *learnt.device;
  return std::hypot(device.programming_error * device.window_S(), device.programming.sigma_S(siemens, device.g_max_S));
}

/// Inputs of the first samples of a task, in the order of LearntNetlist::inputs.
std::vector<std::vector<double>> bench_inputs(const LearntNetlist& learnt, std::size_t most) {
  const std::unique_ptr<Task> task = make_task(*learnt.config);
  std::vector<Batch> batches = task->test();
  if (batches.empty()) batches = task->validation();
  std::vector<std::vector<double>> all;
  for (const Batch& batch : batches) {
    for (Index row = 0; row < batch.features.rows() && all.size() < most; ++row) {
      all.emplace_back();
      for (const ElementRow& feed : learnt.feeds) {
        for (std::size_t i = 0; i < feed.elements.size(); ++i) {
          const auto feature = static_cast<double>(batch.features(row, static_cast<Index>(i)));
          all.back().push_back(feed.offset + feed.unit * feature);
        }
      }
    }
  }
  return all;
}

const char* unit_of_kind(ElementKind kind) {
  return has_resistance(kind) ? "Ohm" : kind == ElementKind::voltage ? "V" : "A";
}

}  // namespace

double nearest_e96(double ohm) {
  NUDGE_EXPECT(ohm > 0 && std::isfinite(ohm));
  const double place = std::log10(ohm), decade = std::floor(place);
  double best = 0;
  for (int k = -1; k <= 1; ++k) {
    const double i = std::round(96 * (place - decade)) + k;
    const double step = std::floor(i / 96), within = i - 96 * step;
    const double value = std::round(100 * std::pow(10, within / 96)) * std::pow(10, decade + step - 2);
    if (best == 0 || std::abs(std::log(value / ohm)) < std::abs(std::log(best / ohm))) best = value;
  }
  return best;
}

BenchSheet bench_sheet(const LearntNetlist& learnt, std::size_t most) {
  BenchSheet sheet;
  BenchCircuit circuit(learnt);
  std::vector<double> sigmas;
  for (const std::size_t k : learnt.learned) {
    const Element& e = circuit.element(k);
    sheet.parts.push_back({k, learnt.before.elements[k].value, e.value, nearest_value(learnt, e)});
    sigmas.push_back(bench_sigma_S(learnt, e));
  }
  std::vector<std::vector<double>> outputs;  // by vector
  const auto outputs_at = [&](const std::vector<double>& x) {
    std::vector<double> all;
    for (std::size_t o = 0; o < learnt.outputs.size(); ++o) all.push_back(circuit.output(o, x));
    return all;
  };
  for (const std::vector<double>& inputs : bench_inputs(learnt, most)) {
    const std::vector<double> x = circuit.solved(inputs);
    BenchVector vector{inputs, {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(learnt.after.nodes.size())}, {}};
    for (std::size_t o = 0; o < learnt.outputs.size(); ++o) {
      double sum = 0;
      const std::vector<double> slopes = circuit.slopes(o, x, learnt.learned);
      for (std::size_t i = 0; i < slopes.size(); ++i) sum += slopes[i] * slopes[i] * sigmas[i] * sigmas[i];
      vector.sigma_V.push_back(std::sqrt(sum));
    }
    outputs.push_back(outputs_at(x));
    sheet.vectors.push_back(std::move(vector));
  }
  const auto change = [&] {
    double largest = 0;
    for (std::size_t v = 0; v < sheet.vectors.size(); ++v) {
      const std::vector<double> now = outputs_at(circuit.solved(sheet.vectors[v].inputs));
      for (std::size_t o = 0; o < now.size(); ++o) largest = std::max(largest, std::abs(now[o] - outputs[v][o]));
    }
    return largest;
  };
  for (BenchPart& part : sheet.parts) {
    if (!part.nearest) continue;
    const double kept = circuit.value(part.element);
    circuit.set(part.element, 1 / *part.nearest);
    part.change_V = change();
    circuit.set(part.element, kept);
  }
  for (const BenchPart& part : sheet.parts) {
    if (part.nearest) circuit.set(part.element, 1 / *part.nearest);
  }
  sheet.all_change_V = change();
  return sheet;
}

std::string bill_csv(const LearntNetlist& learnt, const BenchSheet& sheet) {
  std::string text = "name,kind,unit,before,after,nearest,change_V\n";
  for (const BenchPart& part : sheet.parts) {
    const Element& e = learnt.after.elements[part.element];
    const char* kind = is_bench_device(learnt, e)        ? "device"
                       : e.kind == ElementKind::resistor ? "resistor"
                       : e.kind == ElementKind::voltage  ? "voltage"
                                                         : "current";
    text += fmt::format("{},{},{},{},{},", e.name, kind, unit_of_kind(e.kind), part.before, part.after);
    text += part.nearest ? fmt::format("{},{}\n", *part.nearest, part.change_V) : ",\n";
  }
  const bool any =
      std::any_of(sheet.parts.begin(), sheet.parts.end(), [](const auto& one) { return one.nearest.has_value(); });
  return text + (any ? fmt::format("all,,,,,,{}\n", sheet.all_change_V) : "");
}

std::string vectors_csv(const LearntNetlist& learnt, const BenchSheet& sheet) {
  const auto& nodes = learnt.after.nodes;
  const auto name = [&](int node) { return node < 0 ? std::string("0") : nodes[static_cast<std::size_t>(node)]; };
  std::string text = "vector";
  for (const std::size_t k : learnt.inputs) {
    const Element& e = learnt.after.elements[k];
    text += fmt::format(",{}_{}", e.name, unit_of_kind(e.kind));
  }
  for (const NodePair& of : learnt.outputs) {
    const std::string at = of.minus < 0 ? name(of.plus) : name(of.plus) + "-" + name(of.minus);
    text += fmt::format(",output({0})_V,sigma({0})_V", at);
  }
  for (const std::string& node : nodes) text += fmt::format(",v({})", node);
  const auto at = [](const BenchVector& one, int node) {
    return node < 0 ? 0 : one.volts[static_cast<std::size_t>(node)];
  };
  for (std::size_t v = 0; v < sheet.vectors.size(); ++v) {
    const BenchVector& one = sheet.vectors[v];
    text += fmt::format("\n{}", v + 1);
    for (const double input : one.inputs) text += fmt::format(",{}", input);
    for (std::size_t o = 0; o < learnt.outputs.size(); ++o)
      text += fmt::format(",{},{}", at(one, learnt.outputs[o].plus) - at(one, learnt.outputs[o].minus), one.sigma_V[o]);
    for (const double volts : one.volts) text += fmt::format(",{}", volts);
  }
  return text + "\n";
}

}  // namespace nudge
