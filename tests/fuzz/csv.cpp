// SPDX-License-Identifier: Apache-2.0
// CSV: samples of a task with labels and with values, and measured pulses of a device with the fits of all models. The first byte
// chooses, the rest is the file.
#include "devices/fit/fit_pulses.hpp"
#include "devices/fit/pulse_csv.hpp"
#include "tests/fuzz/one_input.hpp"
#include "training/data/readers/readers.hpp"

using namespace nudge;

namespace {

void read_samples(const std::string& text, Target target, const std::string& labels) {
  DataSource source;
  source.path = "fuzz.csv";
  source.labels = labels;
  const LabelledData data = parse_csv(text, "fuzz.csv", source, target);
  const Index rows = target == Target::label ? static_cast<Index>(data.labels.size()) : data.values.rows();
  if (rows != data.count() || !data.features.allFinite()) std::terminate();
}

void fit(const std::string& text, std::size_t model) {
  const PulseRecord record = parse_lab_csv(text, "fuzz.csv").at(0).pulses;
  const std::string& name = fitted_models()[model % fitted_models().size()];
  fit_toml(fit_records({record}, name), "fuzz.csv");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text = fuzz::text_of(data + 1, size - 1);
  return fuzz::refused_or_read([&] {
    switch (data[0] % 8) {
      case 0: return read_samples(text, Target::label, "");
      case 1: return read_samples(text, Target::label, "label");
      case 2: return read_samples(text, Target::value, "a,b");
      default: return fit(text, data[0] % 8U - 3);
    }
  });
}
