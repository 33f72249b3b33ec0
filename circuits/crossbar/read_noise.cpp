// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/read_noise.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

// The place of a read in the stream of its array: no two reads share (step, lane) while these limits (contracts) hold.
[[maybe_unused]] constexpr std::uint64_t max_step = std::uint64_t{1} << 32;
[[maybe_unused]] constexpr std::uint32_t max_phase = std::uint32_t{1} << 8;
constexpr std::uint32_t max_read = std::uint32_t{1} << 24;

}  // namespace

template <class S>
ReadNoise<S>::ReadNoise(const DeviceSpec& device, const CircuitSpec& circuit, int devices, bool reference,
                        std::uint32_t id)
    : circuit_(circuit),
      sigma_S_(device.read_noise * device.window_S()),
      devices_(devices),
      reference_(reference),
      id_(id) {}

template <class S>
void ReadNoise<S>::set_scale(double k) {
  const double volts = circuit_.read_voltage_V;
  const double tau = circuit_.time_constant_s;
  device_ = (sigma_S_ / k) * (sigma_S_ / k);
  thermal_ = circuit_.thermal_noise ? 2 * boltzmann_J_per_K * circuit_.temperature_K / (tau * volts * volts * k) : 0;
  shot_ = circuit_.shot_noise ? electron_charge_C / (tau * volts * k) : 0;
}

template <class S>
void ReadNoise<S>::product_variance(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive,
                                    Columns columns, Matrix<S>& variance) const {
  static thread_local Matrix<S> power;  // of the drive: |x| of shot noise, x² of conductance noise
  const bool forward = direction == ReadDirection::forward;
  Store store = Store::assign;
  const auto add = [&](const Matrix<S>& of_devices) {
    const auto part = of_devices.middleCols(columns.begin, columns.count);
    if (forward) {
      multiply<S>(power, part, variance, store);
    } else {
      multiply_transposed<S>(power, part, variance, store);
    }
    store = Store::add;
  };
  if (shot_ > 0) {
    power = static_cast<S>(shot_) * drive.cwiseAbs();
    add(view.total);
  }
  if (view.variance.size() > 0) {
    power = drive.cwiseAbs2();
    add(view.variance);
  }
  if (forward || !reference_) return;
  for (Index n = 0; n < drive.rows(); ++n) {
    const S sum = drive.row(n).sum();
    if (shot_ > 0) variance.row(n).array() += static_cast<S>(shot_) * std::abs(sum) * view.reference;
    if (view.variance.size() > 0) variance.row(n).array() += sum * sum * view.reference_variance;
  }
}

template <class S>
void ReadNoise<S>::add(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, Columns columns,
                       S sign, int reads, MatrixRef<S> out, ReadContext& read) const {
  NUDGE_EXPECT(read.step < max_step && read.phase < max_phase && read.read < max_read);
  const std::uint64_t place = (static_cast<std::uint64_t>(read.sequence) << 32) | read.step;
  const std::uint32_t lane = read.phase * max_read + read.read;
  ++read.read;
  const S scale = sign * static_cast<S>(read.noise_scale() / std::sqrt(std::max(reads, 1)));
  const bool products = shot_ > 0 || view.variance.size() > 0;
  if (scale == S(0) || (device_ == 0 && thermal_ == 0 && !products)) return;
  const bool forward = direction == ReadDirection::forward;
  const bool shared = reference_ && forward;
  // Grown once per thread, then reused: nothing is allocated inside a phase. An Eigen array, hence aligned: the last bit
  // of a vectorised normal number may depend on the alignment of its target.
  static thread_local Eigen::Array<S, Eigen::Dynamic, 1> numbers;
  static thread_local Matrix<S> product;
  const Index count = out.size() + (shared ? out.rows() : 0);
  if (numbers.size() < count) numbers.resize(count);
  fill_normal<S>({read.seed, Purpose::read_noise, id_}, place, lane,
                 std::span<S>(numbers.data(), static_cast<std::size_t>(count)));
  if (products) {
    product.resize(out.rows(), out.cols());
    product_variance(direction, view, drive, columns, product);
  }
  const S device = static_cast<S>(device_);
  const S thermal = static_cast<S>(thermal_);
  using Row = Eigen::Map<const Eigen::Array<S, 1, Eigen::Dynamic>>;
  for (Index n = 0; n < out.rows(); ++n) {
    const Row draw(numbers.data() + n * out.cols(), out.cols());
    const S squares = drive.row(n).squaredNorm();
    const S sum = reference_ && !forward ? drive.row(n).sum() : S(0);
    const S own = device * (static_cast<S>(devices_) * squares + sum * sum);
    auto row = out.row(n).array();
    if (thermal_ == 0 && !products) {
      row += scale * std::sqrt(own) * draw;
    } else {
      const auto load = forward ? view.column_load.segment(columns.begin, columns.count)
                                : view.row_load.segment(0, view.row_load.size());
      if (products) {
        row += scale * (own + thermal * load + product.row(n).array()).sqrt() * draw;
      } else {
        row += scale * (own + thermal * load).sqrt() * draw;
      }
    }
    if (!shared) continue;
    S common = device * squares + thermal * view.reference_load;
    if (shot_ > 0) common += static_cast<S>(shot_) * (drive.row(n).array().abs() * view.reference).sum();
    if (view.variance.size() > 0) common += (drive.row(n).array().square() * view.reference_variance).sum();
    row += scale * std::sqrt(common) * numbers(out.size() + n);
  }
}

template class ReadNoise<float>;
template class ReadNoise<double>;

}  // namespace nudge
