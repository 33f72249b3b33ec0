// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/section.hpp"
#include "training/data/task.hpp"
#include "training/models/block/block_plan.hpp"

namespace nudge {

/// Plan of the founding note's blocks one above the other. Node l = 1 … L is a block with an array of its own, clamped
/// to the node below,
///     F_l = z_{l−1} − z_l − ∂E_l/∂z_l + s (Attn_l(z_l) − c z_l),   z_0 := x_in,   logits = z_L W_h.
/// Nothing comes back from above. Parameters: tok, pos, per layer l<l>_input (C, 3C + M), l<l>_o (C, C), then Wh.
/// Groups per layer: l<l>_Wm, l<l>_Wq, l<l>_Wk, l<l>_Wv, l<l>_Wo.
class StackPlan final : public NetworkPlan {
 public:
  /// Makes the plan. `shape`: of one block, with the fused attention and a memory on one array, without coupling.
  StackPlan(const ModelShape& shape, Index layers, const InitialScales& scales, Damping damping)
      : shape_(shape), layers_(layers), scales_(scales), damping_(damping) {}

  std::string_view kind() const override { return "stack"; }
  Index rows() const override { return shape_.tokens; }
  Index inputs() const override { return shape_.channels; }
  std::vector<Node> nodes() const override;
  Damping damping() const override { return damping_; }
  std::vector<Parameter> parameters() const override;
  std::vector<ParameterGroup> groups() const override;
  Embedding embedding() const override { return {0, 1}; }
  NodeReadout readout() const override;
  void initial(std::uint64_t seed, std::vector<Matrix<float>>& weights) const override;
  void initial(std::uint64_t seed, std::vector<Matrix<double>>& weights) const override;
  std::vector<std::unique_ptr<Term<float>>> terms(const Maps<float>& maps) const override;
  std::vector<std::unique_ptr<Term<double>>> terms(const Maps<double>& maps) const override;
  std::vector<WeightBound> bounds() const override;
  std::vector<Gates> gates() const override;

  const ModelShape& shape() const { return shape_; }
  Index layers() const { return layers_; }
  const InitialScales& scales() const { return scales_; }

 private:
  ModelShape shape_;
  Index layers_;
  InitialScales scales_;
  Damping damping_;
};

/// Table of the keys that a stack reads.
ParamTable stack_keys();

/// Plan of a stack of stack.layers blocks of [model]. UserError for parts of [model] that only a single block has.
std::shared_ptr<const NetworkPlan> stack_plan(const Config& config, const TaskSizes& task);

}  // namespace nudge
