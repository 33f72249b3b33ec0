// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/lock_in.hpp"

#include <cmath>
#include <limits>

namespace nudge {
namespace {

struct BetaSums {
  double first = 0, second = 0;  ///< Σβ, Σβ²
};

BetaSums sums_of(const std::vector<double>& betas) {
  BetaSums sums;
  for (const double beta : betas) {
    sums.first += beta;
    sums.second += beta * beta;
  }
  return sums;
}

}  // namespace

NudgeSignal& NudgeSignal::operator+=(const NudgeSignal& other) {
  moved += other.moved;
  counted += other.counted;
  node += other.node;
  in_moved += other.in_moved;
  measured += other.measured;
  return *this;
}

double NudgeSignal::displacement() const {
  if (counted == 0) return 0;
  const double noise = measured > 0 ? in_moved / measured : 0;
  return std::sqrt(std::max(0.0, moved / counted - noise));
}

double NudgeSignal::noise() const { return measured > 0 ? std::sqrt(node / measured) : 0; }

double NudgeSignal::snr() const {
  if (!known()) return std::numeric_limits<double>::quiet_NaN();
  const double moved_by = displacement();
  return moved_by > 0 ? moved_by / noise() : 0;  // 0/0 as well: what moves nothing tells nothing
}

double NudgeSignal::cosine() const {
  if (!known()) return std::numeric_limits<double>::quiet_NaN();
  return moved > 0 ? std::min(1.0, displacement() / std::sqrt(moved / counted)) : 0;
}

NudgeSignal NudgeSignal::scaled(double factor) const {
  NudgeSignal out = *this;
  const double noise = measured > 0 ? in_moved / measured : 0;
  out.moved = counted * (std::pow(factor * displacement(), 2) + noise);
  return out;
}

template <class S>
void add_displacement(const Matrix<S>& states, const Matrix<S>& z, const std::vector<double>& betas, double beta,
                      Matrix<S>& displacement, NudgeSignal& signal) {
  const BetaSums sums = sums_of(betas);
  displacement = static_cast<S>(-beta * sums.first / sums.second) * z;
  for (std::size_t k = 0; k < betas.size(); ++k) {
    displacement +=
        static_cast<S>(beta * betas[k] / sums.second) * states.middleRows(static_cast<Index>(k) * z.rows(), z.rows());
  }
  signal.moved += static_cast<double>(displacement.squaredNorm()) / static_cast<double>(displacement.size());
  signal.counted += 1;
}

template <class S>
void add_noise(const Matrix<S>& states, const Matrix<S>& again, const std::vector<double>& betas, double beta,
               NudgeSignal& signal) {
  const double node = static_cast<double>((states - again).squaredNorm()) / (2 * static_cast<double>(states.size()));
  signal.node += node;
  signal.in_moved += node * beta * beta / sums_of(betas).second;
  signal.measured += 1;
}

#define NUDGE_NUDGE_SIGNAL(S)                                                                               \
  template void add_displacement<S>(const Matrix<S>&, const Matrix<S>&, const std::vector<double>&, double, \
                                    Matrix<S>&, NudgeSignal&);                                              \
  template void add_noise<S>(const Matrix<S>&, const Matrix<S>&, const std::vector<double>&, double, NudgeSignal&);
NUDGE_BOTH_PRECISIONS(NUDGE_NUDGE_SIGNAL)

}  // namespace nudge
