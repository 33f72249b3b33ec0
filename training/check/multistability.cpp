// SPDX-License-Identifier: Apache-2.0
#include "training/check/stability.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/rng.hpp"
#include "sim/settle.hpp"

namespace nudge {
namespace {

constexpr Index kSequences = 4;
constexpr int kSteps = 20000;
constexpr double kSettled = 1e-8;  // of |z|: energies are of second order in what is left

/// Energies of every start, by sample, relative to the free phase's; NaN where it did not settle.
struct Found {
  std::vector<std::vector<double>> above;
};

/// Draws a state (rows, cols) uniform in [−π, π] for start number `start` of a sequence.
Matrix<double> random_start(Index rows, Index cols, std::uint64_t seed, std::uint64_t sequence, int start) {
  Matrix<double> z(rows, cols);
  fill_uniform<double>({seed, Purpose::probe, 1}, sequence, static_cast<std::uint32_t>(start),
                       std::span<double>(z.data(), static_cast<std::size_t>(z.size())));
  return (2 * std::numbers::pi * (z.array() - 0.5)).matrix();
}

/// Settles one sequence from `starts` random states. z0: the equilibrium of the free phase; `sequence` names the draws.
Found settle_from(const Network<double>& network, CircuitDynamics<double>& dynamics, const Matrix<double>& z0,
                  const SettleOptions& options, std::uint64_t seed, std::uint64_t sequence, int starts) {
  SettleWorkspace<double> scratch;
  const Index samples = network.plan().couples_rows() ? 1 : z0.rows();
  const Index rows = z0.rows() / samples;
  Found found{std::vector<std::vector<double>>(static_cast<std::size_t>(samples))};
  const auto energy = dynamics.energy(z0);
  if (!energy)
    throw UserError("gradcheck.starts must be 0 for a network without an energy: the energy distinguishes equilibria");
  for (int s = 0; s < starts; ++s) {
    Matrix<double> z = random_start(z0.rows(), z0.cols(), seed, sequence, s);
    if (const Box<double>* box = dynamics.box()) box->project(z, {0, z.cols()});
    settle<double>(dynamics, z, options, scratch);
    Matrix<double> f(z);
    dynamics.force(z, f);
    if (const Box<double>* box = dynamics.box()) box->hold(z, f, f, {0, z.cols()});
    for (Index i = 0; i < samples; ++i) {
      const auto own = [&](auto& m) { return m.middleRows(i * rows, rows); };
      Matrix<double> hybrid = z0;  // rows do not act on each other: the difference is this sample's
      hybrid.middleRows(i * rows, rows) = own(z);
      const bool settled = own(f).norm() <= 100 * kSettled * own(z).norm();
      found.above[static_cast<std::size_t>(i)].push_back(settled ? *dynamics.energy(hybrid) - *energy : std::nan(""));
    }
  }
  return found;
}

void count(const std::vector<double>& above, MultistabilityReport& out) {
  std::vector<double> energies{0};
  for (const double e : above) {
    if (std::isfinite(e)) energies.push_back(e);
  }
  std::sort(energies.begin(), energies.end());
  const double band = 1e-6 * (energies.back() - energies.front()) + 1e-9;
  out.states += 1;
  for (std::size_t k = 1; k < energies.size(); ++k) out.states += energies[k] - energies[k - 1] > band ? 1 : 0;
  for (const double e : above) {
    if (!std::isfinite(e)) continue;
    out.settled += 1;
    out.same += std::abs(e) <= band ? 1 : 0;
    out.lower += e < -band ? 1 : 0;
  }
}

}  // namespace

MultistabilityReport measure_multistability(const Network<double>& network, const Batch& batch,
                                            const std::vector<Matrix<double>>& states, double step, int starts,
                                            std::uint64_t seed, int threads) {
  const Index sequences = std::min(kSequences, batch.sequences);
  std::vector<Found> found(static_cast<std::size_t>(sequences));
  SettleOptions options;
  options.step = step;
  options.max_steps = kSteps;
  options.tolerance = kSettled;
  parallel_for(sequences, threads, [&](Index b, int /*thread*/) {
    const auto at = static_cast<std::size_t>(b);
    CircuitDynamics<double> dynamics(network.circuit(), network.rows(), 1);
    bind_ideally(network, batch, b, dynamics);
    found[at] = settle_from(network, dynamics, states[at], options, seed, at, starts);
  });
  MultistabilityReport out;
  out.starts = starts;
  for (const Found& one : found) {
    for (const auto& above : one.above) {
      ++out.sequences;
      count(above, out);
    }
  }
  const double samples = std::max(1, out.sequences);
  out.states /= samples;
  if (out.settled > 0) {
    out.same /= out.settled;
    out.lower /= out.settled;
  }
  out.settled /= samples * starts;
  return out;
}

}  // namespace nudge
