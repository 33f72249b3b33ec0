// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/crossbar/calibration.hpp"
#include "circuits/crossbar/circuit_map.hpp"
#include "circuits/crossbar/device_pairs.hpp"
#include "circuits/crossbar/read_path.hpp"
#include "circuits/linear_map.hpp"

namespace nudge {

/// Weight matrix held by devices: DevicePairs writes it, ReadPath reads it.
///
/// Reads drive the rows (forward) or the columns (transposed) of the same devices, so both use one effective matrix. The
/// transposed read through the same line ends sees its exact transpose (reciprocity). The two directions differ in the
/// circuits that drive and sense the lines (PortSpec) and, if asked for, in the line ends that are used.
template <class S>
class Crossbar final : public LinearMap<S> {
 public:
  /// Makes and programs the devices as DevicePairs does. UserError for an invalid spec, a weight that is not finite, or an
  /// array beyond this machine's memory.
  Crossbar(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id, std::uint64_t seed);

  void read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
            ReadContext& context) const override;
  void derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> out,
                  Columns columns, Store store, ReadContext& context) const override;
  void correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale, int parameter,
                 GradientSink<S>& sink, const ReadContext& context) const override;
  /// Traits, with the heat k V² τ, V the read voltage.
  MapTraits<S> traits() const override;
  std::unique_ptr<LinearMap<double>> noise_free() const override;
  /// Branch of a noise-free circuit that stands for this array (noise_free()).
  CircuitMap::Branch branch(double gain) const;
  void apply(const WeightUpdate<S>& update) override;
  void program(const Matrix<S>& target) override;
  void advance_time(const Elapsed& time, std::uint64_t step) override;
  const Matrix<S>& weights() const override { return pairs_.weights(); }
  std::vector<StateArray<S>> state() override { return pairs_.state(); }
  void state_restored() override;
  /// Readings of DevicePairs, and the power of the array.
  std::vector<MapReading> readings() const override;

  // Of DevicePairs, for update rules.
  S weight_per_pulse() const { return pairs_.weight_per_pulse(); }
  void pulse(const Matrix<S>& counts);
  Matrix<S> read_weights(const std::vector<Index>& which) { return pairs_.read_weights(which); }
  Index refresh_pairs(double high, double low);

  /// Scale k: siemens per unit of weight.
  S siemens_per_weight() const { return pairs_.siemens_per_weight(); }
  /// Largest weight of the window.
  S w_max() const { return pairs_.w_max(); }
  /// Counts of reads, failures and programmings since construction.
  const WriteCounts& writes() const { return pairs_.writes(); }
  /// Mark of the pulses sent so far; count_as_programming() counts those sent since as programming: an array needs them before it can learn.
  WriteMark mark() const { return pairs_.mark(); }
  void count_as_programming(const WriteMark& since) { pairs_.count_as_programming(since); }
  /// Count of pulses sent to both arrays since construction.
  PulseCount pulses() const { return pairs_.pulses(); }
  const DeviceArray<S>& plus() const { return pairs_.plus(); }
  /// Second array: negative devices (N, M), reference devices (N, 1), or none (N, 0).
  const DeviceArray<S>& minus() const { return pairs_.minus(); }
  const LineView<S>& view() const { return pairs_.view(); }

 private:
  bool curved() const { return !path_.linear() || view().backward.size() > 0; }
  void renew_view();

  DevicePairs<S> pairs_;
  ReadPath<S> path_;
  LoadTrim<S> trim_;
};

}  // namespace nudge
