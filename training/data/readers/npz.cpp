// SPDX-License-Identifier: Apache-2.0
// The directory of a zip archive, after PKWARE's APPNOTE.TXT 4.3: local headers with the data behind each, the central
// directory, the end record that says where that starts. Numbers are least significant byte first.
#include <fmt/format.h>

#include <algorithm>

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "sim/io/inflate.hpp"
#include "training/data/readers/readers.hpp"

namespace nudge {
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

}  // namespace nudge
