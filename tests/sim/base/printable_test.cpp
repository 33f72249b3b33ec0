// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

TEST_CASE("text keeps what is text and shows what would steer a terminal", "[printable]") {
  CHECK(printable("ε ‖F‖ — naïve 中 😀\tand\nlines") == "ε ‖F‖ — naïve 中 😀\tand\nlines");
  CHECK(printable_line("a\nb\tc") == "a\\nb\\tc");
  CHECK(printable("\x1b]0;title\x07\r\x7f\b") == "\\u001b]0;title\\u0007\\u000d\\u007f\\u0008");
  CHECK(printable(std::string_view("\0x", 2)) == "\\u0000x");
  CHECK(printable("\xc2\x9b"
                  "2J") == "\\u009b2J");  // CSI of C1, as UTF-8
  CHECK(printable("\x9b"
                  "2J") == "\\x9b2J");  // and as a byte
  CHECK(printable("user\u202egnp.exe\u2066\u200f\u2028\ufeff") == "user\\u202egnp.exe\\u2066\\u200f\\u2028\\ufeff");
  CHECK(printable("\xff\xc0\xaf\xed\xa0\x80\xf5 \xe2\x82") == "\\xff\\xc0\\xaf\\xed\\xa0\\x80\\xf5 \\xe2\\x82");
  const std::string once = printable("\x1b\xff\n");
  CHECK(printable(once) == once);
}

TEST_CASE("JSON text stays the same JSON", "[printable]") {
  const nlohmann::json value = {{"name", "a\x1b\x7f\xc2\x9b\u202e\n\"\\"}};
  CHECK(nlohmann::json::parse(printable(value.dump())) == value);
}
