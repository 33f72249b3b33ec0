// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/hopfield_memory.hpp"

#include <vector>

#include "circuits/terms/shared_array.hpp"

namespace nudge {

template <class S>
TermTraits HopfieldMemory<S>::traits() const {
  return {.name = "memory",
          .conservative = true,
          .sources = {SharedArray<S>::kProjections},
          .targets = {SharedArray<S>::kProjections},
          .assigns = true,
          .keeps_points = true};
}

template <class S>
class HopfieldMemory<S>::System final : public TermSystem<S> {
 public:
  System(Columns at, Index rows) : at_(at), twice_rectified_(rows, at.count) {}

  void force(ConstMatrixRef<S> x, MatrixRef<S> f, Part part, int /*node*/, Store store,
             ReadContext& /*read*/) override {
    if (part == Part::nonconservative) return;
    const auto rectified = S(2) * own(x).array().max(S(0));
    if (store == Store::assign) {
      own(f).array() = rectified;
    } else {
      own(f).array() += rectified;
    }
  }
  void linearize(ConstMatrixRef<S> x, MatrixRef<S> conservative, MatrixRef<S> /*rest*/,
                 ReadContext& /*read*/) override {
    twice_rectified_.array() = S(2) * own(x).array().max(S(0));
    own(conservative) += twice_rectified_;
  }
  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& /*read*/) override {
    if (part != Part::nonconservative) add_gated<S>(twice_rectified_, own(v), scale, own(f));
  }
  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override { jvp(u, S(1), f, part, read); }
  void accumulate(ConstMatrixRef<S> u, S /*scale*/, GradientSink<S>& /*sink*/, MatrixRef<S> /*input_gradient*/,
                  MatrixRef<S> f, ReadContext& read) override {
    if (f.size() > 0) vjp(u, f, Part::all, read);
  }
  void swap_point(std::size_t number) override {
    if (kept_.size() <= number) kept_.resize(number + 1);
    if (kept_[number].size() == 0) kept_[number].resize(twice_rectified_.rows(), at_.count);
    twice_rectified_.swap(kept_[number]);
  }
  std::optional<double> energy(ConstMatrixRef<S> x, const ReadContext& /*read*/) override {
    return -own(x).array().max(S(0)).template cast<double>().square().sum();
  }

 private:
  template <class Ref>
  auto own(Ref&& x) const {
    return x.middleCols(at_.begin, at_.count);
  }

  Columns at_;
  Matrix<S> twice_rectified_;  ///< 2 relu(u) at the point; its sign is the gate D
  std::vector<Matrix<S>> kept_;
};

template <class S>
std::unique_ptr<TermSystem<S>> HopfieldMemory<S>::make_system(Index rows, Index /*max_copies*/) const {
  return std::make_unique<System>(at_, rows);
}

NUDGE_BOTH_PRECISIONS_OF(HopfieldMemory)

}  // namespace nudge
