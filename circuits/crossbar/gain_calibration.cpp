// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/calibration.hpp"

#include <cmath>
#include <span>

#include "sim/base/rng.hpp"

namespace nudge {
namespace {

constexpr std::uint32_t calibration_lane = 1U << 16U;  // beside the sides of an array
constexpr double largest_step = 4;

/// Inner product ⟨a, b⟩ in double.
template <class S>
double inner(const Matrix<S>& a, const Matrix<S>& b) {
  return a.template cast<double>().cwiseProduct(b.template cast<double>()).sum();
}

}  // namespace

template <class S>
GainCalibration<S>::GainCalibration(int reads, const ArrayIdentity& identity, Index inputs) : inputs_(reads, inputs) {
  if (!active()) return;
  fill_uniform<S>({identity.seed, Purpose::probe, identity.entity}, 0, calibration_lane,
                  std::span<S>(inputs_.data(), static_cast<std::size_t>(inputs_.size())));
  inputs_ = inputs_.unaryExpr([](S u) { return u < S(0.5) ? S(-1) : S(1); });
}

template <class S>
void GainCalibration<S>::written(const Matrix<S>& first, const Matrix<S>& second) {
  response_ = S(0.5) * (first + second);
  wanted_(0, 0) = static_cast<S>(inner<S>(first, second));
}

template <class S>
void GainCalibration<S>::aged(const Matrix<S>& response) {
  const double along = inner<S>(response_, response);
  const auto wanted = static_cast<double>(wanted_(0, 0));
  if (!(along > 0) || !(wanted > 0)) return;  // nothing of it is left
  gain_(0, 0) *= static_cast<S>(std::clamp(wanted / along, 1 / largest_step, largest_step));
}

template <class S>
void GainCalibration<S>::append_state(std::vector<StateArray<S>>& all) {
  if (!active()) return;
  all.push_back({"gain", "1", "gain that follows what time does to all devices (crossbar.calibration)", &gain_});
  all.push_back({"calibration", "1",
                 "what the calibration inputs gave after the last write (input, output), mean of two reads",
                 &response_});
  all.push_back({"calibration_power", "1", "inner product of these two reads", &wanted_});
}

NUDGE_BOTH_PRECISIONS_OF(GainCalibration)

}  // namespace nudge
