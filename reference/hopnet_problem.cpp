// SPDX-License-Identifier: Apache-2.0
#include "reference/hopnet_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "reference/case_kind.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

/// Reads an attribute that is one of some names.
std::string read_name(const H5Reader& file, const std::string& attribute, const std::vector<std::string>& names) {
  std::string name = file.text_attribute(attribute);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    file.fail("attribute " + attribute, fmt::format("\"{}\" is unknown ({})", name, did_you_mean(name, names)));
  }
  return name;
}

class Parser {
 public:
  Parser(const H5Reader& file, HopnetProblem& problem) : file_(file), p_(problem) {}

  void read() {
    convolved_ = file_.text_attribute("kind") == "convnet";
    read_settings();
    read_pools();
    read_links();
    read_widths();
    for (int l = 1; l <= p_.shape.layers(); ++l) {
      const Index width =
          p_.shape.convolutional(l) ? convolution(l).maps : p_.shape.widths[static_cast<std::size_t>(l)];
      add(fmt::format("b{}", l), {width});
    }
    read_feedback();
    read_readout();
    check_names();
    read_inputs();
  }

 private:
  const Convolution& convolution(int layer) const { return p_.shape.convolutions[static_cast<std::size_t>(layer - 1)]; }

  void read_settings() {
    HopfieldShape& s = p_.shape;
    layers_ = static_cast<int>(positive_size(file_, "L"));
    p_.batch = positive_size(file_, "B");
    p_.units = positive_size(file_, "N");
    p_.free_steps = static_cast<int>(positive_size(file_, "T1"));
    p_.nudged_steps = static_cast<int>(positive_size(file_, "T2"));
    p_.step = positive_real(file_, "eps");
    p_.beta = positive_real(file_, "beta");
    s.asymmetric = flag_of(file_, "asymmetric");
    const bool projected = read_name(file_, "form", {"energy", "projected"}) == "projected";
    s.form = projected ? HopfieldForm::projected : HopfieldForm::energy;
    cross_entropy_ = read_name(file_, "cost", {"squared_error", "cross_entropy"}) == "cross_entropy";
    s.activation = read_activation("activation", projected, false);
    s.output = read_activation("output_activation", projected, true);
    if (projected && s.asymmetric) {
      file_.fail("attribute asymmetric", "1 (must be 0 with form = projected: its box is that of an energy)");
    }
  }

  NodeActivation read_activation(const std::string& attribute, bool projected, bool output) {
    const std::string name = read_name(file_, attribute, node_activations());
    const bool boxed = name == "relu" || name == "hard_sigmoid" || (output && name == "identity");
    if (projected && !boxed) {
      file_.fail("attribute " + attribute, fmt::format("\"{}\" (with form = projected must be hard_sigmoid{})", name,
                                                       output ? ", relu or identity" : " or relu"));
    }
    return node_activation(name);
  }

  void read_pools() {
    if (!convolved_) return;
    for (const std::int64_t pool : file_.integer_list_attribute("pool")) {
      if (pool < 1 || pool > std::numeric_limits<int>::max()) {
        file_.fail("attribute pool", fmt::format("{} of link {} (must be 1 or more)", pool, pools_.size() + 1));
      }
      pools_.push_back(static_cast<Index>(pool));
    }
    if (static_cast<int>(pools_.size()) > layers_) {
      file_.fail("attribute pool",
                 fmt::format("{} entries for L = {} links (one per convolution)", pools_.size(), layers_));
    }
  }

  /// Reads the weights of every link in order; the widths follow from them and from x.
  void read_links() {
    const H5Shape x = shape_of("inputs/x", convolved_ ? 4 : 2, convolved_ ? "(B, C_0, H, W)" : "(B, n_0)");
    Index n0 = 1;
    for (std::size_t i = 1; i < x.size(); ++i) n0 *= x[i];
    if (x[0] != p_.batch) file_.fail("inputs/x", fmt::format("{} rows, but attribute B = {}", x[0], p_.batch));
    if (n0 < 1) file_.fail("inputs/x", fmt::format("shape {} (must be positive)", to_string(x)));
    p_.shape.widths = {n0};
    Convolution last{x.size() == 4 ? x[1] : 1, x.size() == 4 ? x[2] : 1, x.size() == 4 ? x[3] : 1, 1, 1, 1};
    for (int l = 1; l <= layers_; ++l) {
      if (l <= static_cast<int>(pools_.size())) {
        last = read_kernels(l, last);
      } else {
        const std::string name = fmt::format("W{}", l);
        const H5Shape shape = shape_of("params/" + name, 2, "(n_{l-1}, n_l)");
        const Index below = p_.shape.widths.back();
        if (shape[0] != below || shape[1] < 1) {
          file_.fail("params/" + name, fmt::format("shape ({}, n_{}) expected, the width of layer {} first, found {}",
                                                   below, l, l - 1, to_string(shape)));
        }
        add(name, shape);
        p_.shape.widths.push_back(shape[1]);
      }
    }
  }

  /// Reads K_l on maps of the size that the convolution below leaves; returns the size that this one leaves.
  Convolution read_kernels(int l, const Convolution& below) {
    const std::string name = fmt::format("K{}", l);
    const H5Shape shape = shape_of("params/" + name, 4, "(C_l, C_{l-1}, k, k)");
    const Index pool = pools_[static_cast<std::size_t>(l - 1)];
    if (shape[1] != below.channels) {
      file_.fail("params/" + name, fmt::format("shape {}: {} channels read, but layer {} has {}", to_string(shape),
                                               shape[1], l - 1, below.channels));
    }
    if (shape[2] != shape[3] || shape[2] % 2 == 0) {
      file_.fail("params/" + name, fmt::format("shape {} (kernels must be square and odd)", to_string(shape)));
    }
    if (shape[0] < 1) file_.fail("params/" + name, fmt::format("shape {} (must be positive)", to_string(shape)));
    if (below.height % pool != 0 || below.width % pool != 0) {
      file_.fail("attribute pool", fmt::format("{} of link {} (must divide height and width of the image, {} x {})",
                                               pool, l, below.height, below.width));
    }
    const Convolution here{below.channels, below.height, below.width, shape[0], shape[2], pool};
    p_.shape.convolutions.push_back(here);
    p_.shape.widths.push_back(here.outputs());
    add(name, shape, true);
    return {here.maps, below.height / pool, below.width / pool, 1, 1, 1};
  }

  void read_widths() {
    const auto& own = p_.shape.widths;
    const auto widths = file_.integer_list_attribute("widths");
    if (!std::equal(widths.begin(), widths.end(), own.begin(), own.end())) {
      file_.fail("attribute widths",
                 fmt::format("{} (the shapes say {})", fmt::join(widths, ","), fmt::join(own, ",")));
    }
    Index units = 0;
    for (std::size_t l = 1; l < own.size(); ++l) units += own[l];
    if (units != p_.units) file_.fail("attribute N", fmt::format("{} (the shapes say {})", p_.units, units));
  }

  void read_feedback() {
    for (int l = 2; p_.shape.asymmetric && l <= p_.shape.layers(); ++l) {
      const auto at = static_cast<std::size_t>(l);
      const bool convolved = p_.shape.convolutional(l);
      const std::string name = fmt::format("{}{}", convolved ? "Kb" : "B", l);
      if (!file_.has("params/" + name)) {
        file_.fail("params/" + name, "missing: asymmetric = 1 has feedback weights of its own");
      }
      if (convolved) {
        const Convolution& c = convolution(l);
        add(name, {c.maps, c.channels, c.kernel, c.kernel}, true);
      } else {
        add(name, {p_.shape.widths[at], p_.shape.widths[at - 1]});
      }
    }
  }

  void read_readout() {
    if (!cross_entropy_) return;
    const H5Shape shape = shape_of("params/Wo", 2, "(n_L, V)");
    if (shape[0] != p_.shape.widths.back() || shape[1] < 1) {
      file_.fail("params/Wo", fmt::format("shape (n_L, V) with n_L = {} expected, found {}", p_.shape.widths.back(),
                                          to_string(shape)));
    }
    p_.shape.classes = shape[1];
    add("Wo", shape);
    add("bo", {shape[1]});
  }

  /// Checks that every parameter belongs to the case.
  void check_names() {
    std::vector<std::string> known;
    known.reserve(p_.parameters.size());
    for (const HopnetParameter& each : p_.parameters) known.push_back(each.name);
    for (const std::string& path : file_.all_datasets("params")) {
      const std::string name = path.substr(std::string("params/").size());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      std::string rule = fmt::format("unknown parameter ({})", did_you_mean(name, known));
      if (name == "Wo" || name == "bo") rule = "present, but only cost = cross_entropy has a read-out";
      if (!p_.shape.asymmetric && (name[0] == 'B' || name.rfind("Kb", 0) == 0)) {
        rule = "present, but asymmetric = 0 has no feedback weights of its own";
      }
      file_.fail(path, rule);
    }
  }

  void read_inputs() {
    const Index b = p_.batch, n = p_.units;
    p_.x = Eigen::Map<const Matrix<double>>(reals("inputs/x", file_.shape("inputs/x")).data(), b, p_.shape.widths[0]);
    const auto state = [&](const std::string& name) {
      return Matrix<double>(Eigen::Map<const Matrix<double>>(reals("inputs/" + name, {b, n}).data(), b, n));
    };
    p_.start = state("s_init");
    p_.z0 = state("z0");
    p_.v = state("v");
    p_.u = state("u");
    const char* unused = cross_entropy_ ? "inputs/y" : "inputs/targets";
    if (file_.has(unused)) {
      file_.fail(unused,
                 fmt::format("present, but cost = {} has {}", cross_entropy_ ? "cross_entropy" : "squared_error",
                             cross_entropy_ ? "inputs/targets" : "inputs/y"));
    }
    if (cross_entropy_) {
      if (const H5Type type = file_.type("inputs/targets"); type != H5Type::integer) {
        file_.fail("inputs/targets", fmt::format("type int32 or int64 expected, found {}", to_string(type)));
      }
      p_.targets = bounded_integers(file_, "inputs/targets", {b}, p_.shape.classes);
    } else {
      const Index last = p_.shape.widths.back();
      p_.y = Eigen::Map<const Matrix<double>>(reals("inputs/y", {b, last}).data(), b, last);
    }
    check_box("inputs/s_init", p_.start);
    check_box("inputs/z0", p_.z0);
  }

  void check_box(const std::string& name, const Matrix<double>& z) {
    const auto nodes = HopfieldPlan(p_.shape).nodes();
    for (Index b = 0; b < z.rows(); ++b) {
      for (const Node& node : nodes) {
        for (Index i = node.columns.begin; i < node.columns.end(); ++i) {
          if (z(b, i) >= node.lower && z(b, i) <= node.upper) continue;
          file_.fail(name, fmt::format("{} at ({}, {}) is outside the box [{}, {}] of {}", z(b, i), b, i, node.lower,
                                       node.upper, node.name));
        }
      }
    }
  }

  H5Shape shape_of(const std::string& dataset, std::size_t rank, const std::string& letters) {
    H5Shape shape = file_.shape(dataset);
    if (shape.size() != rank) {
      file_.fail(dataset, fmt::format("shape {} expected, found {}", letters, to_string(shape)));
    }
    return shape;
  }

  std::vector<double>& reals(const std::string& dataset, const H5Shape& shape) {
    expect_reals(file_, dataset, p_.float32);
    values_ = file_.reals<double>(dataset, shape, NonFinite::rejected);
    return values_;
  }

  void add(const std::string& name, const H5Shape& shape, bool kernels = false) {
    const Index cols = shape.size() == 1 ? shape[0] : shape[1] * (kernels ? shape[2] * shape[3] : 1);
    const Index rows = shape.size() == 1 ? 1 : shape[0];
    const Matrix<double> values = Eigen::Map<const Matrix<double>>(reals("params/" + name, shape).data(), rows, cols);
    p_.parameters.push_back({name, shape, kernels});
    p_.weights.push_back(kernels ? Matrix<double>(values.transpose()) : values);
  }

  const H5Reader& file_;
  HopnetProblem& p_;
  bool convolved_ = false, cross_entropy_ = false;
  int layers_ = 0;
  std::vector<Index> pools_;
  std::vector<double> values_;
};

}  // namespace

HopnetProblem::HopnetProblem(const H5Reader& file) { Parser(file, *this).read(); }

}  // namespace nudge
