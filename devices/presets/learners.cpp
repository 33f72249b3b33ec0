// SPDX-License-Identifier: Apache-2.0
// Devices whose arrays have learnt on the chip, from the numbers that their groups published with their models.
#include <cmath>

#include "devices/presets.hpp"

namespace nudge {
namespace {

constexpr double siemens = 1e-6;

/// Sum of squares of the coefficients b_k = Π (j − ½)/j of the source's pink noise. Its code has 127 of them (`b_tensor`) and sums
/// over the first `pole` = 15.
double pink_squares() {
  constexpr int pole = 15;
  double b = 1, sum = 1;
  for (int k = 1; k < pole; ++k) {
    b *= (k - 0.5) / k;
    sum += b * b;
  }
  return sum;
}

/// Weak RESET: ln R rises by m1 with every pulse until pulse t*, from R0 on; then 24 times more slowly. A pulse takes the share m1 of
/// the conductance, which is linear in it: g_max f with f = g/g_middle at the middle of the window.
DeviceSpec weak_reset() {
  constexpr double R0_ohm = 6988, R0_spread_ohm = 381.7;
  constexpr double m1_least = 3.7416e-5, m1_scale = 6.5647e-4;  // exponential above the least
  // Log-normal of median 542.5385 and σ = 0.80338, cut off below 41 and above 2000: the median is where Φ has
  // (Φ(ln(41/542.5385)/σ) + Φ(ln(2000/542.5385)/σ))/2 = (0.00065 + 0.94781)/2, 542.5385 exp(−0.06464 σ).
  constexpr double t_star = 515.08;
  constexpr double pink = 2.5e-2;  // of ln R, times uniform numbers
  const double m1 = m1_least + m1_scale;
  DeviceSpec spec;
  spec.model = "linear_step";
  spec.g_max_S = 1 / R0_ohm;
  spec.g_min_S = std::exp(-m1 * t_star) / R0_ohm;
  const double middle_S = 0.5 * (spec.g_min_S + spec.g_max_S);
  const double slope = 0.5 * spec.window_S() / middle_S;
  spec.shape = {{"gamma_up", slope}, {"gamma_down", slope}};
  // A log-normal pulse size of the mean and the standard deviation of m1; `pulses` counts those of the median device.
  spec.step_log_spread = std::sqrt(std::log1p(m1_scale * m1_scale / (m1 * m1)));
  const double median = m1 * std::exp(-0.5 * spec.step_log_spread * spec.step_log_spread);
  spec.pulses = spec.window_S() / (median * middle_S);
  spec.upper_bound_spread = R0_spread_ohm / R0_ohm * spec.g_max_S / (0.5 * spec.window_S());
  spec.programming.write_noise = pink * std::sqrt(pink_squares() / 12) / median;
  spec.update = PulseMode::pulsed;
  return spec;
}

/// A SET pulse writes the conductance that its gate voltage lets through, 100 uS for 1.5 V, with an error of 2 % of 400 uS.
DeviceSpec gate_written() {
  constexpr double per_volt_S = 100 * siemens / 1.5, low_V = 0.5, high_V = 2.5;
  constexpr double error_S = 0.02 * 400 * siemens;
  DeviceSpec spec;
  spec.model = "constant_step";
  spec.g_min_S = low_V * per_volt_S;
  spec.g_max_S = high_V * per_volt_S;
  spec.pulses = 1000;
  spec.programming.write_noise = error_S / spec.window_S() * spec.pulses;
  spec.update = PulseMode::continuous;
  return spec;
}

}  // namespace

std::vector<DevicePreset> learner_presets() {
  return {
      {"hfox_reset",
       "HfOx/Ti filamentary RRAM that learns by single weak RESET pulses",
       "Majumdar et al., IEEE Trans. Electron Devices (2021), arXiv:2107.06064, constants of the authors' code "
       "(Atreya95/"
       "Learning-with-memory-device-imperfections, MIT licence); learnt on the chip: Renaudineau et al., "
       "arXiv:2601.09903",
       "Down pulses are the source's; use them with crossbar.mapping = reset_only. Ours: the window ends at the median "
       "pulse t* where the source's slope falls 24 times; slopes are log-normal with its mean and standard deviation. "
       "Its "
       "pink noise of ln R is taken as write noise, without memory. Not modelled: its telegraph noise, spreads of t* "
       "and "
       "of c1, the change at the first pulse. "
       "That "
       "the devices of both papers are of one kind is our assumption.",
       weak_reset(),
       // The pink noise is in the spec as write noise.
       {Aspect::window, Aspect::curve, Aspect::spread, Aspect::programming, Aspect::slow_noise}},
      {"hfo2_1t1r",
       "HfO2 memristors behind transistors, written by the gate voltage of a SET pulse",
       "Li et al., Nat. Commun. 9:2385 (2018), doi:10.1038/s41467-018-04484-2; constants of the code of Wang et al., "
       "Nat. "
       "Mach. Intell. 1:434 (2019), which trained such an array (zhongruiwang/memristorCNN, MIT licence)",
       "Gate 0.5 to 2.5 V, 1.5 V for 100 uS; every write has an error of 2 % of 400 uS, which the next write replaces. "
       "Measured: 11 % of the devices do not respond (set device.stuck_random = 0.11). Ours: conductance proportional "
       "to "
       "the gate voltage; 1000 steps only name the unit of an update, which is continuous. Known of a pulse "
       "are SET 2.5 V and RESET 1.7 V. Its width is not in the source: it counts as not measured, and its heat is "
       "unknown.",
       gate_written(),
       {Aspect::window, Aspect::curve, Aspect::programming}},
  };
}

}  // namespace nudge
