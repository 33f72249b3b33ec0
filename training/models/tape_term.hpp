// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "circuits/linear_map.hpp"
#include "circuits/terms/term.hpp"
#include "mixers/tape.hpp"
#include "sim/weight_reader.hpp"

namespace nudge {

/// Place of a computation on a tape in the force of a circuit: F_target += gain · (y(z_source) + identity · z_source).
/// The source is a node, or the clamped input; y has the shape of the target.
struct TapePlace {
  int source = 0;  ///< number of the source node; Term::kInput: the input
  Columns source_columns;
  int target = 0;
  Columns target_columns;
  double gain = 1;
  double identity = 0;
};

/// Computation on a tape as a term between nodes, not conservative. One recording moves with the state, one stays at
/// the linearisation point; copies pass one after the other.
template <class S>
class TapeTerm final : public Term<S> {
 public:
  /// Records y from the source and the weights in their order.
  using Record = std::function<Value<S>(Tape<S>& tape, Value<S> source, const std::vector<Value<S>>& weights)>;
  struct Weight {
    int parameter;  ///< number of the parameter in the network
    const LinearMap<S>* map;
    /// True: products read the map, digital or devices, and the derivatives are reads the other way. False: its matrix
    /// is taken as numbers, whatever the computation does with them.
    bool read = true;
  };

  /// Records Σ E (tokens, 1) of the term from the state of its target, the source and the weights (LayerEnergies).
  using RecordEnergy = std::function<Value<S>(Value<S> state, Value<S> source, const std::vector<Value<S>>& weights)>;

  /// Makes the term; the maps must outlive it. No `energy`: the term has no energy that holds all of its weights.
  TapeTerm(std::string name, const TapePlace& place, std::vector<Weight> weights, Record record,
           RecordEnergy energy = {});

  TermTraits traits() const override {
    return {.name = name_,
            .nonconservative = true,
            .sources = {place_.source},
            .targets = {place_.target},
            .noisy = noisy()};
  }
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

  const std::vector<Weight>& weights() const { return weights_; }

 private:
  class System;
  bool noisy() const;

  std::string name_;
  TapePlace place_;
  std::vector<Weight> weights_;
  Record record_;
  RecordEnergy energy_;
};

/// Target of the reads of a computation on a tape: the address of its noise, and the sink of correlations.
template <class S>
struct TapeReads {
  ReadContext* read = nullptr;
  GradientSink<S>* sink = nullptr;
  S scale = S(1);  ///< factor of the correlations in the sink
};

/// Linear map as the weights of a computation on a tape. It reads either way; derivatives are reads the other way
/// through the same devices. The local correlation goes to the sink of the present reads. An array is driven and sensed
/// as a whole. For a part of its rows, the other rows are driven with 0, or sensed and dropped.
template <class S>
class MapReader final : public WeightReader<S> {
 public:
  MapReader(const LinearMap<S>& map, int parameter, const TapeReads<S>& reads)
      : map_(&map), parameter_(parameter), reads_(&reads) {}

  void read(const WeightPart& part, ConstMatrixRef<S> x, MatrixRef<S> y) override {
    if (part.transposed) {
      sensed(part, y, [&](MatrixRef<S> rows) { map_->transposed(x, rows, all(), Store::assign, context()); });
    } else {
      map_->forward(driven(part, x, drive_), y, all(), Store::assign, context());
    }
  }
  void read_jvp(const WeightPart& part, ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> y) override {
    if (part.transposed) {
      sensed(part, y, [&](MatrixRef<S> rows) {
        map_->derivative(ReadDirection::transposed, Derivative::jvp, x0, v, rows, all(), Store::assign, context());
      });
    } else {
      map_->derivative(ReadDirection::forward, Derivative::jvp, driven(part, x0, point_), driven(part, v, drive_), y,
                       all(), Store::assign, context());
    }
  }
  void read_vjp(const WeightPart& part, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, MatrixRef<S> x) override {
    if (part.transposed) {
      map_->derivative(ReadDirection::transposed, Derivative::vjp, x0, driven(part, u, drive_), x, all(), Store::assign,
                       context());
    } else {
      const auto at = driven(part, x0, point_);
      sensed(part, x, [&](MatrixRef<S> rows) {
        map_->derivative(ReadDirection::forward, Derivative::vjp, at, u, rows, all(), Store::assign, context());
      });
    }
  }
  void correlate(const WeightPart& part, ConstMatrixRef<S> x0, ConstMatrixRef<S> u) override {
    if (part.transposed) {
      map_->correlate(ReadDirection::transposed, x0, driven(part, u, drive_), all(), reads_->scale, parameter_,
                      *reads_->sink, context());
    } else {
      map_->correlate(ReadDirection::forward, driven(part, x0, point_), u, all(), reads_->scale, parameter_,
                      *reads_->sink, context());
    }
  }

 private:
  using View = Eigen::Ref<const Matrix<S>, 0, Eigen::OuterStride<>>;

  Columns all() const { return map_->all_columns(); }
  ReadContext& context() const { return *reads_->read; }
  bool whole(const WeightPart& part) const { return part.rows == map_->inputs(); }

  /// Drive of all rows of the array that gives x to the rows of the part, and 0 to the others.
  View driven(const WeightPart& part, ConstMatrixRef<S> x, Matrix<S>& padded) const {
    if (whole(part)) return View(x);
    padded.setZero(x.rows(), map_->inputs());
    padded.middleCols(part.first, part.rows) = x;
    return View(padded);
  }
  /// Senses all rows of the array and keeps those of the part.
  template <class Sense>
  void sensed(const WeightPart& part, MatrixRef<S> y, Sense sense) {
    if (whole(part)) return sense(y);
    sensed_.resize(y.rows(), map_->inputs());
    sense(sensed_);
    y = sensed_.middleCols(part.first, part.rows);
  }

  const LinearMap<S>* map_;
  int parameter_;
  const TapeReads<S>* reads_;
  Matrix<S> drive_, point_, sensed_;
};

}  // namespace nudge
