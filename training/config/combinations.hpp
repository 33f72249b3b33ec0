// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace nudge {

/// Values of a point, one per axis, as settings ("device.read_noise=1 %").
using Combination = std::vector<std::string>;

/// Makes every combination; the last axis varies fastest.
std::vector<Combination> all_combinations(const std::vector<GridAxis>& axes);

/// Combinations of the axes by sweep.mode:
///   grid           every combination;
///   one_at_a_time  the config as it is, then every other value of every axis alone;
///   zip            the first values of all axes, then the second ones, … (axes of one length);
///   sobol, random  sweep.samples places. Two numbers are the ends of a range (evenly, or evenly in the logarithm where
///                  sweep.logarithmic names the key), integers included in it; more numbers, or texts, are drawn from. sobol: the
///                  sequence of Sobol' in the directions of Joe & Kuo (SIAM J. Sci. Comput. 30 (2008) 2635) by
///                  Boost.Random; random: independent, a function of `seed`. Real numbers have six digits, so that every
///                  machine draws the same. More samples keep those that are there. A place that is drawn again, of integers or
///                  texts, stands once: its run would be the same.
/// The axes must have passed check_mode_axes().
std::vector<Combination> mode_combinations(const Config& base, const std::vector<GridAxis>& axes);

/// Throws UserError if sweep.mode cannot walk sweep.grid: axes of different lengths, a range without width, a logarithm of
/// 0 or less, sweep.logarithmic without effect. Every config is checked when it is read.
void check_mode_axes(const Config& base);

/// Throws UserError with a line for every axis of sweep.grid and compare.grid that lists a value twice, in whatever spelling: both make
/// the same runs. sweep.mode = zip takes the axes in step: there a place, of one value of each, may not stand twice.
void expect_no_grid_repeats(const Config& config);

}  // namespace nudge
