// SPDX-License-Identifier: Apache-2.0
// The command lines that the documents and examples write: their commands, options, example files and make targets exist.
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/apps/documents.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

namespace fs = std::filesystem;
using namespace nudge::test;

namespace {

struct CommandLine {
  std::string command;             ///< "train", "devices fit"
  std::vector<std::string> words;  ///< what follows
};

/// `nudge COMMAND ...` up to the end of its line or code, a pipe or the next command. Prose that happens to begin so has no options.
std::vector<CommandLine> commands_of(std::string text) {
  static const std::regex continued("\\\\\n#? *");
  text = std::regex_replace(text, continued, " ");
  static const std::regex form(
      "(?:^|[\\s`/])nudge "
      "(train|gradcheck|sweep|merge|compare|advise|energy|case|crossbar|report|info|export|watch|stability|generate|"
      "devices (?:list|show|fit|characterize|spice|import)|config (?:check|dump|keys|presets))\\b([^`\\n|;&>]*)");
  std::vector<CommandLine> found;
  for (std::sregex_iterator at(text.begin(), text.end(), form), end; at != end; ++at) {
    CommandLine line{(*at)[1], {}};
    std::istringstream words((*at)[2]);
    for (std::string word; words >> word;) line.words.push_back(word);
    found.push_back(line);
  }
  return found;
}

/// What `nudge COMMAND --help` says, asked once.
const std::string& help_of(const std::string& command) {
  static std::map<std::string, std::string> known;
  const auto at = known.find(command);
  if (at != known.end()) return at->second;
  const Folder folder;
  return known[command] = run_nudge(folder, command + " --help").output;
}

/// "--set" of "--set", "--out=x.h5", "(--set,"; "" of anything else.
std::string option_of(const std::string& word) {
  static const std::regex form("^\\(?(--[a-z][a-z-]*)");
  std::smatch match;
  return std::regex_search(word, match, form) ? match[1].str() : "";
}

/// Why the program would not take it; "" if it would.
std::string complaint(const CommandLine& line) {
  for (const std::string& word : line.words) {
    const std::string option = option_of(word);
    if (!option.empty() && !std::regex_search(help_of(line.command), std::regex("[ ,]" + option + "[ ,:=\\n]"))) {
      return "nudge " + line.command + " has no option " + option;
    }
    static const std::regex example("^(examples/[a-z0-9_]+\\.(?:toml|csv))$");
    if (std::regex_match(word, example) && !fs::exists(fs::path(NUDGE_SOURCE_DIR) / word)) return "no file " + word;
  }
  return "";
}

}  // namespace

TEST_CASE("command lines in the documents and examples are those of the program") {
  int seen = 0;
  for (const fs::path& path : documents()) {
    for (const CommandLine& line : commands_of(read_file(path.string()))) {
      CAPTURE(path.string(), line.command, line.words);
      CHECK(complaint(line) == "");
      ++seen;
    }
  }
  CHECK(seen > 100);
}

TEST_CASE("make targets in the documents exist") {
  const std::string makefile = read_file((fs::path(NUDGE_SOURCE_DIR) / "Makefile").string());
  static const std::regex form("(?:^|\\n    |`)make ([a-z][a-z-]*)");
  int seen = 0;
  for (const fs::path& path : documents()) {
    const std::string text = read_file(path.string());
    for (std::sregex_iterator at(text.begin(), text.end(), form), end; at != end; ++at) {
      CAPTURE(path.string(), (*at)[1].str());
      CHECK(std::regex_search(makefile, std::regex("\\n(?:[a-z-]+ )*" + (*at)[1].str() + "(?: [a-z-]+)*:")));
      ++seen;
    }
  }
  CHECK(seen > 10);
}

TEST_CASE("a wrong command line in a document is found") {
  const auto wrong = [](const std::string& text) { return complaint(commands_of(text).at(0)); };
  CHECK(wrong("    nudge train examples/digits.toml --set train.steps=3 --out a.h5\n") == "");
  CHECK(wrong("`nudge train examples/digits.toml --sett a=1`") == "nudge train has no option --sett");
  CHECK(wrong("nudge sweep examples/nowhere.toml") == "no file examples/nowhere.toml");
  CHECK(wrong("nudge report a.h5 \\\n    --outt a.html") == "nudge report has no option --outt");
  CHECK(commands_of("a nudge of its output").empty());
}
