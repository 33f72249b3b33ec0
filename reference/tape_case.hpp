// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mixers/mixer.hpp"
#include "reference/case_kind.hpp"

namespace nudge {

/// Relation of a case's array to its sequences.
enum class CaseSpread {
  per_sequence,  ///< the first dimension is the batch
  shared,        ///< one array for all (parameters; a loss summed over the sequences)
};

/// Reference case of a computation on a tape, sequence by sequence: reads leaves, cotangents and tangents, computes
/// out/, vjp/, jvp/ and aux/. Malformed input is a UserError that names the file and the dataset.
class TapeCase {
 public:
  /// Makes the case. UserError for an attribute that states another convention than MIXERS.md's (sign, gelu, ln_eps,
  /// ...).
  TapeCase(const H5Reader& file, Index batch);

  /// Reads params/<name>, and tan/params/<name> where the file has it.
  void parameter(const std::string& name, const H5Shape& shape);
  /// Reads inputs/<name> and tan/inputs/<name>, shape with the batch first; on the tape one sequence is (rows, rest).
  void input(const std::string& name, const H5Shape& shape, Index rows);
  /// Declares out/<name> with cot/<name>.
  void output(const std::string& name, const H5Shape& shape, CaseSpread spread = CaseSpread::per_sequence);

  struct Call {
    Tape<double>& tape;
    Index sequence;
    NamedValues<double> inputs;
    NamedValues<double> parameters;
    std::vector<Value<double>> outputs = {};  ///< outputs in the order of output()
    NamedValues<double> observed = {};  ///< values that become aux/<name> (batch, rows, cols); energies (batch, rows)
  };
  std::vector<CaseDataset> compute(const std::function<void(Call&)>& forward);

  /// Number of sequences and of tokens, from an input that is (batch, tokens, ...).
  struct Sizes {
    Index batch;
    Index tokens;
  };
  static Sizes sizes(const H5Reader& file, const std::string& input, std::size_t dimensions);

 private:
  struct Array {
    std::string name;
    H5Shape shape;
    CaseSpread spread;
    Index rows = 0;  ///< rows of one sequence, or of the whole when shared
    std::vector<double> values = {};
    std::optional<std::vector<double>> direction = {};  ///< tangent or cotangent
    std::vector<double> result = {};                    ///< result: vjp of a leaf, jvp of an output
  };

  Index share(const Array& array) const;  ///< numbers per sequence
  Matrix<double> slice(const Array& array, const std::vector<double>& values, Index sequence) const;
  void run_sequence(Index sequence, const std::function<void(Call&)>& forward);
  void keep_observed(Call& call);
  std::vector<CaseDataset> datasets() const;

  const H5Reader* file_;
  Index batch_;
  std::vector<Array> parameters_, inputs_, outputs_, observed_;
  std::vector<Matrix<double>> parameter_values_;
};

/// Size that the shapes of the datasets determine already. Where the attribute exists, it must agree.
struct SizeAttribute {
  std::string name;
  Index size;
};
/// Checks these sizes, and that the sizes which only inform are positive; UserError naming the attribute otherwise.
void check_sizes(const H5Reader& file, const std::vector<SizeAttribute>& sizes);

/// Throws a mixer's UserError about an option again, naming the file and its part that set the option.
[[noreturn]] void fail_option(const H5Reader& file, const std::string& problem);

/// Reads inputs/mask of a file, or throws UserError.
Mask read_mask(const H5Reader& file, Index queries, Index keys);

/// Computes a case of a registered mixer with given options.
std::vector<CaseDataset> compute_mixer_case(const H5Reader& file, const std::string& kind, const MixerOptions& options);

}  // namespace nudge
