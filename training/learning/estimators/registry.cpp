// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "circuits/read_policy.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/open_list.hpp"
#include "sim/config/suggest.hpp"
#include "training/learning/estimators/adjoint_estimators.hpp"
#include "training/learning/estimators/echo.hpp"
#include "training/learning/estimators/estimator_keys.hpp"
#include "training/learning/estimators/nudged_estimators.hpp"
#include "training/learning/estimators/nudged_phase.hpp"

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
  one.needs = {needs::still_input, needs::no_bath};
  one.leaves_out = true;
  if (nudge == Nudge::transposed) one.beta_in_float = 1e-2;
  return one;
}

using E = EstimatorOptions;
using OptionList = std::vector<Member<E>>;

/// What a nudged phase reads, and `more`.
EstimatorKind one_sided(EstimatorKind kind, OptionList more, std::initializer_list<ReadClass> reads = {}) {
  more.insert(more.end(), {&E::beta, &E::below_rounding, &E::below_noise, &E::nudged_steps, &E::running_mean});
  kind.keys = estimator_section().rows_of(more);
  kind.keys.push_back(read_policy_row(ReadClass::nudged));
  for (const ReadClass one : reads) kind.keys.push_back(read_policy_row(one));
  return kind;
}

/// The same of nudges of chosen sides.
EstimatorKind nudging(EstimatorKind kind, OptionList more, std::initializer_list<ReadClass> reads = {}) {
  more.emplace_back(&E::sides);
  kind.needs.push_back(needs::step_of_nudge);
  return one_sided(std::move(kind), std::move(more), reads);
}

/// The same of a nudge that may swing.
EstimatorKind swinging(EstimatorKind kind, OptionList more, std::initializer_list<ReadClass> reads = {}) {
  more.emplace_back(&E::oscillation);
  return nudging(std::move(kind), std::move(more), reads);
}

/// What iterations of an adjoint read: their steps.
EstimatorKind iterating(EstimatorKind kind) {
  kind.keys = estimator_section().rows_of({&E::nudged_steps});
  kind.keys.push_back(read_policy_row(ReadClass::nudged));
  kind.corrects = true;
  return kind;
}

EstimatorKind correcting(EstimatorKind kind) {
  kind.corrects = true;
  return kind;
}

EstimatorKind needing(EstimatorKind kind, std::vector<Requirement> needs) {
  kind.needs.insert(kind.needs.begin(), needs.begin(), needs.end());
  return kind;
}

/// Whose nudged law is not the circuit's own.
EstimatorKind altering(EstimatorKind kind, std::vector<Requirement> needs = {}) {
  needs.push_back(needs::moves_itself);
  return needing(std::move(kind), std::move(needs));
}

/// Energies are differences of large numbers: rounding/β against β², equal near the cube root of rounding.
EstimatorKind contrasting(EstimatorKind kind) {
  kind.beta_in_float = 1e-2;
  kind.beta_in_double = 1e-4;
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
  const Member<E> frozen = &E::frozen_cost, mean = &E::average_nudged, clip = &E::clip, drive = &E::drive;
  constexpr ReadClass anchor = ReadClass::anchor;
  EstimatorKind ep = kind("ep", Nudge::live, []<class S>(O o) { return nudged<S>(NudgeLaw::plain, false, o); });
  EstimatorKind contrastive = kind("ep_contrastive", Nudge::live, []<class S>(O o) -> Made<S> {
    return std::make_unique<ContrastiveEstimator<S>>(NudgeLaw::plain, sided_nodes<S>(o.sides, o.beta), o);
  });
  EstimatorKind anchored =
      kind("ep_anchored", Nudge::live, []<class S>(O o) { return nudged<S>(NudgeLaw::plain, true, o); });
  EstimatorKind aep = kind("aep", Nudge::live, []<class S>(O o) { return nudged<S>(corrected(o), false, o); });
  EstimatorKind aep_anchored =
      kind("aep_anchored", Nudge::live, []<class S>(O o) { return nudged<S>(corrected(o), true, o); });
  EstimatorKind tracked = kind("aep_tracked", Nudge::live,
                               []<class S>(O o) -> Made<S> { return std::make_unique<TrackedEstimator<S>>(o); });
  EstimatorKind transposed =
      kind("aep_transposed", Nudge::transposed, []<class S>(O o) { return nudged<S>(NudgeLaw::transposed, true, o); });
  EstimatorKind npoint = kind("aep_npoint", Nudge::transposed, []<class S>(O o) -> Made<S> {
    return std::make_unique<NudgedEstimator<S>>(NudgeLaw::transposed, true, chebyshev_nodes<S>(o.points, o.beta), o);
  });
  EstimatorKind solved = kind("implicit", Nudge::none, []<class S>(O o) -> Made<S> {
    return std::make_unique<ImplicitEstimator<S>>(AdjointSolver::gmres, o);
  });
  solved.keys = estimator_section().rows_of({&E::adjoint_tolerance});
  EstimatorKind dense = kind("implicit_dense", Nudge::none, []<class S>(O o) -> Made<S> {
    return std::make_unique<ImplicitEstimator<S>>(AdjointSolver::dense, o);
  });
  dense.dense = true;
  EstimatorKind bptt = computed<BackpropThroughTime>("bptt");
  bptt.leaves_out = false;
  bptt.needs = {needs::no_bath};
  EstimatorKind echo =
      kind("echo", Nudge::live, []<class S>(O o) -> Made<S> { return std::make_unique<EchoEstimator<S>>(o); });
  echo.leaves_out = false;
  echo.needs = {needs::moving_input, needs::energy, needs::undamped, needs::no_amplifiers};
  echo.keys =
      estimator_section().rows_of({&E::beta, &E::clock_error, &E::below_rounding, &E::below_noise, &E::running_mean});
  echo.keys.push_back(read_policy_row(ReadClass::nudged));
  EstimatorKind alternating = computed<EnergyAlternatingEstimator>("energy_alternating");
  alternating.leaves_out = false;
  EstimatorKind frequency = computed<FrequencyEstimator>("frequency");
  frequency.dense = true;
  frequency.keys = estimator_section().rows_of({&E::input_frequency,
                                                &E::error_frequency,
                                                {&E::oscillation, &Oscillation::form},
                                                {&E::oscillation, &Oscillation::periods},
                                                {&E::oscillation, &Oscillation::settling},
                                                {&E::oscillation, &Oscillation::time_constant},
                                                {&E::oscillation, &Oscillation::phase_error}});
  ParamTable in_time = estimator_section().rows_of({&E::beta});
  in_time.push_back(read_policy_row(ReadClass::nudged));
  add_rows(frequency.keys, read_with(chosen("nudge.form", {"oscillating"}), in_time));
  frequency.beta_in_float = frequency.beta_in_double =
      0.1;  // a current, which linear circuits answer whatever its size
  EstimatorKind coupled = kind("coupled_learning", Nudge::live, []<class S>(O o) -> Made<S> {
    return std::make_unique<ContrastiveEstimator<S>>(NudgeLaw::clamped, sided_nodes<S>(NudgeSides::positive, o.beta),
                                                     o);
  });
  EstimatorKind adjoint = kind("adjoint", Nudge::none, []<class S>(O o) -> Made<S> {
    return std::make_unique<ImplicitEstimator<S>>(AdjointSolver::direct, o);
  });
  EstimatorKind finite = kind("finite_nudge", Nudge::live, []<class S>(O o) -> Made<S> {
    return std::make_unique<ContrastiveEstimator<S>>(NudgeLaw::plain, sided_nodes<S>(o.sides, o.beta), o);
  });
  finite.beta_in_float = finite.beta_in_double = 0.5;
  finite.needs = {needs::energy, needs::bath};
  finite.leaves_out = false;
  return {swinging(ep, {frozen, mean}),
          needing(contrasting(nudging(contrastive, {frozen, mean})), {needs::energy}),
          altering(swinging(anchored, {frozen, mean}, {anchor})),
          altering(correcting(swinging(aep, {frozen, mean, clip}))),
          altering(correcting(swinging(aep_anchored, {frozen, mean, clip}, {anchor}))),
          altering(correcting(nudging(tracked, {mean})), {needs::all_at_once, needs::fixed_law, needs::both_sides}),
          altering(correcting(swinging(transposed, {frozen, mean, drive}, {anchor}))),
          altering(correcting(nudging(npoint, {frozen, mean, drive, &E::points}, {anchor})), {needs::both_sides}),
          needing(iterating(computed<DyadicEstimator>("dyadic")), {needs::all_at_once}),
          iterating(computed<LinearAdjointEstimator>("linear_adjoint")),
          solved,
          dense,
          needing(bptt, {needs::euler, needs::unit_sweeps}),
          needing(alternating, {needs::layer_energies}),
          frequency,
          needing(contrasting(one_sided(coupled, {mean})), {needs::energy}),
          needing(adjoint, {needs::solves_itself}),
          nudging(finite, {mean}),
          contrasting(echo)};
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

bool EstimatorKind::asks(const Requirement& need) const {
  return std::find(needs.begin(), needs.end(), need) != needs.end();
}

bool EstimatorKind::correlates_states() const { return nudge != Nudge::none && name != own_estimator_name; }

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

double estimator_numbers(const std::string& name, const EstimatorOptions& options) {
  const EstimatorKind* kind = find_estimator(name);
  return kind != nullptr && kind->matrices > 0 ? kind->matrices : (options.running_mean > 0 ? 1 : 0);
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
