// SPDX-License-Identifier: Apache-2.0
#include "circuits/held_map.hpp"

namespace nudge {
namespace {

/// share · x. Grown once per thread and place, then reused; the maps behind never call another HeldMap.
template <class S, int place>
const Matrix<S>& held(double share, ConstMatrixRef<S> x) {
  static thread_local Matrix<S> scaled;
  scaled = static_cast<S>(share) * x;
  return scaled;
}

}  // namespace

template <class S>
void HeldMap<S>::forward(ConstMatrixRef<S> x, MatrixRef<S> y, Columns columns, Store store, ReadContext& read) const {
  map_->forward(held<S, 0>(share_, x), y, columns, store, read);
}

template <class S>
void HeldMap<S>::transposed(ConstMatrixRef<S> y, MatrixRef<S> x, Columns columns, Store store,
                            ReadContext& read) const {
  map_->transposed(held<S, 0>(share_, y), x, columns, store, read);
}

template <class S>
void HeldMap<S>::forward_jvp(ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> y, Columns columns, Store store,
                             ReadContext& read) const {
  map_->forward_jvp(held<S, 1>(share_, x0), held<S, 0>(share_, v), y, columns, store, read);
}

template <class S>
void HeldMap<S>::forward_vjp(ConstMatrixRef<S> x0, ConstMatrixRef<S> u, MatrixRef<S> x, Columns columns, Store store,
                             ReadContext& read) const {
  map_->forward_vjp(held<S, 1>(share_, x0), held<S, 0>(share_, u), x, columns, store, read);
}

template <class S>
void HeldMap<S>::transposed_jvp(ConstMatrixRef<S> y0, ConstMatrixRef<S> v, MatrixRef<S> x, Columns columns, Store store,
                                ReadContext& read) const {
  map_->transposed_jvp(held<S, 1>(share_, y0), held<S, 0>(share_, v), x, columns, store, read);
}

template <class S>
void HeldMap<S>::transposed_vjp(ConstMatrixRef<S> y0, ConstMatrixRef<S> u, MatrixRef<S> y, Columns columns, Store store,
                                ReadContext& read) const {
  map_->transposed_vjp(held<S, 1>(share_, y0), held<S, 0>(share_, u), y, columns, store, read);
}

template <class S>
void HeldMap<S>::correlate_forward(ConstMatrixRef<S> x0, ConstMatrixRef<S> u, Columns columns, S scale, int parameter,
                                   GradientSink<S>& sink, const ReadContext& read) const {
  map_->correlate_forward(held<S, 1>(share_, x0), u, columns, scale, parameter, sink, read);
}

template <class S>
void HeldMap<S>::correlate_transposed(ConstMatrixRef<S> y0, ConstMatrixRef<S> u, Columns columns, S scale,
                                      int parameter, GradientSink<S>& sink, const ReadContext& read) const {
  map_->correlate_transposed(held<S, 1>(share_, y0), u, columns, scale, parameter, sink, read);
}

template <class S>
std::vector<MapReading> HeldMap<S>::readings() const {
  std::vector<MapReading> all = map_->readings();
  all.push_back({"held_share", "1", "share of a held drive that is left when its slot comes", share_});
  return all;
}

template class HeldMap<float>;
template class HeldMap<double>;

}  // namespace nudge
