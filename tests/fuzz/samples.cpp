// SPDX-License-Identifier: Apache-2.0
// Binary files of samples and weights: IDX, npy, NPZ, safetensors, R data, pickles of CIFAR-10, gzip, xz. The first byte chooses, the rest is the file.
#include "sim/io/inflate.hpp"
#include "sim/io/unpacked.hpp"
#include "tests/fuzz/one_input.hpp"
#include "training/data/readers/readers.hpp"

using namespace nudge;

namespace {

void join(const RawArray& features, Target target) {
  const LabelledData data = join_arrays(features, features, target);
  if (!data.features.allFinite()) std::terminate();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes = fuzz::text_of(data + 1, size - 1);
  return fuzz::refused_or_read([&] {
    switch (data[0] % 13) {
      case 0: return join(parse_idx(bytes, "fuzz.idx"), Target::label);
      case 1: return join(parse_idx(bytes, "fuzz.idx"), Target::value);
      case 2: return join(parse_npy(bytes, "fuzz.npy"), Target::label);
      case 3: return join(parse_npy(bytes, "fuzz.npy"), Target::value);
      case 4: read_npz(bytes, DataSource{}, Target::label); return;
      case 5: npz_arrays(bytes, "fuzz.npz"); return;
      case 6: parse_safetensors(bytes, "fuzz.safetensors"); return;
      case 7: parse_rdata(bytes, "fuzz.rda", DataSource{"", "", "kind"}, Target::label); return;
      case 8: unpacked(bytes, "fuzz.xz", {std::size_t{1} << 24, ""}); return;
      case 9: {
        RawArray pictures, labels;
        add_cifar_pickle(bytes, "fuzz", pictures, labels);
        return;
      }
      default: {
        constexpr std::size_t most = std::size_t{1} << 24;
        if (inflate_bytes(bytes, data[0] % 2 == 0 ? Deflated::raw : Deflated::gzip, most).bytes.size() > most)
          std::terminate();
      }
    }
  });
}
