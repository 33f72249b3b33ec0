// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "devices/registry.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Value of device.model for devices whose code is in a program that uses nudge as a library.
inline constexpr const char* own_device_name = "own";

/// Law of a program's own devices, as functions of their conductances g (S) and their own states, in the order and units of
/// states(). All are (1, n), one number per device. Called by one thread at a time. The functions may change the states; a
/// conductance beyond its bounds is cut.
class OwnDeviceLaw {
 public:
  using States = std::vector<Matrix<double>>;

  virtual ~OwnDeviceLaw() = default;
  virtual std::vector<CellState> states() const = 0;
  /// Conductances after `pulses` pulses of each device, < 0: down. These are as many as were asked for, or whole numbers (device.update).
  virtual Matrix<double> pulsed(const Matrix<double>& g, const Matrix<double>& pulses, States& own) = 0;
  /// Behaviour without pulses: waited() gives g after `seconds` at this temperature, called once least_wait_s() have come together.
  virtual bool waits() const = 0;
  virtual double least_wait_s() const = 0;
  virtual Matrix<double> waited(const Matrix<double>& g, double seconds, double temperature_K, States& own) = 0;
  /// Reads: disturbed() gives g after the read voltage has stood across each device for `seconds`, called as waited() is.
  virtual bool disturbs() const { return false; }
  virtual Matrix<double> disturbed(const Matrix<double>& g, double /*seconds*/, States& /*own*/) { return g; }
  /// Noise of reads: standard deviation of the fresh noise of a read per √τ, S, beside the noise of [device].
  virtual bool reads_noisy() const = 0;
  virtual Matrix<double> read_noise_S(const Matrix<double>& g, States own) = 0;
  /// A chip outside the program owns its conductances. held() then gives those that array `array` (2 · its number + 0 or 1, its side of a
  /// pair) has now: when it is made, and after every write and wait. restored() gives them after a checkpoint with g was read. Both may be
  /// beyond the bounds.
  virtual bool outside() const { return false; }
  virtual Matrix<double> held(std::uint32_t /*array*/, const Matrix<double>& g, States& /*own*/) { return g; }
  virtual Matrix<double> restored(std::uint32_t /*array*/, const Matrix<double>& g, States& /*own*/) { return g; }
};

/// Lends the law of device.model = own to arrays that are made while this lives. One at a time: std::logic_error for a second.
class LentDevice {
 public:
  explicit LentDevice(std::shared_ptr<OwnDeviceLaw> law);
  ~LentDevice();
  LentDevice(const LentDevice&) = delete;
  LentDevice& operator=(const LentDevice&) = delete;
};

/// Model named own_device_name. Its make() is a UserError where no law is lent.
const DeviceModel& own_device_model();

}  // namespace nudge
