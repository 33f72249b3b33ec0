// SPDX-License-Identifier: Apache-2.0
#include "circuits/rules/column_transfer.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "circuits/energy.hpp"
#include "circuits/kept_state.hpp"
#include "circuits/programming/write_devices.hpp"

namespace nudge {
namespace {

// Reads of a transfer are a phase of their own, apart from those of training and evaluation.
constexpr std::uint32_t transfer_phase = 200;
// How often the counter of transfers starts again: an array entry must hold it exactly in float.
constexpr double counter_range = 1 << 20;

// Numbers of ReadTotals, each kept as a sum of three scalars: 72 bits of float hold a double exactly.
constexpr Index spent_numbers = 9;

template <class S>
void store_totals(const ReadTotals& totals, Matrix<S>& digits) {
  const auto count = [](std::uint64_t n) { return static_cast<double>(n); };
  const std::array<double, spent_numbers> numbers = {totals.array_J,
                                                     count(totals.dac_conversions.total()),
                                                     count(totals.adc_conversions.total()),
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

/// All reads of a transfer are transposed ones: their conversions are of that port.
template <class S>
ReadTotals load_totals(const Matrix<S>& digits) {
  const auto number = [&digits](Index row) {
    double sum = 0;
    for (Index d = 2; d >= 0; --d) sum += static_cast<double>(digits(row, d));
    return sum;
  };
  const auto count = [&number](Index row) { return static_cast<std::uint64_t>(number(row)); };
  return {number(0), {0, count(1)}, {0, count(2)}, count(3), count(4), count(5), number(6), number(7), number(8)};
}

}  // namespace

template <class S>
ColumnTransfer<S>::ColumnTransfer(const CrossbarSpec& spec, std::uint64_t every, std::string name)
    : every_(std::min<std::uint64_t>(every, 1 << 20)),
      columns_(spec.rule.columns),
      name_(std::move(name)),
      circuit_(spec.circuit),
      counters_(Matrix<S>::Zero(1, 3)),
      spent_digits_(Matrix<S>::Zero(spent_numbers, 3)) {}

template <class S>
std::optional<ColumnRead<S>> ColumnTransfer<S>::after_update(const Crossbar<S>& from, std::uint64_t seed) {
  counters_(0, 0) += S(1);
  const Index outputs = from.outputs();
  if (counters_(0, 0) < static_cast<S>(every_) || outputs == 0) return std::nullopt;
  counters_(0, 0) = 0;
  const Index count = std::min<Index>(columns_, outputs);
  ColumnRead<S> out{static_cast<Index>(counters_(0, 1)), Matrix<S>(count, from.inputs())};
  Matrix<S> drive = Matrix<S>::Zero(count, outputs);
  for (Index k = 0; k < count; ++k) drive(k, out.column(k, outputs)) = S(1);
  ReadContext read;
  read.seed = seed;
  read.phase = transfer_phase;
  read.step = static_cast<std::uint64_t>(counters_(0, 2));
  ReadMeter meter;
  read.meter = &meter;
  from.transposed(drive, out.held, from.all_columns(), Store::assign, read);
  spent_ += meter.total();
  counters_(0, 1) = static_cast<S>((out.first + count) % outputs);
  counters_(0, 2) = static_cast<S>(std::fmod(static_cast<double>(counters_(0, 2)) + 1, counter_range));
  return out;
}

template <class S>
void ColumnTransfer<S>::append_state(std::vector<StateArray<S>>& all) {
  store_totals(spent_, spent_digits_);
  all.push_back(
      {name_ + "transfer_reads", "mixed",
       "cost of transfers: J of arrays, conversions of drives and of read-outs, reads, driven and sensed lines, V^2 "
       "of driven cells, s of amplifiers, operations. The sum of a row is the number",
       &spent_digits_});
  all.push_back(
      {name_ + "transfer_counters", "1", "updates since the last transfer, next column, transfers", &counters_});
}

template <class S>
void ColumnTransfer<S>::restored(Index outputs) {
  spent_ = load_totals(spent_digits_);
  for (Index k = 0; k < counters_.cols(); ++k) {
    const double below = k == 1 ? static_cast<double>(std::max<Index>(1, outputs)) : counter_range;
    restored_count(static_cast<double>(counters_(0, k)), below, "counters of transfers");
  }
}

template <class S>
void ColumnTransfer<S>::append_readings(std::vector<MapReading>& all) const {
  all.push_back(
      {name_ + "transfers", "1", "transfers done since the start, modulo 2^20", static_cast<double>(counters_(0, 2))});
  all.push_back({name_ + "transfer_reads", "1", "reads of columns for transfers since the start",
                 static_cast<double>(spent_.reads)});
  all.push_back({name_ + "transfer_energy", "J", "of these reads: arrays, conversions, amplifiers and drivers",
                 energy_report(spent_, circuit_).total_J()});
}

template <class S>
void send_chopped(const WeightUpdate<S>& update, S gain, const Matrix<S>* chopper, Crossbar<S>& array) {
  WeightUpdate<S> own = update;
  own.scale *= gain;
  if (chopper == nullptr) return array.apply(own);
  if (own.direction != nullptr) {
    const Matrix<S> chopped = *own.direction * chopper->row(0).asDiagonal();
    own.direction = &chopped;
    return array.apply(own);
  }
  std::vector<FactorPair<S>> factors(own.factors.begin(), own.factors.end());
  for (FactorPair<S>& f : factors) {
    f.y = f.y * chopper->row(0).segment(f.columns.begin, f.columns.count).asDiagonal();
  }
  own.factors = factors;
  array.apply(own);
}

NUDGE_BOTH_PRECISIONS_OF(ColumnTransfer)
template void send_chopped(const WeightUpdate<float>&, float, const Matrix<float>*, Crossbar<float>&);
template void send_chopped(const WeightUpdate<double>&, double, const Matrix<double>*, Crossbar<double>&);

template <class S>
bool PulseBuffer<S>::take(S pulse, Index first, Index count, Matrix<S>& counts) {
  counts.setZero(sum_.rows(), sum_.cols());
  const S least = threshold_ * pulse;
  bool any = false;
  const Index cols = sum_.cols();
  for (Index i = 0; i < sum_.rows(); ++i) {
    for (Index k = 0; k < count; ++k) {
      const Index j = first + k < cols ? first + k : first + k - cols;
      S& gathered = sum_(i, j);
      if (std::abs(gathered) < least) continue;
      // What is not finite is not kept: the devices show it as what it is.
      const S n = std::trunc(gathered / pulse);
      if (n == 0) continue;  // θ = 1 and a last bit less
      counts(i, j) = n;
      gathered = std::isfinite(n) ? gathered - (S(1) - kept_) * n * pulse : S(0);
      any = true;
    }
  }
  return any;
}

NUDGE_BOTH_PRECISIONS_OF(PulseBuffer)

namespace {

// Longest burst of the search for the symmetry point.
constexpr int longest_burst = 256;
// Cycles that the symmetry point is averaged over: noise that is drawn at each write (56 pulses for the most noisy
// preset, reram_sb) falls by √256 to a few pulses.
constexpr int averaged_cycles = 128;

}  // namespace

// A cycle of n up and n down pulses ends about half its length below its middle; the half burst up after the cycles of
// a level takes that out, and the next level has half the length.
template <class S>
Matrix<S> find_symmetry_point(Crossbar<S>& array, int cycles) {
  Matrix<S> zero = Matrix<S>::Zero(array.inputs(), array.outputs());
  if (cycles == 0) return zero;
  const WriteMark before = array.mark();
  const double pulses = array.plus().spec().pulses;
  // A change of 2 w_max/pulses asks either device of a pair for one pulse.
  const S pulse = S(2) * array.w_max() / static_cast<S>(pulses);
  const auto burst = [&](double n) {
    array.apply_update(Matrix<S>::Constant(zero.rows(), zero.cols(), static_cast<S>(n) * pulse));
  };
  for (int n = std::min(longest_burst, static_cast<int>(pulses / 4) + 1); n >= 1; n /= 2) {
    for (int cycle = 0; cycle < cycles; ++cycle) {
      burst(n);
      burst(-n);
    }
    burst(0.5 * n);
  }
  for (int cycle = 0; cycle < averaged_cycles; ++cycle) {
    for (const double n : {1.0, -1.0}) {
      burst(n);
      zero += array.weights();
    }
  }
  zero /= S(2 * averaged_cycles);
  array.count_as_programming(before);
  return zero;
}

bool has_symmetry_point(const DeviceSpec& spec) {
  const DeviceSpec nominal = nominal_device(spec);
  // Two devices at a quarter of the window and two at three quarters; one of each is raised, the other lowered.
  DeviceArray<double> devices(nominal, 2, 2, {});
  Matrix<double> start(2, 2), counts(2, 2);
  const double quarter = 0.25 * nominal.window_S();
  start << nominal.g_min_S + quarter, nominal.g_min_S + 3 * quarter, nominal.g_min_S + quarter,
      nominal.g_min_S + 3 * quarter;
  counts << 1, 1, -1, -1;
  devices.program(start, 0);
  devices.pulse(counts, 0);
  const Matrix<double> moved = (devices.conductance() - start).cwiseAbs();
  // Rounding of a step of 1/pulses of the window, which is 1e-16 pulses of it.
  const double tolerance = 1e-9;
  return std::abs(moved(0, 0) * moved(1, 1) - moved(0, 1) * moved(1, 0)) > tolerance * moved(0, 0) * moved(1, 1);
}

template Matrix<float> find_symmetry_point(Crossbar<float>&, int);
template Matrix<double> find_symmetry_point(Crossbar<double>&, int);

}  // namespace nudge
