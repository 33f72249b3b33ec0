// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/registry.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/open_list.hpp"
#include "sim/config/suggest.hpp"
#include "training/learning/estimators/backprop.hpp"
#include "training/learning/estimators/contrastive.hpp"
#include "training/learning/estimators/coupled_learning.hpp"
#include "training/learning/estimators/energy_alternating.hpp"
#include "training/learning/estimators/finite_nudge.hpp"
#include "training/learning/estimators/frequency.hpp"
#include "training/learning/estimators/implicit.hpp"
#include "training/learning/estimators/linear_adjoint.hpp"
#include "training/learning/estimators/nudged_estimators.hpp"
#include "training/learning/estimators/tracked.hpp"

namespace nudge {
namespace {

template <class S>
using Made = std::unique_ptr<GradientEstimator<S>>;

template <class S>
Made<S> nudged(NudgeLaw law, bool anchored, const EstimatorOptions& o) {
  const NudgeSides sides = o.oscillation.on() ? NudgeSides::positive : o.sides;  // of a lock-in: one state, of +β
  return std::make_unique<NudgedEstimator<S>>(law, anchored, sided_nodes<S>(sides, o.beta), o);
}

NudgeLaw corrected(const EstimatorOptions& o) { return o.clip > 0 ? NudgeLaw::clipped : NudgeLaw::corrected; }

/// The kind of a maker that is generic in its arithmetic.
template <class Make>
EstimatorKind kind(const char* name, Nudge nudge, Make /*make*/) {
  EstimatorKind one{name, [](const EstimatorOptions& o) { return Make{}.template operator()<float>(o); },
                    [](const EstimatorOptions& o) { return Make{}.template operator()<double>(o); }};
  one.nudge = nudge;
  if (nudge == Nudge::transposed) one.beta_in_float = 1e-2;
  return one;
}

/// What every nudged phase reads, and those of some.
std::vector<std::string> nudged_keys(std::vector<std::string> more) {
  for (const char* key : {"beta", "nudge.sides", "nudge.below_rounding", "nudge.below_noise", "relaxation.nudged_steps",
                          "reads.nudged", "train.leave_out_ratio"}) {
    more.emplace_back(key);
  }
  return more;
}
constexpr const char *kFrozen = "nudge.cost_current", *kMean = "relaxation.average_nudged", *kClip = "nudge.clip",
                     *kAnchor = "reads.anchor", *kPath = "correction.", *kDrive = "nudge.drive",
                     *kPoints = "nudge.points";

/// What those read whose nudge may swing.
std::vector<std::string> swinging_keys(std::vector<std::string> more) {
  for (const char* key : {"nudge.form", "nudge.frequency", "nudge.periods", "nudge.settling_periods", "nudge.harmonic",
                          "nudge.time_constant", "nudge.phase_error"}) {
    more.emplace_back(key);
  }
  return nudged_keys(std::move(more));
}

/// What the iterations of an adjoint read: their steps.
std::vector<std::string> iterated_keys() {
  return {"relaxation.nudged_steps", "reads.nudged", kPath, "train.leave_out_ratio"};
}

EstimatorKind reading(EstimatorKind kind, std::vector<std::string> keys) {
  kind.reads = std::move(keys);
  return kind;
}

template <template <class> class Estimator>
EstimatorKind computed(const char* name) {
  return kind(name, Nudge::none,
              []<class S>(const EstimatorOptions& o) -> Made<S> { return std::make_unique<Estimator<S>>(o); });
}

/// One entry per estimator: adding one is its file and an entry here.
std::vector<EstimatorKind> our_kinds() {
  using O = const EstimatorOptions&;
  EstimatorKind ep = kind("ep", Nudge::live, []<class S>(O o) { return nudged<S>(NudgeLaw::plain, false, o); });
  ep.plain = true;
  EstimatorKind contrastive = kind("ep_contrastive", Nudge::live, []<class S>(O o) -> Made<S> {
    return std::make_unique<ContrastiveEstimator<S>>(sided_nodes<S>(o.sides, o.beta), o);
  });
  contrastive.contrasts = contrastive.plain = true;
  // Energies are differences of large numbers: rounding/β against β², equal near the cube root of rounding.
  contrastive.beta_in_float = 1e-2;
  contrastive.beta_in_double = 1e-4;
  EstimatorKind tracked = kind("aep_tracked", Nudge::live,
                               []<class S>(O o) -> Made<S> { return std::make_unique<TrackedEstimator<S>>(o); });
  tracked.all_at_once = tracked.both_sides = tracked.follows = true;
  EstimatorKind npoint = kind("aep_npoint", Nudge::transposed, []<class S>(O o) -> Made<S> {
    return std::make_unique<NudgedEstimator<S>>(NudgeLaw::transposed, true, chebyshev_nodes<S>(o.points, o.beta), o);
  });
  npoint.both_sides = true;
  EstimatorKind dyadic = computed<DyadicEstimator>("dyadic");
  dyadic.all_at_once = true;
  EstimatorKind alternating = computed<EnergyAlternatingEstimator>("energy_alternating");
  alternating.of_layers = true;
  EstimatorKind bptt = computed<BackpropThroughTime>("bptt");
  bptt.unrolls = true;
  EstimatorKind coupled = kind("coupled_learning", Nudge::live, []<class S>(O o) -> Made<S> {
    return std::make_unique<CoupledLearningEstimator<S>>(o);
  });
  coupled.contrasts = coupled.plain = coupled.direct = true;
  coupled.beta_in_float = 1e-2;  // as of ep_contrastive
  coupled.beta_in_double = 1e-4;
  EstimatorKind adjoint = kind("adjoint", Nudge::none, []<class S>(O o) -> Made<S> {
    return std::make_unique<ImplicitEstimator<S>>(AdjointSolver::direct, o);
  });
  adjoint.direct = true;
  EstimatorKind finite = kind("finite_nudge", Nudge::live, []<class S>(O o) -> Made<S> {
    return std::make_unique<FiniteNudgeEstimator<S>>(finite_nodes<S>(o.sides, o.beta), o);
  });
  finite.contrasts = finite.plain = finite.in_bath = true;
  finite.beta_in_float = finite.beta_in_double = 0.5;
  contrastive.reads = nudged_keys({kFrozen, kMean});
  tracked.reads = nudged_keys({kMean, kPath});
  npoint.reads = nudged_keys({kFrozen, kMean, kAnchor, kPath, kDrive, kPoints});
  dyadic.reads = iterated_keys();
  const std::vector<std::string> solved{"relaxation.adjoint_tolerance", "train.leave_out_ratio"};
  std::vector<EstimatorKind> all = {
      reading(ep, swinging_keys({kFrozen, kMean})),
      contrastive,
      reading(kind("ep_anchored", Nudge::live, []<class S>(O o) { return nudged<S>(NudgeLaw::plain, true, o); }),
              swinging_keys({kFrozen, kMean, kAnchor})),
      reading(kind("aep", Nudge::live, []<class S>(O o) { return nudged<S>(corrected(o), false, o); }),
              swinging_keys({kFrozen, kMean, kPath, kClip})),
      reading(kind("aep_anchored", Nudge::live, []<class S>(O o) { return nudged<S>(corrected(o), true, o); }),
              swinging_keys({kFrozen, kMean, kPath, kClip, kAnchor})),
      tracked,
      reading(kind("aep_transposed", Nudge::transposed,
                   []<class S>(O o) { return nudged<S>(NudgeLaw::transposed, true, o); }),
              swinging_keys({kFrozen, kMean, kAnchor, kPath, kDrive})),
      npoint,
      dyadic,
      reading(computed<LinearAdjointEstimator>("linear_adjoint"), iterated_keys()),
      reading(
          kind("implicit", Nudge::none,
               []<class S>(O o) -> Made<S> { return std::make_unique<ImplicitEstimator<S>>(AdjointSolver::gmres, o); }),
          solved),
      reading(
          kind("implicit_dense", Nudge::none,
               []<class S>(O o) -> Made<S> { return std::make_unique<ImplicitEstimator<S>>(AdjointSolver::dense, o); }),
          {"train.leave_out_ratio"}),
      bptt,
      alternating};
  EstimatorKind frequency = computed<FrequencyEstimator>("frequency");
  frequency.reads = {"nudge.input_frequency", "nudge.error_frequency",  "train.leave_out_ratio", "nudge.form",
                     "nudge.periods",         "nudge.settling_periods", "nudge.time_constant",   "nudge.phase_error"};
  frequency.reads_swinging = {"beta", "reads.nudged"};
  frequency.beta_in_float = frequency.beta_in_double =
      0.1;  // a current, which linear circuits answer whatever its size
  all.push_back(frequency);
  for (EstimatorKind& one : all) one.declares = true;
  finite.reads = nudged_keys({kMean});
  finite.declares = true;
  all.insert(all.end(), {coupled, adjoint, finite});
  return all;
}

OpenList<EstimatorKind>& list() {
  static OpenList<EstimatorKind> kinds(our_kinds());
  return kinds;
}

std::optional<EstimatorKind>& lent() {
  static std::optional<EstimatorKind> kind;
  return kind;
}

}  // namespace

LentEstimator::LentEstimator(EstimatorKind kind) {
  if (lent()) throw std::logic_error("an estimator is lent already");
  kind.name = own_estimator_name;
  lent() = std::move(kind);
}

LentEstimator::~LentEstimator() { lent().reset(); }

void require_parallel(const char* estimator, RelaxationSchedule schedule) {
  if (schedule == RelaxationSchedule::parallel) return;
  throw UserError(fmt::format("{}: all nodes move at once (set relaxation.schedule = parallel)", estimator));
}

const std::vector<EstimatorKind>& estimator_kinds() { return list().all(); }

void add_estimator(EstimatorKind kind) { list().add(std::move(kind)); }

std::vector<std::string> estimator_names() {
  std::vector<std::string> names;
  for (const EstimatorKind& kind : estimator_kinds()) names.push_back(kind.name);
  return names;
}

const EstimatorKind* find_estimator(const std::string& name) {
  for (const EstimatorKind& kind : estimator_kinds()) {
    if (kind.name == name) return &kind;
  }
  if (name == own_estimator_name && lent()) return &*lent();
  return nullptr;
}

const EstimatorKind& estimator_kind(const std::string& name) {
  if (const EstimatorKind* kind = find_estimator(name)) return *kind;
  if (name == own_estimator_name) throw UserError(std::string("estimator = own: ") + own_estimator_missing);
  throw UserError(fmt::format("unknown estimator \"{}\" ({})", name, did_you_mean(name, estimator_names())));
}

template <>
std::unique_ptr<GradientEstimator<float>> make_estimator(const std::string& name, const EstimatorOptions& options) {
  return estimator_kind(name).in_float(options);
}
template <>
std::unique_ptr<GradientEstimator<double>> make_estimator(const std::string& name, const EstimatorOptions& options) {
  return estimator_kind(name).in_double(options);
}
template <>
double default_beta<float>(const std::string& estimator) {
  return estimator_kind(estimator).beta_in_float;
}
template <>
double default_beta<double>(const std::string& estimator) {
  return estimator_kind(estimator).beta_in_double;
}

}  // namespace nudge
