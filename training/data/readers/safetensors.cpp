// SPDX-License-Identifier: Apache-2.0
// The safetensors format of weights: a length of 8 bytes (least significant first), a JSON header of that length
// {"name": {"dtype", "shape", "data_offsets": [begin, end]}, ...}, the data. Source: README of the safetensors library, "Format".
#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "sim/base/errors.hpp"
#include "training/data/readers/readers.hpp"

namespace nudge {
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
  if (length > bytes.size() - 8) fail(name, "is no safetensors file, or truncated in its header");
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
