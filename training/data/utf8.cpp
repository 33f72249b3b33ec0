// SPDX-License-Identifier: Apache-2.0
#include "training/data/text_dataset.hpp"

namespace nudge {
namespace {

/// Lead byte of a sequence: the length, its own bits, and the smallest code point that may take that many bytes. Length
/// 0: no lead byte.
struct Lead {
  std::size_t length;
  char32_t bits;
  char32_t smallest;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if ((byte & 0xE0) == 0xC0) return {2, byte & 0x1FU, 0x80};
  if ((byte & 0xF0) == 0xE0) return {3, byte & 0x0FU, 0x800};
  if ((byte & 0xF8) == 0xF0) return {4, byte & 0x07U, 0x10000};
  return {0, 0, 0};
}

}  // namespace

Utf8Text decode_utf8(std::string_view bytes) {
  Utf8Text text;
  text.code_points.reserve(bytes.size());
  text.valid_bytes = visit_utf8(bytes, [&text](char32_t code) { text.code_points.push_back(code); });
  return text;
}

std::size_t visit_utf8(std::string_view bytes, const std::function<void(char32_t)>& visit) {
  std::size_t valid = 0;
  while (valid < bytes.size()) {
    const std::string_view rest = bytes.substr(valid);
    const Lead lead = lead_of(static_cast<unsigned char>(rest[0]));
    if (lead.length == 0 || rest.size() < lead.length) break;
    char32_t code = lead.bits;
    bool continued = true;
    for (std::size_t i = 1; i < lead.length; ++i) {
      const auto byte = static_cast<unsigned char>(rest[i]);
      continued = continued && (byte & 0xC0) == 0x80;
      code = (code << 6) | (byte & 0x3FU);
    }
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (!continued || code < lead.smallest || surrogate || code > 0x10FFFF) break;
    visit(code);
    valid += lead.length;
  }
  return valid;
}

void append_utf8(std::string& out, char32_t code) {
  const auto tail = [&](int shift) { out.push_back(static_cast<char>(0x80U | ((code >> shift) & 0x3FU))); };
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xC0U | (code >> 6)));
    tail(0);
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xE0U | (code >> 12)));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0U | (code >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace nudge
