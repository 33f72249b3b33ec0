// SPDX-License-Identifier: Apache-2.0
#include "reference/letnet_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

// Tolerances of LETNET.md, section 6, for float64.
constexpr double kPoint = 1e-13;      // one evaluation at a given point
constexpr double kState = 1e-12;      // settled and nudged states, and what is taken at the settled one
constexpr double kAdjoint = 1e-11;    // exact, through time, and nudged with β ≥ 0.02
constexpr double kSmallBeta = 1e-10;  // nudged with β ≥ 5e-4
constexpr double kReadout = 1e-12;    // every gradient of Wh: nothing is divided by β

// The same for float32, with the β of the phase where there is one.
constexpr double kFloat32 = 1e-5;
double float32_tolerance(LetnetNudge nudge, const LetnetProblem& p) {
  switch (nudge) {
    case LetnetNudge::transposed: return 2e-6 / p.beta + kFloat32;
    case LetnetNudge::frozen: return 2e-6 / p.beta_frozen + kFloat32;
    case LetnetNudge::aep: return 5e-6 / p.beta_aep;
    case LetnetNudge::none: break;
  }
  return kFloat32;
}

std::vector<LetnetOutput> all_outputs() {
  using Shape = LetnetShape;
  std::vector<LetnetOutput> all = {
      {"x", Shape::tokens, kPoint},
      {"G_z0", Shape::states, kPoint},
      {"prob_z0", Shape::probabilities, kPoint},
      {"force_z0", Shape::states, kPoint},
      {"jvp_z0_v", Shape::states, kPoint},
      {"vjp_z0_u", Shape::states, kPoint},
      {"logits_z0", Shape::logits, kPoint},
      {"cost_z0", Shape::scalar, kPoint},
      {"dcost_z0", Shape::tokens, kPoint},
      {"vf_z0_u", Shape::weights, kPoint},
      {"z_fp", Shape::states, kState},
      {"logits_fp", Shape::logits, kState},
      {"cost_fp", Shape::scalar, kState},
      {"dcost_fp", Shape::tokens, kState},
      {"a_exact", Shape::states, kAdjoint},
      {"grad_exact", Shape::gradient, kAdjoint},
      {"euler_z_1", Shape::states, kPoint},
      {"euler_z_T1", Shape::states, kState},
      {"euler_residual", Shape::free_steps, kPoint, LetnetNudge::none, CaseError::absolute},
      {"euler_cost", Shape::free_steps, kState},
      {"euler_distance", Shape::free_steps, kPoint, LetnetNudge::none, CaseError::absolute},
      {"unit_residual", Shape::unit_steps, kPoint, LetnetNudge::none, CaseError::absolute},
  };
  const std::tuple<const char*, double, LetnetNudge> nudged[] = {
      {"transposed", kAdjoint, LetnetNudge::transposed},
      {"frozen", kAdjoint, LetnetNudge::frozen},
      {"aep", kSmallBeta, LetnetNudge::aep},
      {"anchored", kSmallBeta, LetnetNudge::aep},
  };
  for (const auto& [name, tolerance, nudge] : nudged) {
    all.push_back({std::string("z_plus_") + name, Shape::states, kState});
    all.push_back({std::string("z_minus_") + name, Shape::states, kState});
    all.push_back({std::string("a_") + name, Shape::states, tolerance, nudge});
    all.push_back({std::string("grad_") + name, Shape::gradient, tolerance, nudge});
  }
  all.push_back({"grad_bptt", Shape::gradient, kAdjoint});
  return all;
}

bool defined(const LetnetOutput& output, const LetnetProblem& p) {
  return output.shape != LetnetShape::unit_steps || p.kappa == 0;
}

Index count(const H5Shape& shape) {
  Index n = 1;
  for (const Index size : shape) n *= size;
  return n;
}

/// A contract that is checked in every build: what is written must be what LETNET.md defines.
void expect(bool holds, const std::string& what) {
  if (!holds) contract_violated(what.c_str(), __FILE__, __LINE__);
}

}  // namespace

const std::vector<LetnetOutput>& letnet_outputs() {
  static const std::vector<LetnetOutput> all = all_outputs();
  return all;
}

LetnetWriter::LetnetWriter(const LetnetProblem& problem) : problem_(&problem) {}

void LetnetWriter::samples(const std::string& name, const std::vector<Matrix<double>>& values) {
  const LetnetOutput& output = claim(name);
  const H5Shape shape = shape_of(output);
  expect(shape.size() >= 3 && static_cast<Index>(values.size()) == shape.front(), name + ": a matrix per sample");
  const bool by_node = output.shape == LetnetShape::states;
  const Index rows = by_node ? problem_->sizes.tokens : count(shape) / (shape.front() * shape.back());
  const Index cols = by_node ? problem_->sizes.width() : shape.back();
  for (const auto& each : values) expect(each.rows() == rows && each.cols() == cols, name + ": size of a sample");
  add(output, {"out/" + name, shape, by_node ? nodes_from_samples(values, problem_->sizes) : stack(values),
               tolerance(output), output.error});
}

void LetnetWriter::scalar(const std::string& name, double value) {
  const LetnetOutput& output = claim(name);
  expect(output.shape == LetnetShape::scalar, name + ": is no scalar");
  add(output, {"out/" + name, {}, {value}, tolerance(output), output.error});
}

void LetnetWriter::steps(const std::string& name, std::vector<double> values) {
  const LetnetOutput& output = claim(name);
  const H5Shape shape = shape_of(output);
  expect(shape.size() == 1, name + ": is no series of steps");
  add(output, {"out/" + name, shape, std::move(values), tolerance(output), output.error});
}

void LetnetWriter::parameters(const std::string& name, const LetnetParameters& values) {
  const LetnetOutput& output = claim(name);
  const bool gradient = output.shape == LetnetShape::gradient;
  expect(gradient || output.shape == LetnetShape::weights, name + ": is no group of parameters");
  for (const auto& [parameter, dimensions, shape, per_layer] : letnet_parameters(problem_->sizes, problem_->rope)) {
    const bool readout = parameter == "Wh";
    if (readout && !gradient) continue;
    const auto found = values.find(parameter);
    expect(found != values.end(), fmt::format("{}: no {}", name, parameter));
    for (const auto& each : found->second) {
      expect(each.rows() == shape[shape.size() - 2] && each.cols() == shape.back(),
             fmt::format("{}: size of {}", name, parameter));
    }
    double allowed = tolerance(output);
    if (readout) allowed = problem_->float32 ? kFloat32 : kReadout;
    // The softmax of a single token is 1 whatever the scores: these gradients are zero and have no scale of their own.
    const bool zero = problem_->sizes.tokens == 1 && (parameter == "Wq" || parameter == "Wk");
    add(output, {fmt::format("out/{}/{}", name, parameter), shape, stack(found->second), allowed,
                 zero ? CaseError::absolute : output.error});
  }
}

std::vector<CaseDataset> LetnetWriter::take() {
  std::vector<CaseDataset> all;
  for (const LetnetOutput& output : letnet_outputs()) {
    if (!defined(output, *problem_)) continue;
    expect(found_.count(output.name) == 1, output.name + ": not computed");
    for (CaseDataset& each : found_[output.name]) all.push_back(std::move(each));
  }
  found_.clear();
  return all;
}

const LetnetOutput& LetnetWriter::claim(const std::string& name) const {
  const auto& all = letnet_outputs();
  const auto found = std::find_if(all.begin(), all.end(), [&](const LetnetOutput& each) { return each.name == name; });
  expect(found != all.end() && defined(*found, *problem_), name + ": no dataset of this case");
  expect(found_.count(name) == 0, name + ": a second time");
  return *found;
}

double LetnetWriter::tolerance(const LetnetOutput& output) const {
  return problem_->float32 ? float32_tolerance(output.divided_by, *problem_) : output.tolerance;
}

H5Shape LetnetWriter::shape_of(const LetnetOutput& output) const {
  const LetnetSizes& s = problem_->sizes;
  switch (output.shape) {
    case LetnetShape::states: return {s.batch, s.nodes, s.tokens, s.channels};
    case LetnetShape::tokens: return {s.batch, s.tokens, s.channels};
    case LetnetShape::logits: return {s.batch, s.tokens, s.vocabulary};
    case LetnetShape::probabilities: return {s.batch, s.layers * s.loops, s.heads, s.tokens, s.tokens};
    case LetnetShape::free_steps: return {Index{problem_->free_steps} + 1};
    case LetnetShape::unit_steps: return {s.nodes + 1};
    case LetnetShape::scalar:
    case LetnetShape::weights:
    case LetnetShape::gradient: break;
  }
  return {};
}

void LetnetWriter::add(const LetnetOutput& output, CaseDataset dataset) {
  expect(static_cast<Index>(dataset.values.size()) == count(dataset.shape), dataset.name + ": number of values");
  found_[output.name].push_back(std::move(dataset));
}

}  // namespace nudge
