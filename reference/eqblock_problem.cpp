// SPDX-License-Identifier: Apache-2.0
#include "reference/eqblock_problem.hpp"

#include <fmt/format.h>

#include <utility>

#include "circuits/digital_matrix.hpp"
#include "reference/case_kind.hpp"

namespace nudge {
namespace {

ModelShape read_shape(const H5Reader& file) {
  ModelShape shape;
  shape.tokens = positive_size(file, "T");
  shape.channels = positive_size(file, "C");
  shape.memories = positive_size(file, "M");
  shape.heads = positive_size(file, "H");
  shape.vocabulary = positive_size(file, "V");
  if (shape.channels % shape.heads != 0) {
    file.fail("attribute H", fmt::format("{} (must divide C = {})", shape.heads, shape.channels));
  }
  return shape;
}

std::vector<Matrix<double>> read_weights(const H5Reader& file, const ModelShape& s) {
  const auto read = [&file](const std::string& name, Index rows, Index cols) {
    return file.matrix<double>("params/" + name, H5Shape{rows, cols}, NonFinite::rejected);
  };
  Matrix<double> input(s.channels, 3 * s.channels + s.memories);
  Index next = 0;
  for (const auto& [name, columns] :
       {std::pair{"Wq", s.channels}, {"Wk", s.channels}, {"Wv", s.channels}, {"Wm", s.memories}}) {
    input.middleCols(next, columns) = read(name, s.channels, columns);
    next += columns;
  }
  return {read("tok", s.vocabulary, s.channels), read("pos", s.tokens, s.channels), input,
          read("Wo", s.channels, s.channels), read("Wh", s.channels, s.vocabulary)};
}

}  // namespace

EqblockProblem::EqblockProblem(const H5Reader& file)
    : shape(read_shape(file)),
      free_steps(static_cast<int>(positive_size(file, "T1"))),
      nudged_steps(static_cast<int>(positive_size(file, "T2"))),
      gain(finite_real(file, "s")),
      damping(finite_real(file, "c")),
      step(positive_real(file, "eps")),
      beta(positive_real(file, "beta")),
      clip(positive_real(file, "clip")) {
  if (const std::string start = file.text_attribute("z_init"); start != "x_in") {
    file.fail("attribute z_init", fmt::format("\"{}\" (must be \"x_in\")", start));
  }
  batch.sequences = positive_size(file, "B");
  batch.tokens = shape.tokens;
  const H5Shape tokens{batch.sequences, batch.tokens};
  batch.indices = bounded_integers(file, "inputs/idx", tokens, shape.vocabulary);
  batch.targets = bounded_integers(file, "inputs/targets", tokens, shape.vocabulary);
  const auto state = [&](const std::string& name) {
    const H5Shape all{batch.sequences, shape.tokens, shape.channels};
    return per_example(file.matrix<double>("inputs/" + name, all, NonFinite::rejected), shape.tokens);
  };
  z0 = state("z0");
  v = state("v");
  w = state("w");
  weights = read_weights(file, shape);
}

HeldNetwork EqblockProblem::network(double s) const {
  return {std::make_shared<BlockPlan>(shape, InitialScales{}, Damping{s, damping}), weights, {batch, {}, {}}};
}

EstimatorOptions EqblockProblem::options() const {
  EstimatorOptions options = case_phases(step, free_steps, nudged_steps);
  options.beta = beta / static_cast<double>(batch.sequences * batch.tokens);
  return options;
}

}  // namespace nudge
