// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mixers/mask.hpp"
#include "mixers/ops/reads.hpp"
#include "mixers/options.hpp"
#include "mixers/tape.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Named array of a mixer. The matrix has all dimensions but the last as rows: (H, m, d) is (H·m, d), (n) is (1, n) and a number is (1, 1).
struct Field {
  std::string name;
  std::vector<Index> shape;
  double mean = 0;       ///< mean of the normal numbers that training starts from
  double deviation = 0;  ///< standard deviation of the numbers that training starts from

  Index rows() const;
  Index cols() const { return shape.empty() ? 1 : shape.back(); }
};

/// Spec of a mixer: names and shapes of its inputs, parameters and outputs. The first input is the state (tokens, width) and,
/// but for the conditioner `tdc`, the first output has its shape. A leading dimension of -1 stands for the tokens of a sequence.
struct MixerSpec {
  std::vector<Field> inputs;
  std::vector<Field> parameters;
  std::vector<Field> outputs;
  bool attends = true;       ///< true if the mask matters
  bool residual = false;     ///< the first output is the state plus an update
  bool only_causal = false;  ///< no other mask than the causal one
};

/// Values that are found by name.
template <class S>
class NamedValues {
 public:
  void add(const std::string& name, Value<S> value) { values_.emplace_back(name, value); }
  bool has(const std::string& name) const;
  /// Value of that name; its absence is a bug of ours.
  Value<S> operator[](const std::string& name) const;
  const std::vector<std::pair<std::string, Value<S>>>& all() const { return values_; }

 private:
  std::vector<std::pair<std::string, Value<S>>> values_;
};

/// Evaluation of a mixer: in, the leaves of a tape; out, its outputs in the order of the spec, and quantities to log.
template <class S>
struct MixerCall {
  const MixerOptions& options;
  NamedValues<S> inputs;
  NamedValues<S> parameters;
  Mask mask;
  Streams<S>* streams = nullptr;  ///< streams to continue a sequence (kinds that say so); null: it starts here
  std::vector<Value<S>> outputs = {};
  NamedValues<S> observed = {};  ///< only with options.observe: "energy" per token, "update", ...
};

/// Kind of sequence mixer. Only forward() writes its computation; derivatives come from the tape.
template <class S>
struct MixerKind {
  std::string name;
  std::string summary;
  /// Spec for these options; UserError naming a wrong option.
  MixerSpec (*spec)(const MixerOptions& options);
  void (*forward)(MixerCall<S>& call);
  /// Energy F*(z_t; context) of every token, (tokens, 1), of the inputs "z" and "context". forward() descends it in z with its
  /// context held. Only for kinds whose weights all belong to this energy. Null: some weight (W_v, W_o) belongs to no energy.
  Value<S> (*energy)(const MixerCall<S>& call) = nullptr;
  /// Keys of [mixer] that the kind reads beside the common ones, made with these options. No key can set a field that
  /// is not among them.
  using Keys = MixerKeys (*)(const MixerOptions& made);
  Keys keys = [](const MixerOptions&) { return MixerKeys(); };
  /// Sizes of 0 become those that follow from width and heads.
  using Fit = void (*)(MixerOptions& options);
  Fit fit = [](MixerOptions&) {};
};

/// The kind with the keys that it reads.
template <class S>
MixerKind<S> reading(MixerKind<S> kind, typename MixerKind<S>::Keys keys,
                     typename MixerKind<S>::Fit fit = MixerKind<S>().fit) {
  kind.keys = keys;
  kind.fit = fit;
  return kind;
}

/// The key of rotary positions, unless they are there.
MixerKeys rope_key(const MixerOptions& made);

/// Checks of options: UserError "name = value (must be ...)".
void require_positive(const std::string& name, double value);
void require_at_least(const std::string& name, Index value, Index least);
/// Checks that `whole` is a multiple of `part`.
void require_divides(const std::string& part_name, Index part, const std::string& whole_name, Index whole);

/// All kinds of mixers, in the order of the list in registry.cpp. To add one: a function `template <class S>
/// MixerKind<S> <name>_mixer()` in a file of its family, and its name in that list; the conformance tests loop over it.
template <class S>
const std::vector<MixerKind<S>>& mixer_kinds();

/// Mixer of this name; UserError with the closest names for an unknown one.
template <class S>
const MixerKind<S>& mixer_kind(const std::string& name);

}  // namespace nudge
