// SPDX-License-Identifier: Apache-2.0
// Private to shared_array.cpp and shared_array_system.cpp.
#pragma once

#include "circuits/terms/layer_energy.hpp"
#include "circuits/terms/shared_array.hpp"

namespace nudge {

/// The array for one thread. The cached point z₀: its projections h₀ in h0_, what returns through the array in g0_, the terms'
/// own caches in their TermPoints.
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
  const TermPoint& point(std::size_t term) const { return *points_.at(term); }

 private:
  template <class Chosen>
  Columns span_of(Chosen chosen) const;
  Columns driven(Part part) const;
  Columns returning(Part part) const;
  void drive_of_adjoint(ConstMatrixRef<S> u, Part part, ReadContext& read);
  void correlate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, ReadContext& read);
  void corrected(ConstMatrixRef<S> z, ConstMatrixRef<S> v, MatrixRef<S> f, ReadContext& read);
  void transposed(ConstMatrixRef<S> z, ConstMatrixRef<S> v, NudgedDrive drive, MatrixRef<S> f, ReadContext& read);
  void drive_conservative(ConstMatrixRef<S> z, NudgedDrive drive, MatrixRef<S> f, ReadContext& read);
  void drive_of_force(std::size_t i, ConstMatrixRef<S> h, MatrixRef<S> g, MatrixRef<S> f, ReadContext& read);
  template <class Ref>
  auto own(Ref& state) const {
    return state.middleCols(array_->at_.begin, array_->at_.count);
  }

  using Points = std::vector<std::unique_ptr<TermPoint>>;
  Points make_points() const;
  struct Kept {
    Matrix<S> z0, g0;
    Points points;
  };

  const SharedArray* array_;
  Index rows_, max_copies_;
  Matrix<S> h_, g_,
      dh_;  ///< projections and drives of the array's columns, and projections of a direction, (copies·rows, columns)
  Matrix<S> z0_, h0_, g0_;
  Matrix<S> scaled_, nothing_;
  Points points_;
  std::vector<Kept> kept_;
};

}  // namespace nudge
