// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/farm.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>

#include "sim/base/errors.hpp"

namespace nudge {

TaskList::TaskList(const Sweep& sweep, const Shard& shard) {
  std::map<std::vector<std::string>, std::size_t> known;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const SweepPoint& point = sweep.points[i];
    kinds_.push_back(known.emplace(point.values, known.size()).first->second);
    seconds_.resize(known.size(), std::numeric_limits<double>::infinity());
    if (point.status.empty() && shard.has(i)) left_.push_back(i);
    finished(i, point.seconds);
  }
}

std::optional<std::size_t> TaskList::next() {
  if (left_.empty()) return std::nullopt;
  const auto longer = [this](std::size_t a, std::size_t b) { return seconds_[kinds_[a]] < seconds_[kinds_[b]]; };
  const auto at = std::max_element(left_.begin(), left_.end(), longer);  // the first of equals
  const std::size_t point = *at;
  left_.erase(at);
  return point;
}

void TaskList::finished(std::size_t point, double seconds) {
  if (std::isfinite(seconds)) seconds_[kinds_[point]] = seconds;
}

namespace {

void put(std::string& out, const void* data, std::size_t size) { out.append(static_cast<const char*>(data), size); }

void put_number(std::string& out, double value) { put(out, &value, sizeof value); }

void put_size(std::string& out, std::size_t n) {
  const auto wide = static_cast<std::uint64_t>(n);
  put(out, &wide, sizeof wide);
}

void put_text(std::string& out, const std::string& text) {
  put_size(out, text.size());
  out += text;
}

/// Reader of bytes from the front.
class Taker {
 public:
  explicit Taker(const std::string& bytes) : bytes_(bytes) {}

  std::size_t size() { return static_cast<std::size_t>(plain<std::uint64_t>()); }
  double number() { return plain<double>(); }
  std::string text() {
    const std::size_t n = size();
    NUDGE_EXPECT(n <= bytes_.size() - at_);
    at_ += n;
    return bytes_.substr(at_ - n, n);
  }
  std::size_t taken() const { return at_; }

 private:
  template <class T>
  T plain() {
    NUDGE_EXPECT(sizeof(T) <= bytes_.size() - at_);
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  const std::string& bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::string result_bytes(const SweepPoint& point) {
  std::string out;
  put_text(out, point.status);
  put_number(out, point.seconds);
  put_size(out, point.metrics.size());
  for (const double value : point.metrics) put_number(out, value);
  put_size(out, point.groups.size());
  for (const GroupCosine& one : point.groups) {
    put_text(out, one.group);
    put_number(out, one.cosine);
  }
  return out;
}

void take_result(std::string& bytes, SweepPoint& point) {
  Taker from(bytes);
  point.status = from.text();
  point.seconds = from.number();
  point.metrics.assign(from.size(), 0);
  for (double& value : point.metrics) value = from.number();
  point.groups.assign(from.size(), {});
  for (GroupCosine& one : point.groups) {
    one.group = from.text();
    one.cosine = from.number();
  }
  bytes.erase(0, from.taken());
}

}  // namespace nudge
