// SPDX-License-Identifier: Apache-2.0
#include "circuits/token_maps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Rows of one token in all copies, without a copy: t, t + T, t + 2T, ...
template <class S>
using TokenRows = Eigen::Map<Matrix<S>, 0, Eigen::OuterStride<>>;
template <class S>
using ConstTokenRows = Eigen::Map<const Matrix<S>, 0, Eigen::OuterStride<>>;

template <class S>
TokenRows<S> rows_of(MatrixRef<S>& all, Index token, Index tokens) {
  NUDGE_EXPECT(all.rows() % tokens == 0);
  return {all.data() + token * all.outerStride(), all.rows() / tokens, all.cols(),
          Eigen::OuterStride<>(tokens * all.outerStride())};
}

template <class S>
ConstTokenRows<S> rows_of(ConstMatrixRef<S> all, Index token, Index tokens) {
  NUDGE_EXPECT(all.rows() % tokens == 0);
  return {all.data() + token * all.outerStride(), all.rows() / tokens, all.cols(),
          Eigen::OuterStride<>(tokens * all.outerStride())};
}

bool ends_with_one_of(const std::string& name, const auto& endings) {
  return std::any_of(endings.begin(), endings.end(), [&](const char* end) { return name.ends_with(end); });
}

/// True if readings of this name add up over arrays: counts, energies and powers do.
bool is_sum(const std::string& name) {
  static constexpr std::array<const char*, 16> sums = {"programming_pulses",
                                                       "programming_reads",
                                                       "_energy",
                                                       "power",
                                                       "devices",
                                                       "pulses_up",
                                                       "pulses_down",
                                                       "worn",
                                                       "verify_reads",
                                                       "verified",
                                                       "write_failures",
                                                       "train_slots",
                                                       "train_clipped",
                                                       "transfers",
                                                       "transfer_reads",
                                                       "replicas"};
  return ends_with_one_of(name, sums);
}
bool is_worst(const std::string& name) {
  static constexpr std::array<const char*, 2> worst = {"ir_drop", "device_pulses_max"};
  return ends_with_one_of(name, worst);
}

}  // namespace

template <class S>
ReplicatedMap<S>::ReplicatedMap(std::vector<Replica> replicas, Program program)
    : replicas_(std::move(replicas)), program_(program) {
  NUDGE_EXPECT(!replicas_.empty());
  NUDGE_EXPECT(std::all_of(replicas_.begin(), replicas_.end(), [this](const Replica& one) {
    return one->inputs() == replicas_.front()->inputs() && one->outputs() == replicas_.front()->outputs();
  }));
  refresh();
}

template <class S>
void ReplicatedMap<S>::refresh() {
  weights_ = replicas_.front()->weights();
  for (std::size_t t = 1; t < replicas_.size(); ++t) weights_ += replicas_[t]->weights();
  weights_ /= static_cast<S>(replicas_.size());
}

template <class S>
template <class Act>
void ReplicatedMap<S>::each(ReadContext& read, Act act) const {
  const ReadContext start = read;
  for (Index t = 0; t < tokens(); ++t) {
    ReadContext own = start;
    act(replica(t), t, own);
    read.read = std::max(read.read, own.read);
  }
}

template <class S>
void ReplicatedMap<S>::read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
                            ReadContext& context) const {
  each(context, [&](const LinearMap<S>& one, Index t, ReadContext& own) {
    one.read(way, rows_of<S>(x, t, tokens()), rows_of<S>(out, t, tokens()), columns, store, own);
  });
}

template <class S>
void ReplicatedMap<S>::derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> x0, ConstMatrixRef<S> v,
                                  MatrixRef<S> out, Columns columns, Store store, ReadContext& context) const {
  each(context, [&](const LinearMap<S>& one, Index t, ReadContext& own) {
    one.derivative(way, which, rows_of<S>(x0, t, tokens()), rows_of<S>(v, t, tokens()), rows_of<S>(out, t, tokens()),
                   columns, store, own);
  });
}

// Straight replicas correlate what drives rows and columns, whichever holds them: one sum over all tokens.
template <class S>
void ReplicatedMap<S>::correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale,
                                 int parameter, GradientSink<S>& sink, const ReadContext& context) const {
  if (!traits().curved) return LinearMap<S>::correlate(way, x0, u, columns, scale, parameter, sink, context);
  for (Index t = 0; t < tokens(); ++t) {
    replica(t).correlate(way, rows_of<S>(x0, t, tokens()), rows_of<S>(u, t, tokens()), columns, scale, parameter, sink,
                         context);
  }
}

template <class S>
MapTraits<S> ReplicatedMap<S>::traits() const {
  MapTraits<S> all;
  for (const Replica& one : replicas_) {
    const MapTraits<S> own = one->traits();
    all.curved = all.curved || own.curved;
    all.noisy = all.noisy || own.noisy;
    all.line_load = std::max(all.line_load, own.line_load);
    all.takes_factors = own.takes_factors;
    all.unit_heat_J = own.unit_heat_J;
  }
  return all;
}

template <class S>
std::unique_ptr<LinearMap<double>> ReplicatedMap<S>::noise_free() const {
  std::vector<std::unique_ptr<LinearMap<double>>> quiet;
  quiet.reserve(replicas_.size());
  for (const Replica& one : replicas_) quiet.push_back(one->noise_free());
  return std::make_unique<ReplicatedMap<double>>(std::move(quiet), ReplicatedMap<double>::Program::shift);
}

template <class S>
void ReplicatedMap<S>::apply(const WeightUpdate<S>& update) {
  for (Replica& one : replicas_) one->apply(update);
  refresh();
}

template <class S>
void ReplicatedMap<S>::program(const Matrix<S>& target) {
  NUDGE_EXPECT(target.rows() == this->inputs() && target.cols() == this->outputs());
  if (program_ == Program::shift) return this->apply_update(target - weights_);
  for (Replica& one : replicas_) one->program(target);
  refresh();
}

template <class S>
void ReplicatedMap<S>::advance_time(const Elapsed& time, std::uint64_t step) {
  for (Replica& one : replicas_) one->advance_time(time, step);
  refresh();
}

template <class S>
std::vector<StateArray<S>> ReplicatedMap<S>::state() {
  std::vector<StateArray<S>> all;
  for (std::size_t t = 0; t < replicas_.size(); ++t) {
    for (StateArray<S>& array : replicas_[t]->state()) {
      array.name = "replica" + std::to_string(t) + "/" + array.name;
      all.push_back(std::move(array));
    }
  }
  return all;
}

template <class S>
void ReplicatedMap<S>::state_restored() {
  for (Replica& one : replicas_) one->state_restored();
  refresh();
}

template <class S>
std::vector<MapReading> ReplicatedMap<S>::readings() const {
  std::vector<MapReading> all = replicas_.front()->readings();
  for (std::size_t t = 1; t < replicas_.size(); ++t) {
    const std::vector<MapReading> one = replicas_[t]->readings();
    NUDGE_EXPECT(one.size() == all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].value = is_worst(all[i].name) ? std::max(all[i].value, one[i].value) : all[i].value + one[i].value;
    }
  }
  for (MapReading& reading : all) {
    if (!is_sum(reading.name) && !is_worst(reading.name)) reading.value /= static_cast<double>(tokens());
  }
  double squares = 0;
  for (const Replica& one : replicas_) squares += (one->weights() - weights_).template cast<double>().squaredNorm();
  const double count = static_cast<double>(tokens()) * static_cast<double>(std::max<Index>(weights_.size(), 1));
  all.push_back({"replicas", "1", "arrays that hold this matrix, one per token", static_cast<double>(tokens())});
  all.push_back({"replica_spread", "1", "rms distance of their weights from the mean", std::sqrt(squares / count)});
  return all;
}

NUDGE_BOTH_PRECISIONS_OF(ReplicatedMap)

namespace {

/// Product share · x. Grown once per thread and place, then reused; the maps behind never call another HeldMap.
template <class S, int place>
const Matrix<S>& held(double share, ConstMatrixRef<S> x) {
  static thread_local Matrix<S> scaled;
  scaled = static_cast<S>(share) * x;
  return scaled;
}

}  // namespace

template <class S>
void HeldMap<S>::read(ReadDirection way, ConstMatrixRef<S> x, MatrixRef<S> out, Columns columns, Store store,
                      ReadContext& context) const {
  map_->read(way, held<S, 0>(share_, x), out, columns, store, context);
}

template <class S>
void HeldMap<S>::derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> x0, ConstMatrixRef<S> v,
                            MatrixRef<S> out, Columns columns, Store store, ReadContext& context) const {
  map_->derivative(way, which, held<S, 1>(share_, x0), held<S, 0>(share_, v), out, columns, store, context);
}

template <class S>
void HeldMap<S>::correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale,
                           int parameter, GradientSink<S>& sink, const ReadContext& context) const {
  map_->correlate(way, held<S, 1>(share_, x0), u, columns, scale, parameter, sink, context);
}

/// Traits of the held map: its weights are not the product itself.
template <class S>
MapTraits<S> HeldMap<S>::traits() const {
  MapTraits<S> all = map_->traits();
  all.plain = false;
  return all;
}

template <class S>
std::vector<MapReading> HeldMap<S>::readings() const {
  std::vector<MapReading> all = map_->readings();
  all.push_back({"held_share", "1", "share of a held drive that remains in its slot", share_});
  return all;
}

NUDGE_BOTH_PRECISIONS_OF(HeldMap)

}  // namespace nudge
