// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/bilinear_link.hpp"

namespace nudge {
namespace {

ReadDirection opposite(ReadDirection way) { return way_of(way, Derivative::vjp); }

}  // namespace

/// Memory for n rows at every position of the values that drive that way, grown once.
template <class S>
MatrixRef<S> LinkReader<S>::space(Index n, ReadDirection driving, Matrix<S>& memory) {
  const Index rows = n * shape().positions();
  const Index cols = driving == ReadDirection::forward ? shape().patch() : shape().maps;
  if (memory.rows() < rows || memory.cols() != cols) memory.resize(rows, cols);
  return memory.topRows(rows);
}

/// Patches of the inputs, or the maps at every position of the outputs.
template <class S>
MatrixRef<S> LinkReader<S>::spread(ReadDirection driving, ConstMatrixRef<S> x, Matrix<S>& memory, Goal goal) {
  MatrixRef<S> out = space(x.rows(), driving, memory);
  if (driving == ReadDirection::forward) {
    patches_->gather(x, out);
  } else if (chooses()) {
    to_chosen<S>(*weights_.convolution, x, *goal.chosen, goal.first, out);
  } else {
    to_positions<S>(shape().maps, x, out);
  }
  return out;
}

/// Operating point that the derivative of a curved read needs; other maps do not use it.
template <class S>
MatrixRef<S> LinkReader<S>::point(ReadDirection way, ConstMatrixRef<S> x0) {
  Matrix<S>& memory = side(way).point;
  return weights_.map->traits().curved ? spread(way, x0, memory, {&held_}) : space(x0.rows(), way, memory);
}

/// Calls read(driven, sensed) at every position; out gets the sensed values of the positions.
template <class S>
template <class Read>
void LinkReader<S>::at_positions(ReadDirection way, ConstMatrixRef<S> drive, MatrixRef<S> out, Store store, Goal goal,
                                 Read read) {
  MatrixRef<S> sensed = space(drive.rows(), opposite(way), side(opposite(way)).driven);
  read(spread(way, drive, side(way).driven, goal), sensed);
  if (store == Store::assign) out.setZero();
  if (way == ReadDirection::forward && chooses()) {
    if (goal.chosen == &chosen_) nudge::choose<S>(*weights_.convolution, sensed, chosen_);
    add_chosen<S>(*weights_.convolution, sensed, *goal.chosen, goal.first, out);
  } else if (way == ReadDirection::forward) {
    add_positions<S>(shape().maps, sensed, out);
  } else {
    patches_->scatter(sensed, out);
  }
}

template <class S>
void LinkReader<S>::choose(ConstMatrixRef<S> drive, ReadContext& context) {
  MatrixRef<S> sensed = space(drive.rows(), ReadDirection::transposed, outputs_.driven);
  weights_.map->read(ReadDirection::forward, spread(ReadDirection::forward, drive, inputs_.driven, {&chosen_}), sensed,
                     all(), Store::assign, context);
  nudge::choose<S>(*weights_.convolution, sensed, chosen_);
}

template <class S>
void LinkReader<S>::read(ReadDirection way, ConstMatrixRef<S> drive, MatrixRef<S> out, ReadContext& context,
                         Store store) {
  if (!weights_.convolution) return weights_.map->read(way, drive, out, all(), store, context);
  at_positions(way, drive, out, store, {&chosen_}, [&](ConstMatrixRef<S> driven, MatrixRef<S> sensed) {
    weights_.map->read(way, driven, sensed, all(), Store::assign, context);
  });
}

template <class S>
void LinkReader<S>::derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> x0, ConstMatrixRef<S> v,
                               MatrixRef<S> out, ReadContext& context) {
  if (!weights_.convolution) return weights_.map->derivative(way, which, x0, v, out, all(), Store::add, context);
  at_positions(way_of(way, which), v, out, Store::add, {&held_}, [&](ConstMatrixRef<S> driven, MatrixRef<S> sensed) {
    weights_.map->derivative(way, which, point(way, x0), driven, sensed, all(), Store::assign, context);
  });
}

template <class S>
void LinkReader<S>::correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, S scale,
                              GradientSink<S>& sink, ReadContext& context, std::optional<Index> chosen) {
  const int parameter = weights_.parameter;
  if (!weights_.convolution) return weights_.map->correlate(way, x0, u, all(), scale, parameter, sink, context);
  const Goal goal = chosen ? Goal{&chosen_, *chosen} : Goal{&held_};
  const MatrixRef<S> drive = spread(way, x0, side(way).driven, goal);
  const MatrixRef<S> sensed = spread(opposite(way), u, side(opposite(way)).driven, goal);
  weights_.map->correlate(way, drive, sensed, all(), scale, parameter, sink, context);
}

NUDGE_BOTH_PRECISIONS_OF(LinkReader)

}  // namespace nudge
