// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/linear_map.hpp"
#include "sim/dynamics.hpp"

namespace nudge {

/// W = S (P + Pᵀ)/2 + A (P − Pᵀ)/2 of a pattern P (N, N): reciprocal and non-reciprocal coupling, each with its own gain.
/// S = A = 1 is P itself, A = 0 the nearest reciprocal network, A = −1 (S = 1) the reversed one, Pᵀ.
template <class S>
Matrix<S> coupling_matrix(const Matrix<S>& pattern, double symmetric, double antisymmetric);

/// N nodes that drive each other through one array: F(z) = x_in − a z + z W, one independent system per row of z.
/// The array may be devices: their errors break the symmetry of W, and reads may differ between its two directions.
/// Conservative part: x_in − a z + (z W + z Wᵀ)/2, from both reads of the same array; non-conservative: (z W − z Wᵀ)/2.
/// Settles when every eigenvalue of W has a real part below a. The energy is defined for exact reads.
template <class S>
class Coupling final : public Dynamics<S> {
 public:
  /// map (N, N), kept by reference; parameter: its number in a gradient sink; leak a > 0.
  Coupling(const LinearMap<S>& map, int parameter, Matrix<S> drive, double leak = 1);
  ~Coupling() override;

  Index rows() const override { return drive_.rows(); }
  Index cols() const override { return drive_.cols(); }
  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part = Part::all) override;
  Linearization<S>& linearize(ConstMatrixRef<S> z) override;
  /// ½ a‖z‖² − ⟨z, x_in⟩ − ½⟨z, z W⟩
  std::optional<double> energy(ConstMatrixRef<S> z) override;
  void set_read_interval(double dt) override { read_.interval = dt; }

  ReadContext& read() { return read_; }

 private:
  class Point;
  void add_coupling(ConstMatrixRef<S> z, MatrixRef<S> f, Part part);

  const LinearMap<S>* map_;
  int parameter_;
  Matrix<S> drive_, other_;
  S leak_;
  ReadContext read_;
  std::unique_ptr<Point> point_;
};

}  // namespace nudge
