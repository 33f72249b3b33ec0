// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "circuits/array_use.hpp"
#include "circuits/read_policy.hpp"

namespace nudge {

/// Totals of reads. They are the energy from the supply, Σ_ij G_ij V_i² for the time of each read, and the counts that
/// give the rest of the circuit's energy.
struct ReadTotals {
  double array_J = 0;
  PerPort<std::uint64_t> dac_conversions = {}, adc_conversions = {};  ///< by the port that made them
  std::uint64_t reads = 0;                                            ///< reads of one row of a drive each
  std::uint64_t driven = 0,
                sensed = 0;   ///< lines, over all reads: as many conversions where every line had a converter
  double cell_V2 = 0;         ///< Σ over driven lines of devices on the line times V²
  double amplifier_s = 0;     ///< Σ over sensed lines of the time of their read
  double operations = 0;      ///< digital operations on the values that were read
  std::uint64_t clipped = 0;  ///< conversions beyond the full scale of their converter
  PerPort<std::uint64_t> partial_sums = {};  ///< additions of the numbers of tiles, of ports with converters
  double cells = 0;  ///< Σ over reads of the devices between driven and sensed lines: selectors opened
  ReadTotals& operator+=(const ReadTotals& other) {
    array_J += other.array_J;
    dac_conversions += other.dac_conversions;
    adc_conversions += other.adc_conversions;
    clipped += other.clipped;
    reads += other.reads;
    driven += other.driven;
    sensed += other.sensed;
    cell_V2 += other.cell_V2;
    amplifier_s += other.amplifier_s;
    operations += other.operations;
    partial_sums += other.partial_sums;
    cells += other.cells;
    return *this;
  }
};

/// Meter of one sequence: its reads by class, and the time of those that belong to no relaxation.
struct ReadMeter {
  std::array<ReadTotals, read_classes> of = {};
  double time = 0;  ///< time of stored, anchor, correlation, loss and monitor reads, one after the other, in units of τ
  std::array<double, read_classes> times = {};  ///< time of reads by class
  double slots = 1;                             ///< most slots that a step of a phase took (ArrayUse)
  ConverterExtents extents = {};                ///< extents of the converters that are ranged by every read

  ReadTotals& at(ReadClass kind) { return of[static_cast<std::size_t>(kind)]; }
  const ReadTotals& at(ReadClass kind) const { return of[static_cast<std::size_t>(kind)]; }
  ReadTotals total() const {
    ReadTotals sum;
    for (const ReadTotals& one : of) sum += one;
    return sum;
  }
  ReadMeter& operator+=(const ReadMeter& other) {
    for (std::size_t kind = 0; kind < read_classes; ++kind) of[kind] += other.of[kind];
    time += other.time;
    for (std::size_t kind = 0; kind < read_classes; ++kind) times[kind] += other.times[kind];
    slots = std::max(slots, other.slots);
    extents.merge(other.extents);
    return *this;
  }
};

/// Identity of a read and the rule by which it is made. Fresh noise is a pure function of the read's place, not of threads or
/// order. One context per sequence and array group; every read of an array advances `read`, over all phases.
struct ReadContext : Reading {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;      ///< training step
  std::uint32_t sequence = 0;  ///< sequence in the batch
  std::uint32_t phase = 0;     ///< training or evaluation, block or read-out: see training/batch/batch_gradient.cpp
  std::uint32_t read = 0;      ///< advanced by every read
  ReadPolicy policy = {};
  bool reversed = false;         ///< true if the present drive appears with both signs in the phases of a nudge
  ReadMemory* memory = nullptr;  ///< noise that one read shares with the next; null: every read begins anew
  ArrayUse* use = nullptr;       ///< receiver of the use of metered crossbars; null: not asked
  ReadMeter* meter = nullptr;    ///< receiver of the energy of crossbars; null: not metered

  bool relaxes() const { return kind == ReadClass::free || kind == ReadClass::nudged; }
  /// True if the read is computed from the model of the circuit: no noise, no time, no energy. Relaxation, loss and residual are always read.
  bool computed() const { return exact && (kind == ReadClass::stored || kind == ReadClass::correlation); }
  int reads() const { return computed() ? 0 : policy.of(kind).reads; }
  bool noisy() const { return reads() > 0; }
  double interval() const { return relaxes() ? relaxation.interval : policy.time; }
  double duration() const { return relaxes() ? relaxation.duration : policy.time; }
  /// Standard deviation of white noise of density 1 per √τ in one read.
  double noise_scale() const { return noisy() ? 1.0 / std::sqrt(interval()) : 0.0; }
  /// True if an offset is taken off by a second read of the opposite drive. This works for reads that are linear in their drive.
  bool chops() const { return policy.chopped && (reversed || kind == ReadClass::correlation) && !computed(); }
  /// Number of reads to count. An ideal read still counts as one, except for loss and monitor reads and computed ones.
  int counted() const {
    if (computed()) return 0;
    const int n = policy.of(kind).reads;
    const bool experimenter = kind == ReadClass::loss || kind == ReadClass::monitor;
    return n > 0 ? n : (experimenter ? 0 : 1);
  }
  /// Counts digital operations on the values that this class reads.
  void work(double operations) {
    if (meter != nullptr && counted() > 0) meter->at(kind).operations += operations;
  }
  /// Counts one more read of everything that the class asks for: adds to the meter's time.
  void pass() {
    if (meter == nullptr || relaxes()) return;
    const double taken = policy.time * counted() * (chops() ? 2 : 1);
    meter->time += taken;
    meter->times[static_cast<std::size_t>(kind)] += taken;
  }
};

/// Guard: sets the class of a context for as long as it lives.
class ReadingAs {
 public:
  ReadingAs(ReadContext& read, ReadClass kind) : read_(read), before_(read.kind) { read_.kind = kind; }
  ~ReadingAs() { read_.kind = before_; }
  ReadingAs(const ReadingAs&) = delete;
  ReadingAs& operator=(const ReadingAs&) = delete;

 private:
  ReadContext& read_;
  ReadClass before_;
};

}  // namespace nudge
