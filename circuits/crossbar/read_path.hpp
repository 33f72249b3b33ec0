// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "circuits/crossbar/periphery_spec.hpp"
#include "circuits/read_context.hpp"
#include "sim/base/matrix.hpp"
#include "sim/base/product.hpp"

namespace nudge {

/// One read of an array in either direction: drive → DAC → product with the devices → fresh noise → ADC. Fresh noise:
/// every conductance fluctuates with standard deviation σ/√interval in each read and each row of the drive, independently.
/// The output then gains exactly N(0, 2 σ²/k² Σ_i x_i²), independent between outputs, which is drawn there: one number per
/// output, not per device. Ideal converters cost nothing.
template <class S>
class ReadPath {
 public:
  /// dac, readout: of this direction. `id` and `seed` name the array.
  ReadPath(const PeripherySpec& spec, std::uint32_t id) : spec_(spec), id_(id) {}

  /// out (=, +=, −=) read of `drive` by `product(drive, out, store)`. `noise` is √2 σ/k: the standard deviation of an
  /// output for a drive of norm 1 and interval 1. Advances read.read.
  template <class Product>
  void read(ConstMatrixRef<S> drive, MatrixRef<S> out, const ReadoutSpec& readout, double noise, Store store,
            ReadContext& read, Product product) const;

 private:
  void add_noise(ConstMatrixRef<S> drive, MatrixRef<S> out, double noise, ReadContext& read) const;

  PeripherySpec spec_;
  std::uint32_t id_;
};

template <class S>
template <class Product>
void ReadPath<S>::read(ConstMatrixRef<S> drive, MatrixRef<S> out, const ReadoutSpec& readout, double noise, Store store,
                       ReadContext& read, Product product) const {
  if (spec_.dac.ideal() && readout.adc.ideal()) {
    product(drive, out, store);
    add_noise(drive, out, noise, read);
    return;
  }
  // Grown once per thread, then reused.
  static thread_local Matrix<S> driven;
  static thread_local Matrix<S> sensed;
  driven = drive;
  sensed.resize(out.rows(), out.cols());
  convert<S>(spec_.dac, driven);
  product(driven, sensed, Store::assign);
  add_noise(driven, sensed, noise, read);
  convert<S>(readout.adc, sensed);
  if (store == Store::assign) out = sensed;
  if (store == Store::add) out += sensed;
  if (store == Store::subtract) out -= sensed;
}

}  // namespace nudge
