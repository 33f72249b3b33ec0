// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "devices/device_spec.hpp"
#include "devices/memristor/memristor.hpp"

namespace nudge {

/// See devices/models/vteam.cpp.
struct Vteam final : Memristor {
  double threshold_up_V = 0, threshold_down_V = 0;
  double k_up_Hz = 0, k_down_Hz = 0;
  double alpha_up = 0, alpha_down = 0;
  double window = 0;
  double r_on_ohm = 0, r_off_ohm = 0;

  double rate(double x, double volts) const override;
  double current(double x, double volts) const override;
};

/// See devices/models/yakopcic.cpp.
struct Yakopcic final : Memristor {
  double a1_A = 0, a2_A = 0, b = 0;
  double threshold_up_V = 0, threshold_down_V = 0;
  double A_up = 0, A_down = 0;
  double x_up = 0, x_down = 0;
  double alpha_up = 0, alpha_down = 0;

  double rate(double x, double volts) const override;
  double current(double x, double volts) const override;
};

Vteam vteam_of(const DeviceSpec& spec);
Yakopcic yakopcic_of(const DeviceSpec& spec);

}  // namespace nudge
