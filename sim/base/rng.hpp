// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace nudge {

/// Use of a random number. The numbers are part of the reproducibility promise: append only, never renumber.
enum class Purpose : std::uint32_t {
  weight_init = 1,
  batch_order = 2,
  programming_error = 3,
  device_to_device = 4,
  read_noise = 5,
  update_noise = 6,
  sde = 7,
  probe = 8,
  drift = 9,
  telegraph = 10,
  pulse_train = 11,
  latent_bits = 12,
  synthetic_data = 13,
  correction_path = 14,
  verify_read = 20,
  coincidence_rows = 21,
  coincidence_columns = 22,
  pulse_order = 23,
  amplifier = 30,
  moving_noise = 31,
  node_noise = 32,
  leak_spread = 33,
  sample_hold = 34,
  load_trim = 35,
  generation = 36,
  unit_spread = 37,
  correlator = 38,
};

/// Key of one stream of random numbers. Every number is a pure function of (key, step, lane, index), so it cannot
/// depend on threads or on order. The generator is counter-based: Philox4x32-10 of Salmon et al., SC 2011,
/// doi:10.1145/2063384.2063405.
struct RngKey {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::probe;
  std::uint32_t entity = 0;  ///< number of the array, parameter or device group
};

/// Standard normal numbers; step and lane choose the place in the stream (training step and sequence or read number).
/// Number i depends on (key, step, lane, i) only, to the last bit, not on out.size(): a longer span continues a shorter
/// one. Costs about 1.7 ns (float) or 3.9 ns (double) per number with AVX2, in runs of 128 (64) numbers. One number
/// costs as much as a run. Up to 2^33 numbers per (key, step, lane).
template <class S>
void fill_normal(const RngKey& key, std::uint64_t step, std::uint32_t lane, std::span<S> out);

/// Uniform numbers in [0, 1).
template <class S>
void fill_uniform(const RngKey& key, std::uint64_t step, std::uint32_t lane, std::span<S> out);

/// Draws 64 random bits.
std::uint64_t random_bits(const RngKey& key, std::uint64_t step, std::uint32_t lane, std::uint32_t index);

/// Uniform integer in [0, n), without modulo bias beyond 2⁻⁶⁴ n. Needs n ≥ 1.
std::uint64_t random_below(std::uint64_t n, const RngKey& key, std::uint64_t step, std::uint32_t lane,
                           std::uint32_t index);

}  // namespace nudge
