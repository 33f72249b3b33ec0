// SPDX-License-Identifier: Apache-2.0
#include "sim/io/inflate.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "sim/base/interrupts.hpp"

namespace nudge {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;

/// A zlib stream that is released when it goes out of scope.
class Inflater {
 public:
  explicit Inflater(Deflated wrapping) {
    // 15: the largest window; + 16: gzip header and trailer; negative: neither (zlib.h, inflateInit2).
    ok_ = inflateInit2(&stream_, wrapping == Deflated::gzip ? 15 + 16 : -15) == Z_OK;
  }
  ~Inflater() {
    if (ok_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool ok() const { return ok_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool ok_ = false;
};

/// Number of bytes to come. The last member of a .gz tells it (RFC 1952, ISIZE); for an entry of an archive it is `most`. 0
/// where it is not told, or not possible: deflate makes at most 1032 bytes of one (zlib, "Maximum compression factor").
std::size_t told_size(std::string_view compressed, Deflated wrapping, std::size_t most) {
  std::size_t told = most;
  if (wrapping == Deflated::gzip) {
    if (compressed.size() < 18) return 0;  // header and trailer alone
    told = 0;
    for (std::size_t b = 1; b <= 4; ++b)
      told = told * 256 + static_cast<unsigned char>(compressed[compressed.size() - b]);
  }
  return told <= most && told <= 1032 * compressed.size() ? told : 0;
}

/// True if only zeros are left. They alone may follow the last member of a .gz: tapes are padded with them.
bool only_zeros(std::string_view rest) {
  return std::all_of(rest.begin(), rest.end(), [](char c) { return c == '\0'; });
}

}  // namespace

Inflated inflate_bytes(std::string_view compressed, Deflated wrapping, std::size_t most) {
  Inflated out;
  Inflater inflater(wrapping);
  if (!inflater.ok()) return {{}, "cannot be inflated: zlib has no memory"};
  z_stream& s = inflater.stream();
  std::vector<Bytef> input(kPiece), output(kPiece);
  out.bytes.reserve(told_size(compressed, wrapping, most));  // grown step by step it would need up to twice its size
  std::size_t at = 0;                                        // first byte that zlib has not been given
  while (true) {
    stop_point();
    if (s.avail_in == 0) {
      const std::size_t count = std::min(kPiece, compressed.size() - at);
      std::copy_n(compressed.begin() + static_cast<std::ptrdiff_t>(at), count, input.begin());
      s.next_in = input.data();
      s.avail_in = static_cast<uInt>(count);
      at += count;
    }
    s.next_out = output.data();
    s.avail_out = static_cast<uInt>(kPiece);
    const int status = inflate(&s, Z_NO_FLUSH);
    const std::size_t got = kPiece - s.avail_out;
    out.bytes.append(reinterpret_cast<const char*>(output.data()), got);
    const std::size_t used = at - s.avail_in;
    if (out.bytes.size() > most) {
      out.too_long = true;
      out.problem = fmt::format("inflates to more than the {} bytes that are allowed", most);
      return out;
    }
    if (status == Z_STREAM_END) {
      const std::string_view rest = compressed.substr(used);
      if (rest.empty() || (wrapping == Deflated::gzip && only_zeros(rest))) return out;
      if (wrapping == Deflated::gzip && rest.starts_with("\x1f\x8b") && inflateReset(&s) == Z_OK) continue;
      out.problem = fmt::format("has {} bytes behind its compressed data, from byte {} on", rest.size(), used);
      return out;
    }
    if (status == Z_BUF_ERROR && s.avail_in == 0 && at == compressed.size()) {
      out.problem = fmt::format("is truncated: its compressed data ends at byte {} before it is complete", used);
      return out;
    }
    if (status != Z_OK && status != Z_BUF_ERROR) {
      out.problem =
          fmt::format("is damaged near byte {} of its compressed data ({})", used, s.msg != nullptr ? s.msg : "zlib");
      return out;
    }
  }
}

unsigned long zip_checksum(std::string_view bytes) {
  unsigned long sum = crc32(0, nullptr, 0);
  std::vector<Bytef> piece;
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const std::string_view part = bytes.substr(at, kPiece);
    piece.assign(part.begin(), part.end());
    sum = crc32(sum, piece.data(), static_cast<uInt>(piece.size()));
  }
  return sum;
}

}  // namespace nudge
