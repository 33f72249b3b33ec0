// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "circuits/linear_map.hpp"
#include "training/learning/cost.hpp"
#include "training/learning/gradient.hpp"

namespace nudge {

/// Value of train.learns by which every parameter but the read-out learns from noise.
constexpr const char* noise_gradient_name = "noise_gradient";

/// Place of a replacement in its stream of random numbers.
struct NoisePlace {
  std::uint64_t seed = 0, step = 0;
  NodeReadout readout;  ///< its parameters keep their gradient
};

/// Replaces the gradient G of every parameter but the read-out by noise of the same norm,
///     G ← |G| N/|N|,  N standard normal,
/// and each row y of the factors Σ xᵀ y of a map that takes factors by |y| n/|n|. A pure function of (seed, step,
/// parameter, entry): it resumes, and no thread changes it.
template <class S>
void replace_by_noise(const NoisePlace& place, Gradient<S>& gradient, std::vector<std::vector<FactorPair<S>>>& factors);

}  // namespace nudge
