// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/hopfield_memory.hpp"

#include "circuits/terms/rectified_gate.hpp"

namespace nudge {
namespace {

/// 2 relu(u) at the point; its sign is the gate D.
template <class S>
struct MemoryPoint final : TermPoint {
  Matrix<S> twice_rectified;
};

template <class S>
const Matrix<S>& rectified_at(TermPoint& point) {
  return static_cast<MemoryPoint<S>&>(point).twice_rectified;
}

}  // namespace

template <class S>
std::unique_ptr<TermPoint> HopfieldMemory<S>::make_point(Index tokens, Index /*max_copies*/) const {
  auto point = std::make_unique<MemoryPoint<S>>();
  point->twice_rectified.resize(tokens, memories_);
  return point;
}

template <class S>
void HopfieldMemory<S>::force(ConstMatrixRef<S> h, ConstMatrixRef<S> /*dh*/, MatrixRef<S> g, MatrixRef<S> /*f*/,
                              TermPoint& /*point*/, ReadContext& /*read*/) const {
  g.array() = S(2) * h.array().max(S(0));
}

template <class S>
void HopfieldMemory<S>::linearize(ConstMatrixRef<S> h, MatrixRef<S> g, MatrixRef<S> /*f*/, TermPoint& point,
                                  ReadContext& /*read*/) const {
  Matrix<S>& rectified = static_cast<MemoryPoint<S>&>(point).twice_rectified;
  rectified.array() = S(2) * h.array().max(S(0));
  g = rectified;
}

template <class S>
void HopfieldMemory<S>::jvp(ConstMatrixRef<S> dh, MatrixRef<S> g, MatrixRef<S> /*f*/, TermPoint& point,
                            ReadContext& /*read*/) const {
  apply_gate<S>(rectified_at<S>(point), dh, g);
}

template <class S>
void HopfieldMemory<S>::vjp(ConstMatrixRef<S> /*u*/, ConstMatrixRef<S> hu, MatrixRef<S> g, TermPoint& point,
                            ReadContext& /*read*/) const {
  apply_gate<S>(rectified_at<S>(point), hu, g);
}

template <class S>
std::optional<double> HopfieldMemory<S>::energy(ConstMatrixRef<S> h) const {
  return -h.array().max(S(0)).template cast<double>().square().sum();
}

template class HopfieldMemory<float>;
template class HopfieldMemory<double>;

}  // namespace nudge
