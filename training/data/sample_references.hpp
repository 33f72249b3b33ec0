// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/data/reference_request.hpp"
#include "training/data/reference_scores.hpp"
#include "training/data/samples.hpp"

namespace nudge {

/// Of classification, loss = cross-entropy (nat), score = accuracy, on validation and (where there is one) test:
///   chance    every class equally likely: ln K, 1/K
///   majority  the training part's class frequencies, add-one smoothed; the choice is its most frequent class
///   linear    multinomial logistic regression (linear_model.hpp), λ chosen on validation
/// A network that ends above `linear` in error has learnt nothing that needs a hidden layer. Throws Interrupted where request.progress says
/// no, and at stop_point().
ReferenceScores classification_references(const SampleParts& parts, const ReferenceRequest& request = {});

/// Of regression, loss = ½|y − ŷ|² (mean over samples), score = √(mean square error of a value), in scaled values:
/// mean (of the training part) and linear (ridge regression).
ReferenceScores regression_references(const SampleParts& parts, const ReferenceRequest& request = {});

/// Training samples that the linear model of so many features and outputs is fitted to: all n, or a power of two, not less than 256, that keeps within the
/// request's operations; 0 where not even those do, or its parameters are more than kMostLinearParameters.
Index samples_to_fit(Index n, Index features, Index outputs, const ReferenceRequest& request);

}  // namespace nudge
