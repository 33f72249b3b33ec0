// SPDX-License-Identifier: Apache-2.0
// What a gradient check leaves in its HDF5 file; docs/file_format.md lists it.
#include "training/gradcheck/gradcheck_file.hpp"

#include <algorithm>

#include "sim/base/parallel.hpp"
#include "sim/io/run_record.hpp"
#include "training/config/run_options.hpp"

namespace nudge {
namespace {

/// The values of one member over a list.
template <class T, class Item, class Get>
std::vector<T> column_of(const std::vector<Item>& items, Get get) {
  std::vector<T> out;
  out.reserve(items.size());
  for (const Item& item : items) out.push_back(get(item));
  return out;
}

void write_rows(const GradcheckReport& r, H5Document& d) {
  using Row = GradcheckRow;
  const auto text = [&](const char* name, auto get, const char* description) {
    d.column(std::string("rows/") + name, column_of<std::string>(r.rows, get), {"1", description, {"row"}});
  };
  const auto real = [&](const char* name, auto get, const char* description) {
    d.column(std::string("rows/") + name, column_of<double>(r.rows, get), {"1", description, {"row"}});
  };
  text(
      "estimator", [](const Row& row) { return row.estimator; }, "gradient estimator");
  text(
      "group", [](const Row& row) { return row.group; }, "parameter group; all: every group but Wh");
  real(
      "cosine", [](const Row& row) { return row.agreement.cosine; },
      "cosine with the exact gradient; NaN where has_gradient is 0");
  d.column("rows/has_gradient",
           column_of<std::int64_t>(r.rows, [](const Row& row) { return row.agreement.has_gradient ? 1 : 0; }),
           {"1", "0: the exact gradient of the group is zero, there is nothing to agree with", {"row"}});
  d.column("rows/counted", column_of<std::int64_t>(r.rows, [](const Row& row) { return row.counted; }),
           {"1", "batches in which the group has a gradient: what the means are over", {"row"}});
  real(
      "relative_l2", [](const Row& row) { return row.agreement.relative_l2; },
      "|g - exact|/|exact|; |g - exact| over the whole gradient's norm where has_gradient is 0");
  real(
      "sign_agreement", [](const Row& row) { return row.agreement.sign_agreement; },
      "share of entries of equal sign; NaN where has_gradient is 0");
  real(
      "force_evaluations", [](const Row& row) { return row.force_evaluations; },
      "work per sequence; a jvp or vjp counts as one");
}

void write_estimators(const GradcheckReport& r, H5Document& d) {
  using Facts = EstimatorFacts;
  const auto real = [&](const char* name, auto get, const char* description) {
    d.column(std::string("diagnostics/") + name, column_of<double>(r.estimators, get),
             {"1", description, {"estimator"}});
  };
  d.column("diagnostics/estimator", column_of<std::string>(r.estimators, [](const Facts& f) { return f.name; }),
           {"1", "gradient estimator", {"estimator"}});
  real(
      "beta", [](const Facts& f) { return f.beta; }, "nudge per token; 0: the estimator has none");
  real(
      "free_residual", [](const Facts& f) { return f.free_residual; }, "mean |F|/|z| after the free phase");
  real(
      "nudged_residual", [](const Facts& f) { return f.nudged_residual; },
      "mean |f|/|z - z*| after the nudged phases; implicit: of the linear solve");
  real(
      "nudge_ratio", [](const Facts& f) { return f.nudge_ratio; }, "mean |z - z*|/|z*| of the nudged states");
  real(
      "snr", [](const Facts& f) { return f.signal.snr(); },
      "displacement of the nodes by the nudge over the standard deviation of their noise; NaN without noise or nudge");
  real(
      "flipped_gates", [](const Facts& f) { return f.flipped_gates; },
      "share of the memory's ReLU gates that differ between the nudged states, to first order in beta");
  real(
      "diverged", [](const Facts& f) { return static_cast<double>(f.diverged); }, "sequences that diverged");
}

void write_stability(const StabilityReport& s, H5Document& d) {
  const auto real = [&](const char* name, auto get, const char* unit, const char* description) {
    d.column(std::string("diagnostics/") + name, column_of<double>(s.leading, get),
             {unit, description, {"eigenvalue"}});
  };
  real(
      "eigenvalue_real", [](const Eigenvalue& e) { return e.value.real(); }, "1/tau", "leading eigenvalues of J_F(z*)");
  real(
      "eigenvalue_imaginary", [](const Eigenvalue& e) { return e.value.imag(); }, "1/tau", "their imaginary parts");
  real(
      "eigenvalue_residual", [](const Eigenvalue& e) { return e.residual; }, "1/tau", "|J x - lambda x| for |x| = 1");
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
            {"verdict", report.verdict}}},
          {"finite", report.finite()}};
}

}  // namespace nudge
