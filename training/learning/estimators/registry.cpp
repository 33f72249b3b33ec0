// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <type_traits>

#include "sim/base/errors.hpp"
#include "training/learning/estimators/backprop.hpp"
#include "training/learning/estimators/contrastive.hpp"
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
  return std::make_unique<NudgedEstimator<S>>(law, anchored, sided_nodes<S>(o.sides, o.beta), o);
}

template <class S>
struct Entry {
  const char* name;
  Made<S> (*make)(const EstimatorOptions&);
};

/// One line per estimator: adding one is its file and a line here.
template <class S>
const std::vector<Entry<S>>& entries() {
  using O = const EstimatorOptions&;
  static const std::vector<Entry<S>> list = {
      {"ep", [](O o) { return nudged<S>(NudgeLaw::plain, false, o); }},
      {"ep_contrastive",
       [](O o) -> Made<S> { return std::make_unique<ContrastiveEstimator<S>>(sided_nodes<S>(o.sides, o.beta), o); }},
      {"ep_anchored", [](O o) { return nudged<S>(NudgeLaw::plain, true, o); }},
      {"aep", [](O o) { return nudged<S>(o.clip > 0 ? NudgeLaw::clipped : NudgeLaw::corrected, false, o); }},
      {"aep_anchored", [](O o) { return nudged<S>(o.clip > 0 ? NudgeLaw::clipped : NudgeLaw::corrected, true, o); }},
      {"aep_tracked", [](O o) -> Made<S> { return std::make_unique<TrackedEstimator<S>>(o); }},
      {"aep_transposed", [](O o) { return nudged<S>(NudgeLaw::transposed, true, o); }},
      {"aep_npoint",
       [](O o) -> Made<S> {
         return std::make_unique<NudgedEstimator<S>>(NudgeLaw::transposed, true, chebyshev_nodes<S>(o.points, o.beta),
                                                     o);
       }},
      {"dyadic", [](O o) -> Made<S> { return std::make_unique<DyadicEstimator<S>>(o); }},
      {"linear_adjoint", [](O o) -> Made<S> { return std::make_unique<LinearAdjointEstimator<S>>(o); }},
      {"implicit", [](O o) -> Made<S> { return std::make_unique<ImplicitEstimator<S>>(AdjointSolver::gmres, o); }},
      {"implicit_dense",
       [](O o) -> Made<S> { return std::make_unique<ImplicitEstimator<S>>(AdjointSolver::dense, o); }},
      {"bptt", [](O o) -> Made<S> { return std::make_unique<BackpropThroughTime<S>>(o); }},
  };
  return list;
}

}  // namespace

void require_parallel(const char* estimator, RelaxationSchedule schedule) {
  if (schedule == RelaxationSchedule::parallel) return;
  throw UserError(fmt::format("{}: all nodes move at once (set relaxation.schedule = parallel)", estimator));
}

const std::vector<std::string>& estimator_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& entry : entries<double>()) all.emplace_back(entry.name);
    return all;
  }();
  return names;
}

template <class S>
std::unique_ptr<GradientEstimator<S>> make_estimator(const std::string& name, const EstimatorOptions& options) {
  for (const auto& entry : entries<S>()) {
    if (name == entry.name) return entry.make(options);
  }
  throw UserError(fmt::format("unknown estimator \"{}\" (one of: {})", name, fmt::join(estimator_names(), ", ")));
}

template <class S>
double default_beta(const std::string& estimator) {
  constexpr bool is_float = std::is_same_v<S, float>;
  if (estimator == "aep_transposed" || estimator == "aep_npoint") return is_float ? 1e-2 : 1e-5;
  // Energies are differences of large numbers: rounding/β against β², equal near the cube root of rounding.
  if (estimator == "ep_contrastive") return is_float ? 1e-2 : 1e-4;
  return is_float ? 1e-4 : 1e-5;
}

#define NUDGE_INSTANTIATE(S)                                                                                     \
  template std::unique_ptr<GradientEstimator<S>> make_estimator<S>(const std::string&, const EstimatorOptions&); \
  template double default_beta<S>(const std::string&);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
