// SPDX-License-Identifier: Apache-2.0
// Every command with every kind of network and every kind of task that go together, at toy size: from the registries, so that a new kind or
// command is in it by itself. With what goes wrong in whole studies: no run ends well, and there is next to nothing to learn.
#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>

#include "apps/commands.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/apps/toy_networks.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// A command that takes a CONFIG, by its own help.
struct ConfigCommand {
  std::string words;  ///< "train", "config check"
  bool json, out, resumes;
};

std::vector<std::string> commands_below(const std::string& help) {
  std::vector<std::string> names;
  const std::size_t at = help.find("\nSubcommands:\n");
  if (at == std::string::npos) return names;
  static const std::regex row("\n  ([a-z]+) ");
  const std::string rows = help.substr(at);
  for (std::sregex_iterator it(rows.begin(), rows.end(), row), end; it != end; ++it) names.push_back((*it)[1]);
  return names;
}

void add_config_commands(const Folder& folder, const std::string& words, std::vector<ConfigCommand>& found) {
  const std::string help = run_nudge(folder, words + " --help").output;
  const auto has = [&](const char* row) { return help.find(row) != std::string::npos; };
  if (has("\n  CONFIG ")) found.push_back({words, has("\n  --json "), has("\n  --out "), has("\n  --resume ")});
  for (const std::string& below : commands_below(help)) add_config_commands(folder, words + " " + below, found);
}

/// Those of the registry; a new one is among them.
const std::vector<ConfigCommand>& config_commands() {
  static const std::vector<ConfigCommand> all = [] {
    const Folder folder;
    std::vector<ConfigCommand> found;
    for (const Command& command : all_commands()) add_config_commands(folder, command.name, found);
    return found;
  }();
  return all;
}

/// How the commands that take a file of a run are called, @ being its name without .h5. Empty: what it takes comes from no config, and why.
const std::map<std::string, std::string>& file_commands() {
  static const std::map<std::string, std::string> all = {{"merge", "merge @.h5 --out @.merged.h5"},
                                                         {"netlist", "netlist --trained @.h5 -o @.cir"},
                                                         {"report", "report @.h5 -o @.html"},
                                                         {"info", "info @.h5"},
                                                         {"export", "export @.h5 --csv @.csv"},
                                                         {"watch", "watch @.h5 --once"},
                                                         {"generate", "generate @.h5 --tokens 3"},
                                                         {"test", "test @.h5 --age '1 s'"},
                                                         {"case", ""},        // a reference case
                                                         {"devices", ""},     // a device
                                                         {"benchmark", ""}};  // a device, on networks of its own
  return all;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

/// Whether a message has a key of a config, an option or another command: what to change.
bool names_a_key(const std::string& text) {
  static const std::regex other("--[a-z]{2}|nudge [a-z]{3}");
  if (std::regex_search(text, other)) return true;
  for (const ParamRow& row : program_table()) {
    for (std::size_t at = text.find(row.key); at != std::string::npos; at = text.find(row.key, at + 1)) {
      const std::size_t end = at + row.key.size();
      const bool ends = end == text.size() || !is_word(text[end]) || text[end] == '.';
      if ((at == 0 || !is_word(text[at - 1])) && ends) return true;
    }
  }
  return false;
}

/// A number that is none, as fmt prints it, with what stands around it; "" for none.
std::string non_number(const std::string& text) {
  static const std::regex form("(^|[^A-Za-z_.])[-+]?(nan|inf)($|[^A-Za-z_])");
  std::smatch found;
  if (!std::regex_search(text, found, form)) return "";
  const auto at = static_cast<std::size_t>(found.position());
  return text.substr(at > 100 ? at - 100 : 0, 200);
}

/// What is wrong with what a command did; "" for nothing. `json`: it was asked for. `file`: that it was given, another one may be what
/// to change.
std::string fault_of(const Outcome& done, bool json, const std::string& file = "") {
  if (done.exit_code != 0 && done.exit_code != 2 && done.exit_code != 3) {
    return fmt::format("exit {}: {}", done.exit_code, done.errors);
  }
  const std::string all = done.output + done.errors;
  if (all.find("internal error") != std::string::npos) return "internal error: " + done.errors;
  if (const std::string number = non_number(all); !number.empty()) return "prints what is no number: " + number;
  if (done.exit_code != 0) {
    if (std::count(done.errors.begin(), done.errors.end(), ' ') < 3) return "fails without words: " + done.errors;
    const bool other_file = !file.empty() && done.errors.find(file) != std::string::npos;
    if (!other_file && !names_a_key(done.errors)) return "fails without what to change: " + done.errors;
  }
  if (!json || done.output.empty()) return done.exit_code == 0 && done.output.empty() ? "exit 0 and no answer" : "";
  const auto parsed = nlohmann::json::parse(done.output, nullptr, false);
  if (parsed.is_discarded()) return "no JSON: " + done.output;
  for (const char* key : {"loss", "validation_loss"}) {
    if (done.exit_code == 0 && parsed.contains(key) && !parsed[key].is_number()) {
      return fmt::format("exit 0 and no {}: {}", key, done.output);
    }
  }
  return "";
}

std::string quoted(const std::string& setting) {
  return " --set '" + std::regex_replace(setting, std::regex("'"), "'\\''") + "'";
}

/// Something that is done to all cells.
struct Way {
  std::string name;
  Settings settings = {};
  std::vector<std::string> rates = {"1e-3", "1e-2"};  ///< that sweeps and comparisons try
  bool fails = false, ends_well = false;              ///< no training ends well, or every one
  std::vector<std::string> only = {};                 ///< of the commands that take a config; empty: all
  std::string network = {};                           ///< the kind whose pairs it is for; empty: all
};

const std::vector<std::string> kStudies = {"train", "sweep", "compare"};

/// The settings of the studies, on which advise builds too: two points, two entrants, a tuning seed and two test seeds.
Settings study_settings(const Way& way) {
  const std::string rates = "[" + way.rates.front() + ", " + way.rates.back() + "]";
  return {"train.learning_rate=" + way.rates.front(),
          "sweep.grid.train.learning_rate=" + rates,
          "compare.grid.train.learning_rate=" + rates,
          "compare.entrants=[\"adam: train.optimizer=adam\", \"sgd: train.optimizer=sgd\"]",
          "compare.tuning_seeds=[1]",
          "compare.test_seeds=[2, 3]"};
}

/// A pair, a way, and the commands that were run on it.
class Cell {
 public:
  Cell(const Pair& pair, const Way& way, bool files) : way_(&way), files_(files) {
    folder_.write("toy.toml", small_network);
    folder_.write("one_class.csv", one_class());
    folder_.write("one_letter.txt", std::string(4000, 'a'));
    Settings more = study_settings(way);
    more.insert(more.end(), way.settings.begin(), way.settings.end());
    for (const std::string& one : toy_settings(pair, more)) settings_ += quoted(one);
  }

  /// With --json and into a file; then as text, again or of that file; then the commands of files.
  void run(const ConfigCommand& command) {
    std::string name = command.words;
    std::replace(name.begin(), name.end(), ' ', '_');
    const std::string call = command.words + " toy.toml" + settings_, file = name + ".h5";
    const int code =
        check(call + (command.out ? " --out " + file : "") + (command.json ? " --json" : ""), command.json);
    const bool wrote = std::filesystem::exists(folder_.file(file));
    const bool studies = std::find(kStudies.begin(), kStudies.end(), command.words) != kStudies.end();
    INFO("nudge " << call);
    if (way_->fails && studies) CHECK(code == 3);
    if (way_->ends_well && (studies || command.words == "config check")) CHECK(code == 0);  // else the toy is none
    if (command.resumes && wrote) check(call + " --resume " + file, false);
    if (wrote) run_on_file(name);
  }

  int calls() const { return calls_; }

 private:
  /// 64 features of one class: what a network has to tell apart is nothing.
  static std::string one_class() {
    std::string text = "y";
    for (int i = 0; i < 64; ++i) text += fmt::format(",f{}", i);
    for (int row = 0; row < 40; ++row) {
      text += "\n0";
      for (int i = 0; i < 64; ++i) text += fmt::format(",0.{}", 1 + (7 * row + 5 * i) % 9);
    }
    return text + "\n";
  }

  int check(const std::string& call, bool json) {
    ++calls_;
    Outcome done = run_nudge(folder_, call);
    if (call.rfind("config dump", 0) == 0) done.output = described;
    INFO("nudge " << call);
    CHECK(fault_of(done, json) == "");
    return done.exit_code;
  }

  /// In place of descriptions of keys and columns, which say "[0, inf)" and what -inf means.
  static constexpr const char* described = "described";

  void run_on_file(const std::string& name) {
    for (const auto& [command, form] : file_commands()) {
      if (form.empty() || (!files_ && command != "report")) continue;
      const std::string call = std::regex_replace(form, std::regex("@"), name);
      Outcome done = run_nudge(folder_, call);
      ++calls_;
      if (command == "info") done.output = described;
      if (command == "report") {
        const std::string page = read_file(folder_.file(name + ".html"));
        done.output += page;
        // A number of a run that failed is no result.
        const char* says = name == "train" ? "the run failed" : name == "compare" ? "without a result" : "";
        if (way_->fails) CHECK(page.find(says) != std::string::npos);
      }
      INFO("nudge " << call << " of " << settings_);
      CHECK(fault_of(done, false, name + ".h5") == "");
      if (command == "report" || command == "info" || command == "export") CHECK(done.exit_code == 0);
    }
  }

  const Way* way_;
  bool files_;
  Folder folder_;
  std::string settings_;
  int calls_ = 0;
};

/// `files`: with all commands of files; else the report alone.
void run_all(const std::vector<Pair>& pairs, const Way& way, bool files) {
  const std::vector<ConfigCommand>& commands = config_commands();  // before there is a folder
  int cells = 0, calls = 0;
  for (const Pair& pair : pairs) {
    if (!way.network.empty() && way.network != pair.network) continue;
    Cell cell(pair, way, files);
    for (const ConfigCommand& command : commands) {
      const bool left_out = std::find(way.only.begin(), way.only.end(), command.words) == way.only.end();
      if (!way.only.empty() && left_out) continue;
      CAPTURE(way.name, pair.network, pair.task, command.words);
      cell.run(command);
    }
    ++cells;
    calls += cell.calls();
  }
  WARN(way.name << ": " << cells << " pairs, " << calls << " calls");
}

/// One of three shares: test cases run side by side.
std::vector<Pair> third(const std::vector<Pair>& pairs, std::size_t share) {
  std::vector<Pair> out;
  for (std::size_t i = share; i < pairs.size(); i += 3) out.push_back(pairs[i]);
  return out;
}

const Way& plain() {
  static const Way way{"as it is", {}, {"1e-3", "1e-2"}, false, true};
  return way;
}

/// Weights that run away at the first step, whatever the network.
Way failing() { return {"every run fails", {}, {"1e300", "2e300"}, true, false, kStudies}; }

Way on_devices() {
  // One rate: advise tries some ten rules.
  return {"on devices", {"device.preset=ecram", "compare.grid.train.learning_rate=[0.1]"}, {"0.1", "0.2"}};
}

/// Next to nothing to learn from, or to learn.
std::vector<Way> empty_problems() {
  std::vector<Way> ways;
  const auto add = [&](const char* name, const Settings& settings) {
    ways.push_back({name, settings, {"1e-3", "1e-2"}, false, false, kStudies});
  };
  add("one step of one example", {"train.steps=1", "train.batch=1", "data.validation_samples=1"});
  add("no validation part", {"data.validation_fraction=1e-6"});
  add("no test part", {"data.test_fraction=0"});
  add("one class", {"data.file=one_class.csv", "data.text=one_letter.txt", "data.shape=[8, 8]",
                    "data.validation_fraction=0.2", "data.test_fraction=0.2", "netlist.outputs=['o0']"});
  add("the read-out alone learns", {"train.learns=readout"});
  add("a netlist without anything that learns", {"netlist.learn=['nothing']"});
  ways.back().network = "netlist";
  return ways;
}

}  // namespace

TEST_CASE("every command is run by the matrix, and every kind is in it", "[matrix]") {
  std::set<std::string> with_config;
  for (const ConfigCommand& one : config_commands()) with_config.insert(one.words.substr(0, one.words.find(' ')));
  for (const Command& command : all_commands()) {
    CAPTURE(command.name);
    CHECK(with_config.count(command.name) + file_commands().count(command.name) == 1);
  }
  std::set<std::string> networks, tasks;
  for (const Pair& pair : accepted_pairs()) {
    networks.insert(pair.network);
    tasks.insert(pair.task);
  }
  CHECK(networks.size() + 1 == network_kinds().size());  // own is lent by a program
  CHECK(tasks.size() == task_kinds().size());
}

TEST_CASE("the matrix sees what is wrong", "[matrix]") {
  CHECK(fault_of({0, "loss 1.2\n", ""}, false) == "");
  CHECK(fault_of({-1, "", ""}, false) != "");
  CHECK(fault_of({1, "", "nudge: internal error: x"}, false) != "");
  CHECK(fault_of({0, "loss nan\n", ""}, false) != "");
  CHECK(fault_of({0, "[-inf, 2]", ""}, false) != "");
  CHECK(fault_of({0, "information of a nanny", ""}, false) == "");
  CHECK(fault_of({0, "", ""}, false) != "");
  CHECK(fault_of({2, "", "no"}, false) != "");
  CHECK(fault_of({2, "", "this does not go at all"}, false) != "");
  CHECK(fault_of({2, "", "toy.toml:1:1: network.kind = a (must be b)"}, false) == "");
  CHECK(fault_of({3, "", "nudge: it fails for ever (a smaller train.learning_rate)"}, false) == "");
  CHECK(fault_of({0, "{\"loss\": null}", ""}, true) != "");
  CHECK(fault_of({0, "{\"loss\": 1", ""}, true) != "");
}

TEST_CASE("every kind goes through every command: first third", "[matrix]") {
  run_all(third(covering(accepted_pairs()), 0), plain(), false);
}

TEST_CASE("every kind goes through every command: second third", "[matrix]") {
  run_all(third(covering(accepted_pairs()), 1), plain(), false);
}

TEST_CASE("every kind goes through every command: last third", "[matrix]") {
  run_all(third(covering(accepted_pairs()), 2), plain(), false);
}

TEST_CASE("studies none of whose runs ends well say so, for every kind", "[matrix]") {
  run_all(covering(accepted_pairs()), failing(), false);
}

TEST_CASE("the whole product goes through every command", "[matrix][slow]") {
  run_all(accepted_pairs(), plain(), true);
}

TEST_CASE("the whole product on devices goes through every command", "[matrix][slow]") {
  run_all(accepted_pairs(), on_devices(), true);
}

TEST_CASE("the whole product fails in words", "[matrix][slow]") { run_all(accepted_pairs(), failing(), true); }

TEST_CASE("every kind with next to nothing to learn", "[matrix][slow]") {
  for (const Way& way : empty_problems()) run_all(covering(accepted_pairs()), way, true);
}
