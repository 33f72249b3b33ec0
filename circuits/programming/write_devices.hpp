// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "circuits/programming/programming_spec.hpp"
#include "devices/device_array.hpp"
#include "devices/device_cells.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Mark of a pair of arrays' counts and heat, to tell later ones from earlier ones.
struct WriteMark {
  PulseCount pulses;
  double plus_J = 0, minus_J = 0;  ///< heat of the pulses of either array
  double plus_s = 0, minus_s = 0;  ///< time that the pulses of either array took
};

/// Report of a write: its cost and its errors. Errors are of the conductances themselves, not of their noisy reads,
/// relative to the window. Failures are devices that no read found within tolerance before their pulses ran out (stuck,
/// bounded short of the target, or too noisy).
struct WriteReport {
  PulseCount pulses;
  std::uint64_t reads = 0;  ///< verify reads of single devices
  std::uint64_t devices = 0;
  std::uint64_t failures = 0;
  double error_sum = 0;
  double error_squares = 0;

  double error_mean() const { return devices == 0 ? 0 : error_sum / static_cast<double>(devices); }
  double error_rms() const { return devices == 0 ? 0 : std::sqrt(error_squares / static_cast<double>(devices)); }
  WriteReport& operator+=(const WriteReport& other) {
    pulses += other.pulses;
    reads += other.reads;
    devices += other.devices;
    failures += other.failures;
    error_sum += other.error_sum;
    error_squares += other.error_squares;
    return *this;
  }
};

/// Counts of the writes of an array since construction.
struct WriteCounts {
  PulseCount pulses;
  std::uint64_t programmings = 0;
  std::uint64_t operations = 0;  ///< pulsed writes of the whole array; they address its random numbers
  std::uint64_t verify_reads = 0;
  std::uint64_t verified = 0;  ///< devices written by write–verify
  std::uint64_t failures = 0;
  std::uint64_t slots = 0;              ///< slots of coincidence pulse trains
  std::uint64_t clipped_samples = 0;    ///< samples of coincidence updates whose firing probability was cut at 1
  PulseCount programming;               ///< part of `pulses` that programming sent: no learning
  std::uint64_t programming_reads = 0;  ///< part of `verify_reads` that programming took
};

/// Nominal device: the spec without spreads, noise, errors, faults and changes with time.
DeviceSpec nominal_device(const DeviceSpec& spec);

/// Reads the devices at the flat places once, m = g + σ N(0, 1) with the σ of a verify read: (1, which.size()),
/// siemens. `operation` addresses its random numbers.
template <class S>
Matrix<S> verify_read(const DeviceArray<S>& array, const std::vector<Index>& which, const ProgrammingSpec& spec,
                      std::uint64_t operation);

/// Brings the devices at the flat places `which` to target(0, k), siemens, by write–verify. In each round the controller reads every
/// device that is not done, m = g + σ N(0, 1) with σ = read_noise · window/√read_time. It accepts the device if |m − target| ≤
/// tolerance · window. Otherwise it sends max(1, ⌊burst |m − target|/s₀⌋) pulses in the right direction, s₀ the nominal pulse, no more
/// than the limit in total. burst ≤ 1/2 keeps a device whose pulses are up to four times the nominal from overshooting back and forth.
///
/// If pulses grow (spec.grows()) a round sends one: V + k step_V of width · step_width^k in round k of those that went the
/// same way without a turn. `operation` numbers the writes of this array for its random numbers and is advanced.
template <class S>
WriteReport write_verify(DeviceArray<S>& array, const std::vector<Index>& which, const Matrix<S>& target,
                         const ProgrammingSpec& spec, std::uint64_t& operation);

/// Programs a whole array by spec.scheme. `programming` numbers the programmings, for the draws of open_loop_error.
template <class S>
WriteReport write_array(DeviceArray<S>& array, const Matrix<S>& target, const ProgrammingSpec& spec,
                        std::uint64_t programming, std::uint64_t& operation);

/// Digital copy of the weights for in-situ write–verify. It takes every change exactly, and finds the devices whose target has moved away
/// from their last written value. A device whose target moves by less than the tolerance is not touched: small changes add up in the
/// copy. Mixed-precision training accumulates in this way (Nandakumar et al., Front. Neurosci. 14:406 (2020),
/// doi:10.3389/fnins.2020.00406).
template <class S>
class ShadowWeights {
 public:
  /// Sets both the copy and the last written target to `weights`.
  void reset(const Matrix<S>& weights);

  /// Moves weights ← clip(weights + delta, [least, most]). Returns the flat places that are now at least `threshold` from
  /// their last written value, in ascending order, and takes them as written.
  std::vector<Index> move(const Matrix<S>& delta, S threshold, S least, S most);

  Matrix<S>& weights() { return weights_; }
  Matrix<S>& written() { return written_; }

 private:
  Matrix<S> weights_;
  Matrix<S> written_;
};

}  // namespace nudge
