// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "training/learning/estimators/estimator.hpp"
#include "training/models/network.hpp"

namespace nudge {

/// States of a case, one matrix per example: a state (rows, cols), or what belongs to it.
using States = std::vector<Matrix<double>>;

/// Splits a dataset (B·T, cols), with one row per row of an example, into examples; stacked() does the reverse.
States per_example(const Matrix<double>& stacked, Index rows);
Matrix<double> stacked(const States& states);

/// Examples of a case.
struct HeldBatch {
  Batch symbols;          ///< number of examples and rows; symbols and classes where the case has them
  Matrix<double> input;   ///< features (B·T, inputs) of a network fed by features, in the case's own digits
  Matrix<double> values;  ///< values to fit (B·T, outputs), in the case's own digits
};

/// Network of a plan with the numbers of a case in its maps. It holds what one thread needs to settle it and to learn
/// from it, and moves from example to example. It does the work of BatchGradient, with states given and kept.
class HeldNetwork {
 public:
  /// Makes the network; weights in the order of plan->parameters().
  HeldNetwork(std::shared_ptr<const NetworkPlan> plan, std::vector<Matrix<double>> weights, HeldBatch batch);

  Network<double>& network() { return network_; }
  std::size_t examples() const { return static_cast<std::size_t>(batch_.symbols.sequences); }
  /// Weight of an example in the mean over the batch's rows.
  double weight() const { return 1.0 / static_cast<double>(batch_.symbols.sequences * batch_.symbols.tokens); }

  void bind(std::size_t example);
  CircuitDynamics<double>& dynamics() { return dynamics_; }
  Cost<double>& cost() { return *cost_; }
  /// Input clamp of the bound example (rows, inputs).
  const Matrix<double>& input() const { return input_; }

  /// Applies `act` to the state of every example, bound to it, and returns the results.
  States each(const States& z, const std::function<Matrix<double>(std::size_t, const Matrix<double>&)>& act);
  /// Input clamps of every example, and starts of their free phases.
  States inputs();
  States starts();
  States force(const States& z, Part part = Part::all);
  States moving_force(const States& z);  ///< force on the units that can move (Linearization)
  States jvp(const States& z, const States& v, Part part = Part::all);
  States vjp(const States& z, const States& u, Part part = Part::all);
  /// Correlation ⟨u, ∂F/∂θ(z)⟩, weighted, with the embedding's.
  Gradient<double> correlate(const States& z, const States& u);
  std::vector<double> costs(const States& z);  ///< costs summed over the rows of an example
  std::vector<double> energies(const States& z);
  States cost_gradient(const States& z);
  States outputs(const States& z);  ///< outputs, by ExampleCost::output()

  States settle(States z, const SettleOptions& options);
  /// Settles until nothing changes: rounds of settle(), each twice as long as the one before, until one no longer
  /// halves the residual. NumericalFailure naming `what` where more than 1e-13 of ‖z‖ is left, with forces measured by
  /// the largest load of a unit. Without a name it returns the states reached.
  States settle_to_rest(States z, SettleOptions options, const std::string& what);

  /// Results of an estimator for every example.
  struct Estimate {
    States state, point, adjoint;  ///< states, points, and adjoints of the cost summed over the rows of an example
    std::vector<States> nudged;    ///< states of each nudged phase
    Gradient<double> gradient;     ///< gradient of the mean over all rows
    std::vector<SequenceReport> reports;
  };
  /// Runs an estimator by its name in the config, from the given states.
  Estimate estimate(const std::string& name, const EstimatorOptions& options, const States& z);
  /// Runs an estimator from exactly the states z, with nudged phases long enough that nothing changes
  /// (settle_to_rest()).
  Estimate estimate_at_rest(const std::string& name, EstimatorOptions options, const States& z,
                            const std::string& what);

 private:
  /// As each(), where `fill` changes a copy of the state into the result.
  States filled(const States& z, const std::function<void(std::size_t, const Matrix<double>&, Matrix<double>&)>& fill);
  Estimate run(GradientEstimator<double>& estimator, const States& z);
  void embed_back(std::size_t example, const Matrix<double>& start_gradient, Gradient<double>& gradient);

  Network<double> network_;
  HeldBatch batch_;
  CircuitDynamics<double> dynamics_;
  std::unique_ptr<ExampleCost<double>> cost_;
  Matrix<double> input_;
  SettleWorkspace<double> scratch_;
};

/// Options of phases that take exactly T1 and T2 steps, as a case defines its states, converged or not.
EstimatorOptions case_phases(double step, int free_steps, int nudged_steps);

}  // namespace nudge
