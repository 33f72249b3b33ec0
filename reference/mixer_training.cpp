// SPDX-License-Identifier: Apache-2.0
// The argmax toy of the Free Energy Mixer's appendix P, some AdamW steps; and the Free Transformer's synthetic
// sequences.
#include <fmt/format.h>

#include <algorithm>

#include "mixers/free_transformer/synthetic.hpp"
#include "reference/case_kind.hpp"
#include "reference/tape_case.hpp"
#include "sim/base/errors.hpp"
#include "training/learning/optimizer.hpp"
#include "training/models/tapes/argmax_read.hpp"

namespace nudge {
namespace {

constexpr double kToy = 1e-8;

struct Toy {
  Index steps, batch, tokens, width, heads;
  bool free_energy;
  double rate, weight_decay;
  OptimizerOptions adam;
  std::vector<double> values;  ///< values V [steps, batch, tokens, width]
  std::vector<std::string> names;
  std::vector<Matrix<double>> parameters;
  std::vector<H5Shape> shapes;
};

Toy read_toy(const H5Reader& file) {
  Toy toy;
  const H5Shape shape = file.shape("inputs/V");
  if (shape.size() != 4 || *std::min_element(shape.begin(), shape.end()) < 1) {
    file.fail("inputs/V", fmt::format("shape {} (must be (steps, batch, tokens, width))", to_string(shape)));
  }
  toy.steps = positive_size(file, "steps");
  if (toy.steps != shape[0]) file.fail("attribute steps", fmt::format("{} (V has {} batches)", toy.steps, shape[0]));
  toy.batch = shape[1];
  toy.tokens = shape[2];
  toy.width = shape[3];
  toy.heads = positive_size(file, "H");
  if (toy.width % toy.heads != 0) {
    file.fail("attribute H", fmt::format("{} (must divide the width {})", toy.heads, toy.width));
  }
  toy.free_energy = flag_of(file, "fem");
  toy.rate = finite_real(file, "lr");
  toy.weight_decay = finite_real(file, "weight_decay");
  toy.adam.beta1 = finite_real(file, "beta1");
  toy.adam.beta2 = finite_real(file, "beta2");
  toy.adam.epsilon = positive_real(file, "adam_eps");
  toy.values = file.reals<double>("inputs/V", shape, NonFinite::rejected);
  const H5Shape square{toy.width, toy.width};
  const std::vector<std::pair<std::string, H5Shape>> arrays = {
      {"Wq", square}, {"Wk", square}, {"Wl", square}, {"bl", {toy.width}}, {"xb", {toy.width}}};
  for (const auto& [name, each] : arrays) {
    // The softmax toy does not read Wl, bl and xb; where a file has them, they decay.
    if (!toy.free_energy && toy.names.size() >= 2 && !file.has("params/" + name)) continue;
    toy.names.push_back(name);
    toy.shapes.push_back(each);
    toy.parameters.push_back(file.matrix<double>("params/" + name, each, NonFinite::rejected));
  }
  return toy;
}

/// Computes loss and gradients at the current parameters on the batch of a step; appends the predictions.
double loss_and_gradients(const Toy& toy, Index step, std::vector<double>& predictions,
                          std::vector<Matrix<double>>& gradients) {
  const ArgmaxShape shape{toy.tokens, toy.width, toy.heads, toy.free_energy};
  gradients.clear();
  for (const auto& each : toy.parameters) gradients.emplace_back(Matrix<double>::Zero(each.rows(), each.cols()));
  double loss = 0;
  for (Index b = 0; b < toy.batch; ++b) {
    const Index size = toy.tokens * toy.width;
    const Matrix<double> v =
        Eigen::Map<const Matrix<double>>(toy.values.data() + (step * toy.batch + b) * size, toy.tokens, toy.width);
    Tape<double> tape;
    std::vector<Value<double>> p;
    NamedValues<double> named;
    for (std::size_t k = 0; k < toy.parameters.size(); ++k) {
      p.push_back(tape.parameter(toy.parameters[k]));
      named.add(toy.names[k], p.back());
    }
    const auto prediction = argmax_read(shape, tape.constant(v), named, "params/xb");
    const auto largest = tape.constant(v.colwise().maxCoeff());
    const auto error = argmax_error(prediction, largest, 1.0 / static_cast<double>(toy.batch * toy.width));
    loss += error.matrix()(0, 0);
    predictions.insert(predictions.end(), prediction.matrix().data(), prediction.matrix().data() + toy.width);
    tape.add_cotangent(error, Matrix<double>::Ones(1, 1));
    tape.pull_back();
    for (std::size_t k = 0; k < p.size(); ++k) {
      if (tape.cotangent(p[k]).size() > 0) gradients[k] += tape.cotangent(p[k]);
    }
  }
  return loss;
}

std::vector<CaseDataset> toy_case(const H5Reader& file) {
  Toy toy = read_toy(file);
  std::vector<ParameterShape> shapes;
  shapes.reserve(toy.parameters.size());
  for (const auto& each : toy.parameters) shapes.push_back({each.rows(), each.cols()});
  std::vector<CaseDataset> out;
  std::vector<double> losses;
  std::vector<double> predictions;
  std::vector<Matrix<double>> gradients;
  std::vector<Matrix<double>> delta;
  const auto keep = [&](const std::string& group, const std::vector<Matrix<double>>& all) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      out.push_back({group + toy.names[k], toy.shapes[k],
                     std::vector<double>(all[k].data(), all[k].data() + all[k].size()), kToy});
    }
  };
  try {
    const auto adam = make_optimizer<double>("adam", toy.adam, shapes);
    for (Index step = 0; step < toy.steps; ++step) {
      losses.push_back(loss_and_gradients(toy, step, predictions, gradients));
      if (step == 0) keep("grad0/", gradients);
      adam->step(gradients, toy.rate, delta);
      add_with_decay<double>(delta, toy.rate * toy.weight_decay, toy.parameters);
    }
  } catch (const UserError& problem) {
    throw UserError(file.name() + ": " + problem.what());
  }
  keep("final/", toy.parameters);
  out.push_back({"out/loss", {toy.steps}, losses, kToy});
  out.push_back({"out/pred", {toy.steps, toy.batch, toy.width}, predictions, kToy});
  return out;
}

std::vector<std::vector<int>> read_sequences(const H5Reader& file) {
  const std::string vocabulary = file.text_attribute("vocab");
  if (vocabulary != SyntheticText::vocabulary) {
    file.fail("attribute vocab", fmt::format("\"{}\" (must be \"{}\")", vocabulary, SyntheticText::vocabulary));
  }
  const H5Shape shape = file.shape("tokens");
  constexpr Index length = SyntheticText::prompt + SyntheticText::body;
  if (shape.size() != 2 || shape[0] < 1 || shape[1] != length) {
    file.fail("tokens", fmt::format("shape {} (must be (sequences, {}))", to_string(shape), length));
  }
  const auto tokens = bounded_integers(file, "tokens", shape, SyntheticText::classes);
  std::vector<std::vector<int>> sequences;
  sequences.reserve(shape[0]);
  for (Index n = 0; n < shape[0]; ++n) {
    sequences.emplace_back(tokens.begin() + n * length, tokens.begin() + (n + 1) * length);
  }
  return sequences;
}

std::vector<CaseDataset> synthetic(const H5Reader& file) {
  static_cast<void>(read_sequences(file));
  return {};
}

std::string synthetic_remarks(const H5Reader& file) {
  const SyntheticStatistics s = synthetic_statistics(read_sequences(file));
  return fmt::format(
      "sequences {}, prompts of a letter and '>' {:.4f}, share of '!' in bodies {:.4f} (1/16 = 0.0625),\n"
      "bodies with one target of 8 equal letters {:.4f}, of the prompt's letter {:.4f}, mean place {:.2f} (28 if "
      "uniform)\n",
      s.sequences, s.valid_prompts, s.noise, s.whole_targets, s.right_letters, s.mean_position);
}

}  // namespace

std::vector<CaseKind> training_case_kinds() {
  return {{"toy", toy_case}, {"ft_synth_examples", synthetic, synthetic_remarks}};
}

}  // namespace nudge
