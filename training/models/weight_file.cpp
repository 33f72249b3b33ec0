// SPDX-License-Identifier: Apache-2.0
#include "training/models/weight_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/data/raw_array.hpp"
#include "training/data/readers/readers.hpp"

namespace nudge {
namespace {

using Arrays = std::map<std::string, RawArray>;

Arrays arrays_of(const std::string& path) {
  const std::string name = fmt::format("weights file \"{}\"", path);
  if (path.ends_with(".npz")) return npz_arrays(read_file_bytes(path, "weights"), name);
  if (path.ends_with(".safetensors")) return parse_safetensors(read_file_bytes(path, "weights"), name);
  return hdf5_arrays(path, "parameters");
}

std::vector<std::string> names_of(const Arrays& arrays) {
  std::vector<std::string> out;
  for (const auto& [name, array] : arrays) out.push_back(name);
  return out;
}

[[noreturn]] void fail(const std::string& path, const std::string& problem) {
  throw UserError(fmt::format("weights file \"{}\": {}", path, problem));
}

/// Converts an array to a matrix (rows, cols); a vector is one row. UserError with `path` and `group` for another
/// shape, or a number that is not finite.
template <class S>
Matrix<S> matrix_of(const RawArray& array, Index rows, Index cols, const std::string& path, const std::string& group) {
  const auto shape = array.shape.size() == 1 ? std::vector<Index>{1, array.shape[0]} : array.shape;
  if (shape != std::vector<Index>{rows, cols}) {
    const bool turned = shape == std::vector<Index>{cols, rows};
    fail(path, fmt::format("{}: shape {} expected (inputs, outputs), found {}{}", group, shape_text({rows, cols}),
                           shape_text(array.shape),
                           turned ? ": the transpose (PyTorch's Linear holds (outputs, inputs))" : ""));
  }
  Matrix<S> out(rows, cols);
  for (Index i = 0; i < out.size(); ++i) {
    const double value = array.at(i);
    if (!std::isfinite(value)) fail(path, fmt::format("{}: element {} is not finite", group, i));
    out.data()[i] = static_cast<S>(value);
  }
  return out;
}

}  // namespace

template <class S>
void read_weights(const std::string& path, const NetworkPlan& plan, std::vector<Matrix<S>>& weights) {
  const Arrays arrays = arrays_of(path);
  std::vector<std::string> groups;
  for (const ParameterGroup& group : plan.groups()) groups.push_back(group.name);
  for (const auto& [name, array] : arrays) {
    if (std::find(groups.begin(), groups.end(), name) == groups.end()) {
      fail(path, fmt::format("the network has no parameter {} ({})", name, did_you_mean(name, groups)));
    }
  }
  for (const ParameterGroup& group : plan.groups()) {
    const auto found = arrays.find(group.name);
    if (found == arrays.end()) {
      fail(path, fmt::format("has no parameter {} (it has: {})", group.name, fmt::join(names_of(arrays), ", ")));
    }
    Matrix<S>& whole = weights[static_cast<std::size_t>(group.parameter)];
    whole.middleCols(group.columns.begin, group.columns.count) =
        matrix_of<S>(found->second, whole.rows(), group.columns.count, path, group.name);
  }
}

template void read_weights(const std::string&, const NetworkPlan&, std::vector<Matrix<float>>&);
template void read_weights(const std::string&, const NetworkPlan&, std::vector<Matrix<double>>&);

}  // namespace nudge
