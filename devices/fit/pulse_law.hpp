// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "devices/fit/pulse_csv.hpp"
#include "devices/memristor/memristor.hpp"
#include "devices/registry.hpp"
#include "devices/step_kernel.hpp"

namespace nudge {

/// End of a pulse for a device whose noise is known, as a normal distribution.
struct PulseEnd {
  double mean = 0, variance = 0;
};

/// Mean and variance of min(max(m + s ξ, lower), upper), ξ standard normal: the end of a noisy pulse when the device's bounds
/// stop it (censored normal; Tobin, Econometrica 26:24 (1958)).
inline PulseEnd clipped_normal(double m, double s, double lower, double upper) {
  constexpr double nowhere_near = 6;  // deviations: a tail of 1e-9
  if (std::min(upper - m, m - lower) > nowhere_near * s) return {m, s * s};
  if (!(s > 0)) return {std::clamp(m, lower, upper), 0};
  const auto density = [](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); };
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  const double a = (lower - m) / s, b = (upper - m) / s;
  const double at_a = below(a), at_b = below(-b), phi_a = density(a), phi_b = density(b);
  const double first = a * at_a + b * at_b + phi_a - phi_b;
  const double second = a * a * at_a + b * b * at_b + (1 - at_a - at_b) + a * phi_a - b * phi_b;
  return {m + s * first, s * s * std::max(second - first * first, 0.0)};
}

/// Straight line a + b g.
struct PlaceLine {
  double a = 0, b = 1;
};

/// Law of the pulses and of the leak of a record for a device without noise, from three places at once. Pulses have the model's own size. If the model
/// has volts (memristor_of()) and the record too, dx/dt = f(x, V) is followed over the width of each pulse by Runge–Kutta of fourth
/// order. A step changes the state by at most 5 %, so that it is right to 1e-7 of the window where the speed changes e-fold across it.
class PulseLaw {
 public:
  using Places = std::array<double, 3>;

  /// Law of the mean device of a spec, which must be valid. Its model moves single devices (SingleSteps) or has volts.
  explicit PulseLaw(const DeviceSpec& spec) : PulseLaw(spec, device_model(spec.model)) {}
  /// Law of a spec whose model was looked up before: device_model(spec.model).
  PulseLaw(const DeviceSpec& spec, const DeviceModel& model);

  double lower_S() const { return lower_S_; }
  double upper_S() const { return upper_S_; }

  /// Moves the places by pulse i of the record (i ≥ 1); they must lie within the bounds.
  void move(const PulseRecord& record, std::size_t i, Places& places) const;

  /// Leak of so many seconds, g_r + (g − g_r) exp(−Δt/T), as a line of the place.
  PlaceLine leak(double seconds) const;
  /// Moves the places by the pause before pulse i, then by the pulse.
  void follow(const PulseRecord& record, std::size_t i, Places& places) const;
  /// End of a pulse within the bounds as a line of the place before it, of a model whose pulses are straight all over the window.
  std::optional<PlaceLine> line(Direction direction) const;
  /// True if noise of pulses reaches the bounds, which stop it: it does not shrink with the pulse.
  bool clips_noise() const { return clips_noise_; }
  /// True if pulses in this direction are not zero at their bound, which stops them. Those of soft bounds are.
  bool cuts_pulses(Direction direction) const;

  /// Mean and variance of the end of pulse i, which takes a device from one place to another without noise, for device.update_noise =
  /// sigma and device.update_noise_floor = floor. The noise is sigma of the move and floor of the pulse at the reference, squares summed. With
  /// has_constant_noise() sigma is of that pulse too. The bounds stop it.
  PulseEnd ends(const PulseRecord& record, std::size_t i, double from, double to, double sigma, double floor) const {
    if (!clips_noise_) return {to, sigma * sigma * (to - from) * (to - from)};
    const double step = (record.direction[i] == Direction::up ? up_ : down_).step;
    const double noise = std::hypot(sigma * (constant_noise_ ? step : to - from), floor * step);
    return clipped_ends(record.direction[i], from, to, noise);
  }

 private:
  /// Mean change along the direction from a place within the bounds; absent where it is not straight.
  std::optional<double> straight_change(Direction direction, double along_S) const;
  void move_by_volts(double volts, double width_s, Places& places) const;
  PulseEnd clipped_ends(Direction direction, double from, double to, double noise_S) const;
  double pulse_at_bound_S(Direction direction) const;

  double lower_S_, upper_S_;
  double up_at_upper_S_ = 0,
         down_at_lower_S_ = 0;  ///< with clips_noise(): size of a noise-free pulse at the bound to which it leads
  bool constant_noise_, clips_noise_;
  std::unique_ptr<Memristor> memristor_;
  StateScale scale_ = StateScale::conductance;
  // The model itself: an array of it would look for faults, heat and drift at every pulse.
  std::unique_ptr<StepModel> model_;
  const SingleSteps* steps_ = nullptr;  ///< of model_
  Element<double> up_{}, down_{};       ///< device seen along its pulses
  std::vector<StraightCell> straight_up_, straight_down_;
  double leak_time_s_ = 0, rest_S_ = 0;  ///< 0 s: no leak
};

/// True if a model has volts and widths of its pulses, which records of several amplitudes determine.
bool has_volts(const std::string& model);

/// True if a model's noise of pulses is a share of the pulse at the reference, not of each pulse's own size.
bool has_constant_noise(const std::string& model);

/// Replay of a whole record: the conductance after every pulse, from `first` on, without noise.
std::vector<double> replay(const DeviceSpec& spec, const PulseRecord& record, double first);

/// Replay of a whole record from the start that leaves the least squares; a measured start has noise of reads.
std::vector<double> replay(const DeviceSpec& spec, const PulseRecord& record);

}  // namespace nudge
