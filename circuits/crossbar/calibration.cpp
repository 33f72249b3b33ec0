// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/calibration.hpp"

#include <fmt/format.h>

#include <span>

#include "circuits/crossbar/mapping.hpp"
#include "devices/device_part.hpp"
#include "sim/base/errors.hpp"
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

namespace {

/// Draws 1 + ε of the lines of one side of an array, ε of standard deviation sigma. `id` and `side` (0 or 1) name the lines of an array.
template <class S>
LineValues<S> drawn(double sigma, Index lines, std::uint64_t seed, std::uint32_t id, std::uint64_t side) {
  LineValues<S> out(lines);
  fill_normal<S>({seed, Purpose::load_trim, id}, side, 0,
                 std::span<S>(out.data(), static_cast<std::size_t>(out.size())));
  return S(1) + static_cast<S>(sigma) * out;
}

}  // namespace

template <class S>
LoadTrim<S>::LoadTrim(const CrossbarSpec& spec, Index rows, Index cols, std::uint64_t seed, std::uint32_t id)
    : present_(spec.periphery.directions == Directions::simultaneous),
      follows_(spec.periphery.trim_follows),
      pair_S_(0) {
  const CellScale cells(spec.device, spec.circuit.read_voltage_V);
  pair_S_ = cells.low_S() + cells.high_S();
  if (!present_) return;
  columns_ = drawn<S>(spec.periphery.load_trim, cols, seed, id, 0);
  rows_ = drawn<S>(spec.periphery.load_trim, rows, seed, id, 1);
}

template <class S>
void LoadTrim<S>::renew(const LineView<S>& view, double siemens_per_weight) {
  if (!present_) return;
  if (follows_) {
    residue_.of_columns = (view.column_load * (S(1) - columns_)).matrix();
    residue_.of_rows = (view.row_load * (S(1) - rows_)).matrix();
    return;
  }
  const S pair = static_cast<S>(pair_S_ / siemens_per_weight);
  residue_.of_columns = (view.column_load - static_cast<S>(rows_.size()) * pair * columns_).matrix();
  residue_.of_rows = (view.row_load - static_cast<S>(columns_.size()) * pair * rows_).matrix();
}

NUDGE_BOTH_PRECISIONS_OF(LoadTrim)

namespace {

constexpr double most_rewritings = 1 << 14;

}  // namespace

template <class S>
void RefreshClock<S>::check(double seconds) const {
  if (!active() || seconds <= most_rewritings * interval_s_) return;
  throw UserError(fmt::format("refresh = {} s for a wait of {} s (must be at most {} rewritings)", interval_s_, seconds,
                              most_rewritings));
}

template <class S>
bool RefreshClock<S>::due_after(double seconds) {
  if (!active()) return false;
  clock_s_ += seconds;
  if (clock_s_ < interval_s_ * (1 - 1e-12)) return false;  // a sum of shares may round below it
  clock_s_ = 0;
  return true;
}

template <class S>
void RefreshClock<S>::append_state(std::vector<StateArray<S>>& all) {
  if (!active()) return;
  store_double(clock_s_, 0, digits_);
  all.push_back(
      {"refresh_clock", "s", "time since all devices were last written; the sum of the row is the number", &digits_});
  all.push_back({"refresh_weights", "1", "weights after the last write, which the next rewriting writes", &meant_});
}

template <class S>
void RefreshClock<S>::state_restored() {
  if (active()) clock_s_ = load_double(digits_, 0);
}

NUDGE_BOTH_PRECISIONS_OF(RefreshClock)

}  // namespace nudge
