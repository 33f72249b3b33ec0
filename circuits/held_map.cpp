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

/// What is held is not the product itself.
template <class S>
MapTraits<S> HeldMap<S>::traits() const {
  MapTraits<S> all = map_->traits();
  all.plain = false;
  return all;
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
