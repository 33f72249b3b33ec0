// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "devices/slow/relaxation_law.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

/// Place of each value in ascending order.
std::vector<double> ranks_of(const std::vector<double>& x) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  std::vector<double> ranks(x.size());
  for (std::size_t r = 0; r < order.size(); ++r) ranks[order[r]] = static_cast<double>(r);
  return ranks;
}

}  // namespace

std::vector<std::vector<double>> simulated_changes(const RelaxationSpec& spec, const LevelCells& level,
                                                   std::size_t number, std::uint64_t seed, std::size_t cells) {
  const RelaxationLaw law(spec);
  std::vector<std::vector<double>> changes(spec.time_s.size());
  const std::size_t n = law.draws(spec.time_s.back());
  std::vector<double> normals(n), uniforms(n), volatilities(law.is_volatile() ? n : 0);
  const RngKey key = {seed, Purpose::drift, static_cast<std::uint32_t>(number)};
  for (std::size_t first = 0; first < std::min(level.starts_S.size(), cells); ++first) {
    std::vector<RelaxationLaw::Path> paths;
    for (const double t : spec.time_s) paths.push_back(law.path(level.starts_S[first], t));
    for (std::size_t i = first; i < cells; i += level.starts_S.size()) {
      fill_normal<double>(key, i, 0, normals);
      fill_uniform<double>(key, i, 1, uniforms);
      if (law.is_volatile()) fill_normal<double>(key, i, 2, volatilities);
      for (std::size_t k = 0; k < changes.size(); ++k) {
        changes[k].push_back(paths[k].conductance_S({normals, uniforms, volatilities}) - paths[k].start_S);
      }
    }
  }
  return changes;
}

PairedChanges paired(const std::map<double, double>& early, const std::map<double, double>& late) {
  PairedChanges out;
  for (const auto& [cell, change] : early) {
    const auto other = late.find(cell);
    if (other == late.end()) continue;
    out.early.push_back(change);
    out.late.push_back(other->second);
  }
  return out;
}

double correlation_of(const PairedChanges& x) {
  const Moments a = moments_of(x.early), b = moments_of(x.late);
  double sum = 0;
  for (std::size_t i = 0; i < x.early.size(); ++i) sum += (x.early[i] - a.mean) * (x.late[i] - b.mean);
  return sum / (static_cast<double>(x.early.size()) * a.sd * b.sd);
}

double persistence_of(const PairedChanges& x) {
  const Moments a = moments_of(x.early), b = moments_of(x.late);
  const double slope = correlation_of(x) * b.sd / a.sd;
  std::vector<double> before, after;
  for (std::size_t i = 0; i < x.early.size(); ++i) {
    before.push_back(std::abs(x.early[i] - a.mean));
    after.push_back(std::abs(x.late[i] - b.mean - slope * (x.early[i] - a.mean)));
  }
  return correlation_of({ranks_of(before), ranks_of(after)});
}

Moments moments_of(const std::vector<double>& x) {
  Moments m;
  const auto n = static_cast<double>(x.size());
  for (const double v : x) m.mean += v / n;
  double second = 0;
  double fourth = 0;
  for (const double v : x) {
    const double d = (v - m.mean) * (v - m.mean);
    second += d / n;
    fourth += d * d / n;
    m.absolute += std::sqrt(d) / n;
  }
  m.sd = std::sqrt(second);
  if (second > 0) m.kurtosis = fourth / (second * second);
  for (const double v : x) m.tail += std::abs(v - m.mean) > 4 * m.sd ? 1 / n : 0;
  return m;
}

}  // namespace nudge
