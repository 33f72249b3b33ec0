// SPDX-License-Identifier: Apache-2.0
#include "training/check/stability.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "sim/moving.hpp"
#include "training/check/choices.hpp"
#include "training/check/gradient_agreement.hpp"
#include "training/config/assembly.hpp"
#include "training/config/run_options.hpp"
#include "training/config/run_parts.hpp"

namespace nudge {
namespace {

/// System of one sequence, made again where the key has another value, and with it the bandwidth that the key leaves the amplifiers
/// (bandwidth_left_Hz).
class MovedNetwork {
 public:
  MovedNetwork(Config config, std::string key, const RunParts& parts, const Batch& batch, Index sequence,
               const std::function<void(const std::string&)>& tell)
      : config_(std::move(config)),
        key_(std::move(key)),
        parts_(parts),
        batch_(batch),
        sequence_(sequence),
        tell_(tell) {}

  /// Units and their speeds (sim/moving.hpp).
  Moving& at(double value) {
    if (value == value_) return *all_;
    const std::string text = to_text(*find_row(config_.table(), key_), ParamValue(value));
    if (tell_) tell_(fmt::format("{} = {}", key_, text));
    config_.set_from_text(key_, text, "--follow");
    dynamics_.reset();
    const auto arrays = make_network<double>(config_, network_plan(config_, parts_.task->sizes()), Weights::configured);
    network_ = exact_copy(*arrays, ExactSystem::circuit);
    dynamics_.emplace(network_->circuit(), network_->rows(), 1);
    bind_ideally(*network_, batch_, sequence_, *dynamics_);
    Config placed = config_;
    if (leaves_bandwidth_open(config_)) {  // with all its digits: the branch is smooth
      placed.set_from_text(bandwidth_key, fmt::format("{:.17g} Hz", bandwidth_left_Hz(config_, *arrays)));
    }
    all_.emplace(*dynamics_, gradient_options<double>(placed, "").phases.free.motion);
    value_ = value;
    return *all_;
  }

  const Box<double>* box(double value) {
    at(value);
    return dynamics_->box();
  }

 private:
  Config config_;
  std::string key_;
  const RunParts& parts_;
  const Batch& batch_;
  Index sequence_;
  const std::function<void(const std::string&)>& tell_;
  std::unique_ptr<Network<double>> network_;
  std::optional<CircuitDynamics<double>> dynamics_;
  std::optional<Moving> all_;
  std::optional<double> value_;
};

void check_key(const Config& here, const Config& there, const std::string& key) {
  const ParamRow* row = find_row(here.table(), key);
  if (row == nullptr || row->kind != ParamKind::real) {
    throw UserError(fmt::format("--follow: {} (must be a key whose value is one real number)", key));
  }
  if (there.real(key) == here.real(key)) {
    throw UserError(fmt::format("--follow: {} = {} (must differ from the value of the config, where the branch begins)",
                                key, there.as_text(key)));
  }
  circuit_parts(there);  // what a config is refused for once its rules hold
}

void check_network_moves(const Network<double>& network, MovedNetwork& moved, const FollowedKey& follow,
                         const Matrix<double>& z) {
  if (network.circuit().feed_forward()) {
    throw UserError(
        "--follow: the network is feed-forward, so its Jacobian is triangular and no equilibrium is ever lost");
  }
  if (moved.box(follow.from) != nullptr) {
    throw UserError(
        "--follow: the network keeps nodes in a box, and the Jacobian jumps where one reaches its bound. Use "
        "sweep.run = stability, which maps it point by point");
  }
  const Index unknowns = moved.at(follow.to).cols();
  if (moved.at(follow.from).cols() != unknowns) {
    throw UserError(fmt::format("--follow: {} (an infinite bandwidth is another system: begin and end at a finite one)",
                                follow.key));
  }
  // Near z*, where the force of a symmetric network may be 0 whatever the key.
  const Matrix<double> x = moved.at(follow.from).at_rest(z);
  Matrix<double> beside(x.rows(), x.cols()), f(x.rows(), x.cols()), g(x.rows(), x.cols());
  fill_normal<double>({0, Purpose::probe, 3}, 0, 0, {beside.data(), static_cast<std::size_t>(beside.size())});
  beside += x;
  moved.at(follow.from).force(beside, f);
  moved.at(follow.to).force(beside, g);
  if (f == g) {
    throw UserError(
        fmt::format("--follow: {} (does not move the force of this network between these values)", follow.key));
  }
}

}  // namespace

FollowedKey follow_key(const Config& asked, const Config& there, const std::string& key, int max_points,
                       const std::function<void(const std::string&)>& tell) {
  check_key(asked, there, key);
  expect_equilibrium(asked);
  FollowedKey out{key, asked.real(key), there.real(key), 0, {}};
  const RunParts parts = circuit_parts(asked);
  const Config config = leaves_circuit_open(asked) ? chosen_circuit(asked, parts) : asked;
  const Batch batch = parts.task->training(0);
  const auto network = exact_copy(*make_network<double>(config, parts.plan, Weights::configured), ExactSystem::circuit);
  const RunOptions run = run_options(config);
  SettleOptions phase = gradient_options<double>(config, "").phases.free;
  phase.step = RelaxationStep(config).of(network->circuit());
  const Reference points = reference_gradient(config, *network, phase.step, batch);
  const std::vector<Matrix<double>>& states = points.states;
  for (const Matrix<double>& z : states) {
    if (!z.allFinite()) return out;
  }
  if (!network->circuit().feed_forward()) {
    out.sequence =
        measure_stability(*network, batch, states, points.report.sequences, phase, run.seed, run.threads).worst;
  }
  const Matrix<double>& start = states[static_cast<std::size_t>(out.sequence)];
  Config open = config;
  if (leaves_bandwidth_open(asked)) {
    open.set_from_text(bandwidth_key, asked.as_text(bandwidth_key));
  }
  MovedNetwork moved(open, key, parts, batch, out.sequence, tell);
  check_network_moves(*network, moved, out, start);
  ContinuationOptions options;
  options.max_points = max_points;
  options.spectrum = stability_spectrum(run.seed);
  out.branch = follow_equilibrium([&moved](double value) -> Dynamics<double>& { return moved.at(value); }, out.from,
                                  out.to, moved.at(out.from).at_rest(start), options);
  return out;
}

}  // namespace nudge
