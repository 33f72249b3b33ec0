// SPDX-License-Identifier: Apache-2.0
#include "training/train/example_losses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/student_t.hpp"

namespace nudge {

void ExampleLosses::add(double summed_loss, Index counted) {
  loss.push_back(summed_loss);
  rows.push_back(static_cast<double>(counted));
}

void ExampleLosses::write(const std::string& prefix, const std::string& unit, H5Document& document) const {
  if (loss.empty()) return;
  document.column(
      prefix + "/example_loss", loss,
      {unit, "cost of each example of the validation part, summed over its rows, as last evaluated", {"example"}});
  document.column(prefix + "/example_rows", rows, {"1", "tokens or samples of it that count", {"example"}});
}

ExampleLosses ExampleLosses::read(const std::string& prefix, const H5Reader& file) {
  ExampleLosses all;
  if (!file.has(prefix + "/example_loss")) return all;
  all.loss = file.reals<double>(prefix + "/example_loss");
  all.rows = file.reals<double>(prefix + "/example_rows", H5Shape{static_cast<Index>(all.loss.size())});
  return all;
}

LossGain loss_gain(const ExampleLosses& one, const ExampleLosses& other) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const std::size_t n = std::min(one.loss.size(), other.loss.size());
  double sum = 0, rows = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += other.loss[i] - one.loss[i];
    rows += one.rows[i];
  }
  LossGain gain{rows > 0 ? sum / rows : nan, -infinity, infinity, static_cast<int>(n)};
  if (n < 2 || !std::isfinite(gain.won)) return gain;
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double off = other.loss[i] - one.loss[i] - gain.won * one.rows[i];
    squares += off * off;
  }
  const double count = static_cast<double>(n);
  const double half = student_t_quantile(0.975, gain.examples - 1) * std::sqrt(count / (count - 1) * squares) / rows;
  gain.low = gain.won - half;
  gain.high = gain.won + half;
  return gain;
}

}  // namespace nudge
