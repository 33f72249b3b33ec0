// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "circuits/crossbar/calibration.hpp"
#include "circuits/crossbar/circuit_map.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/crossbar/mapping.hpp"
#include "circuits/linear_map.hpp"
#include "circuits/programming/write_devices.hpp"
#include "devices/device_array.hpp"

namespace nudge {

/// Weights held by devices, w = (G − compared)/k, programmed around the middle of the window: the writing side of a crossbar.
/// The Mapping says what G is compared with. It may be a second array of devices (pairs: G^± = (g_min + g_max)/2 ± k w/2, k =
/// (g_max − g_min)/w_max, updates split evenly), one reference device per row, or nothing (k half as large). `plus` is the
/// first array, `minus` the second: (N, M), (N, 1) or (N, 0).
///
/// Every change goes through the step model of its devices. Wire resistance enters through the effective matrix of each tile,
/// computed anew whenever conductances change; a reference column has row drivers of its own.
template <class S>
class DevicePairs {
 public:
  /// Programs the weights (inputs, outputs). `id` numbers the array within the model, `seed` is the seed of the run: together
  /// they determine the random numbers of its devices. UserError for a weight that is not finite.
  DevicePairs(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id, std::uint64_t seed);

  void program(const Matrix<S>& target);
  /// Mark of the pulses sent so far. count_as_programming() counts those sent since as programming: an array needs them
  /// before it can learn (Tiki-Taka's A₀).
  WriteMark mark() const;
  void count_as_programming(const WriteMark& since);
  /// Asks for W ← W + delta: by pulses of nominal size, or through the digital copy and then the devices (write_verify).
  void update(const Matrix<S>& delta);
  /// Moves W ← W − rate Σ of the factors by stochastic coincidence pulse trains; both devices of a pair share the lines and
  /// move in opposite directions.
  void coincide(std::span<const FactorPair<S>> factors, S rate);

  // What update rules ask for (circuits/rules).
  /// Change q of a weight by one pulse of nominal size, of either device of a pair.
  S weight_per_pulse() const {
    return plus_.cells().mean_step /
           (mapping_->steps(scale_(0, 0)).first * static_cast<S>(scale_of_cells_.devices_per_cell()));
  }
  /// Sends |counts| whole pulses to every device, to either device of a pair in opposite directions; counts > 0 raise the weight.
  void pulse(const Matrix<S>& counts);
  /// Reads the devices at the flat places once, with the noise of a verify read: (1, which.size()), in units of weight,
  /// without subtracting what single devices are compared with.
  Matrix<S> read_weights(const std::vector<Index>& which);
  /// Reads both devices of all pairs and refreshes pairs of which one has gone beyond `high` of the window and the other beyond `low`, from
  /// where they began. It writes the other to the beginning, and the first so that the pair holds the weight that was read. Returns the
  /// pairs written.
  Index refresh_pairs(double high, double low);

  /// Lets time pass for the devices (DeviceArray::advance_time); they are written anew at the interval of crossbar.refresh.
  bool advance_time(const Elapsed& time, std::uint64_t step);

  /// Weights as the lines see them, wires included.
  const Matrix<S>& weights() const { return view_.weights; }
  const LineView<S>& view() const { return view_; }
  /// Present devices and their wires; none if the wires are ideal.
  std::optional<WiredDevices> behind_wires() const;
  const Mapping<S>& mapping() const { return *mapping_; }
  /// Largest weight of the window.
  S w_max() const {
    return static_cast<S>(mapping_->reach_S(scale_of_cells_.low_S(), scale_of_cells_.high_S())) / scale_(0, 0);
  }
  /// Least weight of the window: −w_max but for bare devices.
  S least_weight() const {
    return static_cast<S>(
        mapping_->least(scale_of_cells_.low_S(), scale_of_cells_.high_S(), static_cast<double>(w_max())));
  }
  /// Scale k of reads, siemens per unit of weight: the scale of writes over the gain of the calibration.
  S siemens_per_weight() const { return scale_(0, 0) / calibration_.gain(); }
  /// True if updates come as factor pairs (coincidence pulse trains).
  bool takes_factors() const { return spec_.programming.update == UpdateScheme::coincidence; }
  /// True if the devices are programmed and then left alone, whatever training asks for.
  bool frozen() const { return spec_.programming.update == UpdateScheme::none; }
  PulseCount pulses() const { return writes_.pulses; }
  const WriteCounts& writes() const { return writes_; }
  const DeviceArray<S>& plus() const { return plus_; }
  const DeviceArray<S>& minus() const { return minus_; }

  std::vector<StateArray<S>> state();
  void state_restored();
  std::vector<MapReading> readings() const;

 private:
  void check_target(const Matrix<S>& target) const;
  void choose_scale(const Matrix<S>& target);
  void write(const Matrix<S>& target);
  S middle() const { return static_cast<S>(mapping_->rest_S(scale_of_cells_.low_S(), scale_of_cells_.high_S())); }
  Matrix<S> read_devices(const DeviceArray<S>& array, const std::vector<Index>& which);
  void move_one_way(const Matrix<S>& delta);
  void write_places(DeviceArray<S>& array, const std::vector<Index>& which, const std::vector<S>& target,
                    WriteReport& report);
  void rewrite(const Matrix<S>& delta);
  void send(const Matrix<S>& up, const Matrix<S>& down);
  void record(const WriteReport& report);
  void append_write_readings(std::vector<MapReading>& all) const;
  enum class Since { write, wait };
  void refresh(Since since = Since::write);
  /// Present response to the calibration inputs, with the noise of a verify read.
  Matrix<S> calibration_response();
  void refresh_view();
  void refresh_variance();
  void refresh_moving();

  CrossbarSpec spec_;
  CellScale scale_of_cells_;
  std::unique_ptr<const Mapping<S>> mapping_;
  std::uint32_t id_;
  DeviceArray<S> plus_;
  DeviceArray<S> minus_;
  LineView<S> view_;
  Matrix<S> scale_;        ///< (1, 1), a matrix so that it can be checkpointed
  Matrix<S> up_, down_;    ///< counts of coincidences, working memory
  Matrix<S> counters_;     ///< image of the counters below for checkpoints
  Matrix<S> write_error_;  ///< (1, 2): mean and rms of the last write, of the window
  ShadowWeights<S> shadow_;
  GainCalibration<S> calibration_;
  RefreshClock<S> refresh_clock_;
  WriteCounts writes_;
};

}  // namespace nudge
