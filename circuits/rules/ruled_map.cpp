// SPDX-License-Identifier: Apache-2.0
#include "circuits/rules/ruled_map.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"

namespace nudge {
namespace {

const RuleKind& rule_of(const CrossbarSpec& spec) {
  const RuleKind* kind = find_rule(spec.programming.update);
  NUDGE_EXPECT(kind != nullptr);
  return *kind;
}

/// Spec of one array of a rule: its arrays are pulsed; only the last of several may take trains.
CrossbarSpec array_spec(const CrossbarSpec& spec, int array, int arrays) {
  CrossbarSpec own = spec;
  const bool trains = array > 0 && array == arrays - 1 && spec.rule.coincidence;
  // One-sided pairs know by themselves which device a change raises.
  if (spec.programming.update == UpdateScheme::one_sided) return own;
  own.programming.update = trains ? UpdateScheme::coincidence : UpdateScheme::pulses;
  return own;
}

template <class S>
std::unique_ptr<UpdateRule<S>> rule_for(const RuleKind& kind, const CrossbarSpec& spec) {
  if constexpr (std::is_same_v<S, float>) {
    return kind.make_float(spec);
  } else {
    return kind.make_double(spec);
  }
}

}  // namespace

template <class S>
RuledMap<S>::RuledMap(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id, std::uint64_t seed)
    : kind_((spec.validate(), rule_of(spec))), numbers_(kind_.numbers(spec.rule)) {
  arrays_.seed = seed;
  const int count = kind_.arrays(spec.rule);
  for (int k = 0; k < count; ++k) {
    CrossbarSpec own = array_spec(spec, k, count);
    if (k > 0) own.mapping.w_max = static_cast<double>(arrays_.slow().w_max());
    arrays_.all.push_back(std::make_unique<Crossbar<S>>(
        own, k == 0 ? weights : Matrix<S>(Matrix<S>::Zero(weights.rows(), weights.cols())),
        id + (static_cast<std::uint32_t>(k) << 16U), seed));
    const double share = k == 0 ? 1 : kind_.share == nullptr ? 0 : kind_.share(spec.rule, k);
    arrays_.share.push_back(static_cast<S>(share));
    arrays_.zero.emplace_back();
  }
  rule_ = rule_for<S>(kind_, spec);
  rule_->begin(arrays_);
  refresh();
}

template <class S>
std::string RuledMap<S>::prefix(std::size_t array) const {
  if (arrays_.alone()) return "";
  if (arrays_.all.size() == 2) return array == 0 ? "slow_" : "fast_";
  return "tile" + std::to_string(array) + "_";
}

template <class S>
void RuledMap<S>::refresh() {
  if (arrays_.alone()) return;
  weights_ = arrays_.all.front()->weights();
  for (std::size_t k = 1; k < arrays_.all.size(); ++k) {
    if (!counts(k)) continue;
    weights_ += arrays_.share[k] * arrays_.all[k]->weights();
    if (arrays_.zero[k].size() > 0) weights_ -= arrays_.share[k] * arrays_.zero[k];
  }
}

template <class S>
void RuledMap<S>::subtract_rest(std::size_t array, ReadDirection way, const Matrix<S>& driven, MatrixRef<S> out,
                                Columns columns, Store store) const {
  if (arrays_.zero[array].size() == 0) return;
  const auto zero = arrays_.zero[array].middleCols(columns.begin, columns.count);
  const Store other = store == Store::subtract ? Store::add : Store::subtract;
  if (way == ReadDirection::forward) {
    multiply<S>(driven, zero, out, other);
  } else {
    multiply_transposed<S>(driven, zero, out, other);
  }
}

template <class S>
void RuledMap<S>::read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
                       ReadContext& context) const {
  arrays_.all.front()->read(way, x, out, columns, store, context);
  for (std::size_t k = 1; k < arrays_.all.size(); ++k) {
    if (!counts(k)) continue;
    const Matrix<S> driven = arrays_.share[k] * x;
    arrays_.all[k]->read(way, driven, out, columns, store == Store::subtract ? store : Store::add, context);
    subtract_rest(k, way, driven, out, columns, store);
  }
}

template <class S>
void RuledMap<S>::derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> x0, ConstMatrixRef<S> v,
                             MatrixRef<S> out, Columns columns, Store store, ReadContext& context) const {
  arrays_.all.front()->derivative(way, which, x0, v, out, columns, store, context);
  for (std::size_t k = 1; k < arrays_.all.size(); ++k) {
    if (!counts(k)) continue;
    const Matrix<S> point = arrays_.share[k] * x0, driven = arrays_.share[k] * v;
    arrays_.all[k]->derivative(way, which, point, driven, out, columns, store == Store::subtract ? store : Store::add,
                               context);
    subtract_rest(k, way_of(way, which), driven, out, columns, store);
  }
}

// What is learnt ends in the first array, whose devices the exact correlation is with respect to.
template <class S>
void RuledMap<S>::correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale,
                            int parameter, GradientSink<S>& sink, const ReadContext& context) const {
  arrays_.all.front()->correlate(way, x0, u, columns, scale, parameter, sink, context);
}

template <class S>
MapTraits<S> RuledMap<S>::traits() const {
  MapTraits<S> all = arrays_.all.front()->traits();
  for (std::size_t k = 1; k < arrays_.all.size(); ++k) {
    const MapTraits<S> own = arrays_.all[k]->traits();
    all.curved = all.curved || (counts(k) && own.curved);
    all.noisy = all.noisy || (counts(k) && own.noisy);
    all.line_load = std::max(all.line_load, own.line_load);
    all.takes_factors = own.takes_factors;  // the last one takes the updates
  }
  return all;
}

template <class S>
std::unique_ptr<LinearMap<double>> RuledMap<S>::noise_free() const {
  if (arrays_.alone()) return arrays_.all.front()->noise_free();
  std::vector<CircuitMap::Branch> branches;
  branches.push_back(arrays_.all.front()->branch(1));
  Matrix<double> rest;
  for (std::size_t k = 1; k < arrays_.all.size(); ++k) {
    if (!counts(k)) continue;
    const auto share = static_cast<double>(arrays_.share[k]);
    branches.push_back(arrays_.all[k]->branch(share));
    if (arrays_.zero[k].size() == 0) continue;
    if (rest.size() == 0) rest.setZero(this->inputs(), this->outputs());
    rest += share * arrays_.zero[k].template cast<double>();
  }
  auto map = std::make_unique<CircuitMap>(std::move(branches), std::move(rest));
  map->set_unit_heat_J(traits().unit_heat_J);
  return map;
}

template <class S>
void RuledMap<S>::apply(const WeightUpdate<S>& update) {
  if (update.kind == UpdateKind::immediate) {
    arrays_.slow().apply(update);
  } else if (update.schedule > S(0)) {
    rule_->learn(update, arrays_);
  }
  refresh();
}

template <class S>
void RuledMap<S>::program(const Matrix<S>& target) {
  arrays_.slow().program(target);
  for (std::size_t k = 1; k < arrays_.all.size(); ++k) {
    arrays_.all[k]->program(Matrix<S>::Zero(target.rows(), target.cols()));
  }
  rule_->begin(arrays_);
  refresh();
}

template <class S>
void RuledMap<S>::advance_time(const Elapsed& time, std::uint64_t step) {
  for (std::size_t k = 0; k < arrays_.all.size(); ++k) {
    // Phases read the arrays that count: the others see a few reads of columns, which disturb nothing.
    arrays_.all[k]->advance_time(counts(k) ? time : Elapsed(time.seconds), step);
  }
  refresh();
}

template <class S>
std::vector<StateArray<S>> RuledMap<S>::state() {
  std::vector<StateArray<S>> all;
  for (std::size_t k = 0; k < arrays_.all.size(); ++k) {
    for (StateArray<S>& part : arrays_.all[k]->state()) {
      part.name = prefix(k) + part.name;
      all.push_back(std::move(part));
    }
    if (arrays_.zero[k].size() == 0) continue;
    const std::string name = arrays_.all.size() == 2 ? "" : prefix(k);
    all.push_back({name + "symmetry_point", "1", "weights of the fast array at its symmetry point", &arrays_.zero[k]});
  }
  for (StateArray<S>& part : rule_->state()) all.push_back(std::move(part));
  return all;
}

template <class S>
void RuledMap<S>::state_restored() {
  for (auto& array : arrays_.all) array->state_restored();
  rule_->restored(arrays_);
  refresh();
}

template <class S>
std::vector<MapReading> RuledMap<S>::readings() const {
  std::vector<MapReading> all;
  for (std::size_t k = 0; k < arrays_.all.size(); ++k) {
    for (MapReading& one : arrays_.all[k]->readings()) {
      one.name = prefix(k) + one.name;
      all.push_back(std::move(one));
    }
  }
  for (MapReading& one : rule_->readings()) all.push_back(std::move(one));
  all.push_back({"digital_numbers", "1", "digital numbers that the update rule keeps for each weight", numbers_});
  return all;
}

NUDGE_BOTH_PRECISIONS_OF(RuledMap)

}  // namespace nudge
