// SPDX-License-Identifier: Apache-2.0
#include "apps/info/gradient_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/report/page_text.hpp"
#include "training/check/choices.hpp"

namespace nudge {
namespace {

constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// Takes a row of the table of cosines: "all" stands for the estimator, else its worst group.
void take_row(std::vector<GradientError>& errors, std::vector<bool>& whole, const std::string& estimator,
              const std::string& group, double cosine) {
  auto at =
      std::find_if(errors.begin(), errors.end(), [&](const GradientError& e) { return e.estimator == estimator; });
  if (at == errors.end()) {
    errors.push_back({estimator, not_measured, 0, not_measured, not_measured, not_measured});
    whole.push_back(false);
    at = errors.end() - 1;
  }
  auto is_whole = whole.begin() + (at - errors.begin());
  if (*is_whole || !std::isfinite(cosine)) return;
  *is_whole = group == "all";
  at->cosine = *is_whole || std::isnan(at->cosine) ? cosine : std::min(at->cosine, cosine);
}

GradientError* find_error(std::vector<GradientError>& errors, const std::string& estimator) {
  const auto at =
      std::find_if(errors.begin(), errors.end(), [&](const GradientError& e) { return e.estimator == estimator; });
  return at == errors.end() ? nullptr : &*at;
}

}  // namespace

std::vector<GradientError> gradient_errors(const GradcheckReport& report) {
  std::vector<GradientError> errors;
  std::vector<bool> whole;
  for (const GradcheckRow& row : report.rows) {
    take_row(errors, whole, row.estimator, row.group, row.agreement.has_gradient ? row.agreement.cosine : not_measured);
  }
  for (const EstimatorFacts& facts : report.estimators) {
    GradientError* one = find_error(errors, facts.name);
    if (one == nullptr) continue;
    *one = {one->estimator,      one->cosine,           facts.beta,  facts.signal.snr(),
            facts.free_residual, facts.nudged_residual, facts.cause, facts.signal.cosine()};
  }
  return errors;
}

std::vector<GradientError> gradient_errors(const H5Reader& file) {
  std::vector<GradientError> errors;
  for (const char* column : {"rows/estimator", "rows/group", "rows/cosine"}) {
    if (!file.has(column)) return errors;
  }
  const auto estimator = file.texts("rows/estimator", H5Shape{-1});
  const H5Shape rows{static_cast<Index>(estimator.size())};
  const auto group = file.texts("rows/group", rows);
  const auto cosine = file.reals<double>("rows/cosine", rows);
  std::vector<bool> whole;
  for (std::size_t i = 0; i < estimator.size(); ++i) take_row(errors, whole, estimator[i], group[i], cosine[i]);
  if (!file.has("diagnostics/estimator")) return errors;
  const auto names = file.texts("diagnostics/estimator", H5Shape{-1});
  const H5Shape facts{static_cast<Index>(names.size())};
  const auto fill = [&](const char* column, double GradientError::*member) {
    const std::string path = std::string("diagnostics/") + column;
    if (!file.has(path)) return;
    const auto values = file.reals<double>(path, facts);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (GradientError* one = find_error(errors, names[i])) one->*member = values[i];
    }
  };
  fill("beta", &GradientError::beta);
  fill("snr", &GradientError::snr);
  fill("noise_cosine", &GradientError::noise_cosine);
  fill("free_residual", &GradientError::free_residual);
  fill("nudged_residual", &GradientError::nudged_residual);
  if (file.has("diagnostics/cause")) {
    const auto causes = file.texts("diagnostics/cause", facts);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (GradientError* one = find_error(errors, names[i])) one->cause = causes[i];
    }
  }
  return errors;
}

std::string equilibrium_of(const H5Reader& file) {
  if (file.has_attribute("equilibrium")) return file.text_attribute("equilibrium");
  if (!file.has("diagnostics")) return "";
  for (const char* name : {"verdict", "equilibrium"}) {
    if (file.has_attribute(name, "diagnostics")) return file.text_attribute(name, "diagnostics");
  }
  return "";
}

std::string short_cosine(double cosine) {
  if (!std::isfinite(cosine)) return "-";
  const double lost = 1 - cosine;
  if (lost < 1e-14) return "1";
  return lost < 1e-3 ? fmt::format("1-{:.1e}", lost) : fmt::format("{:.4f}", cosine);
}

std::string main_error(const GradientError& one, const std::vector<GradientError>& all) {
  constexpr double least = 1e-4;
  const double lost = 1 - one.cosine;
  if (one.checks_reference() || !(lost >= least) || !std::isfinite(one.free_residual)) return "";
  if (!one.cause.empty()) return one.cause;
  const auto implicit =
      std::find_if(all.begin(), all.end(), [](const GradientError& e) { return e.estimator == "implicit"; });
  std::vector<std::pair<double, std::string>> parts;
  const std::string free = fmt::format("free phase not settled: residual {:.1e}", one.free_residual);
  if (one.estimator == "bptt" || one.estimator.starts_with("implicit")) return free;
  if (implicit != all.end() && std::isfinite(implicit->cosine)) parts.emplace_back(1 - implicit->cosine, free);
  if (std::isfinite(one.snr)) {
    // Files of earlier versions have the ratio alone: of nudges ±beta.
    const double kept =
        std::isfinite(one.noise_cosine) ? one.noise_cosine : one.snr / std::hypot(one.snr, std::sqrt(0.5));
    parts.emplace_back(1 - kept, "noise: signal-to-noise " + snr_text(one.snr));
  }
  if (one.nudged_residual > 0 && !std::isfinite(one.snr)) {  // noise moves nodes as a transient does
    parts.emplace_back(one.nudged_residual * one.nudged_residual / 2,
                       fmt::format("nudged phase not settled: residual {:.1e}", one.nudged_residual));
  }
  const auto largest = std::max_element(parts.begin(), parts.end());
  if (largest != parts.end() && largest->first >= lost / 2) return largest->second;
  if (lost < 0.01) return "";  // nobody looked for a cause
  std::string known = fmt::format("residual {:.1e} of the free phase", one.free_residual);
  if (one.nudged_residual > 0) known += fmt::format(", {:.1e} of the nudged one", one.nudged_residual);
  if (one.beta > 0) known += fmt::format(", beta = {:.2g}", one.beta);
  return "not explained (" + known + ")";
}

std::string reference_failure(const H5Reader& file) {
  const auto has = [&](const char* name) { return file.has("diagnostics") && file.has_attribute(name, "diagnostics"); };
  if (has("reference_failure")) return file.text_attribute("reference_failure", "diagnostics");
  const bool failed = has("reference_converged") && file.integer_attribute("reference_converged", "diagnostics") == 0;
  return failed ? "the exact gradient did not converge" : "";  // files of earlier versions
}

GradcheckAnswer gradcheck_answer(const std::vector<GradientError>& all, const std::string& failure) {
  if (!failure.empty()) return {"No exact gradient to compare with", report::capitalised(failure) + "."};
  std::vector<const GradientError*> ranked;
  const GradientError* check = nullptr;
  for (const GradientError& one : all) {
    if (one.checks_reference()) check = &one;
    if (!one.checks_reference() && std::isfinite(one.cosine)) ranked.push_back(&one);
  }
  if (ranked.empty()) return {"Gradient check without a cosine", "No cosine was measured."};
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto* a, const auto* b) { return a->cosine > b->cosine; });
  const auto good = std::count_if(ranked.begin(), ranked.end(), [](const auto* one) { return one->cosine >= 0.99; });
  GradcheckAnswer out;
  out.title = fmt::format("{} is closest to the exact gradient: cosine {}", ranked.front()->estimator,
                          short_cosine(ranked.front()->cosine));
  out.sentence = fmt::format("{} of {} estimators reach a cosine of 0.99", good, ranked.size());
  const std::string why = main_error(*ranked.back(), all);
  if (ranked.size() > 1) {
    out.sentence += fmt::format("; farthest is {}, {}{}", ranked.back()->estimator, short_cosine(ranked.back()->cosine),
                                why.empty() ? "" : " (" + why + ")");
  }
  out.sentence += ".";
  if (check != nullptr && std::isfinite(check->cosine)) {
    out.sentence += fmt::format(" Finite differences of the cost check the exact gradient: cosine {}.",
                                short_cosine(check->cosine));
  }
  return out;
}

}  // namespace nudge
