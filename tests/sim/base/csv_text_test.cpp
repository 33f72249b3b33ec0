// SPDX-License-Identifier: Apache-2.0
#include "sim/base/text.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

std::vector<std::string> read(std::string_view text, char separator = ',') { return read_csv_record(text, separator); }

}  // namespace

TEST_CASE("text that a spreadsheet would run gets an apostrophe, numbers do not", "[csv]") {
  CHECK(csv_field("=cmd|' /C calc'!A0") == "'=cmd|' /C calc'!A0");
  CHECK(csv_field("+1+cmd") == "'+1+cmd");
  CHECK(csv_field("-2+3") == "'-2+3");
  CHECK(csv_field("@SUM(A1)") == "'@SUM(A1)");
  CHECK(csv_field("\t=1") == "\"'\t=1\"");
  CHECK(csv_field("\r=1") == "\"'\r=1\"");
  CHECK(csv_field("＝1+1") == "'＝1+1");
  CHECK(csv_field("=HYPERLINK(\"http://x\",\"y\")") == "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
  for (const char* number : {"-1.5", "+2", "-1e-9", "-inf", "-0", "1.5", "-.5"}) CHECK(csv_field(number) == number);
  for (const char* text : {"a", "aep_anchored", "beta = 1", "a-b", "1-2", "", "ε"}) CHECK(csv_field(text) == text);
  CHECK(csv_field("a;=1+1") == "\"a;=1+1\"");  // a separator in other countries
}

TEST_CASE("what is written is read back, as the cells of one record", "[csv]") {
  const std::vector<std::string> cells = {"=1",  "+a",  "-b",  "@c",  "\td",   "\ne",        "'f",
                                          "''g", "'=h", "a,b", "x;y", "\"q\"", "two\nlines", "-1.5",
                                          "",    "'",   "-",   "=",   "a\"b",  "＝k"};
  std::string text;
  for (const std::string& cell : cells) text += (text.empty() ? "" : ",") + csv_field(cell);
  CHECK(read(text + "\nnext,row\n") == cells);
  std::string_view rest = text;
  rest = "a,b\r\nc,\"d\ne\",\n";
  CHECK(read_csv_record(rest) == std::vector<std::string>{"a", "b"});
  CHECK(read_csv_record(rest) == std::vector<std::string>{"c", "d\ne", ""});
  CHECK(rest.empty());
}

TEST_CASE("records of other programs: blanks, quotes within words, other separators", "[csv]") {
  CHECK(read(" a , b\t,\"c, d\" ,e") == std::vector<std::string>{"a", "b", "c, d", "e"});
  CHECK(read("5\" wafer,\"open") == std::vector<std::string>{"5\" wafer", "\"open"});
  CHECK(read("a;b,c", ';') == std::vector<std::string>{"a", "b,c"});
  CHECK(read("a\t\"b\tc\"\td", '\t') == std::vector<std::string>{"a", "b\tc", "d"});
  CHECK(read("it's,'quoted'") == std::vector<std::string>{"it's", "'quoted'"});
  CHECK(read("") == std::vector<std::string>{""});
}
