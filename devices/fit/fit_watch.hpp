// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nudge {

/// Exception of fits whose time is over. It is no std::exception, because a search must not take it for a bad record.
struct FitTimeOver {};

/// Guard: while it lives, fits of pulses throw FitTimeOver after `seconds` (infinity: never), and count what they have done. A
/// process has one at a time.
class FitWatch {
 public:
  explicit FitWatch(double seconds);
  ~FitWatch();
  FitWatch(const FitWatch&) = delete;
  FitWatch& operator=(const FitWatch&) = delete;

  /// Devices that the present stage has done, "37 of 1000 devices"; empty where it has one.
  static std::string reached();
};

/// Begins a stage of `devices` devices; fit_did_one() counts one of them.
void begin_fit_stage(int devices);
void fit_did_one();

/// Throws FitTimeOver if there is a FitWatch whose time is over. A search asks at every turn.
void fit_time_point();

}  // namespace nudge
