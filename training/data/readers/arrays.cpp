// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "sim/base/bounded_read.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "sim/io/inflate.hpp"
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
  static const std::map<std::string_view, ElementType> types = {
      {"b1", ElementType::u8},  {"u1", ElementType::u8},  {"i1", ElementType::i8},  {"u2", ElementType::u16},
      {"i2", ElementType::i16}, {"u4", ElementType::u32}, {"i4", ElementType::i32}, {"u8", ElementType::u64},
      {"i8", ElementType::i64}, {"f4", ElementType::f32}, {"f8", ElementType::f64}};
  const auto found = types.find(kind);
  return found == types.end() ? std::nullopt : std::optional(found->second);
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

// The directory of a zip archive, after PKWARE's APPNOTE.TXT 4.3: local headers with the data behind each, the central
// directory, the end record that says where that starts. Numbers are least significant byte first.

namespace {

class Zip {
 public:
  Zip(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {
    constexpr std::size_t end_size = 22, longest_comment = 65535;
    const std::size_t lowest =
        bytes.size() > end_size + longest_comment ? bytes.size() - end_size - longest_comment : 0;
    const std::size_t end = bytes.rfind("PK\x05\x06");
    if (end == std::string_view::npos || end < lowest || bytes.size() - end < end_size) {
      fail("truncated: the zip directory at its end is missing");
    }
    const std::size_t entries = number(end + 10, 2);
    std::size_t at = number(end + 16, 4);
    if (entries == 0xFFFF || at == 0xFFFFFFFF) fail("is a zip64 archive of more than 4 GiB, which is not read");
    for (std::size_t e = 0; e < entries; ++e) at = add_entry(at);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> out;
    out.reserve(entries_.size());
    for (const Entry& entry : entries_) out.push_back(entry.name);
    return out;
  }

  /// Reads the array `wanted`, stored as NAME.npy.
  RawArray array(const std::string& wanted, const std::string& key) const {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == wanted; });
    if (found == entries_.end()) {
      fail(fmt::format("has no array {} = \"{}\" (it has: {})", key, wanted, fmt::join(names(), ", ")));
    }
    return parse_npy(contents(*found), fmt::format("{}, array \"{}\"", name_, wanted));
  }

 private:
  struct Entry {
    std::string name;
    std::size_t flags, method, checksum, packed, size, header;
  };

  [[noreturn]] void fail(const std::string& problem) const { throw UserError(fmt::format("{}: {}", name_, problem)); }

  /// Reads the number in `count` bytes.
  std::size_t number(std::size_t at, std::size_t count) const {
    if (at > bytes_.size() || bytes_.size() - at < count) fail("truncated in its zip directory");
    std::size_t out = 0;
    for (std::size_t b = count; b-- > 0;) out = out * 256 + static_cast<unsigned char>(bytes_[at + b]);
    return out;
  }

  /// Reads an entry of the central directory; returns the start of the next one.
  std::size_t add_entry(std::size_t at) {
    if (number(at, 4) != 0x02014b50) fail(fmt::format("its zip directory is damaged at byte {}", at));
    Entry entry{{},
                number(at + 8, 2),
                number(at + 10, 2),
                number(at + 16, 4),
                number(at + 20, 4),
                number(at + 24, 4),
                number(at + 42, 4)};
    const std::size_t name = number(at + 28, 2), extra = number(at + 30, 2), comment = number(at + 32, 2);
    number(at + 46, name + extra + comment > 0 ? 1 : 0);
    entry.name = bytes_.substr(std::min(at + 46, bytes_.size()), name);
    if (entry.name.ends_with(".npy")) entry.name.resize(entry.name.size() - 4);
    entries_.push_back(entry);
    return at + 46 + name + extra + comment;
  }

  std::string contents(const Entry& entry) const {
    const auto broken = [&](const std::string& problem) { fail(fmt::format("array \"{}\" {}", entry.name, problem)); };
    if ((entry.flags & 1) != 0) broken("is encrypted");
    if (entry.packed == 0xFFFFFFFF || entry.size == 0xFFFFFFFF)
      broken("is larger than 4 GiB (zip64), which is not read");
    if (number(entry.header, 4) != 0x04034b50) broken("is damaged: no zip header at its place");
    const std::size_t start = entry.header + 30 + number(entry.header + 26, 2) + number(entry.header + 28, 2);
    if (start > bytes_.size() || bytes_.size() - start < entry.packed) broken("is truncated");
    const std::string_view packed = bytes_.substr(start, entry.packed);
    Inflated out;
    if (entry.method == 0) {
      out.bytes = packed;
    } else if (entry.method == 8) {
      out = inflate_bytes(packed, Deflated::raw, std::min(entry.size, read_bound().bytes));
    } else {
      broken(fmt::format("is compressed by zip's method {} (must be stored or deflated)", entry.method));
    }
    if (!out.problem.empty()) broken(out.problem);
    if (out.bytes.size() != entry.size || zip_checksum(out.bytes) != entry.checksum) {
      broken("is damaged: its checksum differs");
    }
    return std::move(out.bytes);
  }

  std::string_view bytes_;
  std::string name_;
  std::vector<Entry> entries_;
};

}  // namespace

LabelledData read_npz(std::string_view bytes, const DataSource& source, Target target) {
  const Zip zip(bytes, data_name(source.path));
  const std::string labels = source.labels.empty() ? "labels" : source.labels;
  const std::string features = source.features.empty() ? "features" : source.features;
  const RawArray x = zip.array(features, source.features_key);
  return join_arrays(x, zip.array(labels, source.labels_key), target);
}

std::map<std::string, RawArray> npz_arrays(std::string_view bytes, const std::string& name) {
  const Zip zip(bytes, name);
  std::map<std::string, RawArray> out;
  for (const std::string& one : zip.names()) out.emplace(one, zip.array(one, ""));
  return out;
}

// The safetensors format of weights: a length of 8 bytes (least significant first), a JSON header of that length
// {"name": {"dtype", "shape", "data_offsets": [begin, end]}, ...}, the data. Source: README of the safetensors library, "Format".

namespace {

[[noreturn]] void fail(const std::string& name, const std::string& problem) {
  throw UserError(fmt::format("{}: {}", name, problem));
}

/// Widens IEEE binary16 (`bf` false) or bfloat16 to float.
float widened(std::uint16_t half, bool bf) {
  const auto of_bits = [](std::uint32_t bits) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  };
  if (bf) return of_bits(std::uint32_t{half} << 16U);
  const std::uint32_t sign = (half & 0x8000U) << 16U, exponent = (half >> 10U) & 0x1FU, fraction = half & 0x3FFU;
  if (exponent == 0) {  // zero and subnormals: fraction · 2⁻²⁴
    const float size = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -size : size;
  }
  if (exponent == 31) return of_bits(sign | 0x7F800000U | (fraction << 13U));
  return of_bits(sign | ((exponent + 112U) << 23U) | (fraction << 13U));
}

std::string widened(std::string_view halves, bool bf) {
  std::string out(2 * halves.size(), '\0');
  for (std::size_t i = 0; i < halves.size() / 2; ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, halves.data() + 2 * i, 2);
    const float value = widened(half, bf);
    std::memcpy(out.data() + 4 * i, &value, 4);
  }
  return out;
}

RawArray tensor(const std::string& key, const nlohmann::json& entry, std::string_view data, const std::string& name) {
  static const std::map<std::string, ElementType> types = {
      {"F64", ElementType::f64}, {"F32", ElementType::f32}, {"I64", ElementType::i64}, {"I32", ElementType::i32},
      {"I16", ElementType::i16}, {"I8", ElementType::i8},   {"U8", ElementType::u8}};
  RawArray out;
  out.name = fmt::format("{}, tensor \"{}\"", name, key);
  out.order = std::endian::little;
  out.shape = entry.at("shape").get<std::vector<Index>>();
  const auto type = entry.at("dtype").get<std::string>();
  const auto begin = entry.at("data_offsets").at(0).get<std::size_t>();
  const auto end = entry.at("data_offsets").at(1).get<std::size_t>();
  if (begin > end || end > data.size()) fail(out.name, "its data lies beyond the end of the file (truncated?)");
  out.bytes = data.substr(begin, end - begin);
  if (type == "F16" || type == "BF16") {
    out.bytes = widened(out.bytes, type == "BF16");
    out.type = ElementType::f32;
  } else if (const auto known = types.find(type); known != types.end()) {
    out.type = known->second;
  } else {
    fail(out.name, fmt::format("type {} (must be F64, F32, F16, BF16 or integers)", type));
  }
  if (checked_count(out.shape, out.name) * static_cast<Index>(element_size(out.type)) !=
      static_cast<Index>(out.bytes.size())) {
    fail(out.name, fmt::format("{} bytes of data do not fit the shape {}", end - begin, shape_text(out.shape)));
  }
  return out;
}

}  // namespace

std::map<std::string, RawArray> parse_safetensors(std::string_view bytes, const std::string& name) {
  std::uint64_t length = 0;
  if (bytes.size() < 8) fail(name, "truncated: a safetensors file starts with 8 bytes of length");
  for (std::size_t b = 8; b-- > 0;) length = length * 256 + static_cast<unsigned char>(bytes[b]);
  if (length > bytes.size() - 8) fail(name, "is not a safetensors file, or its header is truncated");
  std::map<std::string, RawArray> out;
  try {
    const nlohmann::json header = nlohmann::json::parse(bytes.substr(8, length));
    for (const auto& [key, entry] : header.items()) {
      if (key != "__metadata__") out.emplace(key, tensor(key, entry, bytes.substr(8 + length), name));
    }
  } catch (const nlohmann::json::exception& error) {
    fail(name, fmt::format("its safetensors header cannot be read: {}", error.what()));
  }
  return out;
}

}  // namespace nudge
