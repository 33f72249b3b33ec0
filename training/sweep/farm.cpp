// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/farm.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <mutex>

#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/ranks.hpp"

namespace nudge {
namespace {

// Messages start with a letter. To rank 0: A(sk for a point), R(esult: number, space, bytes; asks as well), B(ye: all threads of
// the rank have ended), I(nterrupted: a signal came to the rank, which may have no work any more). From rank 0: T(ake: number),
// E(nd: there is none), S(top what you run), O(ver: all ranks have ended).

std::string numbered(char kind, std::size_t at) { return kind + std::to_string(at); }

std::size_t number_in(const std::string& bytes) {
  std::size_t at = 0;
  [[maybe_unused]] const auto read = std::from_chars(bytes.data() + 1, bytes.data() + bytes.size(), at);
  NUDGE_EXPECT(read.ec == std::errc());
  return at;
}

/// Desk of rank 0: the list and the results, for all its threads.
class Desk {
 public:
  Desk(TaskList& tasks, const FarmWork& work) : tasks_(tasks), work_(work), computing_(work.threads) {}

  bool go_on() const { return !broken_ && !stopped_ && work_.go_on(); }
  void stop() { stopped_ = true; }

  std::optional<std::size_t> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return go_on() ? tasks_.next() : std::nullopt;
  }

  /// Takes a result. A file that cannot be written ends all work.
  void give(std::size_t at, const SweepPoint& point) {
    if (point.status.empty()) return;  // stopped on the way
    const std::lock_guard<std::mutex> lock(mutex_);
    tasks_.finished(at, point.seconds);
    try {
      work_.accept(at, point);
    } catch (...) {
      broken_ = true;
      throw;
    }
  }

  void compute_all() {
    try {
      while (const auto at = take()) give(*at, work_.compute(*at, [this] { return go_on(); }));
    } catch (...) {
      broken_ = true;
      --computing_;
      throw;
    }
    --computing_;
  }
  bool computes() const { return computing_ > 0; }

 private:
  TaskList& tasks_;
  const FarmWork& work_;
  std::mutex mutex_;
  /// Flags that end the work. broken_: by an exception; stopped_: by a signal that came to another rank.
  std::atomic<bool> broken_ = false, stopped_ = false;
  std::atomic<int> computing_;  ///< number of threads of rank 0 that have not ended
};

void tell_all(const std::string& bytes) {
  for (int r = 1; r < rank_count(); ++r) send_to(r, bytes);
}

/// Answers the other ranks until all of them have said goodbye and rank 0 has nothing to do either; until then a signal
/// may come to any rank.
void serve(Desk& desk) {
  bool stopped = false;
  for (int gone = 1; gone < rank_count() || desk.computes();) {
    if (!stopped && !desk.go_on()) {
      tell_all("S");
      stopped = true;
    }
    auto message = next_message();
    if (!message) {
      wait_a_moment();
      continue;
    }
    const char kind = message->bytes.front();
    gone += kind == 'B' ? 1 : 0;
    if (kind == 'I') desk.stop();
    if (kind == 'R') {
      const std::size_t at = number_in(message->bytes);
      message->bytes.erase(0, message->bytes.find(' ') + 1);
      SweepPoint point;
      take_result(message->bytes, point);
      desk.give(at, point);
    }
    if (kind == 'B' || kind == 'I') continue;
    const auto at = desk.take();
    send_to(message->from, at ? numbered('T', *at) : "E");
  }
  tell_all("O");
}

/// Messages between the threads of another rank and the thread that talks to rank 0.
class Mailbox {
 public:
  void post(std::string bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    out_.push_back(std::move(bytes));
  }
  void answered(std::optional<std::size_t> task) {
    const std::lock_guard<std::mutex> lock(mutex_);
    in_.push_back(task);
  }
  std::optional<std::string> next_to_send() { return front_of(out_); }

  /// Waits for rank 0's answer to one request, no matter which thread's.
  std::optional<std::size_t> answer() {
    for (;;) {
      if (const auto one = front_of(in_)) return *one;
      wait_a_moment();
    }
  }

 private:
  template <class T>
  std::optional<T> front_of(std::deque<T>& queue) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (queue.empty()) return std::nullopt;
    std::optional<T> one = std::move(queue.front());
    queue.pop_front();
    return one;
  }

  std::mutex mutex_;
  std::deque<std::string> out_;
  std::deque<std::optional<std::size_t>> in_;
};

void help_rank_0(const FarmWork& work) {
  Mailbox mail;
  std::atomic<bool> stop = false, broken = false;
  std::atomic<int> running = work.threads;
  const auto go_on = [&] { return !stop && work.go_on(); };
  const auto thread = [&](int /*i*/) {
    try {
      mail.post("A");
      while (const auto at = mail.answer()) {
        const SweepPoint point = work.compute(*at, go_on);
        mail.post(numbered('R', *at) + " " + result_bytes(point));
      }
    } catch (...) {
      broken = true;
      --running;
      throw;
    }
    --running;
  };
  run_side_by_side(work.threads, thread, [&] {
    bool working = true, over = false;
    while (!over && !(broken && running == 0)) {
      bool idle = true;
      if (!stop && !work.go_on()) {
        send_to(0, "I");
        stop = true;
      }
      const bool ended = running == 0;  // before the last look at what the threads have posted
      for (; const auto bytes = mail.next_to_send(); idle = false) send_to(0, *bytes);
      if (working && ended) {
        send_to(0, "B");
        working = false;
      }
      if (const auto message = next_message()) {
        idle = false;
        const char kind = message->bytes.front();
        if (kind == 'S') stop = true;
        if (kind == 'T') mail.answered(number_in(message->bytes));
        if (kind == 'E') mail.answered(std::nullopt);
        over = kind == 'O';
      }
      if (idle) wait_a_moment();
    }
  });
}

}  // namespace

void farm_out(TaskList& tasks, const FarmWork& work) {
  if (this_rank() > 0) {
    help_rank_0(work);
    return;
  }
  Desk desk(tasks, work);
  run_side_by_side(
      work.threads, [&desk](int /*i*/) { desk.compute_all(); },
      [&desk] {
        if (rank_count() > 1) serve(desk);
      });
}

void share_results(Sweep& sweep) {
  if (rank_count() == 1) return;
  std::string bytes;
  if (this_rank() == 0) {
    for (const SweepPoint& point : sweep.points) bytes += result_bytes(point);
  }
  broadcast(bytes);
  if (this_rank() == 0) return;
  for (SweepPoint& point : sweep.points) take_result(bytes, point);
}

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
