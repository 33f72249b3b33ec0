// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nudge {

/// Learning rate over a run: η_max · warmup(k) · shape(k) at step k = 0, 1, ….
///   warmup(k) = min(1, (k + 1)/W)                              with W = warmup_steps; 1 when W = 0
///   constant:  shape = 1
///   cosine:    shape = f + (1 − f)(1 + cos πp)/2,  p = (k − W)/(N − W) in [0, 1], N = steps, f = final_fraction
/// (the half-cosine of Loshchilov & Hutter 2017, arXiv:1608.03983, eq. 5, without restarts).
struct Schedule {
  std::string shape = "cosine";  ///< a name of schedule_names()
  double learning_rate = 3e-3;   ///< η_max ≥ 0
  std::uint64_t steps = 1200;    ///< N ≥ 1: the whole run; the rate stays at its last value afterwards
  std::uint64_t warmup_steps = 50;
  double final_fraction = 0.0;  ///< f in [0, 1]: η_N/η_max of the cosine
};

/// Names of the shapes: constant, cosine.
const std::vector<std::string>& schedule_names();

/// UserError when the shape is unknown or a value outside its range.
void check(const Schedule& schedule);

/// The rate of step k.
double learning_rate_at(const Schedule& schedule, std::uint64_t step);

}  // namespace nudge
