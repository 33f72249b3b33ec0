// SPDX-License-Identifier: Apache-2.0
#include "circuits/read_policy.hpp"

#include <charconv>

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

constexpr int kMostReads = 4096;

std::string key_of(std::size_t kind) { return std::string("reads.") + read_class_names()[kind]; }

}  // namespace

const std::array<const char*, read_classes>& read_class_names() {
  static const std::array<const char*, read_classes> names = {"free",        "nudged", "stored", "anchor",
                                                              "correlation", "loss",   "monitor"};
  return names;
}

ReadPolicy ReadPolicy::all_ideal() {
  ReadPolicy policy;
  policy.rules.fill({0});
  return policy;
}

std::string parse_read_rule(const std::string& text, ReadRule& rule) {
  if (text == "noisy" || text == "ideal") {
    rule.reads = text == "noisy" ? 1 : 0;
    return {};
  }
  if (text.rfind("mean ", 0) == 0) {
    int count = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 5, end, count);
    if (error == std::errc() && stop == end && count >= 2 && count <= kMostReads) {
      rule.reads = count;
      return {};
    }
    return "must be mean N with a whole number N from 2 to " + std::to_string(kMostReads);
  }
  return "must be noisy, ideal or mean N: " + did_you_mean(text, {"noisy", "ideal", "mean 8"});
}

ParamTable read_policy_rows() {
  const auto row = [](ReadClass kind, const std::string& what) {
    return param::text(key_of(static_cast<std::size_t>(kind)), "noisy",
                       what + ": noisy (one read of the devices), mean N (of N reads), or ideal.");
  };
  ParamTable rows = {
      row(ReadClass::free, "Reads of the free phase"),
      row(ReadClass::nudged, "Reads of the nudged phases and of the linear iterations"),
      row(ReadClass::stored, "Reads stored at the point z*: projections, gates, attention"),
      row(ReadClass::anchor, "Reads of F(z*), the anchor that both nudged phases subtract"),
      row(ReadClass::correlation, "Reads of the local correlation and of the read-out's own gradient"),
      row(ReadClass::loss, "Reads of the reported cost, in training and evaluation"),
      row(ReadClass::monitor, "Reads of the residual |F|/|z|, which the damping control acts on"),
      param::flag("reads.chopped", "false",
                  "Read the local correlation and the error current with a drive and with its negative, and use "
                  "half the difference. Amplifier offsets cancel, for twice the reads.",
                  "correlated double sampling; an offset of 0.1 mV of the transposed reads keeps a transformer from "
                  "learning without it, measured"),
      param::real("reads.time", "1", above(0),
                  "Duration of a read outside the relaxation (stored, anchor, correlation, loss, monitor), in units "
                  "of tau. Its noise falls with 1/sqrt(time) and its energy grows with time.",
                  "chosen: a line settles within a few of its own time constants, which are below tau")};
  rows[static_cast<std::size_t>(ReadClass::anchor)].former = {"nudge.anchor_reads"};
  return rows;
}

ParamRow read_policy_row(ReadClass kind) { return read_policy_rows()[static_cast<std::size_t>(kind)]; }

ReadPolicy read_policy(const Config& config) {
  ReadPolicy policy;
  for (std::size_t kind = 0; kind < read_classes; ++kind) {
    const std::string problem = parse_read_rule(config.text(key_of(kind)), policy.rules[kind]);
    if (!problem.empty()) {
      throw UserError(key_of(kind) + " = \"" + config.text(key_of(kind)) + "\" (" + problem + ")");
    }
  }
  policy.chopped = config.flag("reads.chopped");
  policy.time = config.real("reads.time");
  return policy;
}

}  // namespace nudge
