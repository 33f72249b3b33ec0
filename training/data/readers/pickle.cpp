// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>

#include "sim/base/errors.hpp"
#include "sim/base/interrupts.hpp"
#include "training/data/readers/readers.hpp"

// Opcodes: Lib/pickletools.py of Python. Nothing is called: what a pickle would call is kept as its name and arguments.
namespace nudge {
namespace {

struct Value;
using ValuePointer = std::shared_ptr<Value>;

/// A value of Python: a number, bytes or text, or a list of values. A dict is a list of keys and values; an object is a list of
/// the name that would make it, its arguments, and its state.
struct Value {
  enum class Kind { other, number, text, list } kind = Kind::other;
  std::int64_t number = 0;
  std::string text = {};
  std::vector<ValuePointer> items = {};

  const Value* find(std::string_view key) const {
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      if (items[i]->text == key) return items[i + 1].get();
    }
    return nullptr;
  }
};

class Unpickler {
 public:
  Unpickler(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  ValuePointer value() {
    while (true) {
      const char code = take(1)[0];
      if (code == '.') return pop();
      step(code);
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw UserError(fmt::format("{}: {}, at byte {} of its pickle", name_, why, at_));
  }

  std::string_view take(std::size_t n) {
    if (n > bytes_.size() - at_) refuse("is truncated");
    at_ += n;
    return bytes_.substr(at_ - n, n);
  }
  std::uint64_t little_endian(std::size_t n) {
    std::uint64_t out = 0;
    const std::string_view from = take(n);
    for (std::size_t b = n; b-- > 0;) out = out << 8U | static_cast<unsigned char>(from[b]);
    return out;
  }
  std::string_view line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) refuse("is truncated");
    const std::string_view out = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return out;
  }

  ValuePointer pop() {
    if (stack_.empty() || stack_.back() == nullptr) refuse("takes a value that is missing");
    ValuePointer out = stack_.back();
    stack_.pop_back();
    return out;
  }
  Value& top() {
    if (stack_.empty() || stack_.back() == nullptr) refuse("takes a value that is missing");
    return *stack_.back();
  }
  void push(Value value) { stack_.push_back(std::make_shared<Value>(std::move(value))); }
  void push_number(std::int64_t number) { push({Value::Kind::number, number}); }
  void push_text(std::string_view text) { push({Value::Kind::text, 0, std::string(text)}); }

  std::vector<ValuePointer> popped(std::size_t n) {
    std::vector<ValuePointer> out(n);
    for (std::size_t i = n; i-- > 0;) out[i] = pop();
    return out;
  }
  std::vector<ValuePointer> to_mark() {
    std::size_t begin = stack_.size();
    while (begin > 0 && stack_[begin - 1] != nullptr) --begin;
    if (begin == 0) refuse("takes a mark that is missing");
    std::vector<ValuePointer> out(stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end());
    stack_.resize(begin - 1);
    return out;
  }
  void add(std::vector<ValuePointer> more) {
    Value& to = top();
    to.items.insert(to.items.end(), more.begin(), more.end());
  }
  void get(std::uint64_t n) {
    const auto found = memo_.find(n);
    if (found == memo_.end()) refuse("refers to a value that is missing");
    stack_.push_back(found->second);
  }
  void put(std::uint64_t n) {
    top();
    memo_[n] = stack_.back();
  }

  void step(char code) {
    stop_point();
    switch (code) {
      case '\x80': take(1); return;  // PROTO
      case '(': stack_.push_back(nullptr); return;
      case 'N':
      case '\x88':
      case '\x89': push({}); return;
      case '}':
      case ']':
      case ')': push({Value::Kind::list}); return;
      case 'K': push_number(static_cast<std::int64_t>(little_endian(1))); return;
      case 'M': push_number(static_cast<std::int64_t>(little_endian(2))); return;
      case 'J': push_number(static_cast<std::int32_t>(little_endian(4))); return;
      case 'U':
      case 'C':
      case '\x8c': push_text(take(little_endian(1))); return;
      case 'T':
      case 'X':
      case 'B': push_text(take(little_endian(4))); return;
      case '\x8e': push_text(take(little_endian(8))); return;
      case 'c': {
        const std::string module(line());
        push_text(module + "." + std::string(line()));
        return;
      }
      case 'q': put(little_endian(1)); return;
      case 'r': put(little_endian(4)); return;
      case '\x94': put(memo_.size()); return;
      case 'h': get(little_endian(1)); return;
      case 'j': get(little_endian(4)); return;
      case '\x85':
      case '\x86':
      case '\x87': {
        const auto n = static_cast<std::size_t>(static_cast<unsigned char>(code) - 0x84U);
        push({Value::Kind::list, 0, "", popped(n)});
        return;
      }
      case 't': push({Value::Kind::list, 0, "", to_mark()}); return;
      case 'e':
      case 'u': add(to_mark()); return;
      case 'a': add(popped(1)); return;
      case 's': add(popped(2)); return;
      case '\x93':
      case 'R': push({Value::Kind::list, 0, "", popped(2)}); return;  // STACK_GLOBAL, REDUCE
      case 'b': add(popped(1)); return;                               // BUILD
      case '\x95': take(8); return;                                   // FRAME
      default:
        refuse(fmt::format("has the opcode {:02X}, unknown in pickles of arrays", static_cast<unsigned char>(code)));
    }
  }

  std::string_view bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::vector<ValuePointer> stack_;  ///< nullptr: a mark
  std::map<std::uint64_t, ValuePointer> memo_;
};

/// The bytes of an array of rows of `width` bytes (NumPy's ndarray.__reduce__: function, arguments, then the state version,
/// shape, dtype, Fortran order, bytes); nullptr where the value is none.
const std::string* byte_rows(const Value* array, std::int64_t rows, std::int64_t width) {
  if (array == nullptr || array->items.size() != 3 || array->items[2]->items.size() < 4) return nullptr;
  const std::vector<ValuePointer>& state = array->items[2]->items;
  const std::size_t n = state.size();
  const std::vector<ValuePointer>&shape = state[n - 4]->items, &type = state[n - 3]->items;
  if (shape.size() != 2 || shape[0]->number != rows || shape[1]->number != width) return nullptr;
  if (type.size() < 2 || type[1]->items.empty() || type[1]->items[0]->text != "u1") return nullptr;
  const std::string& bytes = state[n - 1]->text;
  return bytes.size() == static_cast<std::size_t>(rows * width) ? &bytes : nullptr;
}

}  // namespace

void add_cifar_pickle(std::string_view bytes, const std::string& name, RawArray& pictures, RawArray& labels) {
  const ValuePointer top = Unpickler(bytes, name).value();
  const Value* known = top->find("labels");
  const auto rows = known == nullptr ? 0 : static_cast<std::int64_t>(known->items.size());
  const std::string* pixels = byte_rows(top->find("data"), rows, 3072);
  if (rows == 0 || pixels == nullptr) {
    throw UserError(
        fmt::format("{}: must be a batch of CIFAR-10 (a dict of \"labels\" and \"data\", rows of 3072 bytes)", name));
  }
  for (const ValuePointer& one : known->items) {
    if (one->number < 0 || one->number > 9) throw UserError(fmt::format("{}: has the label {}", name, one->number));
    labels.bytes += static_cast<char>(one->number);
  }
  pictures.bytes += *pixels;
}

}  // namespace nudge
