// SPDX-License-Identifier: Apache-2.0
// Cases of the Free Energy Mixer without derivatives: hidden temperature, and the O(T) priors under stress.
#include <fmt/format.h>

#include <cmath>

#include "mixers/fem/free_energy_mixer.hpp"
#include "mixers/ops/operations.hpp"
#include "reference/case_kind.hpp"
#include "reference/tape_case.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

constexpr double kHiddenTemperature = 1e-8;
constexpr double kStress = 1e-10;

std::vector<double> finite(const H5Reader& file, const std::string& dataset, const H5Shape& shape) {
  return file.reals<double>(dataset, shape, NonFinite::rejected);
}

/// Throws UserError unless `holds`. rule: the rule that `value` in this row of the dataset breaks.
void require(const H5Reader& file, const std::string& dataset, std::size_t row, double value, bool holds,
             const char* rule) {
  if (!holds) file.fail(dataset, fmt::format("row {}: {} (must be {})", row, value, rule));
}

std::vector<CaseDataset> hidden_temperatures(const H5Reader& file) {
  const auto sizes = TapeCase::sizes(file, "inputs/p", 2);
  const Index n = sizes.batch;
  const auto width = static_cast<std::size_t>(sizes.tokens);
  const auto p = finite(file, "inputs/p", {n, sizes.tokens});
  const auto v = finite(file, "inputs/v", {n, sizes.tokens});
  const auto beta_max = finite(file, "inputs/beta_max", {n});
  const auto lambda = finite(file, "inputs/lam", {n});
  std::vector<CaseDataset> out;
  for (const char* name : {"F_max", "F_tilde", "beta_star", "dF_dbeta_at_star", "dbeta_dlam", "mu"}) {
    out.push_back({std::string("out/") + name, {n}, {}, kHiddenTemperature});
  }
  out.push_back({"out/q_star", {n, sizes.tokens}, {}, kHiddenTemperature});
  for (std::size_t r = 0; r < static_cast<std::size_t>(n); ++r) {
    const auto at = static_cast<std::ptrdiff_t>(r * width);
    const auto end = at + static_cast<std::ptrdiff_t>(width);
    const std::vector<double> p_r(p.begin() + at, p.begin() + end);
    double sum = 0;
    for (const double each : p_r) {
      require(file, "inputs/p", r, each, each >= 0, ">= 0");
      sum += each;
    }
    // float32 files carry seven digits.
    require(file, "inputs/p", r, sum, std::abs(sum - 1) < 1e-6, "probabilities that sum to 1");
    require(file, "inputs/beta_max", r, beta_max[r], beta_max[r] > 0, "> 0");
    require(file, "inputs/lam", r, lambda[r], lambda[r] >= 0 && lambda[r] <= 1, "in [0, 1]");
    const HiddenTemperature h =
        hidden_temperature(p_r, std::vector<double>(v.begin() + at, v.begin() + end), beta_max[r], lambda[r]);
    const double scalars[] = {h.free_energy, h.gated, h.beta, h.slope, h.beta_slope, h.mean};
    for (std::size_t k = 0; k < std::size(scalars); ++k) out[k].values.push_back(scalars[k]);
    out.back().values.insert(out.back().values.end(), h.posterior.begin(), h.posterior.end());
  }
  return out;
}

struct Stress {
  Index batch, tokens, heads, key_width, channels, decays, weights;
  bool rope;
  double epsilon;
};

Stress read_stress(const H5Reader& file) {
  const H5Shape q = file.shape("inputs/q");
  const H5Shape v = file.shape("inputs/v");
  const H5Shape dec = file.shape("inputs/dec");
  const H5Shape aft = file.shape("inputs/aft_k");
  if (q.size() != 4) file.fail("inputs/q", "shape " + to_string(q) + " (must be (batch, tokens, heads, width))");
  for (const auto& [name, shape] :
       {std::pair("inputs/v", v), std::pair("inputs/dec", dec), std::pair("inputs/aft_k", aft)}) {
    if (shape.size() != 3 || shape[2] < 1) {
      file.fail(name, "shape " + to_string(shape) + " (must be (batch, tokens, columns))");
    }
  }
  static_cast<void>(TapeCase::sizes(file, "inputs/q", 4));
  Stress s{q[0], q[1], q[2], q[3], v[2], dec[2], aft[2], flag_of(file, "rope"), positive_real(file, "eps")};
  if (positive_size(file, "H") != s.heads) file.fail("attribute H", fmt::format("must be the {} heads of q", s.heads));
  if (s.rope && s.key_width % 2 != 0) {
    file.fail("inputs/q", fmt::format("head width {} is odd (rotary positions need an even width)", s.key_width));
  }
  for (const Index groups : {s.heads, s.decays, s.weights}) {
    if (s.channels % groups != 0) {
      file.fail("inputs/v", fmt::format("{} channels ({} groups must divide them)", s.channels, groups));
    }
  }
  if (s.decays != s.heads && s.decays != s.heads * s.key_width) {
    file.fail("inputs/dec", fmt::format("{} columns (must be one per head, or one per feature)", s.decays));
  }
  return s;
}

std::vector<CaseDataset> stress(const H5Reader& file) {
  const Stress s = read_stress(file);
  const auto read = [&](const char* name, Index cols, const H5Shape& tail) {
    H5Shape shape{s.batch, s.tokens};
    shape.insert(shape.end(), tail.begin(), tail.end());
    const auto values = finite(file, std::string("inputs/") + name, shape);
    return Matrix<double>(Eigen::Map<const Matrix<double>>(values.data(), s.batch * s.tokens, cols));
  };
  const auto q = read("q", s.heads * s.key_width, {s.heads, s.key_width});
  const auto k = read("k", s.heads * s.key_width, {s.heads, s.key_width});
  const auto v = read("v", s.channels, {s.channels});
  const auto dec = read("dec", s.decays, {s.decays});
  const auto aft_k = read("aft_k", s.weights, {s.weights});
  const auto xb = file.matrix<double>("inputs/xb", H5Shape{s.channels}, NonFinite::rejected);
  std::vector<CaseDataset> out;
  for (const char* name : {"gla_mu", "gla_F", "aft_mu", "aft_F", "lrnn_mu", "lrnn_F"}) {
    out.push_back({std::string("out/") + name, {s.batch, s.tokens, s.channels}, {}, kStress});
  }
  for (Index b = 0; b < s.batch; ++b) {
    Tape<double> tape;
    const auto leaf = [&](const Matrix<double>& m) { return tape.constant(m.middleRows(b * s.tokens, s.tokens)); };
    const auto turned = [&](const Matrix<double>& m) { return s.rope ? rotate_positions(leaf(m), s.heads) : leaf(m); };
    Value<double> beta;
    try {
      beta = inverse_temperature(tape.constant(xb), "inputs/xb");
    } catch (const UserError& problem) {
      throw UserError(file.name() + ": " + problem.what());
    }
    const auto g = affine(apply(Function::softplus, leaf(dec)), -1.0);
    const auto gla = gla_prior<double>(turned(q), turned(k), g, leaf(v), beta, s.heads, s.epsilon, nullptr);
    const auto aft = aft_prior<double>(leaf(aft_k), leaf(v), beta, nullptr);
    const auto lrnn = lrnn_prior<double>(g, leaf(v), beta, nullptr);
    const Value<double> results[] = {gla.mean, gla.free_energy, aft.mean, aft.free_energy, lrnn.mean, lrnn.free_energy};
    for (std::size_t i = 0; i < std::size(results); ++i) {
      const Matrix<double>& m = results[i].matrix();
      out[i].values.insert(out[i].values.end(), m.data(), m.data() + m.size());
    }
  }
  return out;
}

}  // namespace

std::vector<CaseKind> read_case_kinds() { return {{"hidden_temp", hidden_temperatures}, {"stress", stress}}; }

}  // namespace nudge
