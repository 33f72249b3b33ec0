// SPDX-License-Identifier: Apache-2.0
#include "netlist/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

#include "netlist/card_reader.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

constexpr int kDeepest = 200;

bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

struct Factor {
  const char* name;
  double value;
};
/// Factors of SPICE's numbers, longer names first: MEG and MIL before M. µ is the micro sign or the Greek letter, in UTF-8.
constexpr std::array<Factor, 12> kFactors = {{{"meg", 1e6},
                                              {"mil", 25.4e-6},
                                              {"t", 1e12},
                                              {"g", 1e9},
                                              {"k", 1e3},
                                              {"m", 1e-3},
                                              {"u", 1e-6},
                                              {"\xC2\xB5", 1e-6},
                                              {"\xCE\xBC", 1e-6},
                                              {"n", 1e-9},
                                              {"p", 1e-12},
                                              {"f", 1e-15}}};

/// Operators of two numbers, level by level from loose to tight; longer symbols first.
const std::array<std::vector<const char*>, 5> kLevels = {
    {{"||"}, {"&&"}, {"<=", ">=", "==", "!=", "<", ">"}, {"+", "-"}, {"*", "/"}}};

/// Parser by recursive descent; binding from loose to tight: ?:, ||, &&, comparisons, + -, * /, unary, ^.
class Parser {
 public:
  Parser(const std::string& text, const Place& place, const LookUp& look_up, const UserFunction& user,
         FormulaBuilder* builder)
      : text_(text), place_(place), look_up_(look_up), user_(user), builder_(builder) {}

  Operand whole() {
    const Operand value = choice();
    skip();
    if (at_ < text_.size()) fail(fmt::format("unexpected \"{}\" in the expression \"{}\"", text_[at_], text_));
    if (value.constant() && !std::isfinite(value.value))
      fail_at(0, fmt::format("the expression \"{}\" is not a finite number", text_));
    return value;
  }

 private:
  [[noreturn]] void fail_at(std::size_t at, const std::string& what) const { refuse(place_at(at), what); }
  [[noreturn]] void fail(const std::string& what) const { fail_at(at_, what); }
  Place place_at(std::size_t at) const {
    Place there = place_;
    there.column += static_cast<int>(at);
    return there;
  }

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(const char* symbol) {
    skip();
    const std::size_t length = std::char_traits<char>::length(symbol);
    if (text_.compare(at_, length, symbol) != 0) return false;
    at_ += length;
    return true;
  }
  void expect(const char* symbol) {
    if (!take(symbol)) fail(fmt::format("a \"{}\" is missing in the expression \"{}\"", symbol, text_));
  }

  Operand applied(const FormulaFunction& function, const std::vector<Operand>& operands) {
    Operand result;
    Formula none;
    if (!(builder_ != nullptr ? builder_->formula : none).apply(function, operands, result))
      fail_at(0, fmt::format("the expression is too long (at most {} operations)", Formula::kMostOperations));
    return result;
  }
  Operand operated(const char* symbol, const std::vector<Operand>& operands) {
    return applied(operator_of(symbol, builder_ != nullptr), operands);
  }

  Operand choice() {
    if (++depth_ > kDeepest) fail("the expression is too deep");
    Operand value = binary(0);
    if (take("?")) {
      const Operand yes = choice();
      expect(":");
      const Operand no = choice();
      value = applied(*find_function("ternary_fcn", false), {value, yes, no});
    }
    --depth_;
    return value;
  }

  Operand binary(std::size_t level) {
    if (level == kLevels.size()) return signed_power();
    Operand value = binary(level + 1);
    while (const char* taken = take_operator(level)) {
      const std::size_t where = at_;
      const Operand right = binary(level + 1);
      if (*taken == '/' && right.constant() && right.value == 0) {
        fail_at(where, fmt::format("division by 0 in the expression \"{}\"", text_));
      }
      value = operated(taken, {value, right});
    }
    return value;
  }

  const char* take_operator(std::size_t level) {
    skip();
    if (text_.compare(at_, 2, "**") == 0) return nullptr;  // binds tighter
    for (const char* one : kLevels[level]) {
      if (take(one)) return one;
    }
    return nullptr;
  }

  Operand signed_power() {
    if (++depth_ > kDeepest) fail("the expression is too deep");
    Operand value;
    if (take("-")) {
      value = operated("neg", {signed_power()});
    } else if (take("+")) {
      value = signed_power();
    } else if (take("!")) {
      value = operated("!", {signed_power()});
    } else {
      value = atom();
      while (take("**") || take("^")) {  // 2^3^2 = 64, as in ngspice
        const bool negative = take("-");
        const Operand power = atom();
        value = operated("^", {value, negative ? operated("neg", {power}) : power});
      }
    }
    --depth_;
    return value;
  }

  Operand atom() {
    if (take("(")) {
      const Operand value = choice();
      expect(")");
      return value;
    }
    skip();
    if (at_ == text_.size()) fail(fmt::format("the expression \"{}\" ends too early", text_));
    double value = 0;
    std::size_t used = 0;
    if (digit(text_[at_]) || text_[at_] == '.') {
      if (!read_spice_number(text_, at_, value, used)) fail(fmt::format("\"{}\" is not a number", text_.substr(at_)));
      at_ += used;
      return value;
    }
    if (builder_ != nullptr && take("{")) {  // an expression in braces within that of a B source
      const Operand inner = choice();
      expect("}");
      return inner;
    }
    if (!letter(text_[at_]) && text_[at_] != '_') {
      fail(fmt::format("unexpected \"{}\" in the expression \"{}\"", text_[at_], text_));
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && (letter(text_[at_]) || digit(text_[at_]) || text_[at_] == '_')) ++at_;
    const std::string name = text_.substr(begin, at_ - begin);
    if (take("("))
      return builder_ != nullptr && (name == "v" || name == "i") ? quantity(name.front(), begin) : call(name, begin);
    if (builder_ != nullptr && (name == "time" || name == "hertz"))
      fail_at(begin, fmt::format("{}: functions of time and frequency are not simulated", name));
    return look_up_(name, place_at(begin));
  }

  /// Reads the names in "v(a, b)" or "i(v1)", which may have parentheses of their own.
  Operand quantity(char kind, std::size_t begin) {
    std::vector<std::string> words = {""};
    for (int depth = 1; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (depth == 0) break;
      c == ',' && depth == 1 ? words.emplace_back()
                             : words.back() += std::isspace(static_cast<unsigned char>(c)) ? "" : std::string(1, c);
    }
    expect(")");
    const bool fits = words.size() == 1 || (kind == 'v' && words.size() == 2);
    if (!fits || std::any_of(words.begin(), words.end(), [](const std::string& word) { return word.empty(); }))
      fail_at(begin, kind == 'v' ? "v() takes one node or two" : "i() takes one voltage source");
    return builder_->quantity(kind, words, place_at(begin));
  }

  Operand call(const std::string& name, std::size_t begin) {
    FunctionUse use{name, {}, place_at(begin)};
    std::vector<Operand>& arguments = use.values;
    if (!take(")")) {
      do arguments.push_back(choice());
      while (take(","));
      expect(")");
    }
    Operand value;
    if (user_ && user_(use, value)) return value;
    const bool of_circuit = builder_ != nullptr;
    const FormulaFunction* function = find_function(name, of_circuit);
    if (function == nullptr)
      fail_at(begin, fmt::format("unknown function {}() ({})", name, did_you_mean(name, function_names(of_circuit))));
    if (function->arguments < 0) {
      check_points(name, arguments, begin);
    } else if (static_cast<int>(arguments.size()) != function->arguments) {
      fail_at(begin, argument_count_text(name, static_cast<std::size_t>(function->arguments), arguments.size()));
    }
    return applied(*function, arguments);
  }

  /// Checks x, x₁, y₁, x₂, y₂, …: constants, two at least, at rising x.
  void check_points(const std::string& name, const std::vector<Operand>& arguments, std::size_t begin) const {
    bool good = arguments.size() >= 5 && arguments.size() % 2 == 1;
    for (std::size_t k = 1; good && k < arguments.size(); ++k) {
      good = arguments[k].constant() && (k < 3 || k % 2 == 0 || arguments[k].value > arguments[k - 2].value);
    }
    if (!good)
      fail_at(begin,
              fmt::format("{}() takes x and two points or more, as numbers: x1, y1, x2, y2 with rising x", name));
  }

  const std::string& text_;
  Place place_;
  const LookUp& look_up_;
  const UserFunction& user_;
  FormulaBuilder* builder_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

bool read_spice_number(const std::string& text, std::size_t from, double& value, std::size_t& used) {
  std::size_t begin = from;
  if (begin < text.size() && text[begin] == '+') ++begin;  // from_chars knows "-" alone
  const std::size_t first = begin < text.size() && begin == from && text[begin] == '-' ? begin + 1 : begin;
  if (first >= text.size() || (!digit(text[first]) && text[first] != '.')) return false;
  const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), value);
  if (error != std::errc()) return false;
  auto at = static_cast<std::size_t>(end - text.data());
  for (const Factor& factor : kFactors) {
    const std::size_t length = std::char_traits<char>::length(factor.name);
    if (text.compare(at, length, factor.name) != 0) continue;
    value *= factor.value;
    at += length;
    break;
  }
  while (at < text.size() && letter(text[at])) ++at;
  for (const char* ohm : {"\xCE\xA9", "\xE2\x84\xA6"}) {  // the Greek letter and the sign
    if (text.compare(at, std::char_traits<char>::length(ohm), ohm) == 0) at += std::char_traits<char>::length(ohm);
  }
  used = at - from;
  return std::isfinite(value);
}

std::string argument_count_text(const std::string& function, std::size_t takes, std::size_t given) {
  return fmt::format("{}() takes {} argument{}, not {}", function, takes, takes == 1 ? "" : "s", given);
}

Operand evaluate_expression(const std::string& text, const Place& place, const LookUp& look_up,
                            const UserFunction& user, FormulaBuilder* builder) {
  return Parser(text, place, look_up, user, builder).whole();
}

}  // namespace nudge
