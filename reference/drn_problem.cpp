// SPDX-License-Identifier: Apache-2.0
#include "reference/drn_problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reference/case_kind.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

struct Sizes {
  Index batch = 0, depth = 0, nodes = 0;
  std::vector<Index> widths;  ///< n_0 … n_L
};

Sizes read_sizes(const H5Reader& file) {
  Sizes s;
  s.batch = positive_size(file, "B");
  s.depth = positive_size(file, "L");
  s.nodes = positive_size(file, "N");
  const std::vector<std::int64_t> widths = file.integer_list_attribute("widths");
  if (static_cast<Index>(widths.size()) != s.depth + 1) {
    file.fail("attribute widths", fmt::format("{} layers (n_0 ... n_L: L + 1 = {} with attribute L = {})",
                                              widths.size(), s.depth + 1, s.depth));
  }
  std::int64_t sum = 0;
  for (std::size_t l = 0; l < widths.size(); ++l) {
    constexpr std::int64_t largest = std::int64_t{1} << 31;
    if (widths[l] < 1 || widths[l] >= largest) {
      file.fail("attribute widths", fmt::format("n_{} = {} (must be a positive integer below 2^31)", l, widths[l]));
    }
    if (l > 0) sum += widths[l];
    s.widths.push_back(static_cast<Index>(widths[l]));
  }
  if (sum != s.nodes) {
    file.fail("attribute N", fmt::format("{} (must be n_1 + ... + n_L = {} of attribute widths)", s.nodes, sum));
  }
  return s;
}

ResistiveBias read_bias(const H5Reader& file) {
  const std::string name = file.text_attribute("bias");
  if (name == "node") return ResistiveBias::rails;
  if (name == "current") return ResistiveBias::current;
  if (name == "none") return ResistiveBias::none;
  file.fail("attribute bias", fmt::format("\"{}\" (must be node, current or none; {})", name,
                                          did_you_mean(name, {"node", "current", "none"})));
}

/// Reads reals of a shape; `letters` says where the shape comes from; float32 is set for a dataset in float32.
Matrix<double> read(const H5Reader& file, const std::string& dataset, const H5Shape& shape, const std::string& letters,
                    bool& float32) {
  expect_reals(file, dataset, float32);
  if (const H5Shape found = file.shape(dataset); found != shape) {
    file.fail(dataset, fmt::format("shape {} = {} expected (by attributes B, L, N and widths), found {}", letters,
                                   to_string(shape), to_string(found)));
  }
  return file.matrix<double>(dataset, shape, NonFinite::rejected);
}

void check_not_negative(const H5Reader& file, const std::string& dataset, const Matrix<double>& g) {
  for (Index i = 0; i < g.rows(); ++i) {
    for (Index j = 0; j < g.cols(); ++j) {
      if (g(i, j) < 0) file.fail(dataset, fmt::format("[{}, {}] = {} (a conductance must be >= 0)", i, j, g(i, j)));
    }
  }
}

void check_names(const H5Reader& file, Index depth, ResistiveBias bias) {
  std::vector<std::string> known;
  for (Index l = 1; l <= depth; ++l) {
    known.push_back(fmt::format("g{}", l));
    if (bias != ResistiveBias::none) known.push_back(drn_bias_name(bias, l));
  }
  for (const std::string& name : known) {
    if (!file.has("params/" + name)) {
      file.fail("params/" + name,
                fmt::format("missing (attributes L = {} and bias ask for {})", depth, fmt::join(known, ", ")));
    }
  }
  for (const std::string& path : file.all_datasets("params")) {
    const std::string name = path.substr(std::string("params/").size());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string asked = fmt::format("attributes L = {} and bias ask for {}", depth, fmt::join(known, ", "));
    file.fail(path, fmt::format("not asked for: {} ({})", asked, did_you_mean(name, known)));
  }
}

ResistiveNetwork read_network(const H5Reader& file, const Sizes& s, bool& float32) {
  const ResistiveBias bias = read_bias(file);
  const double rail_V = finite_real(file, "v_bias");
  check_names(file, s.depth, bias);
  std::vector<ResistiveLayer> layers;
  for (Index l = 1; l <= s.depth; ++l) {
    const Index below = s.widths[static_cast<std::size_t>(l - 1)], here = s.widths[static_cast<std::size_t>(l)];
    ResistiveLayer layer;
    const std::string g = fmt::format("params/g{}", l);
    const std::string letters = l == 1 ? "(2*n_in, n_1)" : fmt::format("(n_{}, n_{})", l - 1, l);
    layer.conductance = read(file, g, {below, here}, letters, float32);
    check_not_negative(file, g, layer.conductance);
    if (bias != ResistiveBias::none) {
      const std::string b = "params/" + drn_bias_name(bias, l);
      const bool rails = bias == ResistiveBias::rails;
      const std::string letters_b = rails ? fmt::format("(2, n_{})", l) : fmt::format("(n_{})", l);
      layer.bias = read(file, b, rails ? H5Shape{2, here} : H5Shape{here}, letters_b, float32);
      if (rails) check_not_negative(file, b, layer.bias);
    }
    layers.push_back(std::move(layer));
  }
  const Matrix<double> gain = read(file, "inputs/gain", {s.depth}, "(L)", float32);
  for (Index l = 0; l < s.depth; ++l) {
    if (!(gain(0, l) > 0)) file.fail("inputs/gain", fmt::format("A_{} = {} (a gain must be > 0)", l, gain(0, l)));
  }
  return ResistiveNetwork(std::move(layers), {gain.data(), gain.data() + gain.size()}, bias, rail_V);
}

/// Checks that every node hangs on a source: without it, its voltage is undefined.
void check_grounded(const H5Reader& file, const ResistiveNetwork& net) {
  const auto floating = net.floating_nodes();
  for (const auto& [l, j] : floating) {
    if (net.node_conductance()(0, net.columns(l).begin + j) > 0) continue;
    file.fail(fmt::format("params/g{}", l),
              fmt::format("node {} of layer {} floats: its total conductance is 0", j, l));
  }
  if (floating.empty()) return;
  std::vector<std::string> names;
  names.reserve(floating.size());
  for (const auto& [l, j] : floating) names.push_back(fmt::format("node {} of layer {}", j, l));
  file.fail(fmt::format("params/g{}", floating.front().layer),
            fmt::format("floating: no path of resistors joins {} to an input or a rail", fmt::join(names, ", ")));
}

void check_beta(const H5Reader& file, const ResistiveNetwork& net, double beta) {
  const Columns out = net.columns(net.depth());
  Index worst = 0;
  const double limit = net.node_conductance().row(0).segment(out.begin, out.count).minCoeff(&worst);
  if (beta < limit) return;
  file.fail("attribute beta",
            fmt::format("{:.6g} (must be below {:.6g}, the total conductance of node {} of the output "
                        "layer {}: the phase of -beta is unbounded)",
                        beta, limit, worst, net.depth()));
}

void check_diodes(const H5Reader& file, const std::string& dataset, const ResistiveNetwork& net,
                  const Matrix<double>& v) {
  for (Index b = 0; b < v.rows(); ++b) {
    for (Index l = 1; l < net.depth(); ++l) {
      for (Index j = 0; j < net.width(l); ++j) {
        const Index at = net.columns(l).begin + j;
        const bool above = j < net.nodes_above_zero(l);
        if (above ? v(b, at) >= 0 : v(b, at) <= 0) continue;
        file.fail(dataset, fmt::format("[{}, {}] = {} is against the diode of node {} of layer {}, which keeps it {} 0",
                                       b, at, v(b, at), j, l, above ? ">=" : "<="));
      }
    }
  }
}

}  // namespace

std::string drn_bias_name(ResistiveBias bias, Index layer) {
  return fmt::format("{}{}", bias == ResistiveBias::rails ? "gb" : "b", layer);
}

DrnProblem::DrnProblem(const H5Reader& file) {
  const Sizes s = read_sizes(file);
  beta = positive_real(file, "beta");
  nudged_sweeps = static_cast<int>(positive_size(file, "sweeps2"));
  const H5Shape found = file.shape("inputs/x");
  if (found.size() != 2 || found[0] != s.batch || found[1] < 1) {
    file.fail("inputs/x",
              fmt::format("shape (B, n_in) expected with attribute B = {}, found {}", s.batch, to_string(found)));
  }
  if (s.widths[0] != 2 * found[1]) {
    file.fail("attribute widths",
              fmt::format("n_0 = {} (must be 2*n_in = 2*{}, twice the columns of inputs/x: layer 0 is "
                          "[x, -x])",
                          s.widths[0], found[1]));
  }
  x = read(file, "inputs/x", {s.batch, found[1]}, "(B, n_in)", float32);
  network.emplace(read_network(file, s, float32));
  target = read(file, "inputs/y", {s.batch, s.widths.back()}, "(B, n_L)", float32);
  const auto state = [&](const char* name) {
    return read(file, std::string("inputs/") + name, {s.batch, s.nodes}, "(B, N)", float32);
  };
  v_init = state("v_init");
  z0 = state("z0");
  v = state("v");
  check_diodes(file, "inputs/v_init", *network, v_init);
  check_diodes(file, "inputs/z0", *network, z0);
  check_grounded(file, *network);
  check_beta(file, *network, beta);
}

}  // namespace nudge
