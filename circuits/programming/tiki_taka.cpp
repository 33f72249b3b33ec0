// SPDX-License-Identifier: Apache-2.0
#include "circuits/programming/tiki_taka.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "circuits/energy.hpp"
#include "circuits/restored_count.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

// Reads of a transfer are a phase of their own, apart from those of training and evaluation.
constexpr std::uint32_t transfer_phase = 200;
// Longest burst of the search for the symmetry point.
constexpr int longest_burst = 256;
// Cycles that the symmetry point is averaged over: noise that is drawn at each write (56 pulses for the most noisy
// preset, reram_sb) falls by √256 to a few pulses.
constexpr int averaged_cycles = 128;
// How often the counter of transfers starts again: an array entry must hold it exactly in float.
constexpr double counter_range = 1 << 20;

// Numbers of ReadTotals, each kept as a sum of three scalars: 72 bits of float hold a double exactly.
constexpr Index spent_numbers = 9;

template <class S>
void store_totals(const ReadTotals& totals, Matrix<S>& digits) {
  const auto count = [](std::uint64_t n) { return static_cast<double>(n); };
  const std::array<double, spent_numbers> numbers = {totals.array_J,
                                                     count(totals.dac_conversions),
                                                     count(totals.adc_conversions),
                                                     count(totals.reads),
                                                     count(totals.driven),
                                                     count(totals.sensed),
                                                     totals.cell_V2,
                                                     totals.amplifier_s,
                                                     totals.operations};
  for (Index row = 0; row < spent_numbers; ++row) {
    double rest = numbers[static_cast<std::size_t>(row)];
    for (Index d = 0; d < 3; ++d) {
      digits(row, d) = static_cast<S>(rest);
      rest -= static_cast<double>(digits(row, d));
    }
  }
}

template <class S>
ReadTotals load_totals(const Matrix<S>& digits) {
  const auto number = [&digits](Index row) {
    double sum = 0;
    for (Index d = 2; d >= 0; --d) sum += static_cast<double>(digits(row, d));
    return sum;
  };
  const auto count = [&number](Index row) { return static_cast<std::uint64_t>(number(row)); };
  return {number(0), count(1), count(2), count(3), count(4), count(5), number(6), number(7), number(8)};
}

/// The fast array has the window of the slow one and starts at zero.
template <class S>
CrossbarSpec fast_spec(CrossbarSpec spec, S w_max) {
  spec.mapping.w_max = static_cast<double>(w_max);
  const UpdateScheme update = spec.programming.update;  // frozen ones are pulsed to find their symmetry point
  if (update == UpdateScheme::write_verify || update == UpdateScheme::none)
    spec.programming.update = UpdateScheme::pulses;
  return spec;
}

CrossbarSpec slow_spec(CrossbarSpec spec) {
  if (spec.programming.update == UpdateScheme::coincidence) spec.programming.update = UpdateScheme::pulses;
  return spec;
}

}  // namespace

template <class S>
TikiTaka<S>::TikiTaka(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id, std::uint64_t seed)
    : spec_((spec.validate(), spec.transfer)),
      circuit_(spec.circuit),
      pulses_(spec.device.pulses),
      seed_(seed),
      frozen_(spec.programming.update == UpdateScheme::none),
      slow_(slow_spec(spec), weights, id, seed),
      fast_(fast_spec(spec, slow_.w_max()), Matrix<S>::Zero(weights.rows(), weights.cols()), id + (1U << 16U), seed),
      zero_(Matrix<S>::Zero(weights.rows(), weights.cols())),
      counters_(Matrix<S>::Zero(1, 3)),
      spent_digits_(Matrix<S>::Zero(spent_numbers, 3)) {
  find_symmetry_point();
  refresh();
}

// A cycle of n up and n down pulses ends about half its length below its middle; the half burst up after the cycles of
// a level takes that out, and the next level has half the length.
template <class S>
void TikiTaka<S>::find_symmetry_point() {
  zero_.setZero();
  if (spec_.zero_shift == 0) return;
  const WriteMark before = fast_.mark();
  // A change of 2 w_max/pulses asks either device of a pair for one pulse.
  const S pulse = S(2) * fast_.w_max() / static_cast<S>(pulses_);
  const auto burst = [&](double n) {
    fast_.apply_update(Matrix<S>::Constant(zero_.rows(), zero_.cols(), static_cast<S>(n) * pulse));
  };
  for (int n = std::min(longest_burst, static_cast<int>(pulses_ / 4) + 1); n >= 1; n /= 2) {
    for (int cycle = 0; cycle < spec_.zero_shift; ++cycle) {
      burst(n);
      burst(-n);
    }
    burst(0.5 * n);
  }
  for (int cycle = 0; cycle < averaged_cycles; ++cycle) {
    for (const double n : {1.0, -1.0}) {
      burst(n);
      zero_ += fast_.weights();
    }
  }
  zero_ /= S(2 * averaged_cycles);
  fast_.count_as_programming(before);
}

template <class S>
void TikiTaka<S>::refresh() {
  weights_ = slow_.weights();
  if (spec_.share != 0) weights_ += static_cast<S>(spec_.share) * (fast_.weights() - zero_);
}

template <class S>
void TikiTaka<S>::read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
                       ReadContext& context) const {
  slow_.read(way, x, out, columns, store, context);
  if (spec_.share == 0) return;
  const Matrix<S> driven = static_cast<S>(spec_.share) * x;
  const bool minus = store == Store::subtract;
  fast_.read(way, driven, out, columns, minus ? Store::subtract : Store::add, context);
  const auto zero = zero_.middleCols(columns.begin, columns.count);
  const Store other = minus ? Store::add : Store::subtract;
  if (way == ReadDirection::forward) {
    multiply<S>(driven, zero, out, other);
  } else {
    multiply_transposed<S>(driven, zero, out, other);
  }
}

template <class S>
MapTraits<S> TikiTaka<S>::traits() const {
  const MapTraits<S> slow = slow_.traits();
  const MapTraits<S> fast = fast_.traits();
  return {.curved = slow.curved || fast.curved,
          .noisy = slow.noisy || (spec_.share != 0 && fast.noisy),
          .takes_factors = fast.takes_factors};
}

template <class S>
std::unique_ptr<LinearMap<double>> TikiTaka<S>::noise_free() const {
  std::vector<CircuitMap::Branch> branches;
  branches.push_back(slow_.branch(1));
  if (spec_.share == 0) return std::make_unique<CircuitMap>(std::move(branches));
  branches.push_back(fast_.branch(spec_.share));
  return std::make_unique<CircuitMap>(std::move(branches), spec_.share * zero_.template cast<double>());
}

template <class S>
void TikiTaka<S>::apply(const WeightUpdate<S>& update) {
  if (frozen_) return;
  if (update.kind == UpdateKind::immediate) {
    slow_.apply(update);
    return refresh();
  }
  WeightUpdate<S> fast = update;
  fast.scale *= static_cast<S>(spec_.fast_gain);
  fast_.apply(fast);
  transfer_when_due();
}

template <class S>
void TikiTaka<S>::transfer_when_due() {
  counters_(0, 0) += S(1);
  if (counters_(0, 0) >= static_cast<S>(spec_.every) && this->outputs() > 0) {
    counters_(0, 0) = 0;
    const Index count = std::min<Index>(spec_.columns, this->outputs());
    Matrix<S> drive = Matrix<S>::Zero(count, this->outputs());
    const auto first = static_cast<Index>(counters_(0, 1));
    for (Index k = 0; k < count; ++k) drive(k, (first + k) % this->outputs()) = S(1);
    ReadContext read;
    read.seed = seed_;
    read.phase = transfer_phase;
    read.step = static_cast<std::uint64_t>(counters_(0, 2));
    ReadMeter meter;
    read.meter = &meter;
    Matrix<S> held(count, this->inputs());
    fast_.transposed(drive, held, fast_.all_columns(), Store::assign, read);
    spent_ += meter.total();
    Matrix<S> delta = Matrix<S>::Zero(this->inputs(), this->outputs());
    for (Index k = 0; k < count; ++k) {
      const Index column = (first + k) % this->outputs();
      delta.col(column) = static_cast<S>(spec_.rate) * (held.row(k).transpose() - zero_.col(column));
    }
    slow_.apply_update(delta);
    counters_(0, 1) = static_cast<S>((first + count) % this->outputs());
    counters_(0, 2) = static_cast<S>(std::fmod(static_cast<double>(counters_(0, 2)) + 1, counter_range));
  }
  refresh();
}

template <class S>
void TikiTaka<S>::program(const Matrix<S>& target) {
  slow_.program(target);
  fast_.program(Matrix<S>::Zero(this->inputs(), this->outputs()));
  find_symmetry_point();
  counters_(0, 0) = 0;
  refresh();
}

template <class S>
std::vector<StateArray<S>> TikiTaka<S>::state() {
  std::vector<StateArray<S>> all;
  for (auto* array : {&slow_, &fast_}) {
    for (auto& part : array->state()) {
      part.name = (array == &slow_ ? "slow_" : "fast_") + part.name;
      all.push_back(std::move(part));
    }
  }
  store_totals(spent_, spent_digits_);
  all.push_back(
      {"transfer_reads", "mixed",
       "what transfers took: J of arrays, conversions of drives and of read-outs, reads, driven and sensed lines, "
       "V^2 of driven cells, s of amplifiers, operations; the sum of a row is the number",
       &spent_digits_});
  all.push_back({"symmetry_point", "1", "weights of the fast array at its symmetry point", &zero_});
  all.push_back({"transfer_counters", "1", "updates since the last transfer, next column, transfers", &counters_});
  return all;
}

template <class S>
void TikiTaka<S>::advance_time(double seconds, std::uint64_t step) {
  slow_.advance_time(seconds, step);
  fast_.advance_time(seconds, step);
  refresh();
}

template <class S>
void TikiTaka<S>::state_restored() {
  slow_.state_restored();
  fast_.state_restored();
  spent_ = load_totals(spent_digits_);
  for (Index k = 0; k < counters_.cols(); ++k) {
    const double below = k == 1 ? static_cast<double>(std::max<Index>(1, this->outputs())) : counter_range;
    restored_count(static_cast<double>(counters_(0, k)), below, "counters of transfers");
  }
  refresh();
}

template <class S>
std::vector<MapReading> TikiTaka<S>::readings() const {
  std::vector<MapReading> all;
  for (const auto* array : {&slow_, &fast_}) {
    for (auto& reading : array->readings()) {
      reading.name = (array == &slow_ ? "slow_" : "fast_") + reading.name;
      all.push_back(std::move(reading));
    }
  }
  all.push_back(
      {"transfers", "1", "transfers done since the start, modulo 2^20", static_cast<double>(counters_(0, 2))});
  all.push_back(
      {"transfer_reads", "1", "reads of columns for transfers since the start", static_cast<double>(spent_.reads)});
  all.push_back({"transfer_energy", "J", "of these reads: arrays, conversions, amplifiers and drivers",
                 energy_report(spent_, circuit_).total_J()});
  return all;
}

template class TikiTaka<float>;
template class TikiTaka<double>;

}  // namespace nudge
