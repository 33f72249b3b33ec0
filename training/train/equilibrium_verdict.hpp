// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/equilibrium.hpp"
#include "training/train/train_log.hpp"

namespace nudge {

/// Checks of one kind in a row that end a run: of the first ten steps, unless what keeps a network stable mends it by then.
inline constexpr std::size_t hopeless_checks = 3;

/// The last verdict on the free phases in a run's log, or one of those before it; no verdict where there is none.
Equilibrium logged_verdict(const TrainLog& log, std::size_t before = 0);

/// Logs a verdict that was found in a step.
void log_verdict(std::uint64_t step, const Equilibrium& verdict, TrainLog& log);

}  // namespace nudge
