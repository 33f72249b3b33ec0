// SPDX-License-Identifier: Apache-2.0
#include "sim/io/unpacked.hpp"

#include <fmt/format.h>
#include <lzma.h>

#include <string_view>
#include <vector>

#include "sim/base/errors.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/io/inflate.hpp"

namespace nudge {
namespace {

constexpr std::string_view kGzip = "\x1f\x8b", kXz{"\xFD"
                                                   "7zXZ\0",
                                                   6};

/// A decoder of liblzma that is released when it goes out of scope.
class XzDecoder {
 public:
  explicit XzDecoder(std::uint64_t memory) : ok_(lzma_stream_decoder(&stream_, memory, LZMA_CONCATENATED) == LZMA_OK) {}
  ~XzDecoder() { lzma_end(&stream_); }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;

  bool ok() const { return ok_; }
  lzma_stream& stream() { return stream_; }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ok_;
};

/// What a status of liblzma says about the file; empty: all went well so far.
std::string xz_problem(lzma_ret status) {
  switch (status) {
    case LZMA_OK:
    case LZMA_STREAM_END: return {};
    case LZMA_BUF_ERROR: return "is truncated";
    case LZMA_MEM_ERROR:
    case LZMA_MEMLIMIT_ERROR: return "needs more memory than there is";
    case LZMA_OPTIONS_ERROR: return "was packed with options that liblzma does not know";
    default: return "is damaged";
  }
}

Inflated unpack_xz(std::string_view packed, std::size_t most) {
  constexpr std::size_t kPiece = std::size_t{1} << 18;
  Inflated out;
  XzDecoder decoder(read_bound().bytes);  // its dictionary counts as the text does
  if (!decoder.ok()) return {{}, "cannot be unpacked: liblzma has no memory"};
  lzma_stream& s = decoder.stream();
  std::vector<std::uint8_t> output(kPiece);
  s.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  s.avail_in = packed.size();
  while (true) {
    stop_point();
    s.next_out = output.data();
    s.avail_out = kPiece;
    const lzma_ret status = lzma_code(&s, LZMA_FINISH);
    out.bytes.append(reinterpret_cast<const char*>(output.data()), kPiece - s.avail_out);
    out.too_long = out.bytes.size() > most;
    out.problem = xz_problem(status);
    if (out.too_long || !out.problem.empty() || status == LZMA_STREAM_END) return out;
  }
}

}  // namespace

std::string unpacked(std::string bytes, const std::string& what, const ReadBound& bound) {
  const bool gzip = bytes.starts_with(kGzip);
  if (!gzip && !bytes.starts_with(kXz)) return bytes;
  Inflated found = gzip ? inflate_bytes(bytes, Deflated::gzip, bound.bytes) : unpack_xz(bytes, bound.bytes);
  if (found.too_long) refuse_length(what, bound);
  if (found.problem.empty()) return std::move(found.bytes);
  throw UserError(fmt::format("{}: the {} {}; fetch the file again", what, gzip ? ".gz" : ".xz", found.problem));
}

}  // namespace nudge
