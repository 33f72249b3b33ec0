// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <optional>

#include "sim/base/errors.hpp"
#include "training/data/readers/readers.hpp"

namespace nudge {
namespace {

/// Text after 'key': in the header of an npy, a Python dictionary as numpy writes it.
std::string_view value_of(std::string_view header, std::string_view key, const std::string& name) {
  const std::string quoted = fmt::format("'{}':", key);
  const std::size_t at = header.find(quoted);
  if (at == std::string_view::npos) throw UserError(fmt::format("{}: its npy header has no '{}'", name, key));
  std::string_view rest = header.substr(at + quoted.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

std::optional<ElementType> npy_type(std::string_view kind) {
  if (kind == "u1" || kind == "b1") return ElementType::u8;
  if (kind == "i1") return ElementType::i8;
  if (kind == "u2") return ElementType::u16;
  if (kind == "i2") return ElementType::i16;
  if (kind == "u4") return ElementType::u32;
  if (kind == "i4") return ElementType::i32;
  if (kind == "u8") return ElementType::u64;
  if (kind == "i8") return ElementType::i64;
  if (kind == "f4") return ElementType::f32;
  if (kind == "f8") return ElementType::f64;
  return std::nullopt;
}

/// Sets type and order from '<f4', '>i2', '|u1'.
void set_type(std::string_view header, RawArray& array) {
  std::string_view text = value_of(header, "descr", array.name);
  const std::size_t end = text.size() > 1 ? text.find('\'', 1) : std::string_view::npos;
  if (!text.starts_with('\'') || end == std::string_view::npos || end < 3) {
    throw UserError(fmt::format("{}: is an array of records (must be numbers)", array.name));
  }
  text = text.substr(1, end - 1);
  const auto type = npy_type(text.substr(1));
  if (!type) {
    throw UserError(fmt::format("{}: its elements are \"{}\" (must be integers of 8 to 64 bit, float32 or float64)",
                                array.name, text));
  }
  array.type = *type;
  array.order = text.front() == '>' ? std::endian::big : std::endian::little;
}

void set_shape(std::string_view header, RawArray& array) {
  std::string_view text = value_of(header, "shape", array.name);
  const std::size_t end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos) {
    throw UserError(fmt::format("{}: its npy header has no shape", array.name));
  }
  text = text.substr(1, end - 1);
  if (text.find_first_not_of("0123456789, L") != std::string_view::npos) {
    throw UserError(
        fmt::format("{}: impossible shape ({}) in its npy header (must be sizes of 0 or more)", array.name, text));
  }
  while (true) {
    text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
    if (text.empty()) return;
    Index size = 0;
    const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc()) throw UserError(fmt::format("{}: impossible size in its npy header", array.name));
    array.shape.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(after - text.data()));
  }
}

/// Turns elements whose first index is the fastest into the order in which the last one is.
void turn_to_c_order(RawArray& array) {
  const std::size_t size = element_size(array.type);
  std::string turned(array.bytes.size(), '\0');
  std::vector<Index> at(array.shape.size(), 0);  // indices of the element to be placed
  for (Index to = 0; to < array.count(); ++to) {
    Index from = 0;
    for (std::size_t d = at.size(); d-- > 0;) from = from * array.shape[d] + at[d];
    std::memcpy(turned.data() + static_cast<std::size_t>(to) * size,
                array.bytes.data() + static_cast<std::size_t>(from) * size, size);
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < array.shape[d]) break;
      at[d] = 0;
    }
  }
  array.bytes = std::move(turned);
}

}  // namespace

RawArray parse_npy(std::string_view bytes, const std::string& name) {
  const auto fail = [&](const std::string& problem) { throw UserError(fmt::format("{}: {}", name, problem)); };
  const auto byte_at = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at])); };
  if (!bytes.starts_with("\x93NUMPY") || bytes.size() < 10) fail("is not an npy array (magic 93 NUMPY)");
  const std::size_t version = byte_at(6), before = version == 1 ? 10 : 12;
  if (version < 1 || version > 3) fail(fmt::format("npy version {} (must be 1, 2 or 3)", version));
  if (bytes.size() < before) fail("truncated in its npy header");
  std::size_t length = byte_at(8) + 256 * byte_at(9);
  if (version > 1) length += 65536 * (byte_at(10) + 256 * byte_at(11));
  if (bytes.size() - before < length) fail("truncated in its npy header");
  const std::string_view header = bytes.substr(before, length);
  RawArray array;
  array.name = name;
  set_type(header, array);
  set_shape(header, array);
  array.bytes = bytes.substr(before + length);
  const std::size_t needed = static_cast<std::size_t>(checked_count(array.shape, name)) * element_size(array.type);
  if (array.bytes.size() != needed) {
    fail(fmt::format("{} bytes of elements, shape {} needs {}", array.bytes.size(), shape_text(array.shape), needed));
  }
  if (value_of(header, "fortran_order", name).starts_with("True") && array.shape.size() > 1) turn_to_c_order(array);
  return array;
}

}  // namespace nudge
