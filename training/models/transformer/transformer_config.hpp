// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/config/section.hpp"
#include "training/data/task.hpp"
#include "training/models/network.hpp"
#include "training/models/network_plan.hpp"
#include "training/models/transformer/transformer_plan.hpp"

namespace nudge {

/// Options of the section [transformer]. C, T, M, H and the vocabulary of the shape come from [model] and from the
/// task.
struct TransformerOptions {
  TransformerShape shape;
  TransformerScales scales;
};
const Section<TransformerOptions>& transformer_section();

/// Plan of the transformer of [transformer], with C, T, M and H of [model].
std::shared_ptr<const NetworkPlan> transformer_plan(const Config& config, const TaskSizes& task);

/// Mixer of transformer.mixer; none for attention, which is fused and reads no key of [mixer].
std::optional<MixerChoice> transformer_mixer(const Config& config);

/// Names that transformer.mixer may have: attention, and the mixers of sequence models that add an update to the state.
std::vector<std::string> transformer_mixers();

/// Table of the keys that a transformer reads.
ParamTable transformer_keys();

/// Largest leak of a node, 1 + κ; damping has no part in it.
NodeLeak transformer_leak(const Config& config);
/// Names of the weights that are in no energy of their layer (NetworkKind::lacks_layer_energy); empty: all are in one.
std::string transformer_lacks_energy(const Config& config);
/// True if κ = 0: the transformer is feed-forward.
bool transformer_feeds_forward(const Config& config);

/// Inputs of a transient of the transformer, besides its weights.
struct TransformerNetlist {
  Matrix<double> input;  ///< x (T, C), V, clamped
  Matrix<double> start;  ///< z at t = 0, (T, n·C), V
  double time_constant_s = 100e-9;
  double capacitance_F = 100e-15;  ///< capacitance of every state node
  double stop_s = 2e-6;
  double print_step_s = 1e-9;
};

/// Writes a network of the kind transformer as an ngspice transient: one capacitor per element of the state, charged by
/// a behavioural source with C/τ · F. Norms, projections, rotations, the causal softmax and relu2 are ideal dependent
/// voltage sources, one volt per unit. Weights are those that a noise-free read of the maps uses. The control block
/// writes time and the state's voltages, row-major, to `data_file` (wrdata: columns of time and value in turn;
/// wr_singlescale). UserError for activation = gelu: ngspice has no error function.
std::string transformer_netlist(const Network<double>& network, const TransformerNetlist& spec,
                                const std::string& data_file);

/// Export of an example, from the start of a free phase, (20 + 4 n) τ long. Number of terms: T (n C (C + 1) + n/2 (5 C²
/// + 2 C M) + H T n/2 (2 C/H + 2)). UserError for curved devices.
NetlistExport transformer_export();

}  // namespace nudge
