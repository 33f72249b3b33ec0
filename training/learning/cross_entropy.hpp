// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "circuits/linear_map.hpp"
#include "training/learning/cost.hpp"
#include "training/learning/row_norm.hpp"

namespace nudge {

/// Token cross-entropy of a linear read-out of one node, m = z_node or its RMS norm: logits = m W_h (T, V),
///     C_t = −log softmax(logits_t)[target_t],  ∂C/∂m = (softmax(logits) − onehot) W_hᵀ,  ∂C/∂W_h = mᵀ (softmax(logits) − onehot).
/// ∂C/∂z is 0 on the other nodes; C_t and its gradients are 0 in rows whose target is Batch::kIgnored. With
/// NodeReadout::cost another cost of the logits replaces the cross-entropy, and its derivative replaces softmax(logits)
/// − onehot.
template <class S>
class CrossEntropyReadout final : public ExampleCost<S> {
 public:
  /// Reads the columns `node` of a state. `bias`: the map of parameter at.bias, if any; it adds b to every row of the
  /// logits, ∂C/∂b = Σ_t (softmax − onehot).
  CrossEntropyReadout(const LinearMap<S>& readout, const NodeReadout& at, Columns node, Index tokens, Index max_copies,
                      const LinearMap<S>* bias = nullptr);
  /// Reads the whole state.
  CrossEntropyReadout(const LinearMap<S>& readout, int parameter, Index tokens, Index max_copies)
      : CrossEntropyReadout(readout, {parameter, 0, Normalization::none}, {0, readout.inputs()}, tokens, max_copies) {}

  /// Starts on an example, whose reads `read` identifies. They are of the classes loss (value), nudged (gradient) and
  /// correlation (accumulate_parameter_gradient). Targets (T) must stay alive and be < V, or Batch::kIgnored.
  void bind(std::span<const int> targets, const ReadContext& read);
  void bind(const Batch& batch, Index example, const ReadContext& read) override {
    bind(batch.targets_of(example), read);
  }

  Columns columns(Index /*cols*/) const override { return node_; }
  double value(ConstMatrixRef<S> z) override;
  void gradient(ConstMatrixRef<S> z, MatrixRef<S> out) override;
  void accumulate_parameter_gradient(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink) override;

  void set_read_timing(ReadTiming timing) override { read_.relaxation = timing; }
  void use_exact_derivatives(bool exact) override { read_.exact = exact; }

  /// Logits of the last call that read z, (k·T, V).
  const Matrix<S>& logits() const { return logits_; }
  ReadContext& read() override { return read_; }
  Matrix<S> output() const override { return logits_.topRows(tokens_); }

 private:
  template <class Act>
  void measure(ConstMatrixRef<S> z, Act act);
  void error_signal(ConstMatrixRef<S> m);
  void other_error_signal(ConstMatrixRef<S> logits);

  void read_logits(ConstMatrixRef<S> m, MatrixRef<S> logits);

  const LinearMap<S>* readout_;
  const LinearMap<S>* bias_;
  NodeReadout at_;
  Columns node_;
  Index tokens_;
  std::span<const int> targets_;
  ReadContext read_;
  ReadMemory memory_;  ///< memory of the reads of the present sequence
  Matrix<S> logits_, error_, ones_;
  RowNorm<S> norm_;
  Matrix<S> measured_, back_;   ///< m, and ∂C/∂m
  Matrix<S> wanted_;            ///< onehot targets, for another cost
  std::vector<Index> ignored_;  ///< rows of the present example that do not count, for another cost
};

}  // namespace nudge
