// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/read_noise.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

// The place of a read in the stream of its array: no two reads share (step, lane) while these limits (contracts) hold.
[[maybe_unused]] constexpr std::uint64_t max_step = std::uint64_t{1} << 32;
[[maybe_unused]] constexpr std::uint32_t max_phase = std::uint32_t{1} << 8;
constexpr std::uint32_t max_read = std::uint32_t{1} << 24;

/// Number of processes of white and moving noise at the outputs: those of gains and drivers stand behind them.
template <class S>
std::size_t processes_of(const LineView<S>& view) {
  std::size_t processes = 1;
  for (const MovingNoise<S>& noise : view.moving) processes += noise.times_s.size();
  return processes;
}

}  // namespace

template <class S>
ReadNoise<S>::ReadNoise(const DeviceSpec& device, const CircuitSpec& circuit, int devices, bool reference,
                        std::uint32_t id)
    : circuit_(circuit),
      sigma_S_(device.selector.any() ? 0 : std::sqrt(device.uniform_read_S2())),  // else in LineView::variance
      devices_(devices),
      reference_(reference),
      id_(id),
      pole_s_(amplifier_lag(circuit) * circuit.time_constant_s) {}

template <class S>
void ReadNoise<S>::set_lines(ReadDirection direction, const LineNoise& noise) {
  const double volts = circuit_.read_voltage_V;
  const double per_square = 1 / (2 * circuit_.time_constant_s * volts * volts);
  amplifier_[side(direction)] = noise.amplifier_V * noise.amplifier_V * per_square;
  gain_[side(direction)] = noise.gain;
  driver_[side(direction)] = noise.driver_V * std::sqrt(per_square);
}

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
struct ReadNoise<S>::OneRead {
  std::uint64_t place;
  std::uint32_t lane;
  double duration_s;
  double scale;     ///< of white noise of density 1 per √τ
  double rho;       ///< correlation of white noise with that of the read before; below 0: none, no pole
  LineBlock block;  ///< its outputs
};

template <class S>
typename ReadNoise<S>::OneRead ReadNoise<S>::one_read(ReadDirection direction, const LineView<S>& view, Index rows,
                                                      Columns columns, Store store, int reads,
                                                      const ReadContext& read) const {
  NUDGE_EXPECT(read.step < max_step && read.phase < max_phase && read.read < max_read);
  const bool forward = direction == ReadDirection::forward;
  const int averaged = std::max(reads, 1);
  OneRead one;
  one.place = (static_cast<std::uint64_t>(read.sequence) << 32) | read.step;
  one.lane = read.phase * max_read + read.read;
  one.duration_s = averaged * read.duration() * circuit_.time_constant_s;
  one.scale = read.noise_scale() / std::sqrt(averaged);
  one.rho = -1;
  one.block = forward ? LineBlock{rows, columns.begin, columns.count, view.weights.cols(), reference_}
                      : LineBlock{rows, 0, view.weights.rows(), view.weights.rows(), false};
  if (pole_s_ > 0 && store == Store::assign && read.relaxes() && read.memory != nullptr) {
    one.rho = std::exp(-one.duration_s / pole_s_);
    one.scale *= std::sqrt(std::tanh(one.duration_s / (2 * pole_s_)));
  }
  return one;
}

template <class S>
const S* ReadNoise<S>::white_numbers(const OneRead& one, Index skipped, const LineBlock& block, std::size_t process,
                                     LineMemory<S>& memory, std::uint64_t seed) const {
  // Grown once per thread, then reused: nothing is allocated inside a phase. An Eigen array, hence aligned: the last
  // bit of a vectorised normal number may depend on the alignment of its target.
  static thread_local Eigen::Array<S, Eigen::Dynamic, 1> numbers;
  const Index count = skipped + block.numbers();
  if (numbers.size() < count) numbers.resize(count);
  fill_normal<S>({seed, Purpose::read_noise, id_}, one.place, one.lane,
                 std::span<S>(numbers.data(), static_cast<std::size_t>(count)));
  S* own = numbers.data() + skipped;
  if (one.rho >= 0) {
    correlate<S>(one.rho, block, memory.process(process, block.rows, block.memory_lines()), own);
  }
  return own;
}

template <class S>
LineMemory<S>& ReadNoise<S>::memory_of(ReadDirection direction, ReadContext& read) const {
  static thread_local LineMemory<S> none;
  if (read.memory != nullptr) return read.memory->template at<S>(id_, direction == ReadDirection::forward);
  none.clear();
  return none;
}

template <class S>
void ReadNoise<S>::add_drivers(ReadDirection direction, const LineView<S>& view, Columns columns, Store store,
                               int reads, MatrixRef<S> driven, ReadContext& read) const {
  const double density = driver_[side(direction)];
  if (density == 0 || !read.noisy()) return;
  const OneRead one = one_read(direction, view, driven.rows(), columns, store, reads, read);
  const bool forward = direction == ReadDirection::forward;
  const LineBlock drivers = forward
                                ? LineBlock{driven.rows(), 0, driven.cols(), view.weights.rows(), false}
                                : LineBlock{driven.rows(), columns.begin, driven.cols(), view.weights.cols(), false};
  const S* draw = white_numbers(one, one.block.numbers() + one.block.rows * one.block.count, drivers,
                                processes_of(view) + 1, memory_of(direction, read), read.seed);
  driven += static_cast<S>(density * one.scale) * Eigen::Map<const Matrix<S>>(draw, driven.rows(), driven.cols());
}

template <class S>
void ReadNoise<S>::add(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, Columns columns,
                       Store store, int reads, MatrixRef<S> out, ReadContext& read) const {
  const OneRead one = one_read(direction, view, out.rows(), columns, store, reads, read);
  ++read.read;
  if (!read.noisy() || !present(view)) return;
  const double sign = store == Store::subtract ? -1 : 1;
  LineMemory<S>& memory = memory_of(direction, read);
  if (const double gain = gain_[side(direction)]; gain > 0) {
    const LineBlock gains{one.block.rows, one.block.first, one.block.count, one.block.lines, false};
    const S* draw = white_numbers(one, one.block.numbers(), gains, processes_of(view), memory, read.seed);
    out.array() *=
        S(1) + static_cast<S>(gain * one.scale) * Eigen::Map<const Matrix<S>>(draw, out.rows(), out.cols()).array();
  }
  if (white(view)) {
    add_white(direction, view, drive, columns, static_cast<S>(sign * one.scale),
              white_numbers(one, 0, one.block, 0, memory, read.seed), memory.drive(), out);
  }
  if (view.moving.empty()) return;
  add_moving(direction, view, drive, columns, static_cast<S>(sign), one.block, one.duration_s,
             {read.seed, Purpose::moving_noise, id_}, one.place, one.lane, memory, out);
}

template <class S>
void ReadNoise<S>::add_white(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, Columns columns,
                             S scale, const S* numbers, DriveProducts<S>& known, MatrixRef<S> out) const {
  static thread_local Matrix<S> own_product;
  static thread_local LineValues<S> line;  // what does not depend on the drive
  const bool forward = direction == ReadDirection::forward;
  const bool shared = reference_ && forward;
  const bool with_products = products(view);
  const auto variance = [&](ConstMatrixRef<S> x, Matrix<S>& to) { product_variance(direction, view, x, columns, to); };
  const Matrix<S>& product =
      with_products ? known.even(1, drive, out.rows(), out.cols(), own_product, variance) : own_product;
  const S device = static_cast<S>(device_);
  const S thermal = static_cast<S>(thermal_);
  const S amplifier = static_cast<S>(amplifier_[forward ? 0 : 1]);
  const bool with_lines = thermal_ > 0 || amplifier > S(0);
  if (with_lines) {
    const auto load = forward ? view.column_load.segment(columns.begin, columns.count)
                              : view.row_load.segment(0, view.row_load.size());
    line = (S(1) + load) * (thermal + amplifier * (S(1) + load));
  }
  using Row = Eigen::Map<const Eigen::Array<S, 1, Eigen::Dynamic>>;
  for (Index n = 0; n < out.rows(); ++n) {
    const Row draw(numbers + n * out.cols(), out.cols());
    const S squares = drive.row(n).squaredNorm();
    const S sum = reference_ && !forward ? drive.row(n).sum() : S(0);
    const S own = device * (static_cast<S>(devices_) * squares + sum * sum);
    auto row = out.row(n).array();
    if (!with_lines && !with_products) {
      row += scale * std::sqrt(own) * draw;
    } else if (!with_products) {
      row += scale * (own + line).sqrt() * draw;
    } else if (!with_lines) {
      row += scale * (own + product.row(n).array()).sqrt() * draw;
    } else {
      row += scale * (own + line + product.row(n).array()).sqrt() * draw;
    }
    if (!shared) continue;
    const S noise_gain = S(1) + view.reference_load;
    S common = device * squares + noise_gain * (thermal + amplifier * noise_gain);
    if (shot_ > 0) common += static_cast<S>(shot_) * (drive.row(n).array().abs() * view.reference).sum();
    if (view.variance.size() > 0) common += (drive.row(n).array().square() * view.reference_variance).sum();
    row += scale * std::sqrt(common) * numbers[out.size() + n];
  }
}

// The processes of all groups one after the other, each with its numbers N₁, N₂ and, where a line is new, N₀.
template <class S>
void ReadNoise<S>::add_moving(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive,
                              Columns columns, S sign, const LineBlock& block, double duration_s, const RngKey& key,
                              std::uint64_t place, std::uint32_t lane, LineMemory<S>& memory, MatrixRef<S> out) const {
  static thread_local Eigen::Array<S, Eigen::Dynamic, 1> numbers, sums;
  static thread_local Matrix<S> squares, own_variance;
  const bool forward = direction == ReadDirection::forward;
  std::size_t processes = 0;
  for (const MovingNoise<S>& noise : view.moving) processes += noise.times_s.size();
  const Index each = block.numbers();
  const Index count = 3 * each * static_cast<Index>(processes);
  if (numbers.size() < count) numbers.resize(count);
  fill_normal<S>(key, place, lane, std::span<S>(numbers.data(), static_cast<std::size_t>(count)));
  DriveProducts<S>& known = memory.drive();
  std::size_t group = 1;
  const S* next = numbers.data();
  std::size_t process = 0;
  for (const MovingNoise<S>& noise : view.moving) {
    sums.setZero(each);
    for (const double time_s : noise.times_s) {
      Matrix<S>& states = memory.process(++process, block.rows, block.memory_lines());
      average<S>(ReadAverage(duration_s / time_s), block, states, next, next + each, next + 2 * each, sums.data());
      next += 3 * each;
    }
    const auto moving_variance = [&](ConstMatrixRef<S> x, Matrix<S>& to) {
      const auto part = noise.variance.middleCols(columns.begin, columns.count);
      squares = x.cwiseAbs2();
      if (forward) return multiply<S>(squares, part, to);
      multiply_transposed<S>(squares, part, to);
      if (noise.reference_variance.size() == 0) return;
      for (Index n = 0; n < x.rows(); ++n)
        to.row(n).array() += x.row(n).sum() * x.row(n).sum() * noise.reference_variance;
    };
    const Matrix<S>& variance = known.even(++group, drive, out.rows(), out.cols(), own_variance, moving_variance);
    for (Index n = 0; n < out.rows(); ++n) {
      const auto of_row = variance.row(n).array();
      const Eigen::Map<const Eigen::Array<S, 1, Eigen::Dynamic>> draw(sums.data() + n * out.cols(), out.cols());
      out.row(n).array() += sign * of_row.sqrt() * draw;
      if (!block.common) continue;
      const S common = (drive.row(n).array().square() * noise.reference_variance).sum();
      out.row(n).array() += sign * std::sqrt(common) * sums(out.size() + n);
    }
  }
}

NUDGE_BOTH_PRECISIONS_OF(ReadNoise)

}  // namespace nudge
