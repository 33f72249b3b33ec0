// SPDX-License-Identifier: Apache-2.0
// Energy, latency and area of the circuit of a run, by part.
#include <algorithm>

#include "apps/info/cost_card.hpp"
#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "sim/base/errors.hpp"
#include "training/config/stored_config.hpp"

namespace nudge::report {
namespace {

bool has_arrays(const RunFile& run) {
  return run.kind == "train" && std::any_of(run.trainees.begin(), run.trainees.end(),
                                            [](const Lane& lane) { return lane.lane.empty() && !lane.arrays.empty(); });
}

std::string card_of(const RunFile& run) {
  std::string out = "<section>\n<h2>Cost card: " + escape(run.name) + "</h2>\n";
  try {
    const CostCard card = cost_card(stored_program_config(run.name, run.config), run);
    out += table(card_rows(card));
    for (const std::string& note : card_notes(card)) out += paragraph(note);
  } catch (const UserError& error) {  // a config that this version does not know
    out += paragraph(error.what());
  }
  return out + "</section>\n";
}

}  // namespace

std::string cost_cards(const std::vector<RunFile>& runs) {
  std::string out;
  for (const RunFile& run : runs) {
    if (has_arrays(run)) out += card_of(run);
  }
  return out;
}

}  // namespace nudge::report
