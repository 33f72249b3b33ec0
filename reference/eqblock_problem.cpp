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
      batch(positive_size(file, "B")),
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
  const H5Shape tokens{batch, shape.tokens};
  const H5Shape state{batch, shape.tokens, shape.channels};
  indices = bounded_integers(file, "inputs/idx", tokens, shape.vocabulary);
  targets = bounded_integers(file, "inputs/targets", tokens, shape.vocabulary);
  z0 = file.matrix<double>("inputs/z0", state, NonFinite::rejected);
  v = file.matrix<double>("inputs/v", state, NonFinite::rejected);
  w = file.matrix<double>("inputs/w", state, NonFinite::rejected);
  weights = read_weights(file, shape);
  set_gain(gain);
  x_in.resize(rows(), shape.channels);
  for (Index b = 0; b < batch; ++b) {
    const auto at = static_cast<std::size_t>(b * shape.tokens);
    model->embed(std::span(indices).subspan(at, static_cast<std::size_t>(shape.tokens)),
                 x_in.middleRows(b * shape.tokens, shape.tokens));
  }
}

void EqblockProblem::set_gain(double s) {
  gain = s;
  Maps<double> maps;
  for (const auto& matrix : weights) maps.push_back(std::make_unique<DigitalMatrix<double>>(matrix));
  model = block_network<double>(shape, {gain, damping}, std::move(maps));
  dynamics = std::make_unique<CircuitDynamics<double>>(model->circuit(), shape.tokens, 2);
  cost = std::make_unique<CrossEntropyReadout<double>>(model->map(model->readout()), model->readout(), shape.tokens, 2);
}

EstimatorOptions EqblockProblem::options() const {
  EstimatorOptions options;
  options.free.step = options.step = step;
  options.free.max_steps = free_steps;
  options.free.divergence_ratio = 1e300;  // a case defines its states whatever they are
  options.nudged_steps = nudged_steps;
  options.beta = beta / static_cast<double>(rows());
  return options;
}

void EqblockProblem::bind(Index sequence) {
  const Index row = sequence * shape.tokens;
  dynamics->bind(x_in.middleRows(row, shape.tokens), ReadContext{});
  cost->bind(std::span(targets).subspan(static_cast<std::size_t>(row), static_cast<std::size_t>(shape.tokens)),
             ReadContext{});
}

EqblockProblem::Estimate EqblockProblem::run(GradientEstimator<double>& estimator, const States& start,
                                             const Matrix<double>& (*keep)(const GradientEstimator<double>&)) {
  const auto shapes = model->parameter_shapes();
  const Index tokens = shape.tokens;
  const double weight = 1.0 / static_cast<double>(rows());
  Estimate out{States(rows(), shape.channels),
               States(rows(), shape.channels),
               States(rows(), shape.channels),
               Gradient<double>(shapes),
               {}};
  Matrix<double> initial(tokens, shape.channels);
  for (Index b = 0; b < batch; ++b) {
    bind(b);
    const Index row = b * tokens;
    Matrix<double> z = start.middleRows(row, tokens);
    initial.setZero();
    SequenceTask<double> task{dynamics.get(), cost.get(), &z, &initial, weight, &out.gradient};
    estimator.estimate(task);
    initial += dynamics->input_gradient();
    model->accumulate_embedding(
        std::span(indices).subspan(static_cast<std::size_t>(row), static_cast<std::size_t>(tokens)), initial,
        out.gradient);
    out.z_star.middleRows(row, tokens) = z;
    out.point.middleRows(row, tokens) = estimator.point();
    out.adjoint.middleRows(row, tokens) = weight * estimator.adjoint();
    if (keep == nullptr) continue;
    const Matrix<double>& states = keep(estimator);
    out.nudged.resize(static_cast<std::size_t>(states.rows() / tokens), States(rows(), shape.channels));
    for (std::size_t k = 0; k < out.nudged.size(); ++k) {
      out.nudged[k].middleRows(row, tokens) = states.middleRows(static_cast<Index>(k) * tokens, tokens);
    }
  }
  return out;
}

}  // namespace nudge
