// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/two_array_memory.hpp"

#include "circuits/terms/rectified_gate.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

template <class S>
struct TwoArrayPoint final : TermPoint {
  Matrix<S> twice_rectified;  ///< 2 relu(u) at the point; its sign is the gate D
  Matrix<S> drive;            ///< of the return array, (copies·T, M)
};

template <class S>
TwoArrayPoint<S>& at_point(TermPoint& point) {
  return static_cast<TwoArrayPoint<S>&>(point);
}

}  // namespace

template <class S>
TwoArrayMemory<S>::TwoArrayMemory(Index memories, int parameter, LinearMap<S>& back, CorrectionScope scope)
    : memories_(memories), parameter_(parameter), back_(&back), scope_(scope) {
  NUDGE_EXPECT(back.inputs() == memories);
}

template <class S>
std::unique_ptr<TermPoint> TwoArrayMemory<S>::make_point(Index tokens, Index max_copies) const {
  auto point = std::make_unique<TwoArrayPoint<S>>();
  point->twice_rectified.resize(tokens, memories_);
  point->drive.resize(max_copies * tokens, memories_);
  return point;
}

template <class S>
void TwoArrayMemory<S>::force(ConstMatrixRef<S> h, ConstMatrixRef<S> dh, MatrixRef<S> /*g*/, MatrixRef<S> f,
                              TermPoint& point, ReadContext& read) const {
  auto drive = at_point<S>(point).drive.topRows(h.rows());
  if (dh.size() == 0) {
    drive.array() = S(2) * h.array().max(S(0));
  } else {
    apply_gate<S>(at_point<S>(point).twice_rectified, dh, drive);
    drive.array() = S(2) * h.array().max(S(0)) - drive.array();
  }
  back_->forward(drive, f, back_->all_columns(), Store::add, read);
}

template <class S>
void TwoArrayMemory<S>::linearize(ConstMatrixRef<S> h, MatrixRef<S> /*g*/, MatrixRef<S> f, TermPoint& point,
                                  ReadContext& read) const {
  Matrix<S>& rectified = at_point<S>(point).twice_rectified;
  rectified.array() = S(2) * h.array().max(S(0));
  back_->forward(rectified, f, back_->all_columns(), Store::add, read);
}

template <class S>
void TwoArrayMemory<S>::jvp(ConstMatrixRef<S> dh, MatrixRef<S> /*g*/, MatrixRef<S> f, TermPoint& point,
                            ReadContext& read) const {
  auto drive = at_point<S>(point).drive.topRows(dh.rows());
  apply_gate<S>(at_point<S>(point).twice_rectified, dh, drive);
  back_->derivative(ReadDirection::forward, Derivative::jvp, at_point<S>(point).twice_rectified, drive, f,
                    back_->all_columns(), Store::add, read);
}

template <class S>
void TwoArrayMemory<S>::vjp(ConstMatrixRef<S> u, ConstMatrixRef<S> /*hu*/, MatrixRef<S> g, TermPoint& point,
                            ReadContext& read) const {
  auto through = at_point<S>(point).drive.topRows(u.rows());
  back_->derivative(ReadDirection::forward, Derivative::vjp, at_point<S>(point).twice_rectified, u, through,
                    back_->all_columns(), Store::assign, read);
  apply_gate<S>(at_point<S>(point).twice_rectified, through, g);
}

template <class S>
void TwoArrayMemory<S>::accumulate(ConstMatrixRef<S> u, S scale, TermPoint& point, GradientSink<S>& sink,
                                   ReadContext& read) const {
  back_->correlate(ReadDirection::forward, at_point<S>(point).twice_rectified, u, back_->all_columns(), scale,
                   parameter_, sink, read);
}

template class TwoArrayMemory<float>;
template class TwoArrayMemory<double>;

}  // namespace nudge
