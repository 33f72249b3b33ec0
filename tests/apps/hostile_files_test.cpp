// SPDX-License-Identifier: Apache-2.0
// Files whose names and texts are meant to do harm: to a terminal, to a file system, to a spreadsheet.

#include <algorithm>
#include <filesystem>
#include <set>

#include "apps/export/csv_export.hpp"
#include "apps/info/describe.hpp"
#include "sim/io/h5_document.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const std::string kClear = "\x1b[2J\x1b]0;pwned\x07";

H5Document hostile() {
  H5Document document;
  document.attribute("kind", std::string("odd") + kClear);
  document.attribute("note", std::string("first\nsecond\xc2\x9b"
                                         "2J \u202egnp.exe"));
  document.column("d" + kClear, std::vector<double>{1, 2}, {"S\x1b[31m", "text\r\nforged: yes", {"row"}});
  return document;
}

std::string text_of(const std::vector<CsvFile>& files, const std::string& name) {
  const auto at = std::find_if(files.begin(), files.end(), [&](const CsvFile& f) { return f.name == name; });
  return at == files.end() ? "no file " + name : at->text;
}

}  // namespace

TEST_CASE("nothing that a file says steers the terminal or forges a line", "[hostile]") {
  const Folder folder;
  hostile().write(folder.file("a.h5"), Overwrite::must_not_exist);
  const Outcome info = run_nudge(folder, "info a.h5");
  CHECK(info.exit_code == 0);
  CHECK(info.output.find('\x1b') == std::string::npos);
  CHECK(info.output.find("\xc2\x9b") == std::string::npos);
  CHECK_THAT(info.output, Contains("a.h5: odd\\u001b[2J") && Contains("first\\nsecond\\u009b2J \\u202egnp.exe"));
  CHECK_THAT(info.output, Contains("text\\u000d\\nforged: yes"));
  const Outcome json = run_nudge(folder, "info a.h5 --json");
  CHECK(json.output.find('\x1b') == std::string::npos);
  CHECK(json.output.find("\u202e") == std::string::npos);
  for (const char* command : {"watch --once a.h5", "train --resume a.h5", "report a.h5 -o a.html"}) {
    const Outcome refused = run_nudge(folder, command);
    CHECK(refused.exit_code == 2);
    CHECK(refused.errors.find('\x1b') == std::string::npos);
    CHECK_THAT(refused.errors, Contains("odd\\u001b[2J"));
  }
}

TEST_CASE("names of an export are names and no two are alike", "[hostile]") {
  FileNames names;
  CHECK(names.take("train/loss", ".csv") == "train.loss.csv");
  CHECK(names.take("train.loss", ".csv") == "train.loss~2.csv");
  CHECK(names.take("Train.LOSS", ".csv") == "Train.LOSS~3.csv");  // alike where capitals do not count
  CHECK(names.take("../../etc/passwd", ".csv") == "%2E.....etc.passwd.csv");
  CHECK(names.take(".bashrc", "") == "%2Ebashrc");
  CHECK(names.take("a\nb\x1b[2J", ".csv") == "a%0Ab%1B[2J.csv");
  CHECK(names.take("a\\b%0A", ".csv") == "a%5Cb%250A.csv");
  CHECK(names.take("\xff\u202e", ".csv") == "%FF%E2%80%AE.csv");
  CHECK(names.take("weights/Größe ε", ".csv") == "weights.Größe ε.csv");
  const std::string longest = names.take(std::string(300, 'a'), ".csv");
  CHECK(longest.size() <= 205);
  CHECK(longest != names.take(std::string(301, 'a'), ".csv"));
}

TEST_CASE("an export stays in its folder whatever the datasets are called", "[hostile]") {
  const Folder folder;
  H5Document document;
  document.attribute("=1+1", std::string("=cmd|' /C calc'!A0"));
  const H5Meaning plain{"1", "=HYPERLINK(\"http://x\")", {}};
  for (const char* path : {"../..", "..", ".ssh/keys", "a/b", "a.b", "columns", "attributes", "a\nb"}) {
    if (std::string(path) == "..") continue;  // it is a group here
    document.dataset(path, std::vector<double>{1, 2, 3, 4}, {2, 2}, plain);
  }
  document.column("table/text", std::vector<std::string>{"=1+1", "-1.5", "@x", "fine"}, plain);
  document.column("table/number", std::vector<double>{-1.5, -2, 3, 4}, plain);
  document.write(folder.file("a.h5"), Overwrite::must_not_exist);
  const auto files = csv_of(folder.file("a.h5"));
  std::set<std::string> names;
  for (const CsvFile& one : files) {
    CHECK(names.insert(one.name).second);
    CHECK(std::filesystem::path(one.name).filename() == one.name);
    CHECK_FALSE(one.name.starts_with('.'));
  }
  CHECK(files.size() == 10);  // seven matrices, a table, columns and attributes
  CHECK(text_of(files, "table.csv") == "number,text\n-1.5,'=1+1\n-2,-1.5\n3,'@x\n4,fine\n");
  CHECK_THAT(text_of(files, "attributes.csv"), Contains("'=1+1,'=cmd|' /C calc'!A0"));
  CHECK_THAT(text_of(files, "columns.csv"), Contains("\"'=HYPERLINK(\"\"http://x\"\")\""));
  CHECK(run_nudge(folder, "export a.h5 --csv out").exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(folder.file("out/.ssh")));
}

TEST_CASE("an export follows no link out of its folder, and writes nothing when one is there", "[hostile]") {
  const Folder folder;
  hostile().write(folder.file("a.h5"), Overwrite::must_not_exist);
  std::filesystem::create_directory(folder.file("out"));
  folder.write("victim", "precious");
  for (const char* target : {"../victim", "../nothing"}) {
    std::filesystem::create_symlink(target, folder.file("out/attributes.csv"));
    const Outcome refused = run_nudge(folder, "export a.h5 --csv out");
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.errors, Contains("attributes.csv: is a symbolic link, which is not followed here"));
    CHECK(read_file(folder.file("victim")) == "precious");
    CHECK_FALSE(std::filesystem::exists(folder.file("nothing")));
    std::filesystem::remove(folder.file("out/attributes.csv"));
    CHECK(std::filesystem::is_empty(folder.file("out")));
  }
}
