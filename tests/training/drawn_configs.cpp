// SPDX-License-Identifier: Apache-2.0
#include "tests/training/drawn_configs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "training/config/config_table.hpp"

namespace nudge::test {
namespace {

/// std::mt19937_64 is the same everywhere; the distributions of the standard library are not.
class Drawing {
 public:
  explicit Drawing(std::uint64_t seed) : engine_(seed) {}

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
  bool chance(double p) { return unit() < p; }
  double unit() { return static_cast<double>(engine_() >> 11U) * 0x1.0p-53; }
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[below(all.size())];
  }

 private:
  std::mt19937_64 engine_;
};

/// What makes a run long or large is drawn from short lists: a step takes about a millisecond.
const std::map<std::string, std::vector<std::string>>& small_values() {
  static const std::map<std::string, std::vector<std::string>> values = {
      {"model.channels", {"4", "8", "6"}},
      {"model.tokens", {"5", "1", "2", "4", "18", "19"}},
      {"model.memories", {"6", "0", "3"}},
      {"model.heads", {"1", "2"}},
      {"train.batch", {"2", "1", "3"}},
      {"train.steps", {"2", "1"}},
      {"train.evaluation_batches", {"1"}},
      {"train.test_batches", {"1"}},
      {"data.validation_samples", {"3", "1"}},
      {"data.test_fraction", {"0.01", "0"}},
      {"task.examples", {"40", "1", "5"}},
      {"relaxation.free_steps", {"8", "1", "3", "30"}},
      {"relaxation.nudged_steps", {"8", "1", "3"}},
      {"stack.layers", {"2", "1"}},
      {"transformer.layers", {"1", "2"}},
      {"transformer.loops", {"1", "2"}},
      {"hopfield.hidden", {"[5]", "[]", "[4, 3]"}},
      {"convolutional.maps", {"[2]", "[2, 3]"}},
      {"resistive.hidden", {"[5]", "[]", "[4, 3]"}},
      {"resistive.gain", {"[4]", "[100]", "[4, 2]", "[1, 1, 1]"}},
      {"gradcheck.batches", {"1"}},
      {"gradcheck.finite_difference_entries", {"1", "0"}},
      {"gradcheck.train_steps", {"0", "1"}},
  };
  return values;
}

/// What no short run reads, what names files, and what the test itself sets.
bool is_left_alone(const ParamRow& row) {
  static const std::vector<std::string> sections = {"sweep", "compare", "output"};
  const std::string section(section_of(row.key));
  return std::find(sections.begin(), sections.end(), section) != sections.end() || row.kind == ParamKind::path ||
         row.kind == ParamKind::grid || row.key == "threads" || row.key == "seed" || small_values().count(row.key) > 0;
}

double drawn_real(const ParamRow& row, Drawing& draw) {
  const Range& range = row.range;
  const bool bounded = std::isfinite(range.minimum) && std::isfinite(range.maximum);
  if (!range.open_minimum && std::isfinite(range.minimum) && draw.chance(0.2)) return range.minimum;
  if (!range.open_maximum && std::isfinite(range.maximum) && draw.chance(0.1)) return range.maximum;
  if (range.or_zero && draw.chance(0.2)) return 0;
  if (bounded && range.maximum <= 100) return range.minimum + (range.maximum - range.minimum) * draw.unit();
  // Orders of magnitude around the default, seldom far from it.
  const double usual = row.kind == ParamKind::real ? standard_program_config().real(row.key) : 0;
  const double orders = draw.chance(0.1) ? 9 : 2;
  const double size = (usual != 0 ? std::abs(usual) : 1) * std::pow(10.0, orders * (2 * draw.unit() - 1));
  const double value = std::isfinite(range.minimum) || draw.chance(0.5) ? size : -size;
  return std::clamp(value, range.minimum, range.maximum);
}

std::int64_t drawn_integer(const ParamRow& row, Drawing& draw) {
  const auto least = static_cast<std::int64_t>(std::max(row.range.minimum, 0.0));
  if (draw.chance(0.3)) return least;
  const double most = std::min(row.range.maximum - static_cast<double>(least), draw.chance(0.1) ? 1000.0 : 16.0);
  return least + static_cast<std::int64_t>(std::floor((most + 1) * draw.unit()));
}

std::string number_text(double value, Unit unit) {
  return unit == Unit::none ? fmt::format("{}", value) : format_quantity(value, unit, 4);
}

/// "[a, b]" of one to three values.
template <class Make>
std::string list_text(Drawing& draw, const Make& make) {
  std::vector<std::string> values;
  for (std::size_t n = 1 + draw.below(3); n > 0; --n) values.push_back(make());
  return fmt::format("[{}]", fmt::join(values, ", "));
}

/// Empty: the key stays as it is.
std::string drawn_value(const ParamRow& row, Drawing& draw) {
  switch (row.kind) {
    case ParamKind::flag: return draw.chance(0.5) ? "true" : "false";
    case ParamKind::choice: return draw.of(row.choices);
    case ParamKind::integer: return fmt::format("{}", drawn_integer(row, draw));
    case ParamKind::real: return number_text(drawn_real(row, draw), row.unit);
    case ParamKind::integers: return list_text(draw, [&] { return fmt::format("{}", drawn_integer(row, draw)); });
    case ParamKind::reals: return list_text(draw, [&] { return number_text(drawn_real(row, draw), row.unit); });
    case ParamKind::texts:
      return row.choices.empty() ? "" : list_text(draw, [&] { return '"' + draw.of(row.choices) + '"'; });
    case ParamKind::text:
      if (section_of(row.key) == "reads") return draw.of<std::string>({"noisy", "ideal", "mean 3"});
      return row.key == "circuit.hold_time" ? draw.of<std::string>({"none", "1 ms", "1 us"}) : "";
    default: return "";
  }
}

/// A network, and a task that it takes.
std::vector<std::string> matching_kinds(Drawing& draw) {
  static const std::vector<std::vector<std::string>> pairs = {
      {"network.kind=block"},
      {"network.kind=stack"},
      {"network.kind=transformer"},
      {"network.kind=transformer", "task.kind=selective_copy"},
      {"network.kind=block", "task.kind=in_context_recall"},
      {"network.kind=hopfield", "task.kind=classification"},
      {"network.kind=hopfield", "task.kind=regression"},
      {"network.kind=convolutional", "task.kind=classification"},
      {"network.kind=resistive", "task.kind=classification"},
      {"network.kind=resistive", "task.kind=regression"},
      {"network.kind=resistive", "task.kind=classification", "relaxation.solver=coordinate"},
      {"network.kind=transformer", "relaxation.schedule=sweep", "relaxation.step=1"},
      {"network.kind=hopfield", "task.kind=classification", "hopfield.feedback=none", "relaxation.schedule=sweep",
       "relaxation.step=1"},
  };
  return draw.of(pairs);
}

}  // namespace

std::vector<std::string> drawn_settings(std::uint64_t seed) {
  Drawing draw(seed);
  std::vector<std::string> settings;
  const std::size_t keys = 1 + draw.below(6);
  std::vector<const ParamRow*> rows;
  for (const ParamRow& row : program_table()) {
    if (!is_left_alone(row)) rows.push_back(&row);
  }
  if (draw.chance(0.3)) {  // keys of one section together: seldom met otherwise
    const std::string_view section = section_of(draw.of(rows)->key);
    std::erase_if(rows, [section](const ParamRow* row) { return section_of(row->key) != section; });
  }
  const bool on_devices = draw.chance(0.4);
  for (std::size_t k = 0; k < keys; ++k) {
    const ParamRow& row = *draw.of(rows);
    const std::string value = drawn_value(row, draw);
    if (!value.empty()) settings.push_back(row.key + "=" + value);
  }
  if (draw.chance(0.5)) settings.push_back("estimator=" + draw.of(find_row(program_table(), "estimator")->choices));
  for (const auto& [key, values] : small_values()) {  // the first is the usual one
    settings.push_back(key + "=" + (draw.chance(0.8) ? values.front() : draw.of(values)));
  }
  // Choices last: what they leave idle may then stand there.
  settings.push_back(on_devices ? "device.preset=" + draw.of(find_row(program_table(), "device.preset")->choices)
                                : "device.model=digital");
  if (draw.chance(0.95)) {
    for (const std::string& one : matching_kinds(draw)) settings.push_back(one);
  }
  settings.emplace_back("threads=1");
  settings.push_back(fmt::format("seed={}", 1 + draw.below(3)));
  return settings;
}

std::string command_line(const std::vector<std::string>& settings) {
  std::string out = "nudge train /dev/null";
  for (const std::string& one : settings) out += " --set '" + one + "'";
  return out;
}

}  // namespace nudge::test
