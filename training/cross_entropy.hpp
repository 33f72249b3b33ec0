// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "circuits/linear_map.hpp"
#include "training/cost.hpp"

namespace nudge {

/// Token cross-entropy of a linear read-out: logits = z W_h (T, V), C_t = −log softmax(logits_t)[target_t],
/// ∂C/∂z = (softmax(logits) − onehot) W_hᵀ,  ∂C/∂W_h = zᵀ (softmax(logits) − onehot).
template <class S>
class CrossEntropyReadout final : public Cost<S> {
 public:
  CrossEntropyReadout(const LinearMap<S>& readout, int parameter, Index tokens, Index max_copies);

  /// Start on a sequence: what identifies its reads. They are of the classes loss (value), nudged (gradient) and correlation
  /// (accumulate_parameter_gradient). Targets (T) must stay alive and be < V.
  void bind(std::span<const int> targets, const ReadContext& read);

  double value(ConstMatrixRef<S> z) override;
  void gradient(ConstMatrixRef<S> z, MatrixRef<S> out) override;
  void accumulate_parameter_gradient(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink) override;

  void set_read_timing(ReadTiming timing) override { read_.relaxation = timing; }
  void use_exact_derivatives(bool exact) override { read_.exact = exact; }

  /// Logits of the last call that read z, (k·T, V).
  const Matrix<S>& logits() const { return logits_; }
  ReadContext& read() { return read_; }

 private:
  void error_signal(ConstMatrixRef<S> z);

  const LinearMap<S>* readout_;
  int parameter_;
  Index tokens_;
  std::span<const int> targets_;
  ReadContext read_;
  ReadMemory memory_;  ///< of the reads of the present sequence
  Matrix<S> logits_, error_;
};

}  // namespace nudge
