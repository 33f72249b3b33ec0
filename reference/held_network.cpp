// SPDX-License-Identifier: Apache-2.0
#include "reference/held_network.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"
#include "sim/steady/monitor.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/learning/squared_error.hpp"

namespace nudge {
namespace {

constexpr Index kCopies = 2;     // nudged phases side by side
constexpr int kFirstRound = 64;  // steps
constexpr int kLongestRound =
    1 << 17;                        // with all before it 2^18 steps: a decay of 1.3e-4 per step is followed to rounding
constexpr double kSettled = 1e-13;  // ‖F‖/‖z‖ that counts as settled

Maps<double> number_maps(const NetworkPlan& plan, std::vector<Matrix<double>> weights) {
  const std::vector<Parameter> parameters = plan.parameters();
  NUDGE_EXPECT(parameters.size() == weights.size());
  Maps<double> maps;
  for (std::size_t p = 0; p < weights.size(); ++p) maps.push_back(number_map(parameters[p], std::move(weights[p])));
  return maps;
}

/// Rounds of settling, with the residual of the last: whether to go on.
class Rounds {
 public:
  /// Begins rounds. load: the largest load of a unit, by which its force is measured. step: of a phase, which changes z
  /// by no more than rounding where ‖F‖/‖z‖ is below ε/step.
  Rounds(double load, double step) : load_(load), rounding_(std::numeric_limits<double>::epsilon() * load / step) {}
  double rounding() const { return rounding_; }
  int steps() const { return steps_; }
  int total() const { return total_; }
  bool settled() const { return left_ <= kSettled * load_; }
  /// Takes the residual after steps() more; false: nothing changes any more, or settling has failed.
  bool go_on(double left) {
    const bool halved = left <= 0.5 * left_;
    left_ = left;
    total_ += steps_;
    steps_ *= 2;
    return std::isfinite(left) && left > rounding_ && (halved || !settled()) && steps_ <= kLongestRound;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw NumericalFailure(fmt::format("{}: does not settle: ‖F‖/‖z‖ = {:.3g} (must be <= {:.3g}) after {} steps", what,
                                       left_, kSettled * load_, total_));
  }

 private:
  double load_, rounding_, left_ = std::numeric_limits<double>::infinity();
  int steps_ = kFirstRound, total_ = 0;
};

}  // namespace

HeldNetwork::HeldNetwork(std::shared_ptr<const NetworkPlan> plan, std::vector<Matrix<double>> weights, HeldBatch batch)
    : network_(plan, number_maps(*plan, std::move(weights))),
      batch_(std::move(batch)),
      dynamics_(network_.circuit(), network_.rows(), kCopies),
      cost_(network_.make_cost(kCopies)),
      input_(network_.rows(), network_.circuit().inputs()) {
  if (plan->embedding().symbols < 0) dynamics_.skip_input_gradient();
}

void HeldNetwork::bind(std::size_t example) {
  const auto b = static_cast<Index>(example), rows = network_.rows();
  if (batch_.input.size() > 0) {
    input_ = batch_.input.middleRows(b * rows, rows);
  } else {
    network_.clamp(batch_.symbols, b, input_);
  }
  dynamics_.bind(input_, ReadContext{});
  if (auto* squared = dynamic_cast<SquaredError<double>*>(cost_.get())) {
    squared->bind(batch_.values.middleRows(b * rows, rows));
  } else {
    cost_->bind(batch_.symbols, b, ReadContext{});
  }
}

States HeldNetwork::each(const States& z,
                         const std::function<Matrix<double>(std::size_t, const Matrix<double>&)>& act) {
  States out;
  for (std::size_t b = 0; b < z.size(); ++b) {
    bind(b);
    out.push_back(act(b, z[b]));
  }
  return out;
}

States HeldNetwork::inputs() {
  return each(States(examples()), [this](std::size_t, const Matrix<double>&) { return input_; });
}

States HeldNetwork::starts() {
  return filled(States(examples(), Matrix<double>(network_.rows(), network_.cols())),
                [this](std::size_t, const auto&, auto& z) { network_.initial_state(input_, z); });
}

States HeldNetwork::filled(const States& z,
                           const std::function<void(std::size_t, const Matrix<double>&, Matrix<double>&)>& fill) {
  return each(z, [&](std::size_t b, const Matrix<double>& one) {
    Matrix<double> out = one;
    fill(b, one, out);
    return out;
  });
}

States HeldNetwork::force(const States& z, Part part) {
  return filled(z, [&](std::size_t, const auto& one, auto& f) { dynamics_.force(one, f, part); });
}

States HeldNetwork::moving_force(const States& z) {
  return filled(z, [&](std::size_t, const auto& one, auto& f) { dynamics_.linearize(one).force(f); });
}

States HeldNetwork::jvp(const States& z, const States& v, Part part) {
  return filled(z, [&](std::size_t b, const auto& one, auto& out) { dynamics_.linearize(one).jvp(v[b], out, part); });
}

States HeldNetwork::vjp(const States& z, const States& u, Part part) {
  return filled(z, [&](std::size_t b, const auto& one, auto& out) { dynamics_.linearize(one).vjp(u[b], out, part); });
}

Gradient<double> HeldNetwork::correlate(const States& z, const States& u) {
  Gradient<double> gradient(network_.parameter_shapes());
  for (std::size_t b = 0; b < z.size(); ++b) {
    bind(b);
    dynamics_.linearize(z[b]).accumulate_parameter_gradient(u[b], weight(), gradient);
    embed_back(b, Matrix<double>::Zero(z[b].rows(), z[b].cols()), gradient);
  }
  return gradient;
}

std::vector<double> HeldNetwork::costs(const States& z) {
  std::vector<double> all;
  for (std::size_t b = 0; b < z.size(); ++b) {
    bind(b);
    all.push_back(cost_->value(z[b]));
  }
  return all;
}

std::vector<double> HeldNetwork::energies(const States& z) {
  std::vector<double> all;
  for (std::size_t b = 0; b < z.size(); ++b) {
    bind(b);
    all.push_back(dynamics_.energy(z[b]).value());
  }
  return all;
}

States HeldNetwork::cost_gradient(const States& z) {
  return filled(z, [&](std::size_t, const auto& one, auto& g) { cost_->gradient(one, g); });
}

States HeldNetwork::outputs(const States& z) {
  return each(z, [&](std::size_t, const Matrix<double>& one) {
    cost_->value(one);
    return cost_->output();
  });
}

States HeldNetwork::settle(States z, const SettleOptions& options) {
  return filled(z, [&](std::size_t, const auto&, auto& settled) {
    const SettleResult result = nudge::settle<double>(dynamics_, settled, options, scratch_);
    // It stops before the numbers overflow; the steps that a case asks for do not.
    if (result.status == Status::diverged) settled.setConstant(std::numeric_limits<double>::quiet_NaN());
  });
}

States HeldNetwork::settle_to_rest(States z, SettleOptions options, const std::string& what) {
  options.divergence_ratio = 1e300;
  return filled(z, [&](std::size_t b, const auto&, auto& settled) {
    Rounds rounds(network_.circuit().largest_load(), options.step);
    options.tolerance = rounds.rounding();
    do {
      options.max_steps = rounds.steps();
    } while (rounds.go_on(nudge::settle<double>(dynamics_, settled, options, scratch_).residual));
    if (!rounds.settled() && !what.empty()) rounds.fail(fmt::format("{} of sample {}", what, b));
  });
}

HeldNetwork::Estimate HeldNetwork::run(GradientEstimator<double>& estimator, const States& z) {
  Estimate out;
  out.gradient = Gradient<double>(network_.parameter_shapes());
  for (std::size_t b = 0; b < z.size(); ++b) {
    bind(b);
    Matrix<double> state = z[b], initial = Matrix<double>::Zero(state.rows(), state.cols());
    Example<double> task{&dynamics_, cost_.get(), &state, &initial, weight(), &out.gradient};
    out.reports.push_back(estimator.estimate(task));
    embed_back(b, initial, out.gradient);
    out.adjoint.push_back(estimator.adjoint());
    out.point.push_back(estimator.point());
    const Matrix<double>& nudged = estimator.nudged();
    out.nudged.resize(static_cast<std::size_t>(nudged.rows() / state.rows()));
    for (std::size_t k = 0; k < out.nudged.size(); ++k) {
      out.nudged[k].push_back(nudged.middleRows(static_cast<Index>(k) * state.rows(), state.rows()));
    }
    out.state.push_back(std::move(state));
  }
  return out;
}

/// Adds to the gradient of the embedding from that of x_in since bind(), and from that of a start made of x_in.
void HeldNetwork::embed_back(std::size_t example, const Matrix<double>& start_gradient, Gradient<double>& gradient) {
  if (dynamics_.input_gradient().size() == 0) return;
  Matrix<double> x_gradient = dynamics_.input_gradient();
  network_.accumulate_start(start_gradient, x_gradient);
  network_.accumulate_clamp(batch_.symbols, static_cast<Index>(example), x_gradient, gradient);
}

HeldNetwork::Estimate HeldNetwork::estimate(const std::string& name, const EstimatorOptions& options, const States& z) {
  return run(*make_estimator<double>(name, options), z);
}

HeldNetwork::Estimate HeldNetwork::estimate_at_rest(const std::string& name, EstimatorOptions options, const States& z,
                                                    const std::string& what) {
  options.free.max_steps = 0;
  Rounds rounds(network_.circuit().largest_load(), options.step);
  for (;;) {
    options.nudged_steps = rounds.steps();
    Estimate out = estimate(name, options, z);
    double left = 0;
    for (std::size_t b = 0; b < z.size(); ++b) {
      double moved = 0, size = 0;
      for (const States& phase : out.nudged) {
        moved += (phase[b] - z[b]).squaredNorm();
        size += phase[b].squaredNorm();
      }
      const double residual = out.reports[b].nudged_residual;  // ‖f‖ over ‖z − z*‖, or ‖f‖ where nothing moved
      const double own = relative_residual(moved > 0 ? residual * std::sqrt(moved) : residual, std::sqrt(size));
      left = own <= left ? left : own;  // not a number stays
    }
    if (rounds.go_on(left)) continue;
    if (!rounds.settled()) rounds.fail(fmt::format("{} (beta = {:g})", what, options.beta));
    return out;
  }
}

States per_example(const Matrix<double>& stacked, Index rows) {
  States all;
  for (Index row = 0; row < stacked.rows(); row += rows) all.emplace_back(stacked.middleRows(row, rows));
  return all;
}

Matrix<double> stacked(const States& states) {
  Matrix<double> all(static_cast<Index>(states.size()) * states[0].rows(), states[0].cols());
  Index row = 0;
  for (const Matrix<double>& one : states) {
    all.middleRows(row, one.rows()) = one;
    row += one.rows();
  }
  return all;
}

EstimatorOptions case_phases(double step, int free_steps, int nudged_steps) {
  EstimatorOptions options;
  options.free.step = options.step = step;
  options.free.max_steps = free_steps;
  options.free.divergence_ratio = 1e300;
  options.nudged_steps = nudged_steps;
  return options;
}

}  // namespace nudge
