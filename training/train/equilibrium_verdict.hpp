// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/equilibrium.hpp"
#include "training/train/train_log.hpp"

namespace nudge {

/// Number of failed checks in a row that end a run. Hooks for stability may mend it before.
inline constexpr std::size_t hopeless_checks = 3;

/// True for the first ten steps by fives, every 200th step and the last of a run: those whose free phases are judged.
bool is_judged(std::uint64_t step, std::uint64_t steps);

/// True if the last verdict of a log failed and is due to be repeated.
bool is_doubted(std::uint64_t step, const TrainLog& log);

/// The last verdict on the free phases in a run's log, or one of those before it; no verdict where there is none.
Equilibrium logged_verdict(const TrainLog& log, std::size_t before = 0);

/// Logs a verdict that was found in a step.
void log_verdict(std::uint64_t step, const Equilibrium& verdict, TrainLog& log);

}  // namespace nudge
