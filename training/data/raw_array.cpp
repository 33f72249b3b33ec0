// SPDX-License-Identifier: Apache-2.0
#include "training/data/raw_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "sim/base/bounded_read.hpp"
#include "sim/base/errors.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {
namespace {

template <class T>
double load(const char* from, bool swapped) {
  std::array<char, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), from, sizeof(T));
  if (swapped) std::reverse(bytes.begin(), bytes.end());
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  return static_cast<double>(value);
}

/// Calls act(T{}) with the C++ type of an element.
template <class Act>
auto with_type(ElementType type, Act act) {
  switch (type) {
    case ElementType::u8: return act(std::uint8_t{});
    case ElementType::i8: return act(std::int8_t{});
    case ElementType::u16: return act(std::uint16_t{});
    case ElementType::i16: return act(std::int16_t{});
    case ElementType::u32: return act(std::uint32_t{});
    case ElementType::i32: return act(std::int32_t{});
    case ElementType::u64: return act(std::uint64_t{});
    case ElementType::i64: return act(std::int64_t{});
    case ElementType::f32: return act(float{});
    case ElementType::f64: break;
  }
  return act(double{});
}

}  // namespace

std::size_t element_size(ElementType type) {
  return with_type(type, [](auto one) { return sizeof one; });
}

Index RawArray::count() const { return static_cast<Index>(bytes.size() / element_size(type)); }

double RawArray::at(Index i) const {
  const char* from = bytes.data() + static_cast<std::size_t>(i) * element_size(type);
  return with_type(type, [&]<class T>(T) { return load<T>(from, order != std::endian::native); });
}

Index checked_count(const std::vector<Index>& shape, const std::string& name) {
  constexpr Index most = Index{1} << 34;
  Index count = 1;
  for (const Index size : shape) {
    if (size < 0 || (size > 0 && count > most / size)) {
      throw UserError(fmt::format("{}: impossible size {}; the file is damaged", name, shape_text(shape)));
    }
    count *= size;
  }
  return count;
}

std::string shape_text(const std::vector<Index>& shape) { return to_string(H5Shape(shape.begin(), shape.end())); }

std::string read_file_bytes(const std::filesystem::path& path, const std::string& noun) {
  const auto fail = [&](const std::string& problem) {
    throw UserError(fmt::format("{} file \"{}\": {}", noun, path.string(), problem));
  };
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (kind == std::filesystem::file_type::not_found) fail("does not exist; check the path");
  if (kind == std::filesystem::file_type::none) fail(fmt::format("cannot be read: {}", error.message()));
  if (kind == std::filesystem::file_type::directory) fail(fmt::format("is a directory; name a {} file in it", noun));
  if (kind != std::filesystem::file_type::regular) {
    fail(fmt::format("is not a regular file. Copy the {} into a file, because a resumed run reads it again", noun));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string bytes =
      read_bounded(file, fmt::format("{} file \"{}\"", noun, path.string()), expected_bytes(path.string()));
  if (!file.is_open() || file.bad()) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  return bytes;
}

}  // namespace nudge
