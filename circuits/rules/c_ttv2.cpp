// SPDX-License-Identifier: Apache-2.0
// Chopped TTv2 (Rasch, Carta, Fagbohungbe and Gokmen, Nat. Commun. 15:7133 (2024), doi:10.1038/s41467-024-51221-z): the sign of a
// column flips with probability p after it was read; no symmetry point need be known.
#include "circuits/rules/chopped_transfer.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

// Coins beside those of the order of pulses (DeviceArray::pulse_both), whose lanes are numbers of chunks.
constexpr std::uint32_t chopper_lane = 0xffffffff;

template <class S>
class ChoppedTtv2 final : public ChoppedTransfer<S> {
 public:
  using ChoppedTransfer<S>::ChoppedTransfer;

 private:
  void after_read(Index column, const typename ChoppedTransfer<S>::Vector& /*held*/, RuleArrays<S>& arrays) override {
    // Every update has a number of its own among the writes of the fast array.
    const Crossbar<S>& fast = arrays.fast();
    const RngKey key{arrays.seed, Purpose::pulse_order, fast.plus().identity().entity};
    const std::uint64_t bits =
        random_bits(key, fast.writes().operations, chopper_lane, static_cast<std::uint32_t>(column));
    S& sign = this->signs_(0, column);
    if (static_cast<double>(bits >> 11U) * 0x1p-53 < this->spec_.chopper) sign = -sign;
  }
};

}  // namespace

RuleKind c_ttv2_rule() {
  return {.update = UpdateScheme::c_ttv2,
          .name = "c_ttv2",
          .summary = "TTv2 whose fast columns change their signs at random: no symmetry point need be known",
          .source = "Rasch et al., Nat. Commun. 15:7133 (2024), doi:10.1038/s41467-024-51221-z",
          .options = {&RuleSpec::every, &RuleSpec::columns, &RuleSpec::rate, &RuleSpec::fast_gain,
                      &RuleSpec::coincidence, &RuleSpec::threshold, &RuleSpec::momentum, &RuleSpec::chopper},
          .make_float = make_rule<float, ChoppedTtv2>,
          .make_double = make_rule<double, ChoppedTtv2>,
          .arrays = [](const RuleSpec&) { return 2; },
          .numbers = [](const RuleSpec&) { return 1.0; }};
}

}  // namespace nudge
