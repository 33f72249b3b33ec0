// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/crossbar/converter.hpp"
#include "circuits/read_context.hpp"
#include "sim/nudged_law.hpp"

namespace nudge {

/// Imperfections of the path that carries J v and Jᵀ v of the non-conservative terms in the nudged phase. All zero: ideal.
struct CorrectionSpec {
  double gain_error = 0;   ///< γ, common to all nodes and to both directions of the read
  double gain_spread = 0;  ///< standard deviation of the static gain error of each node
  double offset = 0;       ///< standard deviation of the static offset of each node, in units of the force
  double noise = 0;        ///< fresh noise per √τ, as a share of the rms that the path carries in one read
  double delay = 0;        ///< delay in τ; rounded to whole steps of the relaxation
  ConverterSpec converter = {};

  bool ideal() const {
    return gain_error == 0 && gain_spread == 0 && offset == 0 && noise == 0 && delay == 0 && converter.ideal();
  }
  /// Throws UserError naming the key, its value and the rule.
  void validate() const;
};

/// Antisymmetric correction of a nudged phase through real circuits. The correction p that AEP adds to the force becomes
/// q(p), per node and sample. J belongs to the non-conservative terms, and v = z(t − delay) − z₀ (sim/nudged_law.hpp):
///     q(p) = (1 + γ + Γ_node) Q(p + rms(p) σ ξ/√dt) + o_node
/// γ: common gain error, Γ: its static spread per node, o: static offset per node, ξ: fresh noise, Q: converter. J v and
/// Jᵀ v have errors of their own. A correction that is computed and not read (ReadContext::exact) passes unchanged.
template <class S>
class CorrectionPath final : public CorrectionFilter<S> {
 public:
  /// Makes the path for a state (rows, cols) with at most max_copies side by side. seed: seed of the run, which determines the static errors
  /// of the nodes. read: reads of the corrected system (CircuitDynamics::read), which say when and for what purpose it is read. It must
  /// outlive this.
  CorrectionPath(Index rows, Index cols, const CorrectionSpec& spec, Index max_copies, std::uint64_t seed,
                 const ReadContext& read);

  /// Starts on an example: its fresh noise begins anew.
  void bind() { passes_ = 0; }

  void restart() override { steps_ = 0; }
  void delay(MatrixRef<S> v) override;
  void pass(CorrectionWay way, MatrixRef<S> p) override;

 private:
  std::size_t delay_steps() const;

  Index rows_;
  CorrectionSpec spec_;
  const ReadContext* read_;
  Matrix<S> gain_[2], offset_[2];   ///< gain and offset of every node, (rows, cols), per way
  std::vector<Matrix<S>> history_;  ///< ring of the last displacements
  std::size_t steps_ = 0;           ///< displacements seen since restart()
  std::uint32_t passes_ = 0;        ///< noisy passes since bind()
  Matrix<S> draws_;
};

}  // namespace nudge
