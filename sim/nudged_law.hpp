// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/dynamics.hpp"

namespace nudge {

/// Product with the Jacobian that the correction of a nudged phase carries: forward J v, backward Jᵀ v.
enum class CorrectionWay { forward, backward };  ///< J v, Jᵀ v

/// Real circuits between the products of the correction and the nodes (delay, filter). One object per thread.
template <class S>
class CorrectionFilter {
 public:
  virtual ~CorrectionFilter() = default;
  /// Begins a nudged phase: forgets delayed values.
  virtual void restart() = 0;
  /// Replaces v = z − z₀ (k·rows, cols) by the v that the correction path sees.
  virtual void delay(MatrixRef<S> v) = 0;
  /// Passes a product through the filter, p ← q(p).
  virtual void pass(CorrectionWay way, MatrixRef<S> p) = 0;
};

/// Start of a nudged phase: the system, linearised at z₀, and the filter that its correction passes (null: ideal).
template <class S>
struct NudgedPoint {
  Dynamics<S>* dynamics;
  Linearization<S>* at;
  const Matrix<S>* z0;
  CorrectionFilter<S>* filter = nullptr;
};

/// Forces of a nudged phase, of a system linearised at z₀, with v = z − z₀, J_n of the non-conservative terms and q of the filter:
///     corrected:   f = F(z) − q(J_n v) + q(J_nᵀ v)   the founding note's AEP: its Jacobian at z₀ is Jᵀ
///     transposed:  f = F_c(z) + q(J_nᵀ v)            the same Jacobian at z₀, a larger basin; without the constant F_n(z₀),
///                                                    which anchoring removes
/// Only this class derives them from force, jvp and vjp, so any Dynamics is right under every estimator. A system's fused
/// evaluation (Linearization::law) is used instead where the system has one and there is no filter.
template <class S>
class NudgedLaw {
 public:
  void corrected(const NudgedPoint<S>& p, ConstMatrixRef<S> z, MatrixRef<S> f) {
    if (p.filter == nullptr && p.at->law(NudgedForm::corrected, z, f)) return;
    correction(p, z);
    p.dynamics->force(z, f);
    f -= part_;
  }

  /// Writes the corrected force with every entry of the correction clipped to ±limit. Returns the number of clipped entries.
  long clipped(const NudgedPoint<S>& p, ConstMatrixRef<S> z, MatrixRef<S> f, S limit) {
    correction(p, z);
    p.dynamics->force(z, f);
    f.array() -= part_.array().max(-limit).min(limit);
    return (part_.array().abs() > limit).count();
  }

  /// Writes the transposed force of all nodes, or of one node into its columns of f.
  void transposed(const NudgedPoint<S>& p, ConstMatrixRef<S> z, MatrixRef<S> f, int node = kAllNodes) {
    if (p.filter == nullptr && p.at->law(NudgedForm::transposed, z, f, node)) return;
    displacement(p, z);
    p.at->vjp(v_, part_, Part::nonconservative);
    pass(p, CorrectionWay::backward, part_);
    if (!p.at->law(NudgedForm::conservative, z, f)) p.dynamics->force(z, f, Part::conservative);
    f += part_;
  }

  /// Computes out = Jᵀ u, where the non-conservative part of Jᵀ u passes the filter.
  void vjp(const NudgedPoint<S>& p, ConstMatrixRef<S> u, MatrixRef<S> out) {
    if (p.filter == nullptr) return p.at->vjp(u, out);
    part_.resize(u.rows(), u.cols());
    p.at->vjp(u, part_, Part::nonconservative);
    pass(p, CorrectionWay::backward, part_);
    p.at->vjp(u, out, Part::conservative);
    out += part_;
  }

  /// Computes out = q(J_n v) − q(J_nᵀ v).
  void asymmetry(const NudgedPoint<S>& p, ConstMatrixRef<S> v, MatrixRef<S> out) {
    back_.resize(v.rows(), v.cols());
    p.at->jvp(v, out, Part::nonconservative);
    pass(p, CorrectionWay::forward, out);
    p.at->vjp(v, back_, Part::nonconservative);
    pass(p, CorrectionWay::backward, back_);
    out -= back_;
  }

 private:
  static void pass(const NudgedPoint<S>& p, CorrectionWay way, MatrixRef<S> product) {
    if (p.filter != nullptr) p.filter->pass(way, product);
  }

  /// Sets part_ to the correction, q(J_n v) − q(J_nᵀ v), that is subtracted from the force.
  void correction(const NudgedPoint<S>& p, ConstMatrixRef<S> z) {
    displacement(p, z);
    asymmetry(p, v_, part_);
  }

  void displacement(const NudgedPoint<S>& p, ConstMatrixRef<S> z) {
    v_.resize(z.rows(), z.cols());
    part_.resize(z.rows(), z.cols());
    for (Index row = 0; row < z.rows(); row += p.z0->rows()) {
      v_.middleRows(row, p.z0->rows()) = z.middleRows(row, p.z0->rows()) - *p.z0;
    }
    if (p.filter != nullptr) p.filter->delay(v_);
  }

  Matrix<S> v_, part_, back_;
};

}  // namespace nudge
