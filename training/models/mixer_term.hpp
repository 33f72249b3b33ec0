// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mixers/mixer.hpp"
#include "training/models/tape_term.hpp"

namespace nudge {

/// The mixer of an equilibrium block: the fused attention of circuits/terms, or a kind of mixers/registry.
struct MixerChoice {
  static constexpr const char* fused = "attention";

  std::string kind = fused;
  MixerOptions options = {};   ///< of a kind of the registry
  Index window = 0;            ///< tokens that a token attends to, itself included; 0: all before it
  bool bidirectional = false;  ///< to those behind it too
  double initial_scale = 1.0;  ///< factor of the standard deviations that training starts from

  bool is_fused() const { return kind == fused; }
};

/// The kinds of mixers/registry that can be the force of a block: the state is their only input, and their first output has
/// its shape.
const std::vector<std::string>& force_mixers();

/// Parameters of the chosen kind. UserError naming the option that is wrong.
MixerSpec mixer_spec(const MixerChoice& choice);

/// What a mixer computes of z (T, C) on z's tape, with the weights in the order of mixer_spec(); of a kind that is the state plus
/// an update, both.
template <class S>
Value<S> mixed(const MixerChoice& choice, Value<S> z, const std::vector<Value<S>>& weights);

/// Whether its weights are all those of a free energy that it descends (MixerKind::energy), and the kinds of which it is so.
bool has_layer_energy(const MixerChoice& choice);
const std::vector<std::string>& layer_energy_mixers();

/// F* (T, 1) of the tokens z against the context, both (T, C) on one tape.
template <class S>
Value<S> mixed_energy(const MixerChoice& choice, Value<S> z, Value<S> context, const std::vector<Value<S>>& weights);

/// Which parameters, in the order of mixer_spec(), the mixer only multiplies by, so that arrays of devices may hold them: found
/// by recording it on weights that are read. Gains, biases, temperatures and what is inverted stay numbers.
std::vector<bool> readable_parameters(const MixerChoice& choice);

/// A mixer as a force on the node `node`, columns `at`: F(z) = s · Mixer(z), the non-conservative part of the block without its
/// damping. Mixer(z) is what the mixer computes, and for a kind that is the state plus an update (`residual`), the update
/// alone: attention as in the founding note, the descent step of "Transformers as Intrinsic Optimizers" as a flow. (With the
/// state left in, c would mean c − 1.) The weights, in the order of mixer_spec(), have the numbers first_parameter,
/// first_parameter + 1, ... in the network and must outlive the term; those of readable_parameters() are read, the others are
/// numbers.
template <class S>
std::unique_ptr<Term<S>> mixer_term(int node, Columns at, const MixerChoice& choice, double gain, int first_parameter,
                                    const std::vector<const LinearMap<S>*>& weights);

}  // namespace nudge
