// SPDX-License-Identifier: Apache-2.0
#include "reference/letnet_problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reference/case_kind.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {

std::vector<Matrix<double>> samples_from_nodes(std::span<const double> values, const LetnetSizes& s) {
  NUDGE_EXPECT(values.size() == static_cast<std::size_t>(s.batch * s.tokens * s.width()));
  std::vector<Matrix<double>> samples(static_cast<std::size_t>(s.batch), Matrix<double>(s.tokens, s.width()));
  const double* at = values.data();
  for (Matrix<double>& sample : samples) {
    for (Index node = 0; node < s.nodes; ++node, at += s.tokens * s.channels) {
      sample.middleCols(node * s.channels, s.channels) = Eigen::Map<const Matrix<double>>(at, s.tokens, s.channels);
    }
  }
  return samples;
}

std::vector<double> nodes_from_samples(const std::vector<Matrix<double>>& samples, const LetnetSizes& s) {
  NUDGE_EXPECT(samples.size() == static_cast<std::size_t>(s.batch));
  std::vector<double> values(static_cast<std::size_t>(s.batch * s.tokens * s.width()));
  double* at = values.data();
  for (const Matrix<double>& sample : samples) {
    NUDGE_EXPECT(sample.rows() == s.tokens && sample.cols() == s.width());
    for (Index node = 0; node < s.nodes; ++node, at += s.tokens * s.channels) {
      Eigen::Map<Matrix<double>>(at, s.tokens, s.channels) = sample.middleCols(node * s.channels, s.channels);
    }
  }
  return values;
}

std::vector<Matrix<double>> unstack(std::span<const double> values, Index count, Index rows, Index cols) {
  NUDGE_EXPECT(values.size() == static_cast<std::size_t>(count * rows * cols));
  std::vector<Matrix<double>> matrices;
  matrices.reserve(count);
  for (Index i = 0; i < count; ++i) {
    matrices.emplace_back(Eigen::Map<const Matrix<double>>(values.data() + i * rows * cols, rows, cols));
  }
  return matrices;
}

namespace {

LetnetSizes read_sizes(const H5Reader& file) {
  LetnetSizes s;
  s.batch = positive_size(file, "B");
  s.tokens = positive_size(file, "T");
  s.channels = positive_size(file, "C");
  s.heads = positive_size(file, "H");
  s.hidden = positive_size(file, "M");
  s.vocabulary = positive_size(file, "V");
  s.layers = positive_size(file, "L");
  s.loops = positive_size(file, "K");
  s.nodes = positive_size(file, "n");
  // Every factor is below 2³¹, so the product is below 2⁶³.
  if (const Index nodes = 2 * s.layers * s.loops; s.nodes != nodes) {
    file.fail("attribute n", fmt::format("{} (must be 2·L·K = 2·{}·{} = {})", s.nodes, s.layers, s.loops, nodes));
  }
  if (s.channels % s.heads != 0) {
    file.fail("attribute H", fmt::format("{} (must divide C = {})", s.heads, s.channels));
  }
  return s;
}

void check_head_width(const H5Reader& file, const LetnetSizes& s) {
  if (const Index width = s.channels / s.heads; width % 2 != 0) {
    file.fail("attribute H", fmt::format("{} (with rope = 1 the channels of a head, C/H = {}/{} = {}, must be even: "
                                         "they are rotated in pairs)",
                                         s.heads, s.channels, s.heads, width));
  }
}

LetnetActivation read_activation(const H5Reader& file) {
  const std::string name = file.text_attribute("activation");
  if (name == "relu2") return LetnetActivation::relu2;
  if (name == "gelu") return LetnetActivation::gelu;
  file.fail("attribute activation",
            fmt::format("\"{}\" (must be relu2 or gelu; {})", name, did_you_mean(name, {"relu2", "gelu"})));
}

double read_kappa(const H5Reader& file) {
  const double kappa = finite_real(file, "kappa");
  if (!(kappa >= 0 && kappa < 1)) file.fail("attribute kappa", fmt::format("{} (must be in [0, 1))", kappa));
  return kappa;
}

/// Reads reals of a shape; `dimensions` are its letters, so that the message says which attributes it contradicts;
/// float32 is set for a dataset in float32.
std::vector<double> read_reals(const H5Reader& file, const std::string& dataset, const H5Shape& shape,
                               const std::string& dimensions, bool& float32) {
  expect_reals(file, dataset, float32);
  if (const H5Shape found = file.shape(dataset); found != shape) {
    file.fail(dataset, fmt::format("shape {} = {} expected, found {}", dimensions, to_string(shape), to_string(found)));
  }
  return file.reals<double>(dataset, shape, NonFinite::rejected);
}

std::vector<int> read_tokens(const H5Reader& file, const std::string& dataset, const LetnetSizes& s) {
  const H5Shape shape{s.batch, s.tokens};
  if (const H5Type type = file.type(dataset); type != H5Type::integer) {
    file.fail(dataset, fmt::format("type int32 or int64 expected, found {}", to_string(type)));
  }
  if (const H5Shape found = file.shape(dataset); found != shape) {
    file.fail(dataset, fmt::format("shape (B, T) = {} expected, found {}", to_string(shape), to_string(found)));
  }
  return bounded_integers(file, dataset, shape, s.vocabulary);
}

void check_names(const H5Reader& file, const std::vector<LetnetParameterShape>& parameters, bool rope) {
  std::vector<std::string> known;
  known.reserve(parameters.size());
  for (const auto& each : parameters) known.push_back(each.name);
  for (const std::string& path : file.all_datasets("params")) {
    const std::string name = path.substr(std::string("params/").size());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (rope && name == "pos") file.fail(path, "present, but rope = 1 has no learned positions");
    file.fail(path, fmt::format("unknown parameter ({})", did_you_mean(name, known)));
  }
  if (!rope && !file.has("params/pos")) file.fail("params/pos", "missing: rope = 0 has learned positions (T, C)");
}

}  // namespace

std::vector<LetnetParameterShape> letnet_parameters(const LetnetSizes& s, bool rope) {
  const Index layers = s.layers, c = s.channels;
  std::vector<LetnetParameterShape> all{{"tok", "(V, C)", {s.vocabulary, c}, false}};
  if (!rope) all.push_back({"pos", "(T, C)", {s.tokens, c}, false});
  for (const char* name : {"Wq", "Wk", "Wv", "Wo"}) all.push_back({name, "(L, C, C)", {layers, c, c}, true});
  all.push_back({"W1", "(L, C, M)", {layers, c, s.hidden}, true});
  all.push_back({"W2", "(L, M, C)", {layers, s.hidden, c}, true});
  all.push_back({"Wh", "(C, V)", {c, s.vocabulary}, false});
  return all;
}

LetnetProblem::LetnetProblem(const H5Reader& file)
    : sizes(read_sizes(file)),
      rope(flag_of(file, "rope")),
      activation(read_activation(file)),
      free_steps(static_cast<int>(positive_size(file, "T1"))),
      nudged_steps(static_cast<int>(positive_size(file, "T2"))),
      step(positive_real(file, "eps")),
      kappa(read_kappa(file)),
      beta(positive_real(file, "beta")),
      beta_frozen(positive_real(file, "beta_frozen")),
      beta_aep(positive_real(file, "beta_aep")) {
  if (rope) check_head_width(file, sizes);
  const auto parameters = letnet_parameters(sizes, rope);
  check_names(file, parameters, rope);
  for (const auto& [name, dimensions, shape, per_layer] : parameters) {
    const auto values = read_reals(file, "params/" + name, shape, dimensions, float32);
    weights[name] = unstack(values, per_layer ? shape[0] : 1, shape[shape.size() - 2], shape.back());
  }
  idx = read_tokens(file, "inputs/idx", sizes);
  targets = read_tokens(file, "inputs/targets", sizes);
  const H5Shape state{sizes.batch, sizes.nodes, sizes.tokens, sizes.channels};
  const auto read_state = [&](const std::string& name) {
    return samples_from_nodes(read_reals(file, "inputs/" + name, state, "(B, n, T, C)", float32), sizes);
  };
  z0 = read_state("z0");
  v = read_state("v");
  u = read_state("u");
}

std::span<const int> LetnetProblem::sample(const std::vector<int>& tokens, Index b) const {
  const auto length = static_cast<std::size_t>(sizes.tokens);
  return std::span(tokens).subspan(static_cast<std::size_t>(b) * length, length);
}

}  // namespace nudge
