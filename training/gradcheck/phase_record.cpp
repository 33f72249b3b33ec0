// SPDX-License-Identifier: Apache-2.0
#include "training/gradcheck/phase_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// What an estimator does with the recorded samples of one sequence.
template <class S>
class SequenceRecord final : public PhaseWatch<S> {
 public:
  struct Sample {
    Index row = 0;  ///< its first one
    std::vector<Gradient<S>> gradients;
  };

  SequenceRecord(std::vector<ParameterShape> shapes, Index rows, int steps)
      : shapes_(std::move(shapes)), rows_(rows), most_(static_cast<std::size_t>(steps)) {}

  void step(Phase phase, ConstMatrixRef<S> z, int steps) override {
    auto& states = phase == Phase::free ? free : nudged;
    if (steps == 0) states.clear();
    states.emplace_back(z);
  }

  void pull(Linearization<S>& at, ConstMatrixRef<S> u, S scale) override {
    for (Sample& sample : samples) {
      if (sample.gradients.size() == most_) continue;
      Matrix<S> own = Matrix<S>::Zero(u.rows(), u.cols());
      own.middleRows(sample.row, rows_) = u.middleRows(sample.row, rows_);
      sample.gradients.emplace_back(shapes_);
      at.accumulate_parameter_gradient(own, scale, sample.gradients.back());
    }
  }

  /// Gradients of a sample's nudged states while those of the others stand at z*, each less the one before.
  void end(Example<S>& example, GradientEstimator<S>& estimator) override {
    if (nudged.empty()) return;
    Example<S> one = example;
    one.weight = S(1);
    const Index tokens = example.state->rows(), copies = nudged.front().rows() / tokens;
    for (Sample& sample : samples) {
      Gradient<S> before(shapes_);
      Matrix<S> states = example.state->replicate(copies, 1);
      for (std::size_t t = 1; t < nudged.size(); ++t) {
        for (Index k = 0; k < copies; ++k) {
          states.middleRows(k * tokens + sample.row, rows_) = nudged[t].middleRows(k * tokens + sample.row, rows_);
        }
        Gradient<S> now(shapes_);
        if (!estimator.correlate(one, states, now)) return;
        sample.gradients.push_back(now);
        sample.gradients.back().add(before, S(-1));
        before = std::move(now);
      }
    }
  }

  std::vector<Matrix<S>> free, nudged;
  std::vector<Sample> samples;

 private:
  std::vector<ParameterShape> shapes_;
  Index rows_;
  std::size_t most_;
};

/// Where a sample is.
struct Spot {
  Index sequence = 0, row = 0;
  std::size_t number = 0;  ///< among the recorded ones of its sequence
};

/// The records of the samples' sequences.
template <class S>
class Run {
 public:
  Run(const Network<S>& network, const Batch& batch, const std::vector<Spot>& places, std::uint64_t step,
      const BatchGradientOptions& options) {
    const Index rows = network.plan().couples_rows() ? network.rows() : 1;
    for (const Spot& place : places) {
      const auto [at, fresh] =
          records_.try_emplace(place.sequence, network.parameter_shapes(), rows, options.phases.nudged_steps);
      at->second.samples.push_back({place.row, {}});
    }
    BatchGradient<S> learner(network, options);
    learner.watch([&](Index sequence) -> PhaseWatch<S>* {
      const auto at = records_.find(sequence);
      return at == records_.end() ? nullptr : &at->second;
    });
    Gradient<S> gradient(network.parameter_shapes());
    learner.compute(batch, step, gradient);
  }
  Index copies(const Spot& place) const {
    const SequenceRecord<S>& one = of(place);
    return one.nudged.front().rows() / one.free.front().rows();
  }
  const SequenceRecord<S>& of(const Spot& place) const { return records_.at(place.sequence); }
  const std::vector<Gradient<S>>& gradients(const Spot& place) const {
    return of(place).samples[place.number].gradients;
  }

 private:
  std::map<Index, SequenceRecord<S>> records_;
};

std::vector<Spot> places_of(const std::vector<std::int64_t>& samples, Index in_sequence) {
  std::vector<Spot> places;
  for (const std::int64_t sample : samples) {
    Spot place{static_cast<Index>(sample) / in_sequence, static_cast<Index>(sample) % in_sequence};
    for (const Spot& other : places) place.number += other.sequence == place.sequence ? 1 : 0;
    places.push_back(place);
  }
  return places;
}

template <class S>
Matrix<double> part(const Gradient<S>& gradient, const ParameterGroup& group) {
  return gradient[group.parameter].middleCols(group.columns.begin, group.columns.count).template cast<double>();
}

/// Appends so many states of a sample, whose rows of a copy begin at `row`.
template <class S>
void append(std::vector<double>& to, const std::vector<Matrix<S>>& states, Index count, Index row, Index rows) {
  const Index cols = states.front().cols(), numbers = rows * cols;
  for (Index t = 0; t < count; ++t) {
    const bool there = t < std::ssize(states) && row + rows <= states.front().rows();
    for (Index i = 0; i < numbers; ++i) {
      to.push_back(there ? static_cast<double>(states[static_cast<std::size_t>(t)](row + i / cols, i % cols)) : kNone);
    }
  }
}

/// A group, and the unit vectors of its samples along the sum of bptt's gradients; empty for one without.
struct Axis {
  ParameterGroup group;
  std::vector<Matrix<double>> of_samples;
};

template <class S>
std::vector<Axis> directions_of(const NetworkPlan& plan, const std::vector<Spot>& places, const Run<S>& bptt) {
  std::vector<Axis> out;
  for (const ParameterGroup& group : equilibrium_groups(plan)) {
    Axis one{group, {}};
    bool any = false;
    for (const Spot& place : places) {
      Matrix<double> sum;
      for (const Gradient<S>& step : bptt.gradients(place)) {
        const Matrix<double> now = part(step, group);
        sum = sum.size() == 0 ? now : Matrix<double>(sum + now);
      }
      any = any || sum.norm() > 0;
      one.of_samples.push_back(sum.norm() > 0 ? Matrix<double>(sum / sum.norm()) : sum);
    }
    if (any) out.push_back(std::move(one));
  }
  return out;
}

/// Appends (sample, group, step) of a run; `distance`: to bptt, null: not asked for.
template <class S>
void add_curves(const Run<S>& run, const Run<S>& bptt, const std::vector<Spot>& places,
                const std::vector<Axis>& directions, Index steps, std::vector<double>& along,
                std::vector<double>* distance) {
  for (std::size_t n = 0; n < places.size(); ++n) {
    const auto& own = run.gradients(places[n]);
    const auto& other = bptt.gradients(places[n]);
    for (const Axis& one : directions) {
      for (std::size_t t = 0; t < static_cast<std::size_t>(steps); ++t) {
        const bool there = t < own.size(), both = there && t < other.size();
        const Matrix<double> now = there ? part(own[t], one.group) : Matrix<double>();
        along.push_back(there ? now.cwiseProduct(one.of_samples[n]).sum() : kNone);
        if (distance != nullptr) distance->push_back(both ? (now - part(other[t], one.group)).norm() : kNone);
      }
    }
  }
}

}  // namespace

template <class S>
PhaseRecord record_phases(const Network<S>& network, const Batch& batch, const std::vector<std::int64_t>& samples,
                          const std::vector<RecordedEstimator>& estimators, std::uint64_t step,
                          const std::function<BatchGradientOptions(const RecordedEstimator&)>& options) {
  const bool coupled = network.plan().couples_rows();
  const std::vector<Spot> places = places_of(samples, coupled ? 1 : network.rows());
  const auto run = [&](const RecordedEstimator& one) { return Run<S>(network, batch, places, step, options(one)); };
  PhaseRecord out;
  out.samples = samples;
  out.rows = coupled ? network.rows() : 1;
  out.units = network.cols();
  out.nudged_states = options(estimators.front()).phases.nudged_steps + 1;
  const Run<S> bptt = run({"bptt", 0});
  const std::vector<Axis> directions = directions_of(network.plan(), places, bptt);
  for (const Axis& one : directions) out.groups.push_back(one.group.name);
  add_curves(bptt, bptt, places, directions, out.nudged_states - 1, out.bptt, nullptr);

  std::vector<Run<S>> runs;
  for (const RecordedEstimator& one : estimators) {
    const Run<S>& now = runs.emplace_back(run(one));
    if (now.gradients(places.front()).empty()) {
      throw UserError(fmt::format("gradcheck.record: the gradient of {} does not come from nudged states", one.name));
    }
    out.estimators.push_back(one.name);
    out.beta.push_back(one.beta);
    out.nudges = std::max(out.nudges, now.copies(places.front()));
    for (const Spot& place : places) out.free_states = std::max<Index>(out.free_states, std::ssize(now.of(place).free));
    add_curves(now, bptt, places, directions, out.nudged_states - 1, out.update, &out.distance);
  }
  for (const Spot& place : places) append(out.free, runs.front().of(place).free, out.free_states, place.row, out.rows);
  for (const Run<S>& now : runs) {
    for (const Spot& place : places) {
      for (Index k = 0; k < out.nudges; ++k) {
        append(out.nudged, now.of(place).nudged, out.nudged_states, k * network.rows() + place.row, out.rows);
      }
    }
  }
  return out;
}

void write_record(const PhaseRecord& r, H5Document& d) {
  const auto size = [](const auto& list) { return static_cast<Index>(list.size()); };
  const Index e = size(r.estimators), s = size(r.samples), g = size(r.groups), t = r.nudged_states - 1;
  d.column("record/estimator", r.estimators, {"1", "gradient estimator", {"estimator"}});
  d.column("record/sample", r.samples, {"1", "number in the first batch", {"sample"}});
  d.column("record/group", r.groups, {"1", "parameter group with a gradient", {"group"}});
  d.column("record/beta", r.beta, {"1", "nudge per token", {"estimator"}});
  d.dataset("record/free", r.free, {s, r.free_states, r.rows, r.units},
            {"1",
             "states of the free phase, from where it starts; NaN behind its end",
             {"sample", "free_step", "state_row", "unit"}});
  d.dataset("record/nudged", r.nudged, {e, s, r.nudges, r.nudged_states, r.rows, r.units},
            {"1",
             "states of the nudged phases, of +beta first; NaN where an estimator has fewer",
             {"estimator", "sample", "nudge", "nudged_step", "state_row", "unit"}});
  const std::vector<std::string> curves = {"estimator", "sample", "group", "step"};
  d.dataset("record/update", r.update, {e, s, g, t},
            {"1", "contribution of a step of the nudged phases to the gradient, along the sum of bptt's", curves});
  d.dataset("record/distance", r.distance, {e, s, g, t},
            {"1", "|update - bptt| over all parameters of the group", curves});
  d.dataset("record/bptt", r.bptt, {s, g, t},
            {"1",
             "contribution of a step of the free phase, from its last on, to the gradient of bptt, along its sum",
             {"sample", "group", "step"}});
}

#define NUDGE_RECORD(S)                                                                                    \
  template PhaseRecord record_phases<S>(const Network<S>&, const Batch&, const std::vector<std::int64_t>&, \
                                        const std::vector<RecordedEstimator>&, std::uint64_t,              \
                                        const std::function<BatchGradientOptions(const RecordedEstimator&)>&);
NUDGE_BOTH_PRECISIONS(NUDGE_RECORD)

}  // namespace nudge
