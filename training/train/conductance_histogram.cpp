// SPDX-License-Identifier: Apache-2.0
#include "training/train/conductance_histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace nudge {
namespace {

constexpr int kBins = 50;

/// Devices of one kind, over all replicas, and their bounds.
template <class S>
struct Devices {
  std::vector<const Matrix<S>*> conductance, bounds;
};

/// Collects the parts of a map's state that are conductances, by their names in checkpoints (DevicePairs, TikiTaka,
/// ReplicatedMap): "replica3/slow_g_plus" -> "slow_positive".
template <class S>
std::map<std::string, Devices<S>> devices_of(LinearMap<S>& map) {
  std::map<std::string, Devices<S>> all;
  for (const StateArray<S>& array : map.state()) {
    const std::string name = array.name.substr(array.name.rfind('/') + 1);
    for (const auto& [stem, devices] : {std::pair{"g_plus", "positive"}, std::pair{"g_minus", "negative"}}) {
      const std::size_t at = name.find(stem);
      if (at == std::string::npos) continue;
      const std::string rest = name.substr(at + std::string(stem).size());
      Devices<S>& own = all[name.substr(0, at) + devices];
      if (rest.empty()) own.conductance.push_back(array.values);
      if (rest == "_lower" || rest == "_upper") own.bounds.push_back(array.values);
    }
  }
  std::erase_if(all, [](const auto& one) { return one.second.conductance.empty(); });
  return all;
}

/// Makes equal bins over all finite values.
template <class S>
std::vector<double> edges_around(const Devices<S>& devices) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const auto& matrices : {devices.conductance, devices.bounds}) {
    for (const Matrix<S>* values : matrices) {
      for (Index i = 0; i < values->size(); ++i) {
        const auto v = static_cast<double>(values->data()[i]);
        if (!std::isfinite(v)) continue;
        low = std::min(low, v);
        high = std::max(high, v);
      }
    }
  }
  if (!(low < high)) high = low + std::max(std::abs(low), 1e-9);  // all alike: bins of some width
  std::vector<double> edges(kBins + 1);
  for (int i = 0; i <= kBins; ++i) edges[static_cast<std::size_t>(i)] = low + (high - low) * i / kBins;
  return edges;
}

}  // namespace

template <class S>
std::vector<double> bin_counts(const std::vector<double>& edges, const std::vector<const Matrix<S>*>& conductances) {
  std::vector<double> counts(edges.size() - 1);
  for (const Matrix<S>* values : conductances) {
    for (Index i = 0; i < values->size(); ++i) {
      const auto after = std::upper_bound(edges.begin(), edges.end(), static_cast<double>(values->data()[i]));
      const auto bin =
          std::clamp<std::ptrdiff_t>(after - edges.begin() - 1, 0, static_cast<std::ptrdiff_t>(counts.size()) - 1);
      ++counts[static_cast<std::size_t>(bin)];
    }
  }
  return counts;
}

template <class S>
void ConductanceRecord<S>::begin(LinearMap<S>& map) {
  histograms_.clear();
  for (const auto& [name, devices] : devices_of(map)) {
    std::vector<double> edges = edges_around(devices);
    std::vector<double> counts = bin_counts(edges, devices.conductance);
    histograms_.push_back({name, std::move(edges), std::move(counts)});
  }
}

template <class S>
void ConductanceRecord<S>::write(H5Document& document, const std::string& group, LinearMap<S>& map) const {
  if (histograms_.empty()) return;
  const auto now = devices_of(map);
  for (const ConductanceHistogram& one : histograms_) {
    const auto devices = now.find(one.devices);
    if (devices == now.end()) continue;  // a file of another array
    const std::string at = group + "/" + one.devices + "/";
    const auto column = [&](const char* name, const char* role, const std::vector<double>& values, H5Meaning meaning) {
      document.column(at + name, values, std::move(meaning));
      document.attribute("role", std::string(role), at + name);
      document.attribute("x", at + "level", at + name);
    };
    std::vector<double> middle;
    for (std::size_t i = 0; i + 1 < one.edges_S.size(); ++i)
      middle.push_back(0.5 * (one.edges_S[i] + one.edges_S[i + 1]));
    column("level", "axis", middle, {"S", "conductance in the middle of a bin", {"level"}});
    document.column(at + "edges", one.edges_S, {"S", "edges of the bins", {"edge"}});
    const char* beyond = "; the outermost bins include everything beyond them";
    column("before", "histogram", one.before,
           {"1", std::string("devices per bin of stored conductance when the run started") + beyond, {"level"}});
    column("after", "histogram", bin_counts(one.edges_S, devices->second.conductance),
           {"1", std::string("devices per bin of stored conductance when the file was written") + beyond, {"level"}});
  }
}

template <class S>
void ConductanceRecord<S>::restore(const H5Reader& file, const std::string& group) {
  histograms_.clear();
  if (!file.has(group)) return;
  for (const std::string& devices : file.groups(group)) {
    const std::string at = fmt::format("{}/{}/", group, devices);
    ConductanceHistogram one{devices, file.reals<double>(at + "edges", H5Shape{-1}, NonFinite::rejected), {}};
    if (one.edges_S.size() < 2 || !std::is_sorted(one.edges_S.begin(), one.edges_S.end())) {
      file.fail(at + "edges", "rising edges of at least one bin expected");
    }
    const H5Shape bins{static_cast<Index>(one.edges_S.size()) - 1};
    one.before = file.reals<double>(at + "before", bins, NonFinite::rejected);
    histograms_.push_back(std::move(one));
  }
}

template std::vector<double> bin_counts<float>(const std::vector<double>&, const std::vector<const Matrix<float>*>&);
template std::vector<double> bin_counts<double>(const std::vector<double>&, const std::vector<const Matrix<double>*>&);
NUDGE_BOTH_PRECISIONS_OF(ConductanceRecord)

}  // namespace nudge
