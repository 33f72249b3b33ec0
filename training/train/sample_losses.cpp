// SPDX-License-Identifier: Apache-2.0
#include "training/train/sample_losses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "sim/base/softmax.hpp"
#include "sim/base/statistics.hpp"
#include "training/data/linear_model.hpp"

namespace nudge {
namespace {

/// Target of a row as numbers (1, width): its values, or 1 for its class.
Matrix<double> target_of(const Batch& batch, Index row, Index width) {
  if (batch.values.size() > 0) return batch.values.row(row).cast<double>();
  Matrix<double> target = Matrix<double>::Zero(1, width);
  target(0, batch.targets[static_cast<std::size_t>(row)]) = 1;
  return target;
}

template <class Act>
void for_each_counted(const Batch& batch, Index example, Act act) {
  for (Index t = 0; t < batch.tokens; ++t) {
    const Index row = example * batch.tokens + t;
    if (batch.counts(row)) act(t, row);
  }
}

}  // namespace

double RowCost::of(ConstMatrixRef<double> output, const Batch& batch, Index row) const {
  if (cross_entropy) {
    Matrix<double> logits = output;
    return cross_entropy_row(logits.row(0), batch.targets[static_cast<std::size_t>(row)]);
  }
  const Matrix<double> target = target_of(batch, row, output.cols());
  return other != nullptr ? other->value(output, target) : 0.5 * (output - target).squaredNorm();
}

void SampleLosses::add(double summed_loss, Index counted) {
  loss.push_back(summed_loss);
  rows.push_back(static_cast<double>(counted));
}

template <class S>
void SampleLosses::add_rows(const RowCost& cost, const Batch& batch, Index example, const Matrix<S>& outputs) {
  for_each_counted(batch, example, [&](Index t, Index row) {
    add(cost.of(outputs.row(t).template cast<double>().eval(), batch, row), 1);
  });
}

void SampleLosses::write(const std::string& prefix, const std::string& unit, H5Document& document) const {
  if (loss.empty()) return;
  document.column(prefix + "/loss", loss,
                  {unit, "cost of each sample of the split, summed over its rows, as last evaluated", {"sample"}});
  document.column(prefix + "/rows", rows, {"1", "rows of it that count", {"sample"}});
}

SampleLosses SampleLosses::read(const std::string& prefix, const H5Reader& file) {
  SampleLosses all;
  if (!file.has(prefix + "/loss")) return all;
  all.loss = file.reals<double>(prefix + "/loss");
  all.rows = file.reals<double>(prefix + "/rows", H5Shape{static_cast<Index>(all.loss.size())});
  return all;
}

double SampleLosses::mean() const {
  return std::accumulate(loss.begin(), loss.end(), 0.0) / std::accumulate(rows.begin(), rows.end(), 0.0);
}

SampleLosses SampleLosses::joined(Index each) const {
  SampleLosses out;
  for (std::size_t i = 0; i < count(); ++i) {
    if (i % static_cast<std::size_t>(each) == 0) out.add(0, 0);
    out.loss.back() += loss[i];
    out.rows.back() += rows[i];
  }
  return out;
}

namespace {

/// Targets of the rows that count, at most `most` of them, (n, width).
Matrix<double> stacked_targets(const std::vector<Batch>& part, Index width, Index most) {
  Index count = 0;
  for (const Batch& batch : part) count += batch.counted();
  Matrix<double> out(std::min(count, most), width);
  Index n = 0;
  for (const Batch& batch : part) {
    for (Index b = 0; b < batch.sequences; ++b) {
      for_each_counted(batch, b, [&](Index, Index row) {
        if (n < out.rows()) out.row(n++) = target_of(batch, row, width);
      });
    }
  }
  return out;
}

/// Sum of the targets of the rows that count, (1, width), and their number.
std::pair<Matrix<double>, double> summed_targets(const std::vector<Batch>& part, Index width) {
  std::pair<Matrix<double>, double> out{Matrix<double>::Zero(1, width), 0};
  for (const Batch& batch : part) {
    for (Index b = 0; b < batch.sequences; ++b) {
      for_each_counted(batch, b, [&](Index, Index row) {
        out.first += target_of(batch, row, width);
        out.second += 1;
      });
    }
  }
  return out;
}

/// Searches the answer that costs the least against these targets (best_constant()), from `start` on.
Matrix<double> searched_constant(const NodeCost& cost, const Matrix<double>& targets, const Matrix<double>& start) {
  const Objective objective = [&](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
    const Matrix<double> y = x.transpose().replicate(targets.rows(), 1);
    gradient = cost.gradient(y, targets).colwise().sum().transpose();
    return cost.value(y, targets);
  };
  Eigen::VectorXd low = targets.colwise().minCoeff().transpose(), high = targets.colwise().maxCoeff().transpose();
  Eigen::VectorXd answer = start.transpose(), middle, gradient;
  constexpr int halvings = 52;  // the digits of a double
  for (int i = 0; i < halvings; ++i) {
    middle = (low + high) / 2;
    objective(middle, gradient);
    for (Index c = 0; c < middle.size(); ++c) (gradient(c) > 0 ? high : low)(c) = middle(c);
  }
  if (objective(middle, gradient) < objective(answer, gradient)) answer = middle;
  const double before = objective(answer, gradient);
  Eigen::VectorXd lower = answer;
  // 1e-12 of the cost is far below any interval; a search that has not ended by 200 evaluations is as good as its best.
  const Minimum found = minimise(objective, lower, {1e-12 * std::abs(before), 200, {}});
  return (found.value < before ? lower : answer).transpose();
}

}  // namespace

Matrix<double> best_constant(const std::vector<Batch>& training, const RowCost& cost, Index width) {
  constexpr Index most_searched = 4096;
  const auto [sum, count] = summed_targets(training, width);
  if (cost.cross_entropy) return ((sum.array() + 1) / (count + static_cast<double>(width))).log().matrix();
  const Matrix<double> mean = sum / count;
  if (cost.other == nullptr || !(count > 0)) return mean;
  return searched_constant(*cost.other, stacked_targets(training, width, most_searched), mean);
}

SampleLosses constant_losses(const std::vector<Batch>& part, const RowCost& cost, const Matrix<double>& answer,
                             bool coupled) {
  SampleLosses all;
  for (const Batch& batch : part) {
    for (Index b = 0; b < batch.sequences; ++b) {
      double summed = 0;
      for_each_counted(batch, b, [&](Index, Index row) {
        const double one = cost.of(answer, batch, row);
        summed += one;
        if (!coupled) all.add(one, 1);
      });
      if (coupled) all.add(summed, batch.counted(b));
    }
  }
  return all;
}

LossGain loss_gain(const SampleLosses& one, const SampleLosses& other, int comparisons) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const std::size_t n = std::min(one.count(), other.count());
  double sum = 0, own = 0, rows = 0;
  for (std::size_t i = 0; i < n; ++i) {
    own += one.loss[i];
    sum += other.loss[i] - one.loss[i];
    rows += one.rows[i];
  }
  LossGain gain{rows > 0 ? sum / rows : nan, -infinity, infinity, static_cast<int>(n)};
  if (rows > 0 && std::isfinite(own) && !std::isfinite(sum)) return {infinity, infinity, infinity, gain.samples};
  if (n < 2 || !std::isfinite(gain.won)) return gain;
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double off = other.loss[i] - one.loss[i] - gain.won * one.rows[i];
    squares += off * off;
  }
  if (!(squares > 0) && gain.won != 0) return gain;  // differences that are all equal do not tell their scatter
  const double count = static_cast<double>(n), quantile = student_t_quantile(1 - 0.025 / comparisons, gain.samples - 1);
  const double half = quantile * std::sqrt(count / (count - 1) * squares) / rows;
  gain.low = gain.won - half;
  gain.high = gain.won + half;
  return gain;
}

template void SampleLosses::add_rows(const RowCost&, const Batch&, Index, const Matrix<float>&);
template void SampleLosses::add_rows(const RowCost&, const Batch&, Index, const Matrix<double>&);

}  // namespace nudge
