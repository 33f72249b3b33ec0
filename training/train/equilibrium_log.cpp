// SPDX-License-Identifier: Apache-2.0
// What a run logs of its steps and evaluations.
#include <algorithm>
#include <cmath>
#include <limits>

#include "circuits/circuit_spec.hpp"
#include "circuits/energy.hpp"
#include "training/check/gradient_agreement.hpp"
#include "training/check/stability.hpp"
#include "training/config/chip_prices.hpp"
#include "training/config/hardware.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"
#include "training/train/equilibrium_run.hpp"

namespace nudge {
namespace {

double count_of(std::uint64_t n) { return static_cast<double>(n); }

/// Logs what the transposed port did of the counts of `reads`: its converters have prices of their own. add(name, count, unit, text).
template <class Add>
void record_transposed(const ReadTotals& reads, const Add& add) {
  add("transposed_dac_conversions", count_of(reads.dac_conversions.transposed), "1",
      "of dac_conversions, those of transposed reads");
  add("transposed_adc_conversions", count_of(reads.adc_conversions.transposed), "1",
      "to digital, those of transposed reads");
  add("transposed_partial_sums", count_of(reads.partial_sums.transposed), "1",
      "of partial_sums, those of transposed reads");
}

/// Logs the cost of a batch without learning: reads of its free phases and of its outputs, per example.
/// zero_time: of an example in which amplifiers sample their offsets, in units of tau.
void record_inference(TrainLog& log, const BatchReport& r, const CircuitSpec& circuit, double zero_time) {
  if (r.passes <= 0) return;
  const auto examples = static_cast<double>(r.passes);
  ReadTotals reads = r.reads.at(ReadClass::free);
  reads += r.reads.at(ReadClass::loss);
  const EnergyReport energy = energy_report(reads, circuit);
  const auto add = [&](const char* name, double value, const char* unit, const char* description) {
    log.add(std::string("train/inference_") + name, value / examples, unit, description);
  };
  add("array_energy", energy.arrays_J, "J", "of an example's free phase and outputs: heat in the devices");
  add("dac_energy", energy.dac_J, "J", "of the same reads: conversions (circuit.dac_energy)");
  add("adc_energy", energy.adc_J, "J", "of the same reads: conversions (circuit.adc_energy)");
  add("amplifier_energy", energy.amplifiers_J, "J", "of the same reads (circuit.amplifier_power)");
  add("driver_energy", energy.drivers_J, "J", "of the same reads (circuit.line_capacitance)");
  add("digital_energy", energy.digital_J, "J", "of what was read so (circuit.digital_energy)");
  add("dac_conversions", count_of(reads.dac_conversions.total()), "1",
      "of the same reads: of every driven line of every tile");
  add("adc_conversions", count_of(reads.adc_conversions.total()), "1",
      "of the same reads: of every sensed line of every tile");
  add("partial_sums", count_of(reads.partial_sums.total()), "1",
      "of the same reads: additions of the numbers of tiles");
  record_transposed(reads, add);
  add("read_cells", reads.cells, "1", "of the same reads: devices between driven and sensed lines");
  add("amplifier_time", reads.amplifier_s, "s",
      "of the same reads: sensed lines of tiles times the length of the read");
  add("driven_cells", reads.cell_V2, "V^2", "of the same reads: devices on driven lines times the square of the volts");
  add("digital_operations", reads.operations, "1", "of what was read so");
  const double outputs = r.reads.times[static_cast<std::size_t>(ReadClass::loss)];
  add("time", ((r.time + zero_time) * examples + outputs) * circuit.time_constant_s, "s",
      "simulated time of an example: sampling of offsets (circuit.auto_zero), free phase, reads of its outputs");
}

}  // namespace

template <class S>
void EquilibriumRun<S>::record(std::uint64_t step, const BatchReport& r, double norm, StepDecision decision) {
  log_.axis("train/step");
  const auto add = [this](const char* name, double value, const char* unit, const char* description) {
    log_.add(std::string("train/") + name, value, unit, description);
  };
  add("step", static_cast<double>(step), "1", "number of the training step");
  log_.add("train/loss", r.loss, loss_unit(), cost_text(loss_unit(), "step's batch"));
  add("residual", r.residual, "1", "mean over sequences of |F|/|z| at the end of the free phase");
  add("residual_max", r.residual_max, "1", "largest |F|/|z| of a sequence");
  add("nudged_residual", r.nudged_residual, "1", "rest of the nudged transient, |f|/|z - z*| per tau");
  add("nudge_ratio", r.nudge_ratio, "1", "|z - z*|/|z*| of the nudged states");
  add("damping", network_->circuit().damping().value, "1", "damping c during the step");
  add("steps_used", r.steps, "1", "mean relaxation steps of the free phase");
  const double tau = circuit_spec(config_).time_constant_s;
  add("settling_time", r.time * tau, "s", "mean simulated time of the free phase of a sequence");
  add("phase_time", (r.time + r.nudged_time + r.read_time) * tau, "s",
      "mean simulated time of a sequence: all phases, and the reads outside them (stored, anchor, correlation, ...)");
  const ReadTotals reads = r.reads.total();
  if (reads.reads > 0) {
    record_energy(reads, decision);
    record_inference(log_, r, priced_circuit(config_, network_->plan()), auto_zero_time(crossbar_spec(config_)));
    for (std::size_t kind = 0; kind < read_classes; ++kind) {
      log_.add(std::string("train/reads_") + read_class_names()[kind], static_cast<double>(r.reads.of[kind].reads), "1",
               "those of the class " + std::string(read_class_names()[kind]));
    }
  }
  add("decay", r.decay, "1", "mean factor of the residual per free step");
  add("gradient_norm", norm, "1", "norm of the gradient before clipping");
  add("learning_rate", learning_rate_at(options_.rate, step), "1", "learning rate");
  add("energy", r.energy, "1", "mean energy of a sequence at z* (clamp, damping and memory)");
  add("growth", r.growth, "1", "mean growth factor of the residual's direction");
  add("growth_active", r.growth_active, "1", "share of sequences, or samples, on which the growth penalty acts");
  add("growth_drowned", r.growth_drowned, "1",
      "share of sequences, or samples, whose slow mode is below the noise of the reads");
  add("diverged", r.diverged, "1", "sequences whose free or nudged phase is not finite");
  add("left_out", r.left_out, "1", "sequences whose adjoint diverged (train.leave_out_ratio): not in the gradient");
  add("clipped", static_cast<double>(r.clipped), "1", "entries of the correction on which nudge.clip was active");
  add("cost_in_forces", r.cost_in_forces, "1", "work of a sequence in force evaluations");
  add("skipped", decision == StepDecision::skip_outlier ? 1 : 0, "1", "1: the step was an outlier and was skipped");
  add("nonfinite", decision == StepDecision::reject_nonfinite ? 1 : 0, "1", "1: not finite, rolled back");
  add("skipped_so_far", static_cast<double>(guard_.skipped()), "1", "steps skipped since the start, with this one");
  add("nonfinite_so_far", static_cast<double>(guard_.nonfinite()), "1",
      "steps rolled back since the start, with this one");
  if (noise_.active()) {
    add("weight_noise", noise_share_, "1",
        "norm of the weight noise of hardware-aware training, relative to the weights");
  }
  record_nudge(step, r.signal);
}

/// Logs the nudge of steps that measured its noise.
template <class S>
void EquilibriumRun<S>::record_nudge(std::uint64_t step, const NudgeSignal& signal) {
  if (!signal.known()) return;
  log_.axis("train/nudge_step");
  const auto add = [this](const char* name, double value, const char* unit, const char* description) {
    log_.add(std::string("train/") + name, value, unit, description);
  };
  const double volts = circuit_spec(config_).read_voltage_V;
  add("nudge_step", static_cast<double>(step), "1", "steps in which the noise of the nudged states was measured");
  add("nudge_snr", signal.snr(), "1",
      "displacement of the nodes by the nudge over the standard deviation of the nudged states, as the estimator takes "
      "them");
  add("nudge_displacement", signal.displacement() * volts, "V", "root mean square over the nodes, noise taken off");
  add("node_noise", signal.noise() * volts, "V", "standard deviation of the nudged states, root mean square");
  add("noise_cosine", signal.cosine(), "1", "factor of this noise on the cosine of an adjoint");
  const auto forecast = log_.values("train/forecast_cosine");
  if (forecast.empty()) return;
  const std::vector<double>&steps = log_.values("train/nudge_step"), &noise = log_.values("train/noise_cosine");
  const auto since = std::lower_bound(steps.begin(), steps.end(), log_.values("train/forecast_step").back());
  const double then = noise[static_cast<std::size_t>(since - steps.begin())];
  const double now = then > 0 ? std::clamp(forecast.back() * signal.cosine() / then, -1.0, 1.0)
                              : std::numeric_limits<double>::quiet_NaN();
  add("expected_cosine", now, "1",
      "cosine of the gradient with the exact one, as last measured (forecast_cosine), times the change of noise_cosine "
      "since");
}

/// Logs statistics of the settled states of a step, before the weights move; states on other ranks are left out.
template <class S>
void EquilibriumRun<S>::record_margin(std::uint64_t step, const Batch& batch,
                                      const std::vector<SequenceReport>& reports, double epsilon) {
  std::vector<Matrix<double>> states;
  for (const Matrix<S>& z : learner_->states()) states.push_back(z.template cast<double>());
  const auto finite = [](const Matrix<double>& z) { return z.size() > 0 && z.allFinite(); };
  if (!std::all_of(states.begin(), states.end(), finite)) return;
  const RunOptions run = run_options(config_);
  const auto copy = exact_copy(*network_, ExactSystem::circuit);
  SettleOptions phase = phase_;
  phase.step = epsilon;
  StabilityReport found = measure_stability(*copy, batch, states, reports, phase, run.seed, run.threads);
  int steps = phase_options(config_).phases.free.max_steps;
  if (parallel_step(phase) == 0) {
    const Equilibrium phases = verdict(batch);
    found.decay = measured_decay(phases);
    steps = std::max(phases.steps, 1);
  }
  log_.axis("train/margin_step");
  log_.add("train/margin_step", static_cast<double>(step), "1", "steps at whose end the stability was measured");
  log_.add("train/margin", -found.abscissa, "1",
           "minus the largest real part of an eigenvalue of J at the batch's first equilibria, per tau");
  log_.add("train/margin_frequency", turning_rate(found), "1",
           "of the leading pair, radians per tau; 0: real, or none known");
  log_.add("train/margin_decay", found.decay, "1",
           "factor of a perturbation per free step: from these eigenvalues for parallel Euler steps, else the mean "
           "of a noise-free phase of the run; NaN: unknown");
  const std::string alarm = stability_alarm(found, steps);
  const std::string warning =
      decay_forecast(log_.values("train/margin_step"), log_.values("train/margin_decay"), steps);
  constexpr double kWarned = 1, kAlarmed = 2;
  const double level = !alarm.empty() ? kAlarmed : !warning.empty() ? kWarned : 0;
  if (level == kAlarmed && alarmed_ < kAlarmed) log_.event(step, "stability alarm: " + alarm);
  if (level == kWarned && alarmed_ == 0) log_.event(step, "stability warning: " + warning);
  alarmed_ = level;
}

/// Logs the energy of the step's reads and of its digital work, each item by itself; pulses are among the readings of
/// the arrays.
template <class S>
void EquilibriumRun<S>::record_energy(const ReadTotals& reads, StepDecision decision) {
  ReadTotals all = reads;
  if (decision == StepDecision::accept && !is_local(config_)) {
    for (int p = 0; p < network_->parameters(); ++p) {
      if (network_->map(p).takes_factors()) continue;
      all.operations += (clipping_operations + optimizer_kind(options_.optimizer).operations) *
                        static_cast<double>(network_->map(p).inputs() * network_->map(p).outputs());
    }
  }
  const EnergyReport energy = energy_report(all, priced_circuit(config_, network_->plan()));
  const auto add = [this](const char* name, double value, const char* unit, const char* description) {
    log_.add(std::string("train/") + name, value, unit, description);
  };
  add("array_energy", energy.arrays_J, "J", "heat in the devices during all reads of the step's phases");
  add("conversion_energy", energy.conversions_J(), "J", "conversions of these reads (circuit.dac_energy, adc_energy)");
  add("dac_energy", energy.dac_J, "J", "of conversion_energy, those to analog (circuit.dac_energy)");
  add("amplifier_energy", energy.amplifiers_J, "J",
      "amplifiers of the sensed lines while read (circuit.amplifier_power)");
  add("driver_energy", energy.drivers_J, "J", "charging of the driven lines, C V^2 (circuit.line_capacitance)");
  add("digital_energy", energy.digital_J, "J", "digital operations (circuit.digital_energy)");
  const std::uint64_t conversions = all.dac_conversions.total() + all.adc_conversions.total();
  add("reads", count_of(all.reads), "1", "reads of arrays, of one drive each");
  add("conversions", count_of(conversions), "1", "digital-to-analog and back");
  add("dac_conversions", count_of(all.dac_conversions.total()), "1", "of these, those to analog");
  add("partial_sums", count_of(all.partial_sums.total()), "1",
      "additions of the numbers of tiles (crossbar.tile_rows)");
  record_transposed(all, add);
  add("read_cells", all.cells, "1", "devices between driven and sensed lines, over all reads: selectors opened");
  if (conversions > 0) {
    add("clipped_conversions", count_of(all.clipped), "1", "of these, beyond the full scale of their converter");
  }
  add("lines", count_of(all.driven + all.sensed), "1",
      "lines driven and sensed: conversions, if every line had a converter");
  add("amplifier_time", all.amplifier_s, "s", "sensed lines times the length of their read");
  add("driven_cells", all.cell_V2, "V^2", "devices on driven lines times the square of their voltage");
  add("digital_operations", all.operations, "1",
      "of attention, softmax, local correlations held as numbers, and the optimizer");
}

template <class S>
void EquilibriumRun<S>::record_statistics() {
  for (const auto& group : network_->groups()) {
    const auto w = network_->map(group.parameter)
                       .weights()
                       .middleCols(group.columns.begin, group.columns.count)
                       .template cast<double>();
    const double mean = w.mean();
    const std::string at = "weights/" + group.name + "/";
    log_.add(at + "mean", mean, "1", "mean of the weights at each evaluation");
    log_.add(at + "std", std::sqrt((w.array() - mean).square().mean()), "1", "standard deviation of the weights");
    log_.add(at + "min", w.minCoeff(), "1", "smallest weight");
    log_.add(at + "max", w.maxCoeff(), "1", "largest weight");
  }
  const auto names = network_->parameter_names();
  for (int p = 0; p < network_->parameters(); ++p) {
    for (const MapReading& reading : network_->map(p).readings()) {
      log_.add("device/" + names[static_cast<std::size_t>(p)] + "/" + reading.name, reading.value, reading.unit,
               reading.description);
    }
  }
}

#define NUDGE_TRAINEE_LOG(S)                                                                                      \
  template void EquilibriumRun<S>::record(std::uint64_t, const BatchReport&, double, StepDecision);               \
  template void EquilibriumRun<S>::record_margin(std::uint64_t, const Batch&, const std::vector<SequenceReport>&, \
                                                 double);                                                         \
  template void EquilibriumRun<S>::record_statistics();
NUDGE_BOTH_PRECISIONS(NUDGE_TRAINEE_LOG)

}  // namespace nudge
