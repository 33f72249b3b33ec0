// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "training/learning/estimators/estimator.hpp"
#include "training/models/network.hpp"

namespace nudge {

/// One matrix per example of a case: a state (rows, cols), or what belongs to it.
using States = std::vector<Matrix<double>>;

/// A dataset of one row per row of an example, (B·T, cols), and back.
States per_example(const Matrix<double>& stacked, Index rows);
Matrix<double> stacked(const States& states);

/// The examples of a case.
struct HeldBatch {
  Batch symbols;          ///< their number and rows; symbols and classes where the case has them
  Matrix<double> input;   ///< (B·T, inputs) of what is fed by features, in the case's own digits
  Matrix<double> values;  ///< (B·T, outputs) to fit, likewise
};

/// The network of a plan with the numbers of a case in its maps, and what one thread needs to settle it and to learn from it, moved
/// from example to example: what BatchGradient does, with states given and kept.
class HeldNetwork {
 public:
  /// weights as plan->parameters() lists them.
  HeldNetwork(std::shared_ptr<const NetworkPlan> plan, std::vector<Matrix<double>> weights, HeldBatch batch);

  Network<double>& network() { return network_; }
  std::size_t examples() const { return static_cast<std::size_t>(batch_.symbols.sequences); }
  /// Of an example in the mean over the batch's rows.
  double weight() const { return 1.0 / static_cast<double>(batch_.symbols.sequences * batch_.symbols.tokens); }

  void bind(std::size_t example);
  CircuitDynamics<double>& dynamics() { return dynamics_; }
  Cost<double>& cost() { return *cost_; }
  /// What clamps the bound example (rows, inputs).
  const Matrix<double>& input() const { return input_; }

  /// What `act` makes of the state of every example, bound.
  States each(const States& z, const std::function<Matrix<double>(std::size_t, const Matrix<double>&)>& act);
  /// What clamps every example, and where its free phase starts.
  States inputs();
  States starts();
  States force(const States& z, Part part = Part::all);
  States moving_force(const States& z);  ///< of the units that can move (Linearization)
  States jvp(const States& z, const States& v, Part part = Part::all);
  States vjp(const States& z, const States& u, Part part = Part::all);
  /// ⟨u, ∂F/∂θ(z)⟩, weighted, with the embedding's.
  Gradient<double> correlate(const States& z, const States& u);
  std::vector<double> costs(const States& z);  ///< summed over the rows of an example
  std::vector<double> energies(const States& z);
  States cost_gradient(const States& z);
  States outputs(const States& z);  ///< ExampleCost::output()

  States settle(States z, const SettleOptions& options);
  /// Until nothing changes: rounds of settle(), each twice as long as the one before, until one no longer halves what is left.
  /// NumericalFailure naming `what` where more than 1e-13 of ‖z‖ is left, forces measured by the largest load of a unit; without
  /// a name the states are what came of it.
  States settle_to_rest(States z, SettleOptions options, const std::string& what);

  /// What an estimator made of every example.
  struct Estimate {
    States state, point, adjoint;  ///< adjoints of the cost summed over the rows of an example
    std::vector<States> nudged;    ///< per nudged phase
    Gradient<double> gradient;     ///< of the mean over all rows
    std::vector<SequenceReport> reports;
  };
  /// An estimator by its name in the config, from the given states.
  Estimate estimate(const std::string& name, const EstimatorOptions& options, const States& z);
  /// The same from the very states z, with nudged phases as long as it takes until nothing changes (settle_to_rest()).
  Estimate estimate_at_rest(const std::string& name, EstimatorOptions options, const States& z,
                            const std::string& what);

 private:
  Estimate run(GradientEstimator<double>& estimator, const States& z);
  void embed_back(std::size_t example, const Matrix<double>& start_gradient, Gradient<double>& gradient);

  Network<double> network_;
  HeldBatch batch_;
  CircuitDynamics<double> dynamics_;
  std::unique_ptr<ExampleCost<double>> cost_;
  Matrix<double> input_;
  SettleWorkspace<double> scratch_;
};

/// Options of phases that take exactly T1 and T2 steps: a case defines its states whatever they are.
EstimatorOptions case_phases(double step, int free_steps, int nudged_steps);

}  // namespace nudge
