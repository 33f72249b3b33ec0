// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/netlist/netlist_ports.hpp"
#include "sim/base/matrix.hpp"
#include "sim/gradient_sink.hpp"

namespace nudge {

/// What every row of a state gives the numbers of a netlist that learn, on its way into a sink.
template <class S>
class RowSlopes {
 public:
  /// The ports' rows must outlive it.
  explicit RowSlopes(const std::vector<ElementRow>& learned) : learned_(&learned), rows_(learned.size()) {}

  void start(Index rows) {
    for (std::size_t p = 0; p < rows_.size(); ++p)
      rows_[p].resize(rows, static_cast<Index>((*learned_)[p].elements.size()));
    ones_.setOnes(rows, 1);
  }
  /// −slope(element) per `unit` of every number that learns.
  template <class Slope>
  void fill(Index row, double unit, Slope slope) {
    for (std::size_t p = 0; p < rows_.size(); ++p) {
      const ElementRow& learned = (*learned_)[p];
      for (std::size_t i = 0; i < learned.elements.size(); ++i)
        rows_[p](row, static_cast<Index>(i)) = static_cast<S>(-learned.unit / unit * slope(learned.elements[i]));
    }
  }
  void send(S scale, GradientSink<S>& sink) const {
    for (std::size_t p = 0; p < rows_.size(); ++p)
      sink.accumulate(static_cast<int>(p), {0, rows_[p].cols()}, scale, ones_, rows_[p]);
  }

 private:
  const std::vector<ElementRow>* learned_;
  std::vector<Matrix<S>> rows_;
  Matrix<S> ones_;
};

}  // namespace nudge
