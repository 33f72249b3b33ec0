// SPDX-License-Identifier: Apache-2.0
// What a gradient check leaves in its HDF5 file; docs/reference/files.md lists it.
#include "training/gradcheck/gradcheck_file.hpp"

#include <algorithm>

#include "sim/base/parallel.hpp"
#include "sim/equilibrium_json.hpp"
#include "sim/io/run_record.hpp"
#include "training/config/run_options.hpp"
#include "training/data/item_columns.hpp"

namespace nudge {
namespace {

void write_rows(const GradcheckReport& r, H5Document& d) {
  using Row = GradcheckRow;
  ItemColumns<Row> to(d, r.rows, "rows", "row");
  to.add("estimator", "gradient estimator", &Row::estimator);
  to.add("group", "parameter group; all: every group but Wh", &Row::group);
  to.add("cosine", "cosine with the exact gradient; NaN where has_gradient is 0",
         [](const Row& row) { return row.agreement.cosine; });
  to.add("has_gradient", "0: the exact gradient of the group is zero, so there is no cosine",
         [](const Row& row) { return std::int64_t{row.agreement.has_gradient}; });
  to.add("counted", "batches in which the group has a gradient; means are over these",
         [](const Row& row) { return std::int64_t{row.counted}; });
  to.add("relative_l2", "|g - exact|/|exact|; |g - exact| over the whole gradient's norm where has_gradient is 0",
         [](const Row& row) { return row.agreement.relative_l2; });
  to.add("sign_agreement", "share of entries of equal sign; NaN where has_gradient is 0",
         [](const Row& row) { return row.agreement.sign_agreement; });
  to.add("force_evaluations", "work per sequence; a jvp or vjp counts as one", &Row::force_evaluations);
}

void write_estimators(const GradcheckReport& r, H5Document& d) {
  using Facts = EstimatorFacts;
  ItemColumns<Facts> to(d, r.estimators, "diagnostics", "estimator");
  to.add("estimator", "gradient estimator", &Facts::name);
  to.add("beta", "nudge per token; 0: the estimator has none", &Facts::beta);
  to.add("free_residual", "mean |F|/|z| after the free phase", &Facts::free_residual);
  to.add("nudged_residual", "mean |f|/|z - z*| after the nudged phases; implicit: of the linear solve",
         &Facts::nudged_residual);
  to.add("nudge_ratio", "mean |z - z*|/|z*| of the nudged states", &Facts::nudge_ratio);
  to.add(
      "snr",
      "displacement of the nodes by the nudge over the standard deviation of their noise, not resolved below 0.3; NaN "
      "without noise or nudge",
      [](const Facts& f) { return f.signal.snr(); });
  to.add("noise_cosine", "factor of that noise on the cosine, if it is independent between nodes",
         [](const Facts& f) { return f.signal.cosine(); });
  to.add("flipped_gates",
         "share of the memory's ReLU gates that differ between the nudged states, to first order in beta",
         &Facts::flipped_gates);
  to.add("cause", "part of the circuit that costs most, and the cosine without it; empty: none, or not looked for",
         &Facts::cause);
  to.add("diverged", "sequences that diverged", [](const Facts& f) { return static_cast<double>(f.diverged); });
}

void write_stability(const StabilityReport& s, H5Document& d) {
  ItemColumns<Eigenvalue> to(d, s.leading, "diagnostics", "eigenvalue");
  const char* unit = "1/tau";
  to.add(
      "eigenvalue_real", "leading eigenvalues of J_F(z*)", [](const Eigenvalue& e) { return e.value.real(); }, unit);
  to.add(
      "eigenvalue_imaginary", "their imaginary parts", [](const Eigenvalue& e) { return e.value.imag(); }, unit);
  to.add("eigenvalue_residual", "|J x - lambda x| for |x| = 1", &Eigenvalue::residual, unit);
}

}  // namespace

void write_gradcheck(const GradcheckReport& r, H5Document& d) {
  write_rows(r, d);
  write_estimators(r, d);
  if (r.record) write_record(*r.record, d);
  const auto fact = [&d](const char* name, H5Attribute value) { d.attribute(name, std::move(value), "diagnostics"); };
  fact("loss", r.loss);
  fact("loss_unit", r.loss_unit);
  fact("residual", r.residual);
  fact("residual_max", r.residual_max);
  fact("settled_share", r.settled);
  fact("settled_at", r.settled_at);
  fact("step", r.step);
  fact("damping", r.damping);
  fact("finite_difference_entries", static_cast<std::int64_t>(r.difference_entries));
  fact("reference_converged", static_cast<std::int64_t>(r.reference_converged() ? 1 : 0));
  if (!r.reference_converged()) fact("reference_failure", r.failure);
  double settled = 0;
  double solved = 0;
  for (const ReferenceFacts& one : r.references) {
    settled = std::max(settled, one.residual);
    solved = std::max(solved, one.adjoint_residual);
  }
  fact("reference_residual", settled);
  fact("reference_adjoint_residual", solved);
  if (r.multistability.starts > 0) {
    fact("multistability_starts", static_cast<std::int64_t>(r.multistability.starts));
    fact("multistability_settled", r.multistability.settled);
    fact("multistability_same", r.multistability.same);
    fact("multistability_lower", r.multistability.lower);
    fact("multistability_states", r.multistability.states);
  }
  if (r.equilibrium.known()) {
    fact("equilibrium", sentence(r.equilibrium));
    fact("equilibrium_settled", r.equilibrium.settled);
    fact("equilibrium_lost", r.equilibrium.lost);
    fact("equilibrium_unstable", r.equilibrium.unstable);
    fact("equilibrium_dead", r.equilibrium.dead);
    fact("equilibrium_ended", std::string(to_string(r.equilibrium.ended)));
  }
  if (r.stability.sequences == 0) return;
  write_stability(r.stability, d);
  fact("asymmetry", r.stability.asymmetry);
  fact("abscissa", r.stability.abscissa);
  fact("decay", r.stability.decay);
  fact("verdict", r.verdict);
}

H5Document gradcheck_document(const GradcheckReport& report, const Config& config, const std::string& started,
                              double seconds) {
  H5Document document;
  RunRecord record = record_of("gradcheck", config);
  record.started = started;
  record.wall_time_s = seconds;
  add_run_record(document, record);
  write_gradcheck(report, document);
  return document;
}

void write_gradcheck_file(const GradcheckReport& report, const Config& config, const std::string& started,
                          double seconds, const std::filesystem::path& path) {
  gradcheck_document(report, config, started, seconds).write(path, Overwrite::must_not_exist);
}

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
            {"equilibrium", json_of(report.equilibrium)},
            {"verdict", report.verdict}}},
          {"finite", report.finite()},
          {"failure", report.failure}};
}

}  // namespace nudge
