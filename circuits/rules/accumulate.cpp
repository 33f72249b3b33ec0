// SPDX-License-Identifier: Apache-2.0
// Mixed precision with a write threshold: a number χ per weight takes every change, χ += δ; where |χ| ≥ θ q, n = trunc(χ/q)
// pulses are sent (to either device of a pair, in opposite directions) and χ −= n q. With read_back both devices are read
// before and after, with the noise of a verify read, and what the weight was found to have moved is taken off χ instead
// of n q: the error of a write stays in χ until the device has made it good.
// Nandakumar et al., Front. Neurosci. 14:406 (2020), doi:10.3389/fnins.2020.00406 (θ = 1, no read); the threshold spares
// devices whose write noise costs the same for one pulse or thirty.

#include "circuits/rules/column_transfer.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

template <class S>
class Accumulate final : public UpdateRule<S> {
 public:
  explicit Accumulate(const CrossbarSpec& spec) : spec_(spec.rule), buffer_(spec.rule.threshold, 0) {}

  void begin(RuleArrays<S>& arrays) override {
    Crossbar<S>& array = arrays.slow();
    buffer_.begin(array.inputs(), array.outputs());
    if (!spec_.random_start) return;
    Matrix<S>& sum = buffer_.sum();
    // A static draw of the array, behind those of its devices (StaticDraw).
    fill_uniform<S>({arrays.seed, Purpose::device_to_device, array.plus().identity().entity},
                    1024 + array.writes().programmings, 0, {sum.data(), static_cast<std::size_t>(sum.size())});
    const S width = static_cast<S>(spec_.threshold) * array.weight_per_pulse();
    sum = (width * (S(2) * sum.array() - S(1))).matrix();
  }

  void learn(const WeightUpdate<S>& update, RuleArrays<S>& arrays) override {
    Crossbar<S>& array = arrays.slow();
    buffer_.sum() += update.scale * *update.direction;
    const S pulse = array.weight_per_pulse();
    if (!buffer_.take(pulse, 0, array.outputs(), counts_)) return;
    if (!spec_.read_back) return array.pulse(counts_);
    std::vector<Index> which;
    for (Index i = 0; i < counts_.size(); ++i) {
      if (counts_.data()[i] != 0) which.push_back(i);
    }
    const Matrix<S> before = array.read_weights(which);
    array.pulse(counts_);
    const Matrix<S> after = array.read_weights(which);
    for (std::size_t k = 0; k < which.size(); ++k) {
      const auto at = static_cast<Index>(k);
      buffer_.sum().data()[which[k]] += counts_.data()[which[k]] * pulse - (after(0, at) - before(0, at));
    }
  }

  std::vector<StateArray<S>> state() override {
    return {{"accumulator", "1", "requested change of each weight that is not yet sent", &buffer_.sum()}};
  }

 private:
  RuleSpec spec_;
  PulseBuffer<S> buffer_;
  Matrix<S> counts_;
};

}  // namespace

RuleKind accumulate_rule() {
  return {.update = UpdateScheme::accumulate,
          .name = "accumulate",
          .summary = "a digital accumulator per weight; a device gets pulses when crossbar.threshold of them are due",
          .source = "Nandakumar et al., Front. Neurosci. 14:406 (2020), doi:10.3389/fnins.2020.00406",
          .options = {&RuleSpec::threshold, &RuleSpec::read_back, &RuleSpec::random_start},
          .make_float = make_rule<float, Accumulate>,
          .make_double = make_rule<double, Accumulate>,
          .arrays = [](const RuleSpec&) { return 1; },
          .numbers = [](const RuleSpec&) { return 1.0; }};
}

}  // namespace nudge
