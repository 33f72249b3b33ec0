// SPDX-License-Identifier: Apache-2.0
// Tables of measurements: the one reader of texts and columns, and what each kind of table makes of it. The first byte chooses the
// kind, the second what the user says of the columns; the rest is the file. Fits take a thousand times as long as reading: they have kinds of
// their own, so that the others are read at speed.
#include <array>
#include <cmath>

#include "devices/fit/fit_bake.hpp"
#include "devices/fit/fit_endurance.hpp"
#include "devices/fit/fit_noise.hpp"
#include "devices/fit/iv_sweep.hpp"
#include "devices/fit/pulse_csv.hpp"
#include "tests/fuzz/one_input.hpp"

using namespace nudge;

namespace {

constexpr std::array kChoices = {"",
                                 "",
                                 "",
                                 "g=COL2 uS",
                                 "time=COL1 ms,cell=COL2",
                                 "conductance=COL9",
                                 "x",
                                 "=,=COL1 ",
                                 "",
                                 "device=COL1+COL2,g=COL3 kOhm",
                                 "aside=COL1,decimal=comma",
                                 "polarity=reversed",
                                 "cycle=COL1,decimal=point",
                                 "time=COL1 d",
                                 "cell=COL1+COL1",
                                 "start=COL2 kOhm"};

void demand(bool holds) {
  if (!holds) std::terminate();
}

void check_pulses(const std::string& text, const CsvScale& scale, TableLook& look) {
  for (const LabRecord& one : parse_lab_csv(text, "fuzz.csv", scale, &look)) {
    const PulseRecord& record = one.pulses;
    demand(record.pulses() > 0 && record.direction.size() == record.conductance_S.size());
    demand(record.volts.size() == record.width_s.size());
    demand(record.volts.empty() || record.volts.size() == record.conductance_S.size());
    for (const double g : record.conductance_S) demand(std::isfinite(g) && g >= 0);
  }
  for (const Understood& one : look.understood) demand(!one.text("# ").empty());
}

enum class Fitted { no, yes };

void check_sweeps(const std::string& text, TableLook& look, Fitted fitted) {
  const IvData data = parse_iv(text, "fuzz.csv", 10, look);
  for (const IvSweep& sweep : data.sweeps) {
    demand(sweep.volts.size() == sweep.current_A.size() && sweep.volts.size() == sweep.time_s.size());
    for (std::size_t i = 0; i < sweep.volts.size(); ++i) demand(sweep.volts[i] * sweep.current_A[i] >= 0);
  }
  if (fitted == Fitted::yes) look_at_sweeps(data);
}

void check_endurance(const std::string& text, TableLook& look, Fitted fitted) {
  bool pulses = false;
  const auto devices = parse_endurance(text, "fuzz.csv", look, pulses);
  if (fitted == Fitted::no) return;
  const EnduranceFit fit = fit_endurance(devices, pulses);
  demand(fit.failed >= 0 && fit.failed <= static_cast<int>(fit.lives.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string text = fuzz::text_of(data + 2, size - 2);
  TableLook look{kChoices[data[1] % kChoices.size()]};
  return fuzz::refused_or_read([&] {
    switch (data[0] % 16) {
      case 0: return check_pulses(text, {}, look);
      case 1: return check_pulses(text, {0, 0, 0.1}, look);
      case 2: return check_pulses(text, {1e-6, 2e-5, 0}, look);
      case 3: parse_bake({text}, {"fuzz.csv"}, 300, look); return;
      case 4: parse_read_records(text, "fuzz.csv", 0, look); return;
      case 5: return check_sweeps(text, look, Fitted::no);
      case 6: return check_endurance(text, look, Fitted::no);
      case 8: return check_sweeps(text, look, Fitted::yes);
      case 9: return check_endurance(text, look, Fitted::yes);
      case 10:
      case 11: return check_pulses(text, {}, look);
      default: parse_set_reset_csv(text, "set.csv", text, "reset.csv", {0, 0, 0.1}); return;
    }
  });
}
