#pragma once
// Local search over drafts: random moves from a draft on, of which improving ones are kept.
#include "core/planner/search/rated_draft.hpp"

namespace lanewise {

// Moves bytes of one transfer, more often one that ends late, to another of its options, or changes the admission
// policy and the number of pieces. Accepts what lowers the value together with the finish times of late steps, and
// returns the best draft by value alone. Ends close to `lower_bound` (seconds; 0: unknown). The same `seed` gives the
// same result. An unevaluated `start` is evaluated first.
RatedDraft local_search(RatedDraft start, TransferSet const& set, Model const& model, Rating const& rating,
                        double lower_bound, unsigned seed);

}  // namespace lanewise
