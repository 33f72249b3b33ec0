// SPDX-License-Identifier: Apache-2.0
#include "mixers/mixer.hpp"

#include <fmt/format.h>

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"

/// List of all mixers.
#define NUDGE_MIXERS(X) \
  X(mha)                \
  X(gd_elastic)         \
  X(gd_inner)           \
  X(loop_elastic)       \
  X(loop_inner)         \
  X(linattn)            \
  X(glinattn)           \
  X(momen)              \
  X(nag)                \
  X(nag_sutskever)      \
  X(momen_stack)        \
  X(nag_stack)          \
  X(mha2nd)             \
  X(mha2nd1st)          \
  X(mha2nd1st_nov)      \
  X(light2nd)           \
  X(light2nd1st)        \
  X(tdc)                \
  X(fem_softmax)        \
  X(fem_gla)            \
  X(fem_aft)            \
  X(fem_lrnn)           \
  X(fem_ssmlti)         \
  X(fem_ssmsel)         \
  X(deltanet)           \
  X(gated_deltanet)     \
  X(mamba2)             \
  X(hyena)              \
  X(differential)

namespace nudge {

#define NUDGE_DECLARE(name) \
  template <class S>        \
  MixerKind<S> name##_mixer();
NUDGE_MIXERS(NUDGE_DECLARE)
#undef NUDGE_DECLARE

template <class S>
const std::vector<MixerKind<S>>& mixer_kinds() {
#define NUDGE_MAKE(name) name##_mixer<S>(),
  static const std::vector<MixerKind<S>> kinds = {NUDGE_MIXERS(NUDGE_MAKE)};
#undef NUDGE_MAKE
  return kinds;
}

template <class S>
const MixerKind<S>& mixer_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const MixerKind<S>& kind : mixer_kinds<S>()) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  throw UserError(fmt::format("unknown mixer \"{}\" ({})", name, did_you_mean(name, names)));
}

template const std::vector<MixerKind<float>>& mixer_kinds<float>();
template const std::vector<MixerKind<double>>& mixer_kinds<double>();
template const MixerKind<float>& mixer_kind<float>(const std::string&);
template const MixerKind<double>& mixer_kind<double>(const std::string&);

}  // namespace nudge
