// SPDX-License-Identifier: Apache-2.0
#include "python/src/results.hpp"

#include <nanobind/stl/string.h>

#include <cmath>

namespace nudge::python {

nb::dict dict_of(const TrainProgress& p) {
  nb::dict out;
  out["event"] = "step";
  out["done"] = p.done;
  out["total"] = p.steps;
  out["loss"] = p.loss;
  out["validation_loss"] = p.validation;
  out["residual"] = p.residual;
  out["damping"] = p.damping;
  if (!p.metric.empty()) out[("validation_" + p.metric).c_str()] = p.score;
  if (std::isfinite(p.beside_loss)) {
    nb::dict beside;
    beside["loss"] = p.beside_loss;
    beside["validation_loss"] = p.beside_validation;
    out["beside"] = beside;
  }
  if (std::isfinite(p.null_loss)) {
    nb::dict null;
    null["loss"] = p.null_loss;
    null["validation_loss"] = p.null_validation;
    out["null"] = null;
  }
  return out;
}

namespace {

nb::dict dict_of(const NullResult& result, const std::string& metric) {
  nb::dict null;
  null["validation_loss"] = result.validation_loss;
  null["test_loss"] = result.test_loss;
  null["won"] = result.gain.won;
  null["won_low"] = result.gain.low;
  null["won_high"] = result.gain.high;
  null["examples"] = result.gain.examples;
  null["devices_learnt"] = result.gain.significant();
  null["verdict"] = result.verdict;
  if (!metric.empty()) {
    null[("validation_" + metric).c_str()] = result.score.validation;
    null[("test_" + metric).c_str()] = result.score.test;
  }
  return null;
}

}  // namespace

nb::dict dict_of(const TrainSummary& s) {
  nb::dict out;
  out["steps"] = s.done;
  out["loss"] = s.loss;
  out["validation_loss"] = s.validation_loss;
  out["test_loss"] = s.test_loss;
  out["residual"] = s.residual;
  out["nudge_snr"] = s.nudge_snr;
  out["expected_cosine"] = s.expected_cosine;
  out["damping"] = s.damping;
  out["skipped"] = s.skipped;
  out["nonfinite"] = s.nonfinite;
  out["weights"] = s.weights;
  out["seconds"] = s.seconds;
  out["status"] = s.failure.empty() ? "ok" : s.failure.c_str();
  if (!s.metric.empty()) {
    out[("validation_" + s.metric).c_str()] = s.score.validation;
    out[("test_" + s.metric).c_str()] = s.score.test;
  }
  nb::dict hardware;
  hardware["phase_time_s"] = s.phase_time;
  hardware["array_energy_J"] = s.array_energy;
  hardware["pulses"] = s.pulses;
  hardware["verify_reads"] = s.verify_reads;
  hardware["write_failures"] = s.write_failures;
  hardware["write_energy_J"] = s.write_energy;
  nb::dict programming;
  programming["pulses"] = s.programming_pulses;
  programming["verify_reads"] = s.programming_reads;
  programming["energy_J"] = s.programming_energy;
  hardware["programming"] = programming;
  hardware["tokens"] = s.token_use;
  hardware["devices"] = s.devices;
  out["hardware"] = hardware;
  if (!s.beside.empty()) {
    nb::dict beside;
    beside["estimator"] = s.beside;
    beside["weights"] = s.beside_weights;
    beside["validation_loss"] = s.beside_validation_loss;
    beside["test_loss"] = s.beside_test_loss;
    if (!s.metric.empty()) {
      beside[("validation_" + s.metric).c_str()] = s.beside_score.validation;
      beside[("test_" + s.metric).c_str()] = s.beside_score.test;
    }
    out["beside"] = beside;
  }
  if (s.null) out["null"] = dict_of(*s.null, s.metric);
  nb::list notes;
  for (const std::string& note : s.notes) notes.append(note);
  out["notes"] = notes;
  return out;
}

namespace {

nb::dict diagnostics(const GradcheckReport& r) {
  nb::dict out;
  out["loss"] = r.loss;
  out["residual"] = r.residual;
  out["residual_max"] = r.residual_max;
  out["settled_share"] = r.settled;
  out["settled_at"] = r.settled_at;
  out["step"] = r.step;
  out["damping"] = r.damping;
  out["finite_difference_entries"] = r.difference_entries;
  out["reference_converged"] = r.reference_converged();
  nb::list estimators;
  for (const EstimatorFacts& e : r.estimators) {
    nb::dict one;
    one["estimator"] = e.name;
    one["beta"] = e.beta;
    one["free_residual"] = e.free_residual;
    one["nudged_residual"] = e.nudged_residual;
    one["nudge_ratio"] = e.nudge_ratio;
    one["snr"] = e.signal.snr();
    one["flipped_gates"] = e.flipped_gates;
    one["diverged"] = e.diverged;
    estimators.append(one);
  }
  out["estimators"] = estimators;
  out["asymmetry"] = r.stability.asymmetry;
  nb::list eigenvalues;
  for (const Eigenvalue& e : r.stability.leading) {
    nb::dict one;
    one["real"] = e.value.real();
    one["imaginary"] = e.value.imag();
    one["residual"] = e.residual;
    one["converged"] = e.converged;
    eigenvalues.append(one);
  }
  out["eigenvalues"] = eigenvalues;
  out["eigenvalues_converged"] = r.stability.converged;
  out["abscissa"] = r.stability.abscissa;
  out["decay"] = r.stability.decay;
  out["verdict"] = r.verdict;
  return out;
}

/// Values of the swept keys, numbers in SI units.
void add_values(const Sweep& sweep, const SweepPoint& point, nb::dict& out) {
  for (std::size_t k = 0; k < sweep.keys.size(); ++k) {
    if (sweep.numeric[k]) {
      out[sweep.keys[k].c_str()] = point.numbers[k];
    } else {
      out[sweep.keys[k].c_str()] = point.values[k];
    }
  }
}

nb::dict dict_of(const Sweep& sweep, const SweepPoint& point) {
  nb::dict out;
  out["seed"] = point.seed;
  out["status"] = point.status;
  add_values(sweep, point, out);
  for (std::size_t m = 0; m < sweep.metrics.size(); ++m) out[sweep.metrics[m].name.c_str()] = point.metrics[m];
  if (!point.groups.empty()) {
    nb::dict groups;
    for (const GroupCosine& group : point.groups) groups[group.group.c_str()] = group.cosine;
    out["group_cosines"] = groups;
  }
  out["seconds"] = point.seconds;
  return out;
}

}  // namespace

nb::dict dict_of(const GradcheckReport& report) {
  nb::list rows;
  for (const GradcheckRow& row : report.rows) {
    nb::dict one;
    one["estimator"] = row.estimator;
    one["group"] = row.group;
    one["cosine"] = row.agreement.cosine;
    one["relative_l2"] = row.agreement.relative_l2;
    one["sign_agreement"] = row.agreement.sign_agreement;
    one["snr"] = report.snr(row.estimator);
    one["has_gradient"] = row.agreement.has_gradient;
    one["force_evaluations"] = row.force_evaluations;
    rows.append(one);
  }
  nb::dict out;
  out["rows"] = rows;
  out["diagnostics"] = diagnostics(report);
  out["finite"] = report.finite();
  return out;
}

nb::dict dict_of(const Sweep& sweep, const SweepPoint& point, std::size_t done) {
  nb::dict out = dict_of(sweep, point);
  out["event"] = "point";
  out["done"] = done;
  out["total"] = sweep.count_own();
  return out;
}

nb::dict dict_of(const Sweep& sweep) {
  nb::list keys, points, summary;
  for (const std::string& key : sweep.keys) keys.append(key);
  for (const SweepPoint& point : sweep.points) {
    if (!point.status.empty()) points.append(dict_of(sweep, point));
  }
  for (const SweepCell& cell : summarise_sweep(sweep)) {
    nb::dict one;
    one["runs"] = cell.runs;
    one["failed"] = cell.failed;
    if (!cell.invalid.empty()) one["invalid"] = cell.invalid;
    for (std::size_t k = 0; k < sweep.keys.size(); ++k) one[sweep.keys[k].c_str()] = cell.values[k];
    for (std::size_t m = 0; m < sweep.metrics.size(); ++m) {
      nb::dict value;
      value["mean"] = cell.results[m].mean;
      value["deviation"] = cell.results[m].deviation;
      value["median"] = cell.results[m].median;
      value["failed"] = cell.results[m].failed;
      one[sweep.metrics[m].name.c_str()] = value;
    }
    summary.append(one);
  }
  nb::dict out;
  out["keys"] = keys;
  out["points"] = points;
  out["summary"] = summary;
  out["interrupted"] = sweep.interrupted;
  out["outside"] = sweep.outside.size();
  out["ok"] = sweep.count_ok();
  return out;
}

nb::dict dict_of(const SettleResult& result) {
  nb::dict out;
  out["status"] = std::string(to_string(result.status));
  out["steps"] = result.steps;
  out["force_evaluations"] = result.force_evaluations;
  out["residual"] = result.residual;
  out["time"] = result.time;
  out["decay"] = result.decay;
  return out;
}

nb::dict dict_of(const SequenceReport& report) {
  nb::dict out;
  out["free"] = dict_of(report.free);
  out["loss"] = report.loss;
  out["nudged"] = std::string(to_string(report.nudged));
  out["nudged_residual"] = report.nudged_residual;
  out["nudged_time"] = report.nudged_time;
  out["nudge_ratio"] = report.nudge_ratio;
  out["adjoint_norm"] = report.adjoint.norm;
  out["cost_in_forces"] = report.cost_in_forces;
  return out;
}

}  // namespace nudge::python
