// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/text_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "apps/columns.hpp"
#include "apps/streams.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

std::string one_text(const TextEntropy& e, const char* part) {
  return fmt::format("unigram {:.4f}, bigram {:.4f} nat on the {} split", e.unigram, e.bigram, part);
}

}  // namespace

std::string lines_text(const TextLines& lines) {
  std::string out = fmt::format("n-gram baselines: chance {:.4f} nat; {}", lines.validation.chance,
                                one_text(lines.validation, "validation"));
  if (lines.test) out += "; " + one_text(*lines.test, "test");
  return out;
}

std::string unigram_mark(double loss, const std::optional<TextEntropy>& line) {
  return line && loss >= line->unigram ? " !" : "";
}

std::string text_table(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], text_columns(row[c]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - text_columns(row[c]), ' ');
      line += (c > 0 ? "  " : "") + (c < left ? row[c] + padding : padding + row[c]);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string short_table(const std::vector<std::vector<std::string>>& rows, std::size_t kept, std::size_t left, bool all,
                        const std::function<int(const std::string& name)>& rank) {
  constexpr std::size_t most = 5;
  if (all) return text_table(rows, left);
  std::vector<std::size_t> others;
  for (std::size_t c = kept; c < rows.front().size(); ++c) {
    const auto differs = [&](const auto& row) { return row[c] != rows[1][c]; };
    if (rows.size() == 2 || std::any_of(rows.begin() + 1, rows.end(), differs)) others.push_back(c);
  }
  std::stable_sort(others.begin(), others.end(),
                   [&](std::size_t a, std::size_t b) { return rank(rows[0][a]) < rank(rows[0][b]); });
  if (others.size() > most) others.resize(most);
  std::sort(others.begin(), others.end());
  std::vector<std::vector<std::string>> out;
  for (const auto& row : rows) {
    out.emplace_back(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(kept));
    for (const std::size_t c : others) out.back().push_back(row[c]);
  }
  const std::size_t more = rows.front().size() - out.front().size();
  return text_table(out, left) + (more > 0 ? fmt::format("{} more columns: --all\n", more) : "");
}

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() { show(""); }

void ProgressLine::show(const std::string& text) {
  if (terminal_) say_over(text);
}

void ProgressLine::print(const std::string& text) { terminal_ ? say_over(text + "\n") : say("{}\n", text); }

std::string spread_text(const CellSpread& cell, const char* digits, const char* deviation) {
  const auto number = [](const char* form, double value) { return fmt::format(fmt::runtime(form), value); };
  std::string mean = std::isfinite(cell.mean) ? number(digits, cell.mean) : "-";
  if (std::isfinite(cell.mean) && cell.runs > 1) mean += " ± " + number(deviation, cell.deviation);
  return cell_text(cell, mean, number(digits, cell.median));
}

std::string score_text(const std::string& metric, double value) {
  if (!std::isfinite(value)) return "-";
  return metric == "accuracy" ? fmt::format("{:.2f} %", 100 * value) : fmt::format("{:.4f}", value);
}

std::string score_difference_text(const std::string& metric, double value) {
  if (!std::isfinite(value)) return "-";
  return metric == "accuracy" ? fmt::format("{:+.2f}", 100 * value) : fmt::format("{:+.4f}", value);
}

std::string references_text(const ReferenceScores& references) {
  std::string out;
  for (const char* part : {"validation", "test"}) {
    std::string models;
    for (const ReferenceScore& row : references.rows) {
      if (row.split != part) continue;
      models += fmt::format("{}{} {}", models.empty() ? "" : ", ", row.model, score_text(references.metric, row.score));
    }
    if (!models.empty()) out += fmt::format("{}{} on the {} split", out.empty() ? "" : "; ", models, part);
  }
  const std::string mean = references.splits > 1 ? fmt::format(", means over {} splits", references.splits) : "";
  return fmt::format("trivial models{}: {}", mean, out);
}

std::string reference_work_text(const ReferenceScores& r) {
  std::string out = fmt::format("trivial models: {:.1f} s in addition to the run", r.seconds);
  if (!r.note.empty()) return out + "; " + r.note;
  if (r.samples == 0) return out;
  const std::string of = r.samples < r.of_samples ? fmt::format(" of {}", r.of_samples) : "";
  const std::string unit = r.loss_unit == "nat" ? " nat" : "";
  return out + fmt::format("; linear: {}{} samples, ridge {:g}, about {:.0e}{} above its least loss", r.samples, of,
                           r.ridge, r.above_minimum, unit);
}

bool not_above_linear(const ReferenceScores& references, const std::string& part, double value) {
  const ReferenceScore* linear = references.find("linear", part);
  if (linear == nullptr || !std::isfinite(value)) return false;
  return references.metric == "accuracy" ? value <= linear->score : value >= linear->score;
}

std::string linear_text(const ReferenceScores& references, const std::string& part, double value, double n) {
  if (!not_above_linear(references, part, value)) return "";
  const double linear = references.find("linear", part)->score;
  const std::string model = fmt::format("a linear model ({})", score_text(references.metric, linear));
  if (value == linear) return "no better than " + model;
  if (references.metric != "accuracy") return "above the error of " + model;
  if (!(n > 0)) return "below " + model + " on these samples";
  const auto moved = [n](double share) { return (share * n + 1) / (n + 2); };
  const double p = moved(value), q = moved(linear);
  constexpr double z = 1.96;  // of the normal distribution, two-sided 95 %
  const bool told = q - p > z * std::sqrt((p * (1 - p) + q * (1 - q)) / (n + 2));
  return (told ? "below " : "no better than ") + model;
}

namespace {

// Round figures that show how large an item would be; none of them is a claim about a circuit.
constexpr double example_J = 1e-12;
constexpr double example_W = 1e-6;
constexpr double example_F = 0.1e-15;

std::string joules(double energy) { return format_quantity(energy, Unit::joule, 3); }

}  // namespace

std::string tokens_text(const TrainSummary& s) {
  if (!s.metric.empty()) return "one sample after the other";
  if (s.token_use == "replicated") return fmt::format("T = {} replicas of each array", s.tokens);
  if (s.token_use == "shared") return fmt::format("{} tokens at once on one array (idealised)", s.tokens);
  return fmt::format("{} tokens, time-multiplexed", s.tokens);
}

std::string energy_lines(const TrainSummary& s) {
  const auto of = [&s](const std::string& name) { return s.of("hardware/energy_per_step_J/" + name); };
  const double lines = of("counts/lines"), amplifier_s = of("counts/amplifier_seconds");
  const double cell_V2 = of("counts/driven_cells_V2"), operations = of("counts/digital_operations");
  std::vector<std::string> counted = {"arrays " + joules(of("arrays"))};
  std::vector<std::string> missing;
  const auto item = [&](const char* name, double energy, double amount, const std::string& otherwise) {
    if (energy > 0) {
      counted.push_back(fmt::format("{} {}", name, joules(energy)));
    } else if (amount > 0) {
      missing.push_back(fmt::format("{} ({})", name, otherwise));
    }
  };
  item("converters", of("converters"), lines,
       fmt::format("{:.3g} lines driven and sensed: {} at 1 pJ a conversion; circuit.dac_energy, circuit.adc_energy",
                   lines, joules(lines * example_J)));
  item("amplifiers", of("amplifiers"), amplifier_s,
       fmt::format("{} at 1 uW each; circuit.amplifier_power", joules(amplifier_s * example_W)));
  item("drivers", of("drivers"), cell_V2,
       fmt::format("{} at 0.1 fF a device; circuit.line_capacitance", joules(cell_V2 * example_F)));
  if (const auto writes = s.values.find("write_energy")) {
    counted.push_back("writes " + joules(*writes));
  } else {
    missing.emplace_back("writes (set device.pulse_voltage_up, pulse_width_up, ...)");
  }
  if (of("verify_reads") > 0) counted.push_back("verify reads " + joules(of("verify_reads")));
  if (of("transfers") > 0) counted.push_back("transfers " + joules(of("transfers")));
  item(
      "digital work", of("digital"), operations,
      fmt::format("{:.3g} operations: {} at 1 pJ; circuit.digital_energy", operations, joules(operations * example_J)));
  std::string text = fmt::format("energy per step: {}\n", fmt::join(counted, ", "));
  if (!missing.empty()) text += fmt::format("not counted:\n  {}\n", fmt::join(missing, "\n  "));
  return text;
}

namespace {

/// "1.911 uS" of "1.910857438398168 uS": four digits tell what a long number is.
std::string with_four_digits(const std::string& value) {
  constexpr std::ptrdiff_t longest = 7;
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (end - value.c_str() <= longest) return value;
  return fmt::format("{:.4g}{}", number, end);
}

}  // namespace

std::string given_text(const std::vector<GivenValue>& values) {
  const std::size_t terminal = terminal_columns(STDERR_FILENO), columns = terminal > 0 ? terminal : usual_columns;
  std::string out, by, line;
  const auto end = [&] {
    if (!by.empty()) out += wrapped(line, columns) + "\n";
  };
  for (const GivenValue& one : values) {
    if (one.by != by) {
      end();
      by = one.by;
      line = "  " + by + ": ";
    } else {
      line += ", ";
    }
    // One without a value is a rule in words, of which a run shows the beginning.
    const std::string rule = one.value.substr(0, std::min(one.value.find(", "), one.value.find(" (")));
    line += fmt::format("{} = {}", one.key, with_four_digits(rule));
    if (one.measured && !one.reason.empty()) line += fmt::format(" ({})", one.reason);
  }
  end();
  return out.empty() ? out : "set for you (nudge config check gives reasons):\n" + out;
}

std::string auto_text(const std::vector<GivenValue>& values) {
  std::string out;
  for (const GivenValue& one : values) {
    if (one.by != "auto") continue;
    out += fmt::format("  {} = {}{}\n", one.key, one.value, one.reason.empty() ? "" : ": " + one.reason);
  }
  return out.empty() ? out : "decided by the program (auto):\n" + out;
}

}  // namespace nudge
