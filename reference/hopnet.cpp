// SPDX-License-Identifier: Apache-2.0
#include "reference/hopnet.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "reference/hopnet_network.hpp"
#include "reference/hopnet_outputs.hpp"
#include "sim/base/errors.hpp"
#include "training/learning/estimators/backprop.hpp"
#include "training/learning/estimators/implicit.hpp"
#include "training/learning/estimators/nudged_estimators.hpp"

namespace nudge {
namespace {

using Error = HopnetError;

/// Runs the parts of a case one after the other, each over all samples.
class Hopnet {
 public:
  Hopnet(const HopnetProblem& problem, const H5Reader& file)
      : p_(problem), file_(file), net_(problem), writer_(problem), gradient_(shapes(problem)) {}

  std::vector<CaseDataset> compute() {
    at_test_point();
    at_fixed_point();
    if (p_.shape.asymmetric) {
      nudged_asymmetric();
    } else {
      nudged_symmetric();
    }
    euler();
    if (p_.shape.asymmetric) {
      for (const auto& [name, law, anchored] : laws()) euler_nudged("_" + name, "grad_euler_" + name, law, anchored);
      euler_nudged("_anchored", "grad_euler_anchored", NudgeLaw::corrected, true);
    } else {
      const auto [plus, minus] = euler_nudged("", "grad_euler_vf_centered", NudgeLaw::plain, false);
      contrasts("grad_euler_ep", last_, plus, minus, Error::euler_gradient);
    }
    backprop();
    return writer_.take();
  }

 private:
  static std::vector<ParameterShape> shapes(const HopnetProblem& p) {
    std::vector<ParameterShape> all;
    all.reserve(p.weights.size());
    for (const Matrix<double>& w : p.weights) all.push_back({w.rows(), w.cols()});
    return all;
  }
  struct Law {
    std::string name;
    NudgeLaw law;
    bool anchored;
  };
  static std::vector<Law> laws() {
    return {{"plain", NudgeLaw::plain, false},
            {"aep", NudgeLaw::corrected, false},
            {"transposed", NudgeLaw::transposed, true}};
  }

  double weight() const { return 1.0 / static_cast<double>(p_.batch); }
  Matrix<double> states() const { return Matrix<double>::Zero(p_.batch, p_.units); }

  void each(const std::function<void(Index)>& act) {
    for (Index b = 0; b < p_.batch; ++b) {
      net_.bind(b);
      act(b);
    }
  }
  std::vector<double> costs(const Matrix<double>& z) {
    std::vector<double> all;
    each([&](Index b) { all.push_back(net_.cost().value(z.row(b))); });
    return all;
  }
  std::vector<double> energies(const Matrix<double>& z) {
    std::vector<double> all;
    each([&](Index b) { all.push_back(net_.dynamics().energy(z.row(b)).value()); });
    return all;
  }
  void write_gradient(const std::string& name, Error error, bool readout = true) {
    writer_.parameters(name, gradient_, error, readout);
    gradient_.set_zero();
  }
  /// Adds ⟨a, ∂F/∂θ(z)⟩ of the present sample, and with the cost's own parameters where asked for.
  void correlate(const Matrix<double>& z, const Matrix<double>& a, bool readout) {
    net_.dynamics().linearize(z).accumulate_parameter_gradient(a, weight(), gradient_);
    if (readout) net_.cost().accumulate_parameter_gradient(z, weight(), gradient_);
  }

  void at_test_point() {
    Matrix<double> drive = states(), force = states(), jvp = states(), vjp = states(), dcost = states();
    each([&](Index b) {
      const Matrix<double> z = p_.z0.row(b);
      drive.row(b) = net_.drive(z);
      Linearization<double>& at = net_.dynamics().linearize(z);
      at.force(force.middleRows(b, 1));
      at.jvp(p_.v.row(b), jvp.middleRows(b, 1));
      at.vjp(p_.u.row(b), vjp.middleRows(b, 1));
      at.accumulate_parameter_gradient(p_.u.row(b), weight(), gradient_);
      dcost.row(b) = net_.cost_gradient(z);
    });
    writer_.rows("drive_z0", drive, Error::point);
    writer_.rows("force_z0", force, Error::point);
    writer_.rows("jvp_z0_v", jvp, Error::point);
    writer_.rows("vjp_z0_u", vjp, Error::point);
    writer_.values("cost_z0", {p_.batch}, costs(p_.z0), Error::point);
    writer_.rows("dcost_z0", dcost, Error::point);
    if (!p_.shape.asymmetric) writer_.values("energy_z0", {p_.batch}, energies(p_.z0), Error::point);
    write_gradient("vf_z0_u", Error::point, false);
  }

  Matrix<double> settle(const Matrix<double>& start, HopnetLaw law, double beta, const std::string& what) {
    Matrix<double> all = states();
    each([&](Index b) {
      if (fixed_.size() > 0) net_.freeze(fixed_.row(b));
      all.row(b) = net_.settle(start.row(b), law, beta, fmt::format("{}: {} of sample {}", file_.name(), what, b));
    });
    return all;
  }

  void at_fixed_point() {
    fixed_ = settle(p_.start, HopnetLaw::plain, 0, "z_fp");
    writer_.rows("z_fp", fixed_, Error::fixed_point);
    writer_.values("cost_fp", {p_.batch}, costs(fixed_), Error::fixed_point);
    if (!p_.shape.asymmetric) writer_.values("energy_fp", {p_.batch}, energies(fixed_), Error::fixed_point);
    if (p_.cross_entropy()) {
      Matrix<double> logits(p_.batch, p_.shape.classes);
      each([&](Index b) { logits.row(b) = net_.logits(fixed_.row(b)); });
      writer_.rows("logits_fp", logits, Error::fixed_point);
    }
    ImplicitEstimator<double> implicit(AdjointSolver::dense, options(0));
    writer_.rows("a_exact", run(implicit, fixed_).adjoint, Error::exact);
    write_gradient("grad_exact", Error::exact);
  }

  /// (H(z) − H(z₊))/β and so on, H = −∂E/∂θ, and the read-out's direct gradient at z.
  void contrasts(const std::string& name, const Matrix<double>& z, const Matrix<double>& plus,
                 const Matrix<double>& minus, Error error) {
    const auto contrast = [&](const char* side, const Matrix<double>& first, const Matrix<double>& second, double by) {
      each([&](Index b) {
        net_.dynamics().accumulate_energy_gradient(first.row(b), weight() / by, gradient_);
        net_.dynamics().accumulate_energy_gradient(second.row(b), -weight() / by, gradient_);
        net_.cost().accumulate_parameter_gradient(z.row(b), weight(), gradient_);
      });
      write_gradient(name + side, error);
    };
    contrast("_plus", z, plus, p_.beta);
    contrast("_minus", minus, z, p_.beta);
    contrast("_centered", minus, plus, 2 * p_.beta);
  }

  /// a = (z₋ − z₊)/2β and ⟨a, ∂F/∂θ(z*)⟩.
  void centered(const std::string& adjoint, const std::string& gradient, const Matrix<double>& plus,
                const Matrix<double>& minus) {
    const Matrix<double> a = (minus - plus) / (2 * p_.beta);
    each([&](Index b) { correlate(fixed_.row(b), a.row(b), true); });
    writer_.rows(adjoint, a, Error::nudged);
    write_gradient(gradient, Error::nudged);
  }

  void nudged_symmetric() {
    const Matrix<double> plus = settle(fixed_, HopnetLaw::plain, p_.beta, "z_plus");
    const Matrix<double> minus = settle(fixed_, HopnetLaw::plain, -p_.beta, "z_minus");
    writer_.rows("z_plus", plus, Error::fixed_point);
    writer_.rows("z_minus", minus, Error::fixed_point);
    contrasts("grad_ep", fixed_, plus, minus, Error::nudged);
    centered("a_ep", "grad_vf_centered", plus, minus);
  }

  void nudged_asymmetric() {
    const std::pair<const char*, HopnetLaw> all[] = {
        {"plain", HopnetLaw::plain}, {"aep", HopnetLaw::aep}, {"transposed", HopnetLaw::transposed}};
    for (const auto& [name, law] : all) {
      const Matrix<double> plus = settle(fixed_, law, p_.beta, std::string("z_plus_") + name);
      const Matrix<double> minus = settle(fixed_, law, -p_.beta, std::string("z_minus_") + name);
      writer_.rows(std::string("z_plus_") + name, plus, Error::fixed_point);
      writer_.rows(std::string("z_minus_") + name, minus, Error::fixed_point);
      centered(std::string("a_") + name, std::string("grad_") + name, plus, minus);
    }
  }

  void euler() {
    Matrix<double> z = p_.start, f = states();
    const Index last = p_.shape.widths.back();
    std::vector<double> outputs, energy;
    const Box<double>* box = net_.dynamics().box();
    for (int n = 0; n <= p_.free_steps; ++n) {
      for (Index b = 0; b < p_.batch; ++b) {
        for (Index i = p_.units - last; i < p_.units; ++i) outputs.push_back(z(b, i));
      }
      if (!p_.shape.asymmetric) {
        for (const double e : energies(z)) energy.push_back(e);
      }
      if (n == 1) writer_.rows("euler_z_1", z, Error::point);
      each([&](Index b) { net_.dynamics().force(z.row(b), f.middleRows(b, 1)); });
      if (n == p_.free_steps) break;
      z += p_.step * f;
      if (box != nullptr) box->project(z, {0, p_.units});
    }
    if (box != nullptr) box->hold(z, f, f, {0, p_.units});
    last_ = z;
    writer_.rows("euler_z_T1", z, Error::euler);
    const Index states = Index{p_.free_steps} + 1;
    writer_.values("euler_output", {states, p_.batch, last}, outputs, Error::euler);
    if (!p_.shape.asymmetric) writer_.values("euler_energy", {states, p_.batch}, energy, Error::euler);
    writer_.values("euler_cost_T1", {p_.batch}, costs(z), Error::euler);
    writer_.values("euler_residual_T1", {}, {f.norm() / z.norm()}, Error::euler);
  }

  EstimatorOptions options(int free_steps) const {
    EstimatorOptions options;
    options.free.step = options.step = p_.step;
    options.free.max_steps = free_steps;
    options.free.divergence_ratio = 1e300;  // a case defines its states whatever they are
    options.nudged_steps = p_.nudged_steps;
    options.beta = p_.beta;
    return options;
  }

  struct Estimate {
    Matrix<double> adjoint, plus, minus;
  };

  /// An estimator on every sample from the given states; its gradient is added up.
  Estimate run(GradientEstimator<double>& estimator, const Matrix<double>& start) {
    Estimate out{states(), states(), states()};
    each([&](Index b) {
      Matrix<double> z = start.row(b), initial = Matrix<double>::Zero(1, p_.units);
      SequenceTask<double> task{&net_.dynamics(), &net_.cost(), &z, &initial, weight(), &gradient_};
      estimator.estimate(task);
      out.adjoint.row(b) = estimator.adjoint();
      if (const auto* nudged = dynamic_cast<const NudgedEstimator<double>*>(&estimator)) {
        out.plus.row(b) = nudged->states().row(0);
        out.minus.row(b) = nudged->states().row(1);
      }
    });
    return out;
  }

  std::pair<Matrix<double>, Matrix<double>> euler_nudged(const std::string& suffix, const std::string& gradient,
                                                         NudgeLaw law, bool anchored) {
    NudgedEstimator<double> estimator(law, anchored, sided_nodes<double>(NudgeSides::centered, p_.beta), options(0));
    const Estimate found = run(estimator, last_);
    writer_.rows("euler_z_plus" + suffix, found.plus, Error::euler);
    writer_.rows("euler_z_minus" + suffix, found.minus, Error::euler);
    write_gradient(gradient, Error::euler_gradient);
    return {found.plus, found.minus};
  }

  void backprop() {
    BackpropThroughTime<double> bptt(options(p_.free_steps));
    run(bptt, p_.start);
    write_gradient("grad_bptt", Error::exact);
  }

  const HopnetProblem& p_;
  const H5Reader& file_;
  HopnetNetwork net_;
  HopnetWriter writer_;
  Gradient<double> gradient_;
  Matrix<double> fixed_, last_;  ///< z_fp and euler_z_T1
};

}  // namespace

std::vector<CaseDataset> compute_hopnet(const H5Reader& file) {
  const HopnetProblem problem(file);
  return Hopnet(problem, file).compute();
}

}  // namespace nudge
