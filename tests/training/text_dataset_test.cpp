// SPDX-License-Identifier: Apache-2.0
#include "training/data/text_dataset.hpp"
#include "tests/support/catch.hpp"

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <set>

#include "sim/base/errors.hpp"
#include "tests/support/sanitizers.hpp"

using nudge::TextDataset;
using nudge::UserError;

namespace {

/// A file that is gone at the end of the test.
struct TemporaryFile {
  std::filesystem::path path;
  TemporaryFile(const std::string& name, const std::string& bytes)
      : path(std::filesystem::temp_directory_path() / ("nudge_" + std::to_string(getpid()) + "_" + name)) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
};

std::string message_of(const std::filesystem::path& path, nudge::Index tokens = 2) {
  try {
    TextDataset::load(path, {0.5, 0}, tokens);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::string message_for_bytes(const std::string& bytes, nudge::Index tokens = 2) {
  try {
    TextDataset::from_text(bytes, "t.txt", {0.5, 0}, tokens);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

using Ids = std::vector<int>;
Ids copy(std::span<const int> ids) { return {ids.begin(), ids.end()}; }

}  // namespace

TEST_CASE("vocabulary is the sorted code points and ids decode back") {
  const std::string text = "bañña €\n𝄞a ba";  // one to four bytes per character
  const auto data = TextDataset::from_text(text, "t.txt", {0.5, 0}, 2);
  CHECK(data.vocabulary() == std::vector<char32_t>{U'\n', U' ', U'a', U'b', U'ñ', U'€', U'𝄞'});
  CHECK(copy(data.training()) == Ids{3, 2, 4, 4, 2, 1});
  CHECK(copy(data.validation()) == Ids{5, 0, 6, 2, 1, 3, 2});
  CHECK(data.decode(data.training()) + data.decode(data.validation()) == text);
  CHECK(data.encode("a€") == Ids{2, 5});
  CHECK_THROWS_WITH(data.encode("aé"), "the character \"é\" (U+00E9) is not among the 7 characters of the vocabulary");
  CHECK_THROWS_WITH(data.encode("a\xff"), "the text to encode is not UTF-8 at byte 1");
}

TEST_CASE("byte order mark and carriage returns go, everything else stays") {
  const auto data = TextDataset::from_text(
      "\xEF\xBB\xBF"
      "a\r\nb\rc\n\xEF\xBB\xBF\td",
      "t.txt", {0.5, 0}, 2);
  CHECK(data.decode(data.training()) + data.decode(data.validation()) == "a\nb\nc\n\xEF\xBB\xBF\td");
  const auto crlf = TextDataset::from_text("ab\r\ncd\r\n", "t.txt", {0.5, 0}, 1);
  const auto lf = TextDataset::from_text("ab\ncd\n", "t.txt", {0.5, 0}, 1);
  CHECK(copy(crlf.training()) == copy(lf.training()));
  CHECK(copy(crlf.validation()) == copy(lf.validation()));
}

TEST_CASE("validation is the contiguous tail and training does not reach into it") {
  std::string text(1000, 'a');
  for (std::size_t i = 900; i < 1000; ++i) text[i] = 'b';
  const auto data = TextDataset::from_text(text, "t.txt", {0.1, 0}, 32);
  CHECK(data.training().size() == 900);
  CHECK(data.validation().size() == 100);
  CHECK(data.decode(data.training()) == text.substr(0, 900));
  CHECK(data.decode(data.validation()) == text.substr(900));
}

TEST_CASE("errors of text files name the path, the problem and what to do") {
  const TemporaryFile empty("empty.txt", "");
  const std::string prefix = "text file \"" + empty.path.string() + "\": ";
  CHECK(message_of(empty.path) == prefix + "is empty. Give a text to learn");
  CHECK(message_of("/nonexistent/x.txt") == "text file \"/nonexistent/x.txt\": does not exist; check the path");
  CHECK(message_of("/") == "text file \"/\": is a directory; name a text file in it");
  CHECK(message_of("/dev/null") ==
        "text file \"/dev/null\": is not a regular file. Copy the text into a file, because "
        "a resumed run reads it again");
  const TemporaryFile good("good.txt", "hello world");
  CHECK(message_of(good.path) == "no error");
  CHECK(message_of(good.path / "x.txt") ==
        "text file \"" + (good.path / "x.txt").string() + "\": does not exist; check the path");
  if (geteuid() != 0) {  // root may read everything
    std::filesystem::permissions(good.path, std::filesystem::perms::none);
    CHECK(message_of(good.path) == "text file \"" + good.path.string() + "\": cannot be read: Permission denied");
  } else {
    WARN("running as root: the unreadable file is not tested");
  }
}

TEST_CASE("binary and invalid bytes are reported with their offset") {
  using namespace std::string_literals;
  const std::string prefix = "text file \"t.txt\": ";
  CHECK(message_for_bytes("abc\0def"s) == prefix + "has a NUL byte at byte 3: a binary file, must be UTF-8 text");
  const std::string advice = "; convert it, for example: iconv -f LATIN1 -t UTF-8";
  CHECK(message_for_bytes("caf\xE9 au lait") == prefix + "is not UTF-8 at byte 3 (0xE9)" + advice);
  CHECK(message_for_bytes("\xEF\xBB\xBF"
                          "ab\x80") == prefix + "is not UTF-8 at byte 5 (0x80)" + advice);
  CHECK(message_for_bytes("ab\xC0\xAF.....") == prefix + "is not UTF-8 at byte 2 (0xC0)" + advice);      // overlong
  CHECK(message_for_bytes("ab\xED\xA0\x80...") == prefix + "is not UTF-8 at byte 2 (0xED)" + advice);    // surrogate
  CHECK(message_for_bytes("ab\xF4\x90\x80\x80.") == prefix + "is not UTF-8 at byte 2 (0xF4)" + advice);  // > U+10FFFF
  CHECK(message_for_bytes("ab\xE2"
                          "A\x82....") == prefix + "is not UTF-8 at byte 2 (0xE2)" + advice);       // no tail
  CHECK(message_for_bytes("abcdef\xE2\x82") == prefix + "is not UTF-8 at byte 6 (0xE2)" + advice);  // cut off
  CHECK(message_for_bytes("ab\xE9"
                          "cd\0"s) == prefix + "is not UTF-8 at byte 2 (0xE9)" + advice);  // the first of two
  CHECK(message_for_bytes("\xFF\xFE"
                          "a\0b\0"s) ==
        prefix + "looks like UTF-16 (byte order mark at byte 0), must be UTF-8; convert it: iconv -f UTF-16 -t UTF-8");
}

TEST_CASE("a text shorter than one window in either part is refused") {
  CHECK(message_for_bytes("abcdef", 2) == "no error");  // 3 + 3 characters, 3 needed
  CHECK(message_for_bytes("abcdef", 3) ==
        "text file \"t.txt\": its training split has 3 characters, but one window of 3 tokens and its target needs "
        "4. Use a longer data.text, fewer model.tokens or a smaller data.validation_fraction or data.test_fraction");
  CHECK(message_for_bytes("\xEF\xBB\xBF", 1) ==
        "text file \"t.txt\": its training split has 0 characters, but one window of 1 tokens and its target needs "
        "2. Use a longer data.text, fewer model.tokens or a smaller data.validation_fraction or data.test_fraction");
  CHECK_THROWS_WITH(
      TextDataset::from_text("aaaaaaaaaa", "t.txt", {0.1, 0}, 4),
      "text file \"t.txt\": its validation split has 1 characters, but one window of 4 tokens and its target "
      "needs 5. Use a longer data.text, fewer model.tokens or a larger data.validation_fraction");
  CHECK_THROWS_WITH(TextDataset::from_text("aaaa", "t.txt", {1.0, 0}, 1),
                    "validation fraction = 1 (must be > 0 and < 1)");
  CHECK_THROWS_WITH(TextDataset::from_text("aaaa", "t.txt", {0.5, 0}, 0), "tokens = 0 (must be at least 1)");
}

TEST_CASE("the three parts of a text are disjoint, in order, and no window crosses a border") {
  // Each character tells its place, so a window that crosses would hold places of two parts.
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>('!' + i / 100 % 10);
  const auto data = TextDataset::from_text(text, "t.txt", {0.05, 0.05}, 8);
  CHECK(data.training().size() ==
        900);  // 1 - (.05 + .05) and 1 - .1 are the same number: old runs train on the same part
  CHECK(data.validation().size() == 50);
  CHECK(data.test().size() == 50);
  CHECK(data.training().data() + 900 == data.validation().data());
  CHECK(data.validation().data() + 50 == data.test().data());
  CHECK(data.decode(data.test()) == text.substr(950));
  const auto uneven = TextDataset::from_text(text, "t.txt", {0.1, 0.2}, 8);
  CHECK(uneven.training().size() == 700);
  CHECK(uneven.validation().size() == 100);
  CHECK(uneven.test().size() == 200);
  CHECK(TextDataset::from_text(text, "t.txt", {0.1, 0}, 8).test().empty());
  CHECK_THROWS_WITH(TextDataset::from_text(text, "t.txt", {0.1, 0.9}, 8), Catch::Contains("test fraction = 0.9"));
  CHECK_THROWS_WITH(TextDataset::from_text(text, "t.txt", {0.1, 0.005}, 8), Catch::Contains("its test split has 5"));
}

TEST_CASE("tiny Shakespeare has 65 characters") {
  const std::filesystem::path path = std::filesystem::path(NUDGE_SHARED_DIR) / "data/tinyshakespeare.txt";
  if (!std::filesystem::exists(path)) {
    WARN("skipped: " << path << " is not there");
    return;
  }
  const auto data = TextDataset::load(path, {0.1, 0}, 64);
  CHECK(data.vocabulary_size() == 65);
  CHECK(data.training().size() == 1003854);  // floor(.9 · 1115394), the split that the field uses
  CHECK(data.validation().size() == 111540);
  CHECK(data.decode(data.training().first(14)) == "First Citizen:");
}

TEST_CASE("a text takes little more memory than itself and its numbers, and has no more characters than Unicode") {
  const auto peak = [](const char* what) {
    std::ifstream in("/proc/self/status");
    for (std::string line; std::getline(in, line);) {
      if (line.rfind(what, 0) == 0) return 1024 * std::stod(line.substr(std::string(what).size() + 1));
    }
    return 0.0;
  };
  const std::string text(std::size_t{20'000'000}, 'a');
  std::ofstream("/proc/self/clear_refs") << "5" << std::flush;  // the peak starts again
  const double before = peak("VmRSS:");
  const TextDataset data = TextDataset::from_text(text, "long", {0.1, 0}, 8);
  CHECK(data.training().size() == 18'000'000);
  // 4 bytes a number, and 1.1 million characters' numbers (4.5 MB); it was 8 bytes with the code points kept.
  if (before > 0 && !NUDGE_SANITIZED) CHECK(peak("VmHWM:") - before < 5.0 * 20e6);  // they keep notes of every byte
  std::string all;
  for (char32_t code = 0x100; code < 0x100 + 170'000; ++code) {
    if (code < 0xD800 || code > 0xDFFF) nudge::append_utf8(all, code);
  }
  CHECK_THROWS_WITH(TextDataset::from_text(all, "all", {0.1, 0}, 8), Catch::Contains("different characters"));
}
