// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/law_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>

#include "devices/fit/pulse_residuals.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double level_of_law = 0.01;
constexpr std::size_t most_groups = 6, least_of_group = 12;

/// Pulses of one direction that begin at places near each other.
struct PulseGroup {
  Direction direction;
  double place_S = 0;        ///< mean read before the pulses
  std::vector<Index> reads;  ///< of all reads of the records
};

std::vector<PulseGroup> groups_of(const std::vector<PulseRecord>& records) {
  std::vector<PulseGroup> out;
  for (const Direction direction : {Direction::up, Direction::down}) {
    std::vector<std::pair<double, Index>> pulses;
    Index first = 0;
    for (const PulseRecord& record : records) {
      for (std::size_t i = 1; i < record.conductance_S.size(); ++i) {
        if (record.direction[i] != direction) continue;
        pulses.emplace_back(record.conductance_S[i - 1], first + static_cast<Index>(i) - 1);
      }
      first += static_cast<Index>(record.reads());
    }
    std::sort(pulses.begin(), pulses.end());
    const std::size_t groups = std::min(pulses.size() / least_of_group, most_groups);
    for (std::size_t c = 0; c < groups; ++c) {
      PulseGroup group{direction, 0, {}};
      const std::size_t begin = c * pulses.size() / groups, end = (c + 1) * pulses.size() / groups;
      for (std::size_t k = begin; k < end; ++k) {
        group.place_S += pulses[k].first / static_cast<double>(end - begin);
        group.reads.push_back(pulses[k].second);
      }
      out.push_back(std::move(group));
    }
  }
  return out;
}

/// Normal score of the size of a standard normal number: Φ⁻¹(2 Φ(|z|) − 1).
double score_of_size(double z) {
  constexpr double least = 1e-12;  // errors of no size, as of constant reads, stay finite
  const double share = std::clamp(std::erf(std::abs(z) * M_SQRT1_2), least, 1 - least);
  return M_SQRT2 * boost::math::erf_inv(2 * share - 1);
}

/// Sums over groups, each standard normal before the fit took its part.
struct GroupSums {
  VectorXd sums;
  MatrixXd scores;  ///< covariance of the sums and the scores of the numbers

  /// move: what the numbers lack to the largest likelihood, to which the sums are taken.
  GroupSums(const std::vector<PulseGroup>& groups, const VectorXd& terms, const MatrixXd& slopes, const VectorXd& move)
      : sums(VectorXd::Zero(static_cast<Index>(groups.size()))), scores(MatrixXd::Zero(sums.size(), slopes.cols())) {
    for (Index c = 0; c < sums.size(); ++c) {
      const std::vector<Index>& reads = groups[static_cast<std::size_t>(c)].reads;
      const double root = std::sqrt(static_cast<double>(reads.size()));
      for (const Index i : reads) {
        sums[c] += terms[i] / root;
        scores.row(c) += slopes.row(i) / root;
      }
    }
    sums -= scores * move;
  }
};

/// Probability of sums so large, and the group that is the farthest off.
struct SumTest {
  double chance = 1;
  std::size_t group = 0;
  bool above = false;

  SumTest(const GroupSums& of, const MatrixXd& inverse_information) {
    constexpr double least = 0.05;
    const Index n = of.sums.size();
    const MatrixXd covariance = MatrixXd::Identity(n, n) - of.scores * inverse_information * of.scores.transpose();
    if (!covariance.allFinite() || !of.sums.allFinite()) return;
    const SymmetricPairs pairs = symmetric_eigenpairs(covariance);
    double chi2 = 0, freedom = 0, farthest = 0;
    for (Index k = 0; k < n; ++k) {
      if (pairs.values[k] < least) continue;
      chi2 += std::pow(pairs.vectors.col(k).dot(of.sums), 2) / pairs.values[k];
      freedom += 1;
    }
    if (freedom > 0) chance = boost::math::cdf(complement(boost::math::chi_squared(freedom), chi2));
    for (Index c = 0; c < n; ++c) {
      const double off = std::abs(of.sums[c]) / std::sqrt(std::max(covariance(c, c), least));
      if (off <= farthest) continue;
      farthest = off;
      group = static_cast<std::size_t>(c);
      above = of.sums[c] > 0;
    }
  }
};

/// Information in which noise is hardly expected: its expectation (half a pulse) is no part of the law.
MatrixXd information_of(const PulseResiduals& residuals, const VectorXd& at, PulseSlopes& slopes) {
  constexpr double left = 0.01;  // of the expectation, for noise of which the record tells nothing
  MatrixXd out = residuals.information(at, &slopes);
  for (Index k = residuals.noise_at(); k < residuals.size(); ++k) {
    out(k, k) -= (1 - left) / std::pow(residuals.all_numbers()[static_cast<std::size_t>(k)].deviation, 2);
  }
  return out;
}

std::string text_of(const std::string& model, const SumTest& test, const PulseGroup& group, bool noise) {
  const bool up = group.direction == Direction::up;
  const char* how =
      noise ? (test.above ? "scatter more" : "scatter less") : (test.above == up ? "are larger" : "are smaller");
  const char* why = noise ? " The noise has another law." : "";
  return fmt::format(
      "the record contradicts {} by more than chance (p = {:.1g}): pulses {} near {} {} than fitted.{} g_min and g_max "
      "have no interval beyond what was read",
      model, test.chance, up ? "up" : "down", format_quantity(group.place_S, Unit::siemens, 3), how, why);
}

}  // namespace

LawCheck check_law(const LikelihoodFit& fit, const std::vector<PulseRecord>& records) {
  // Covariance of the score of a size and (z² − 1)/√2, by integration over the normal distribution.
  constexpr double with_variance = 0.83243;
  constexpr double no_noise = 1e-4;  // of the window: the very curve, whose errors are those of numbers
  if (fit.spec.update_noise < 0.01 && fit.noise.read_S < no_noise * fit.spec.window_S()) return {};
  const std::vector<PulseGroup> groups = groups_of(records);
  if (groups.empty()) return {};
  const PulseResiduals residuals(fit.spec, fit.coordinates, records, fit.kind);
  PulseResiduals::Prediction at(residuals.reads());
  PulseSlopes slopes;
  if (!residuals.predict(fit.at, at)) return {};
  const MatrixXd inverse_information = inverse(information_of(residuals, fit.at, slopes));
  const VectorXd root = at.variance.cwiseInverse().cwiseSqrt();
  const VectorXd z = at.error.cwiseProduct(root);
  const MatrixXd of_means = -(root.asDiagonal() * slopes.errors);
  const MatrixXd of_sizes = M_SQRT1_2 * (root.cwiseAbs2().asDiagonal() * slopes.variances);
  VectorXd score = of_means.transpose() * z + of_sizes.transpose() * (M_SQRT1_2 * (z.array().square() - 1)).matrix();
  score.head(residuals.noise_at()).setZero();
  const VectorXd move = inverse_information * score;
  const GroupSums means(groups, z, of_means, move);
  const GroupSums sizes(groups, z.unaryExpr(&score_of_size), with_variance * of_sizes, move);
  const SumTest mean(means, inverse_information), size(sizes, inverse_information);
  const bool noise = size.chance < mean.chance;
  const SumTest& least = noise ? size : mean;
  if (!(least.chance < level_of_law)) return {};
  return {true, text_of(fit.spec.model, least, groups[least.group], noise)};
}

}  // namespace nudge
