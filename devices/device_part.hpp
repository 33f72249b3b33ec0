// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "devices/device_cells.hpp"
#include "devices/device_draws.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Permission to gather time. With `allowed` an effect may wait until enough time has come together for a step well
/// above rounding. This spares work when time comes in small pieces. With `none` it applies all time at once.
enum class Gathering { allowed, none };

/// A named array of a part's state, for checkpoints.
template <class S>
struct SlowArray {
  std::string name;
  std::string unit;
  std::string description;
  Matrix<S>* values;
};

/// A double as three numbers of type S whose sum it is exactly: how times are kept in checkpoints of float arrays.
template <class S>
void store_double(double value, Index row, Matrix<S>& image) {
  for (Index part = 0; part < 3; ++part) {
    image(row, part) = static_cast<S>(value);
    value -= static_cast<double>(image(row, part));
  }
}

template <class S>
double load_double(const Matrix<S>& image, Index row) {
  return static_cast<double>(image(row, 0)) + (static_cast<double>(image(row, 1)) + static_cast<double>(image(row, 2)));
}

/// Time that comes in pieces and is applied once enough has gathered.
template <class S>
class GatheredTime {
 public:
  double seconds() const { return seconds_; }
  /// Adds a piece; true where all is to be applied now, after which applied() is called: at `needed_s`, or at once.
  bool add(double piece_s, Gathering gathering, double needed_s) {
    seconds_ += piece_s;
    return seconds_ > 0 && (gathering == Gathering::none || seconds_ >= needed_s);
  }
  void applied() { seconds_ = 0; }
  /// Its image in checkpoints, three numbers in a row.
  SlowArray<S> state(const std::string& name, const std::string& whose) {
    store_double(seconds_, 0, image_);
    return {name, "s", "time not yet applied to " + whose + ": the sum of the three", &image_};
  }
  void restored() { seconds_ = load_double(image_, 0); }

 private:
  double seconds_ = 0;
  Matrix<S> image_ = Matrix<S>::Zero(1, 3);
};

/// Site of an array of devices: its size, and the identity of its random numbers.
struct ArraySite {
  Index rows = 0, cols = 0;
  ArrayIdentity identity = {};
  int threads = 1;
  const Matrix<double>* stuck_S = nullptr;  ///< while parts are made: conductances of devices that are stuck; NaN: free

  /// One standard normal or uniform number per device. `part` tells draws of the same purpose and step apart. Parts outside nudge take 21
  /// to 26, which no part of nudge takes for writes and for Purpose::drift.
  template <class S>
  Matrix<S> normal(Purpose purpose, std::uint64_t step, std::uint32_t part = 0) const {
    return draw_normal<S>(identity, purpose, step, rows, cols, threads, part);
  }
  template <class S>
  Matrix<S> normal(StaticDraw which) const {
    return normal<S>(Purpose::device_to_device, static_cast<std::uint64_t>(which));
  }
  Matrix<double> uniform(Purpose purpose, std::uint64_t step, std::uint32_t part = 0) const {
    return draw_uniform(identity, purpose, step, rows, cols, threads, part);
  }
  Matrix<double> uniform(StaticDraw which) const {
    return uniform(Purpose::device_to_device, static_cast<std::uint64_t>(which));
  }
};

/// A write of an array that is done: its name among the random numbers, and the conductances before it.
template <class S>
struct DeviceWrite {
  Purpose purpose;            ///< programming_error: programmed; update_noise: by pulses
  std::uint64_t number;       ///< of the write
  const Matrix<S>& before_S;  ///< NaN everywhere where it was programmed

  bool programmed() const { return purpose == Purpose::programming_error; }
  bool moved(const DeviceCells<S>& cells, Index i) const { return cells.g.data()[i] != before_S.data()[i]; }
};

/// Slow noise that goes on within a relaxation: independent Ornstein–Uhlenbeck processes with the time constants times_s, each of this
/// variance of each device.
template <class S>
struct MovingDevices {
  std::vector<double> times_s;
  Matrix<S> variance_S2;
};

enum class Passed { unchanged, seen, stored };  ///< changes by the passing of time: less than the next one

/// Part of a kind of device besides its answer to pulses: state, the effects of writes and time on it, and noise. DeviceArray holds the parts
/// of its devices without knowing which. It calls them in this order of a step, once per array. Every hook has a default that does nothing.
/// State that a pulse depends on, or that a model declares (DeviceModel::states), is in DeviceCells::own.
template <class S>
class DevicePart {
 public:
  virtual ~DevicePart() = default;

  /// 1. A write is done. Called only where follows_writes().
  virtual void written(DeviceCells<S>& /*cells*/, const DeviceWrite<S>& /*write*/) {}
  virtual bool follows_writes() const { return false; }
  /// 2. Time passes without pulses; no two calls on one array share `step`.
  virtual Passed wait(DeviceCells<S>& /*cells*/, double /*seconds*/, std::uint64_t /*step*/, Gathering /*gathering*/) {
    return Passed::unchanged;
  }
  /// Beside it, reads: the read voltage stands across the cells for so long, in which they wait too.
  virtual Passed read(DeviceCells<S>& /*cells*/, double /*seconds*/, Gathering /*gathering*/) {
    return Passed::unchanged;
  }
  /// 3. After a write, a wait or reads: devices that do not move are put back.
  virtual void hold(DeviceCells<S>& /*cells*/) {}
  /// 4. Adds the share `relative` and the siemens that a read sees besides the stored conductance. Processes that are correlated for less
  /// than split_s are left to moving(). Called only where shows().
  virtual void show(const DeviceCells<S>& /*cells*/, double /*split_s*/, Matrix<S>& /*relative*/,
                    Matrix<S>& /*offset_S*/) const {}
  virtual bool shows() const { return false; }
  virtual void append_moving(const DeviceCells<S>& /*cells*/, double /*split_s*/,
                             std::vector<MovingDevices<S>>& /*out*/) const {}
  /// 5. Adds each device's variance of the fresh noise of a read per √τ, S², beside the noise of DeviceSpec. Called only where
  /// reads_noisy().
  virtual void add_read_variance(const DeviceCells<S>& /*cells*/, Matrix<double>& /*variance_S2*/) const {}
  virtual bool reads_noisy() const { return false; }
  /// 6. Arrays of the part, for checkpoints. Call restored() after they have been changed.
  virtual std::vector<SlowArray<S>> state() { return {}; }
  virtual void restored(DeviceCells<S>& /*cells*/) {}
};

/// Maker of the part of an array, in both precisions; null: devices of this spec have none.
struct DevicePartKind {
  template <class S>
  using Make = std::unique_ptr<DevicePart<S>> (*)(const DeviceSpec& spec, const ArraySite& site, DeviceCells<S>& cells);
  Make<float> in_float;
  Make<double> in_double;

  template <class S>
  std::unique_ptr<DevicePart<S>> make(const DeviceSpec& spec, const ArraySite& site, DeviceCells<S>& cells) const {
    if constexpr (std::is_same_v<S, float>) {
      return in_float(spec, site, cells);
    } else {
      return in_double(spec, site, cells);
    }
  }
};

/// The kind of Part<S>, a class with `static bool wanted(spec, site)` and a constructor (spec, site, cells).
template <template <class> class Part>
DevicePartKind part_kind() {
  const auto make = []<class S>(const DeviceSpec& spec, const ArraySite& site,
                                DeviceCells<S>& cells) -> std::unique_ptr<DevicePart<S>> {
    if (!Part<S>::wanted(spec, site)) return nullptr;
    return std::make_unique<Part<S>>(spec, site, cells);
  };
  return {make, make};
}

/// Parts that any model can have, in the order in which they are called. The keys of [device] switch them on.
const std::vector<DevicePartKind>& device_parts();

}  // namespace nudge
