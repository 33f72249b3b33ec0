// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mixers/mask.hpp"
#include "mixers/ops/reads.hpp"
#include "mixers/options.hpp"
#include "mixers/tape.hpp"
#include "sim/base/matrix.hpp"
#include "sim/base/member.hpp"

namespace nudge {

/// A named array of a mixer. Its matrix has all dimensions but the last as rows: (H, m, d) is (H·m, d), (n) is (1, n)
/// and a number is (1, 1).
struct Field {
  std::string name;
  std::vector<Index> shape;
  double mean = 0;       ///< where training starts: normal numbers with this mean
  double deviation = 0;  ///< and this standard deviation

  Index rows() const;
  Index cols() const { return shape.empty() ? 1 : shape.back(); }
};

/// What a mixer computes with, as names and shapes. The first input is the state (tokens, width) and, but for the
/// conditioner `tdc`, the first output has its shape; a leading dimension of -1 stands for the tokens of a sequence.
struct MixerSpec {
  std::vector<Field> inputs;
  std::vector<Field> parameters;
  std::vector<Field> outputs;
  bool attends = true;       ///< whether the mask matters
  bool residual = false;     ///< the first output is the state plus an update
  bool only_causal = false;  ///< no other mask than the causal one
};

/// Values by name.
template <class S>
class NamedValues {
 public:
  void add(const std::string& name, Value<S> value) { values_.emplace_back(name, value); }
  bool has(const std::string& name) const;
  /// Our bug if absent.
  Value<S> operator[](const std::string& name) const;
  const std::vector<std::pair<std::string, Value<S>>>& all() const { return values_; }

 private:
  std::vector<std::pair<std::string, Value<S>>> values_;
};

/// One evaluation of a mixer: in, the leaves of a tape; out, its outputs in the order of the spec, and quantities to
/// log.
template <class S>
struct MixerCall {
  const MixerOptions& options;
  NamedValues<S> inputs;
  NamedValues<S> parameters;
  Mask mask;
  Streams<S>* streams = nullptr;  ///< continue a sequence (kinds that say so); else it starts here
  std::vector<Value<S>> outputs = {};
  NamedValues<S> observed = {};  ///< only with options.observe: "energy" per token, "update", ...
};

/// A kind of sequence mixer. forward() is the one place where its computation is written; derivatives come from the
/// tape.
template <class S>
struct MixerKind {
  std::string name;
  std::string summary;
  /// UserError naming the option that is wrong.
  MixerSpec (*spec)(const MixerOptions& options);
  void (*forward)(MixerCall<S>& call);
  /// F*(z_t; context) of every token, (tokens, 1), of the inputs "z" and "context": the energy that forward() descends in z with its
  /// context held, of kinds that have no weights beside those of this energy. null: a weight of its own (W_v, W_o) is in none.
  Value<S> (*energy)(const MixerCall<S>& call) = nullptr;
  /// What it reads of MixerOptions beside width and heads.
  std::vector<Member<MixerOptions>> options = {};

  bool reads(const Member<MixerOptions>& option) const {
    return std::any_of(options.begin(), options.end(), [&](const auto& own) { return own.holds(option); });
  }
};

/// The kind with the options that it reads.
template <class S>
MixerKind<S> reading(MixerKind<S> kind, std::vector<Member<MixerOptions>> options) {
  kind.options = std::move(options);
  return kind;
}

/// Checks of options: UserError "name = value (must be ...)".
void require_positive(const std::string& name, double value);
void require_at_least(const std::string& name, Index value, Index least);
/// `whole` is a multiple of `part`.
void require_divides(const std::string& part_name, Index part, const std::string& whole_name, Index whole);

/// All kinds of mixers, in the order of the list in registry.cpp. To add one: a function `template <class S>
/// MixerKind<S> <name>_mixer()` in a file of its family, and its name in that list; the conformance tests loop over it.
template <class S>
const std::vector<MixerKind<S>>& mixer_kinds();

/// UserError with the closest names for an unknown one.
template <class S>
const MixerKind<S>& mixer_kind(const std::string& name);

}  // namespace nudge
