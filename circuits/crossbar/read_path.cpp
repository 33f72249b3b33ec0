// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/read_path.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// The amplifier of a port with the input offset that its circuit leaves it (input_offset_V).
AmplifierSpec zeroed(AmplifierSpec amplifier, const CircuitSpec& circuit) {
  amplifier.offset_V = input_offset_V(circuit, amplifier.offset_V);
  return amplifier;
}

/// Noise-free product of the read: out (=, +=, −=) `in` times the weights of the chosen columns, or their transpose.
template <class S>
void drive_lines(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> in, MatrixRef<S> out,
                 Columns columns, Store store) {
  if (direction == ReadDirection::forward) {
    multiply<S>(in, view.weights.middleCols(columns.begin, columns.count), out, store);
  } else {
    multiply_transposed<S>(in, view.transposed_weights().middleCols(columns.begin, columns.count), out, store);
  }
}

/// Adds the pedestal, out(n, :) += c Σ_i drive(n, i).
template <class S>
void add_pedestal(ConstMatrixRef<S> drive, S c, MatrixRef<S> out) {
  if (c == S(0)) return;
  for (Index n = 0; n < out.rows(); ++n) out.row(n).array() += c * drive.row(n).sum();
}

/// Largest |x|; 0 where x is not finite, since such a state is no measure.
template <class S>
double largest(ConstMatrixRef<S> x) {
  const double most = x.size() > 0 ? static_cast<double>(x.cwiseAbs().maxCoeff()) : 0.0;
  return std::isfinite(most) ? most : 0;
}

/// Bends drives, x ← I(x V)/(G V): the drive with which a straight device of the same conductance carries the same current.
template <class S>
void bend(const CurrentCurve& curve, double volts, MatrixRef<S> x) {
  x = x.unaryExpr(
      [&curve, volts](S one) { return static_cast<S>(curve.current(static_cast<double>(one) * volts) / volts); });
}

}  // namespace

template <class S>
ReadPath<S>::ReadPath(const PeripherySpec& spec, const CircuitSpec& circuit, const TileSpec& tiles,
                      const ReadNoise<S>& noise, const CurrentCurve& curve, Index inputs, Index outputs,
                      std::uint64_t seed, std::uint32_t id)
    : spec_(spec),
      circuit_(circuit),
      tiles_(tiles),
      curve_(curve),
      noise_(noise),
      forward_(zeroed(spec.forward.amplifier, circuit), outputs, seed, id, 0),
      transposed_(zeroed(spec.transposed.amplifier, circuit), inputs, seed, id, 1) {
  for (const ReadDirection way : {ReadDirection::forward, ReadDirection::transposed}) {
    const PortSpec& port = way == ReadDirection::forward ? spec.forward : spec.transposed;
    noise_.set_lines(way, {port.amplifier.noise_V, port.amplifier.gain_noise, port.driver_noise_V});
  }
}

template <class S>
void ReadPath<S>::set_view(const LineView<S>& view, double siemens_per_weight) {
  static std::atomic<std::uint64_t> views = 0;
  view_ = ++views;
  siemens_per_weight_ = siemens_per_weight;
  noise_.set_scale(siemens_per_weight);
  forward_.set_loads(view.column_load, circuit_.read_voltage_V);
  transposed_.set_loads(view.row_load, circuit_.read_voltage_V);
}

template <class S>
void ReadPath<S>::read(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, MatrixRef<S> out,
                       Columns columns, Store store, ReadContext& read) const {
  const PortSpec& port = direction == ReadDirection::forward ? spec_.forward : spec_.transposed;
  if (!read.chops() || port.amplifier.offset_V == 0) return mean(direction, view, drive, out, columns, store, read);
  static thread_local Matrix<S> opposite, straight, turned;
  opposite = -drive;
  straight.resize(out.rows(), out.cols());
  turned.resize(out.rows(), out.cols());
  mean(direction, view, drive, straight, columns, Store::assign, read);
  mean(direction, view, opposite, turned, columns, Store::assign, read);
  straight = S(0.5) * (straight - turned);
  put<S>(straight, store, out);
}

// Where nothing behind the noise is curved, the mean of n reads is one read with the noise of the mean.
template <class S>
void ReadPath<S>::mean(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, MatrixRef<S> out,
                       Columns columns, Store store, ReadContext& read) const {
  const PortSpec& port = direction == ReadDirection::forward ? spec_.forward : spec_.transposed;
  const int reads = std::max(read.reads(), 1);
  const bool affine = port.adc.ideal() && port.amplifier.saturation == 0;
  if (reads == 1 || affine) return read_once(direction, view, drive, out, columns, store, reads, read);
  static thread_local Matrix<S> sum;
  static thread_local Matrix<S> one;
  sum.setZero(out.rows(), out.cols());
  one.resize(out.rows(), out.cols());
  for (int n = 0; n < reads; ++n) {
    read_once(direction, view, drive, one, columns, Store::assign, 1, read);
    sum += one;
  }
  sum /= static_cast<S>(reads);
  put<S>(sum, store, out);
}

/// Product of the lines; of a drive that comes again it is known.
template <class S>
void ReadPath<S>::lines(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> in, MatrixRef<S> out,
                        Columns columns, Store store, ReadContext& read) const {
  if (read.memory == nullptr) return drive_lines<S>(direction, view, in, out, columns, store);
  DriveProducts<S>& known = read.memory->template at<S>(noise_.id(), direction == ReadDirection::forward).drive();
  known.look(view_, columns, in);
  if (!known.repeated()) return drive_lines<S>(direction, view, in, out, columns, store);
  const Matrix<S>& product = known.kept(0, out.rows(), out.cols(), [&](ConstMatrixRef<S> drive, Matrix<S>& to) {
    drive_lines<S>(direction, view, drive, to, columns, Store::assign);
  });
  const bool minus = (known.sign() < 0) != (store == Store::subtract);
  if (store == Store::assign) out = S(known.sign()) * product;
  if (store != Store::assign && minus) out -= product;
  if (store != Store::assign && !minus) out += product;
}

template <class S>
void ReadPath<S>::read_once(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, MatrixRef<S> out,
                            Columns columns, Store store, int reads, ReadContext& read) const {
  const bool forward = direction == ReadDirection::forward;
  const PortSpec& port = forward ? spec_.forward : spec_.transposed;
  if (port.ideal() && curve_.linear() && !noise_.on_lines(direction)) {
    lines(direction, view, drive, out, columns, store, read);
    if (read.meter != nullptr) meter(direction, view, drive, columns, out.size(), reads, read);
    noise_.add(direction, view, drive, columns, store, reads, out, read);
    return;
  }
  // Grown once per thread, then reused.
  static thread_local Matrix<S> driven;
  static thread_local Matrix<S> sensed;
  driven = drive;
  sensed.resize(out.rows(), out.cols());
  if (read.use != nullptr && port.dac.ranges()) read.use->drove(direction, largest<S>(driven));
  std::uint64_t clipped = round_drive<S>(port.dac, driven);
  if (read.meter != nullptr) meter(direction, view, driven, columns, out.size(), reads, read);
  static thread_local Matrix<S> known;  // what the digital side takes the pedestal of: it sees numbers, not the lines
  known.resize(0, 0);
  if (view.pedestal != S(0)) known = driven;
  set_levels<S>(port.dac, driven);
  noise_.add_drivers(direction, view, columns, store, reads, driven, read);
  if (!curve_.linear()) bend<S>(curve_, circuit_.read_voltage_V, driven);
  lines(direction, view, driven, sensed, columns, Store::assign, read);
  add_pedestal<S>(driven, view.pedestal, sensed);
  // What is summed at a node keeps its sign here, and its noise passes the pole of that node.
  noise_.add(direction, view, driven, columns, store == Store::assign ? store : Store::add, reads, sensed, read);
  (forward ? forward_ : transposed_).apply(sensed, forward ? columns.begin : 0);
  if (read.use != nullptr && port.adc.ranges()) read.use->sensed(direction, largest<S>(sensed));
  clipped += convert<S>(port.adc, sensed);
  if (read.meter != nullptr && read.counted() > 0) read.meter->at(read.kind).clipped += clipped;
  add_pedestal<S>(known, -view.pedestal, sensed);
  put<S>(sensed, store, out);
}

// Every line is held at its drive or at 0 V, so that device (i, j) takes G_ij V_i²: Σ_i V_i² Σ_j G_ij, for as long as the
// read lasts. A reference column is driven by −Σ_j y_j in a transposed read.
template <class S>
void ReadPath<S>::meter(ReadDirection direction, const LineView<S>& view, ConstMatrixRef<S> drive, Columns columns,
                        Index outputs, int reads, ReadContext& read) const {
  // An averaged read passes here once per read where converters are between, else once for all of them.
  const int times = read.reads() > 1 ? reads : read.counted();
  if (times == 0 || read.duration() == 0) return;  // what takes no time takes nothing
  const bool forward = direction == ReadDirection::forward;
  const bool reference = view.reference.size() > 0;
  double squares = 0;  // Σ x² L, of all rows of the batch
  double cells = 0;    // Σ x² times the devices on the line
  const auto per_cross_point = static_cast<double>(noise_.devices());
  const auto row_cells = per_cross_point * static_cast<double>(view.weights.cols()) + (reference ? 1 : 0);
  const auto column_cells = static_cast<double>(view.weights.rows());
  for (Index n = 0; n < drive.rows(); ++n) {
    const auto x = drive.row(n).array();
    if (forward) {
      squares += static_cast<double>((x.square() * view.row_load).sum());
      cells += row_cells * static_cast<double>(x.square().sum());
    } else {
      squares += static_cast<double>((x.square() * view.column_load.segment(columns.begin, columns.count)).sum());
      squares += static_cast<double>(view.reference_load * x.sum() * x.sum());
      cells += per_cross_point * column_cells * static_cast<double>(x.square().sum());
      if (reference) cells += column_cells * static_cast<double>(x.sum() * x.sum());
    }
  }
  const double volts = circuit_.read_voltage_V;
  const auto n = static_cast<std::uint64_t>(times);
  if (read.use != nullptr) {
    read.use->read(noise_.id(), spec_.directions, direction, read.kind,
                   static_cast<double>(times) * static_cast<double>(drive.rows()));
  }
  ReadTotals& totals = read.meter->at(read.kind);
  totals.array_J += times * volts * volts * siemens_per_weight_ * squares * read.duration() * circuit_.time_constant_s;
  const PortSpec& port = forward ? spec_.forward : spec_.transposed;
  // A line of the array is one of each tile that it crosses: rows of those side by side, columns of those below each other.
  const auto across = static_cast<std::uint64_t>(tiles_.across(columns.begin, columns.count));
  const auto down = static_cast<std::uint64_t>(tiles_.down(view.weights.rows()));
  const std::uint64_t drivers = forward ? across : down, sensors = forward ? down : across;
  const auto out = static_cast<std::uint64_t>(outputs);
  if (port.dac.converts())
    totals.dac_conversions.at(direction) += n * drivers * static_cast<std::uint64_t>(drive.size());
  if (port.adc.converts()) {
    totals.adc_conversions.at(direction) += n * sensors * out;
    totals.partial_sums.at(direction) += n * (sensors - 1) * out;
  }
  totals.reads += n * static_cast<std::uint64_t>(drive.rows());
  const double across_drive = per_cross_point * static_cast<double>(columns.count) + (reference ? 1 : 0);
  totals.cells += times * static_cast<double>(drive.rows()) * column_cells * across_drive;
  const auto extra = static_cast<std::uint64_t>(reference ? drive.rows() : 0);  // the reference column is a line too
  const std::uint64_t sensed = sensors * (out + (forward ? extra : 0));
  totals.driven += n * drivers * (static_cast<std::uint64_t>(drive.size()) + (forward ? 0 : extra));
  totals.sensed += n * sensed;
  totals.cell_V2 += times * volts * volts * cells;
  totals.amplifier_s += times * static_cast<double>(sensed) * read.duration() * circuit_.time_constant_s;
}

NUDGE_BOTH_PRECISIONS_OF(ReadPath)

}  // namespace nudge
