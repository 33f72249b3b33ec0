// SPDX-License-Identifier: Apache-2.0
#include "training/gradcheck/gradcheck_json.hpp"

namespace nudge {

nlohmann::json json_of(const GradcheckReport& report) {
  nlohmann::json rows = nlohmann::json::array();
  for (const GradcheckRow& row : report.rows) {
    rows.push_back({{"estimator", row.estimator},
                    {"group", row.group},
                    {"cosine", row.agreement.cosine},
                    {"relative_l2", row.agreement.relative_l2},
                    {"sign_agreement", row.agreement.sign_agreement},
                    {"snr", report.snr(row.estimator)},
                    {"has_gradient", row.agreement.has_gradient},
                    {"force_evaluations", row.force_evaluations}});
  }
  nlohmann::json phases = nlohmann::json::array();
  for (const EstimatorFacts& e : report.estimators) {
    phases.push_back({{"estimator", e.name},
                      {"beta", e.beta},
                      {"free_residual", e.free_residual},
                      {"nudged_residual", e.nudged_residual},
                      {"nudge_ratio", e.nudge_ratio},
                      {"snr", e.signal.snr()},
                      {"flipped_gates", e.flipped_gates},
                      {"diverged", e.diverged}});
  }
  nlohmann::json references = nlohmann::json::array();
  for (const ReferenceFacts& r : report.references) {
    references.push_back({{"solver", to_string(r.solver)},
                          {"adjoint", r.adjoint},
                          {"sequences", r.sequences},
                          {"settled", r.settled},
                          {"solved", r.solved},
                          {"residual", r.residual},
                          {"adjoint_residual", r.adjoint_residual},
                          {"converged", r.converged()}});
  }
  nlohmann::json eigenvalues = nlohmann::json::array();
  for (const Eigenvalue& e : report.stability.leading) {
    eigenvalues.push_back({{"real", e.value.real()},
                           {"imaginary", e.value.imag()},
                           {"residual", e.residual},
                           {"converged", e.converged}});
  }
  const MultistabilityReport& m = report.multistability;
  const nlohmann::json starts =
      m.starts == 0 ? nlohmann::json(nullptr)
                    : nlohmann::json{{"samples", m.sequences}, {"starts", m.starts}, {"settled", m.settled},
                                     {"same", m.same},         {"lower", m.lower},   {"states", m.states}};
  return {{"rows", rows},
          {"diagnostics",
           {{"loss", report.loss},
            {"loss_unit", report.loss_unit},
            {"residual", report.residual},
            {"residual_max", report.residual_max},
            {"settled_share", report.settled},
            {"settled_at", report.settled_at},
            {"step", report.step},
            {"damping", report.damping},
            {"finite_difference_entries", report.difference_entries},
            {"reference_converged", report.reference_converged()},
            {"references", references},
            {"estimators", phases},
            {"asymmetry", report.stability.asymmetry},
            {"eigenvalues", eigenvalues},
            {"eigenvalues_converged", report.stability.converged},
            {"abscissa", report.stability.abscissa},
            {"decay", report.stability.decay},
            {"multistability", starts},
            {"verdict", report.verdict}}},
          {"finite", report.finite()}};
}

}  // namespace nudge
