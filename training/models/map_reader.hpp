// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/linear_map.hpp"
#include "sim/weight_reader.hpp"

namespace nudge {

/// For whom a computation on a tape reads at the moment: the address of its noise, and where correlations go.
template <class S>
struct TapeReads {
  ReadContext* read = nullptr;
  GradientSink<S>* sink = nullptr;
  S scale = S(1);  ///< of what goes to the sink
};

/// A linear map as the weights of a computation on a tape: forward reads, derivatives by reads the other way through the same
/// devices, and the local correlation to the sink of the present reads.
template <class S>
class MapReader final : public WeightReader<S> {
 public:
  MapReader(const LinearMap<S>& map, int parameter, const TapeReads<S>& reads)
      : map_(&map), parameter_(parameter), reads_(&reads) {}

  void forward(ConstMatrixRef<S> x, MatrixRef<S> y) override {
    map_->forward(x, y, map_->all_columns(), Store::assign, *reads_->read);
  }
  void forward_jvp(ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> y) override {
    map_->forward_jvp(x0, v, y, map_->all_columns(), Store::assign, *reads_->read);
  }
  void forward_vjp(ConstMatrixRef<S> x0, ConstMatrixRef<S> u, MatrixRef<S> x) override {
    map_->forward_vjp(x0, u, x, map_->all_columns(), Store::assign, *reads_->read);
  }
  void correlate(ConstMatrixRef<S> x0, ConstMatrixRef<S> u) override {
    map_->correlate_forward(x0, u, map_->all_columns(), reads_->scale, parameter_, *reads_->sink, *reads_->read);
  }

 private:
  const LinearMap<S>* map_;
  int parameter_;
  const TapeReads<S>* reads_;
};

}  // namespace nudge
