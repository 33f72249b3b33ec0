// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_watch.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

using FitClock = std::chrono::steady_clock;

double fit_clock_s() { return std::chrono::duration<double>(FitClock::now().time_since_epoch()).count(); }

std::atomic<bool> fit_watched = false;
std::atomic<double> fit_deadline_s = std::numeric_limits<double>::infinity();
std::atomic<int> fit_devices = 0, fit_devices_done = 0;

}  // namespace

FitWatch::FitWatch(double seconds) {
  NUDGE_EXPECT(seconds > 0 && !fit_watched.exchange(true));
  fit_deadline_s = fit_clock_s() + seconds;
}

FitWatch::~FitWatch() {
  fit_deadline_s = std::numeric_limits<double>::infinity();
  fit_watched = false;
}

std::string FitWatch::reached() {
  const int all = fit_devices;
  return all > 1 ? fmt::format("{} of {} devices", fit_devices_done.load(), all) : "";
}

void begin_fit_stage(int devices) {
  fit_devices_done = 0;
  fit_devices = devices;
}

void fit_did_one() { ++fit_devices_done; }

void fit_time_point() {
  const double deadline = fit_deadline_s.load(std::memory_order_relaxed);
  if (std::isfinite(deadline) && fit_clock_s() > deadline) throw FitTimeOver{};
}

}  // namespace nudge
