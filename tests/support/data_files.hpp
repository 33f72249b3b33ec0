// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Files of samples as other programs write them, made by hand for tests of the readers.
namespace nudge::test {

inline std::string write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path.string();
}

/// The bytes that a text of hexadecimal digits stands for.
inline std::string from_hex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return out;
}

/// Writes an integer of `count` bytes, most significant first (IDX) or last (zip).
inline std::string big(std::uint64_t value, int count) {
  std::string out;
  for (int b = count; b-- > 0;) out += static_cast<char>(value >> (8 * b) & 0xFF);
  return out;
}
inline std::string little(std::uint64_t value, int count) {
  const std::string out = big(value, count);
  return {out.rbegin(), out.rend()};
}

/// Makes an IDX file of a type code, sizes and elements (already most significant byte first).
inline std::string idx(int type, const std::vector<int>& shape, const std::string& elements) {
  std::string out = big(static_cast<std::uint64_t>(type), 3) + static_cast<char>(shape.size());
  for (const int size : shape) out += big(static_cast<std::uint64_t>(size), 4);
  return out + elements;
}

/// Returns the bits of a number, most significant byte first.
template <class T>
std::string big_bits(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return {bytes.rbegin(), bytes.rend()};
}

/// Deflates bytes by zlib itself; gzip: with the wrapper of a .gz, else bare as in a zip.
inline std::string deflated(const std::string& bytes, bool gzip) {
  z_stream s{};
  if (deflateInit2(&s, 6, Z_DEFLATED, gzip ? 15 + 16 : -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib");
  }
  std::vector<Bytef> in(bytes.begin(), bytes.end()), out(bytes.size() + 1024);
  s.next_in = in.data();
  s.avail_in = static_cast<uInt>(in.size());
  s.next_out = out.data();
  s.avail_out = static_cast<uInt>(out.size());
  if (deflate(&s, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("zlib");
  const std::string result(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(out.size() - s.avail_out));
  deflateEnd(&s);
  return result;
}

/// Makes an npy file of version 1.0 in the layout of numpy.
inline std::string npy(const std::string& descr, const std::string& shape, const std::string& elements,
                       bool fortran = false) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  return "\x93NUMPY" + std::string("\1\0", 2) + little(header.size(), 2) + header + elements;
}

/// Makes a zip of entries (name, contents): method 0 stored, 8 deflated; another number is written as it is,
/// undeflated.
inline std::string zip(const std::vector<std::pair<std::string, std::string>>& entries, int method) {
  std::string out, directory;
  for (const auto& [name, contents] : entries) {
    const std::vector<Bytef> plain(contents.begin(), contents.end());
    const auto sum = crc32(crc32(0, nullptr, 0), plain.data(), static_cast<uInt>(plain.size()));
    const std::string data = method == 8 ? deflated(contents, false) : contents;
    const std::string common = little(20, 2) + little(0, 2) + little(static_cast<std::uint64_t>(method), 2) +
                               little(0, 4) + little(sum, 4) + little(data.size(), 4) + little(contents.size(), 4) +
                               little(name.size(), 2);
    directory += "PK\1\2" + little(20, 2) + common + little(0, 2) + little(0, 2) + little(0, 2) + little(0, 2) +
                 little(0, 4) + little(out.size(), 4) + name;
    out += "PK\3\4" + common + little(4, 2) + name + little(0, 4) + data;  // 4 bytes of extra field in the local header
  }
  const std::size_t start = out.size();
  return out + directory + "PK\5\6" + little(0, 4) + little(entries.size(), 2) + little(entries.size(), 2) +
         little(directory.size(), 4) + little(start, 4) + little(0, 2);
}

}  // namespace nudge::test
