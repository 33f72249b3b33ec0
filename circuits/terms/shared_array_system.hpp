// SPDX-License-Identifier: Apache-2.0
// Private to shared_array.cpp and shared_array_system.cpp.
#pragma once

#include "circuits/terms/layer_energy.hpp"
#include "circuits/terms/shared_array.hpp"

namespace nudge {

/// The array for one thread. The cached point z₀: its projections h₀ in x0_, what returns through the array in y0_, the terms'
/// own caches in their systems.
template <class S>
class SharedArray<S>::System final : public TermSystem<S>, public LayerEnergy<S> {
 public:
  System(const SharedArray& array, Index rows, Index max_copies);

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int node, Store store, ReadContext& read) override;
  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> rest, ReadContext& read) override;
  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) override;
  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override;
  void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> input_gradient, MatrixRef<S> f,
                  ReadContext& read) override;
  void exchange_point(std::size_t number) override;
  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& read) override;
  void law(NudgedForm form, ConstMatrixRef<S> z, ConstMatrixRef<S> v, NudgedDrive drive, MatrixRef<S> f,
           ReadContext& read) override;
  /// Of terms that all return through the array: E is then a function of h = z W alone, and ∂E/∂W = −zᵀ g with g = −∂E/∂h.
  bool has_layer_energy() const override;
  void accumulate_layer_energy(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink, ReadContext& read) override;
  const TermSystem<S>& system(std::size_t term) const { return *systems_.at(term); }

 private:
  template <class Chosen>
  Columns span_of(Chosen chosen) const;
  Columns driven(Part part) const;
  Columns returning(Part part) const;
  auto blank(Index rows, Columns columns);
  void force_of(std::size_t i, ConstMatrixRef<S> x, MatrixRef<S> y, ReadContext& read);
  void drive_of_adjoint(ConstMatrixRef<S> u, Part part, ReadContext& read);
  template <class Ref>
  auto own(Ref&& state) const {
    return state.middleCols(array_->at_.begin, array_->at_.count);
  }
  /// What terms see of so many rows.
  auto top(Matrix<S>& x, Index rows) const { return x.topLeftCorner(rows, columns_); }
  /// The columns of z, and columns of h, in what the terms see.
  template <class Ref>
  auto state(Ref&& x) const {
    return x.leftCols(array_->at_.count);
  }
  template <class Ref>
  auto projections(Ref&& x, Columns columns) const {
    return x.middleCols(array_->at_.count + columns.begin, columns.count);
  }

  struct Kept {
    Matrix<S> z0, y0;
  };

  const SharedArray* array_;
  Index rows_, columns_;
  /// [z | h], a direction [v | v W], and forces [f | g] on them, (copies·rows, C + columns); their rows are stored a bit longer.
  Matrix<S> x_, dx_, y_;
  Matrix<S> z0_, x0_, y0_;
  std::vector<std::unique_ptr<TermSystem<S>>> systems_;
  std::vector<Kept> kept_;
};

}  // namespace nudge
