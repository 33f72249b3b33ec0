// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/correction_path.hpp"
#include "circuits/terms/causal_attention.hpp"
#include "circuits/terms/hopfield_memory.hpp"
#include "circuits/terms/shared_array.hpp"
#include "sim/config/section.hpp"
#include "training/data/task.hpp"
#include "training/models/model_options.hpp"
#include "training/models/network.hpp"
#include "training/models/network_plan.hpp"

namespace nudge {

/// Sizes of the block: vocabulary V, tokens T, channels C, memories M (0: none), heads H (H divides C). Also its mixer,
/// which is its non-conservative force, and whether the channels are coupled directly (W_c).
struct ModelShape {
  Index vocabulary = 65;
  Index tokens = 32;
  Index channels = 64;
  Index memories = 256;
  Index heads = 4;
  MixerChoice mixer = {};
  bool coupling = false;
  /// Arrays of the memory; 2: it returns through an array of its own, Wr (M, C), nominally W_mᵀ.
  int memory_arrays = 1;
  CorrectionScope correction = CorrectionScope::attention;  ///< scope of the correction, with two arrays
  bool tables_on_devices = false;                           ///< put tok and pos on devices
  AttentionErrors attention = {};                           ///< errors of the fused attention
};

/// Numbers of the block's parameters in gradients, optimisers and files. From `output` on follow the weights of the
/// non-conservative force outside its columns of the input array. These are W_o of the fused attention, or all weights
/// of another mixer. The read-out is the last one.
struct BlockParameter {
  static constexpr int tok = 0, pos = 1, input = 2, output = 3;
};

/// Plan of the founding note's block as a network of one node z (T, C):
///     x_in[t] = tok[idx_t] + pos[t],   F = x_in − z − ∂E_mem/∂z + s (Mixer(z) − c z),   logits = z* W_h.
/// Parameters: tok (V, C), pos (T, C), Winput (C, 3C + M: W_q | W_k | W_v | W_m), Wo (C, C), Wh (C, V). Another mixer
/// has Winput (C, M) and its own weights instead of Wo. Arrays hold the weights that the mixer only multiplies by. A
/// memory on two arrays adds Wr (M, C) before the read-out; a coupling adds its columns W_c (C, C) to Winput, before
/// W_m. Groups: tok, pos, Wm, Wc, then Wq, Wk, Wv, Wo or the mixer's weights by name, Wr, Wh.
class BlockPlan final : public NetworkPlan {
 public:
  BlockPlan(const ModelShape& shape, const InitialScales& scales, Damping damping);

  std::string_view kind() const override { return "block"; }
  Index rows() const override { return shape_.tokens; }
  Index inputs() const override { return shape_.channels; }
  std::vector<Node> nodes() const override;
  Damping damping() const override { return damping_; }
  std::vector<Parameter> parameters() const override;
  std::vector<ParameterGroup> groups() const override;
  Embedding embedding() const override { return {BlockParameter::tok, BlockParameter::pos}; }
  NodeReadout readout() const override { return {static_cast<int>(parameters().size()) - 1, 0, Normalization::none}; }
  void initial(std::uint64_t seed, std::vector<Matrix<float>>& weights) const override;
  void initial(std::uint64_t seed, std::vector<Matrix<double>>& weights) const override;
  std::vector<std::unique_ptr<Term<float>>> terms(const Maps<float>& maps) const override;
  std::vector<std::unique_ptr<Term<double>>> terms(const Maps<double>& maps) const override;
  std::vector<WeightBound> bounds() const override;
  std::vector<Gates> gates() const override;

  const ModelShape& shape() const { return shape_; }

 private:
  ModelShape shape_;
  InitialScales scales_;
  Damping damping_;
  std::vector<Field> mixer_;    ///< parameters of a mixer that is not fused
  std::vector<bool> readable_;  ///< flags of the parameters in mixer_ that arrays may hold
};

template <class S>
std::vector<Matrix<S>> initial_weights(const ModelShape& shape, const InitialScales& scales, std::uint64_t seed);

/// Makes a block on the given maps.
template <class S>
std::unique_ptr<Network<S>> block_network(const ModelShape& shape, Damping damping, Maps<S> maps);

/// Options of the section [correction]: scope of the correction in the nudged phase, and the circuits that carry it.
struct CorrectionOptions {
  CorrectionScope scope = {};
  CorrectionSpec path;
};
const Section<CorrectionOptions>& correction_section();

/// Section [attention]: the circuits of the fused attention of a block or stack. It uses the run's seed.
const Section<AttentionErrors>& attention_section();

/// Mixer of model.mixer; none for attention, which is fused and reads no key of [mixer].
std::optional<MixerChoice> block_mixer(const Config& config);

/// Sizes of the block of [model] and [mixer].
ModelShape model_shape(const Config& config, Index vocabulary);

std::shared_ptr<const NetworkPlan> block_plan(const Config& config, const TaskSizes& task);

/// Tables of the keys that a block reads, and that a stack of blocks reads beside [stack].
ParamTable block_keys();
ParamTable stacked_block_keys();

/// Names of the weights that are in no energy of the block (NetworkKind::lacks_layer_energy); empty: all are in one.
std::string block_lacks_energy(const Config& config);

/// Largest leak of a node of the block, 1 + s c.
NodeLeak block_leak(const Config& config);

/// Export of the block as an ngspice transient of 20 τ from discharged nodes (circuits/spice/exports.hpp). It has T C
/// (4 C + M) terms, 5 C with a coupling. UserError for other parts than the fused attention and a memory on one array.
NetlistExport block_export();

}  // namespace nudge
