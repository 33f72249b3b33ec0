// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "training/config/run_parts.hpp"

namespace nudge {

/// Part of a circuit, and the errors that remain if it alone is ideal.
struct ErrorPart {
  std::string name;
  double cosine =
      std::numeric_limits<double>::quiet_NaN();  ///< cosine of the gradient without the part with its own exact
                                                 ///< gradient on the first batch
  double noise_share =
      0;  ///< 1 − s²/s₀²: share of the variance s₀² of the nudged states that goes with the part; 0: none
};

/// Gradient of a run before its first step, beside the exact gradient of the simulated circuit. It comes from a short gradcheck on the
/// first batch, with the run's estimator, noise, offsets, poles, phases and nudge.
struct GradientForecast {
  /// Cosine over all parameters of the equilibrium as one vector; NaN: not known, the phases do not settle.
  double cosine = std::numeric_limits<double>::quiet_NaN();
  double first = std::numeric_limits<double>::quiet_NaN();  ///< cosine of the first batch, which parts compare with
  double noise_V = 0;   ///< standard deviation of the nudged states, root mean square; 0: none
  int batches = 1;      ///< number of batches that the cosine is the mean of
  double steps = 0;     ///< cost without its parts, in training steps; 0: not known
  bool looked = false;  ///< its parts were looked at
  /// Parts whose absence raises the cosine or lowers the noise, the largest rise first; empty: they were not looked at.
  std::vector<ErrorPart> parts = {};
};

/// Limit on the cost of the look at the parts of a circuit. Beyond either number it is left out.
struct LookAt {
  double steps = 0;     ///< steps of training, for all parts together
  double products = 0;  ///< products of a weight and a state, for one gradient of the run
  int longest = 4;      ///< most steps of the exact free phase, as a multiple of the run's
  static const LookAt whole, quick_parts, parts;
  /// Limit of a run: a twentieth of its steps.
  static LookAt of_run(const Config& config);
};
inline const LookAt LookAt::whole{};
inline const LookAt LookAt::quick_parts{0, 2e9, 64};  // some tenths of a second each
inline const LookAt LookAt::parts{std::numeric_limits<double>::infinity(), 0, 64};

/// True if the run has a forecast: it learns all by an estimator that nudges a circuit on devices, or by a program's
/// own.
bool is_forecast(const Config& config);

/// True if a run with a forecast is long enough for one: it costs at most a twentieth of the run.
bool begins_with_forecast(const Config& config);
/// Says that a run is too short for one, and what makes it; empty: it begins with one, or has none at any length.
std::string no_forecast_text(const Config& config);
/// Warning text of a run for the forecast that it began with; empty: nothing is wrong with it.
std::string forecast_warning(const Config& config, const GradientForecast& forecast);

/// Measures the forecast of a config whose open settings are chosen (chosen_circuit, with_nudge). The network is made as the run makes
/// it, with its devices and random numbers. The exact gradient belongs to a free phase of at most `longest` times the steps in double, with
/// the adjoint solved for (exact_gradient). Below 0.9 the cosine of a batch scatters by 0.1 to 0.2. The mean of up to four batches is
/// taken there, as many as `what` may cost, and of all four before a run is refused. The parts are measured one by one. Every part of the
/// circuit that is not ideal gets its keys' defaults, one gradient and one exact gradient.
GradientForecast forecast_gradient(const Config& config, const RunParts& run, LookAt what);

/// The config with phases of so many times the steps; nothing where a step more changes nothing.
std::optional<Config> longer(const Config& config, int times);

/// Cosine of the gradient of the first batch with the exact one, both as in forecast_gradient(); NaN where it is not known.
double first_cosine(const Config& config, const RunParts& run);

/// Text such as "the gradient of the first batch has a cosine of 0.62 with the exact one; without offsets of amplifiers
/// it is 0.98".
std::string forecast_text(const GradientForecast& forecast);

inline constexpr const char* noise_text_begins = "noise of the nudged nodes: ";
/// Beginning of the event of a run too short for a forecast.
inline constexpr const char* no_forecast_begins = "no forecast of the gradient's cosine: ";

/// Text such as "noise of the nudged nodes: 245 uV; its variance falls by 69 % without converter of the states, ...". Empty without noise,
/// or if parts were not looked at. The falls need not add up: other noise that moves a state makes the rounding of a converter less noisy.
std::string noise_text(const GradientForecast& forecast);

/// Throws UserError if the cosine is below 0.1, unless nudge.below_noise allows it or is no key of the estimator. In small networks a gradient of noise
/// alone has a higher cosine by chance. check_nudge() therefore refuses by the signal-to-noise ratio, for any seed.
void check_forecast(const Config& config, const GradientForecast& forecast);

/// Cosine below which a run warns: √(1 − 0.9²) = 0.44 of the gradient is error.
inline constexpr double fair_cosine = 0.9;
/// True if the cosine is known and below fair_cosine.
bool warns(const GradientForecast& forecast);

}  // namespace nudge
