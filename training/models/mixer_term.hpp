// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mixers/mixer.hpp"
#include "training/models/tape_term.hpp"

namespace nudge {

/// Mixer of an equilibrium block: the fused attention of circuits/terms, or a kind of mixers/registry.
struct MixerChoice {
  static constexpr const char* fused = "attention";

  std::string kind = fused;
  MixerOptions options = {};   ///< options of a kind of the registry
  Index window = 0;            ///< tokens that a token attends to, itself included; 0: all before it
  bool bidirectional = false;  ///< attend also to later tokens
  double initial_scale = 1.0;  ///< factor of the standard deviations that training starts from

  bool is_fused() const { return kind == fused; }
};

/// Names of the mixers (mixers/registry) that can be the force of a block. The state is their only input, and their
/// first output has its shape.
const std::vector<std::string>& force_mixers();

/// Spec of the chosen kind: its parameters. UserError naming the option that is wrong.
MixerSpec mixer_spec(const MixerChoice& choice);

/// Computes the mixer of z (T, C) on z's tape, with the weights in the order of mixer_spec(). For a kind that is the
/// state plus an update, returns both.
template <class S>
Value<S> mixed(const MixerChoice& choice, Value<S> z, const std::vector<Value<S>>& weights);

/// True if all weights of the mixer belong to a free energy that it descends (MixerKind::energy).
bool has_layer_energy(const MixerChoice& choice);
/// Names of the mixers with has_layer_energy().
const std::vector<std::string>& layer_energy_mixers();

/// Free energy F* (T, 1) of the tokens z against the context, both (T, C) on one tape.
template <class S>
Value<S> mixed_energy(const MixerChoice& choice, Value<S> z, Value<S> context, const std::vector<Value<S>>& weights);

/// Flags of the parameters, in the order of mixer_spec(), that the mixer only multiplies by, so that arrays of devices
/// may hold them. Found by recording the mixer on weights that are read. Gains, biases, temperatures and matrices that
/// are inverted stay numbers.
std::vector<bool> readable_parameters(const MixerChoice& choice);

/// Makes a mixer a force on the node `node`, columns `at`: F(z) = s · Mixer(z), the non-conservative part of the block
/// without its damping. For a kind that is the state plus an update (`residual`), Mixer(z) is the update alone. This
/// gives attention as in the founding note, and the descent step of "Transformers as Intrinsic Optimizers" as a flow.
/// (With the state left in, c would mean c − 1.) The weights, in the order of mixer_spec(), have the numbers
/// first_parameter, first_parameter + 1, ... in the network and must outlive the term. Weights of readable_parameters()
/// are read, the others are numbers.
template <class S>
std::unique_ptr<Term<S>> mixer_term(int node, Columns at, const MixerChoice& choice, double gain, int first_parameter,
                                    const std::vector<const LinearMap<S>*>& weights);

}  // namespace nudge
