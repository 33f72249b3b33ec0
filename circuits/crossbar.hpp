// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/converter.hpp"
#include "circuits/linear_map.hpp"
#include "circuits/wires/tiled_array.hpp"
#include "devices/device_array.hpp"

namespace nudge {

/// What program() does with the scale between weights and conductances.
enum class ScalePolicy {
  keep,   ///< the scale of construction stays: weights beyond w_max are clipped by the devices
  renew,  ///< every programming chooses w_max = headroom · max|W| anew
};

/// One crossbar of differential pairs.
struct CrossbarSpec {
  DeviceSpec device;
  double headroom = 2;  ///< w_max over the largest |weight| at construction: room to learn; ≥ 1
  double w_max = 0;     ///< largest weight the pair can hold; 0: headroom · max|W| (1 when all weights are 0)
  ScalePolicy scale = ScalePolicy::keep;
  WireSpec wires = {};                ///< of both arrays of the pair; all zero: ideal
  TileSpec tiles = {};                ///< how large arrays are cut
  ConverterSpec dac = {};             ///< what drives the lines, rows and columns alike
  ConverterSpec adc = {};             ///< what reads columns in a forward read
  ConverterSpec adc_transposed = {};  ///< what reads rows in a transposed read
  int threads = 1;                    ///< for programming and updates; reads belong to the thread that calls them

  /// Throws UserError naming the field, its value and the rule.
  void validate() const;
};

/// Weights as differential pairs of devices, w = (G⁺ − G⁻)/k with k = (g_max − g_min)/w_max siemens per unit of weight,
/// programmed around the middle of the window: G^± = (g_min + g_max)/2 ± k w/2.
///
/// Reads drive the rows (forward) or the columns (transposed) of the same devices, so both use one effective matrix. Fresh
/// noise: every conductance fluctuates with standard deviation σ = read_noise (g_max − g_min)/√interval in each read and
/// each row of x, independently. The output then gains exactly N(0, 2 σ²/k² Σ_i x_i²), independent between outputs,
/// which is drawn there: one number per output, not per device. Wire resistance
/// enters through the effective matrix of each tile, computed anew whenever conductances change; the transposed read
/// through the same line ends sees its exact transpose (reciprocity). Drives pass a
/// DAC and outputs, noise included, an ADC of their direction; ideal converters cost nothing.
///
/// Updates are split evenly, G⁺ by +k δ/2 and G⁻ by −k δ/2, each through the step model of its devices.
template <class S>
class Crossbar final : public LinearMap<S> {
 public:
  /// Programs the weights (inputs, outputs). `id` numbers the array within the model, `seed` is that of the run: together
  /// they name its devices. UserError for an invalid spec or a weight that is not finite.
  Crossbar(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id, std::uint64_t seed);

  Index inputs() const override { return weights_.rows(); }
  Index outputs() const override { return weights_.cols(); }

  void forward(ConstMatrixRef<S> x, MatrixRef<S> y, Columns columns, Store store, ReadContext& read) const override;
  void transposed(ConstMatrixRef<S> y, MatrixRef<S> x, Columns columns, Store store, ReadContext& read) const override;
  void accumulate(ConstMatrixRef<S> x, ConstMatrixRef<S> y, Columns columns, S scale,
                  Matrix<S>& gradient) const override;
  void apply_update(const Matrix<S>& delta, std::uint64_t step) override;
  void program(const Matrix<S>& target) override;
  const Matrix<S>& weights() const override { return weights_; }
  std::vector<StateArray<S>> state() override;
  void state_restored() override;
  /// Pulses sent, mean conductance, and the share of devices within 1 % of the window of a bound (saturated).
  std::vector<MapReading> readings() const override;

  /// Siemens per unit of weight.
  S siemens_per_weight() const { return scale_(0, 0); }
  /// The largest weight of the window.
  S w_max() const { return static_cast<S>(spec_.device.window_S()) / scale_(0, 0); }
  /// Pulses sent to both arrays since construction.
  PulseCount pulses() const { return pulses_; }
  const DeviceArray<S>& plus() const { return plus_; }
  const DeviceArray<S>& minus() const { return minus_; }

 private:
  void check_target(const Matrix<S>& target) const;
  void choose_scale(const Matrix<S>& target);
  void write(const Matrix<S>& target);
  void refresh();
  /// One read in either direction: \`product\` gives the ideal output of a drive.
  template <class Product>
  void convert_and_read(ConstMatrixRef<S> drive, MatrixRef<S> out, const ConverterSpec& adc, Store store,
                        ReadContext& read, Product product) const;
  void add_noise(ConstMatrixRef<S> drive, MatrixRef<S> out, ReadContext& read) const;

  CrossbarSpec spec_;
  std::uint32_t id_;
  std::uint64_t seed_;
  DeviceArray<S> plus_;
  DeviceArray<S> minus_;
  Matrix<S> weights_;
  Matrix<S> scale_;     ///< (1, 1), a matrix so that it can be checkpointed
  Matrix<S> counters_;  ///< image of the counters below for checkpoints
  PulseCount pulses_;
  std::uint64_t programmings_ = 0;
};

}  // namespace nudge
