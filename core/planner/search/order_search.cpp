#include "core/planner/search/order_search.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "core/planner/search_limits.hpp"

namespace lanewise {
namespace {

// Exchanges the places of random pairs of transfers among equals.
void change_order(Draft& draft, TransferSet const& set, std::minstd_rand& random) {
  if (draft.tie_break.empty()) draft.tie_break = set.tie_break;
  auto const any = [&]() -> std::size_t& { return draft.tie_break[random() % draft.tie_break.size()]; };
  for (int pair = 0; pair < kSearchLimits.pairs_exchanged; ++pair) {
    auto& one = any();
    std::swap(one, any());
  }
}

}  // namespace

RatedDraft search_orders(std::vector<TriedDraft> drafts, TransferSet const& set, Rating const& rating,
                         double good_enough) {
  RatedDraft best;
  std::minstd_rand random(1);
  for (auto changes = kSearchLimits.orders_of_draft; !drafts.empty(); changes *= 2) {
    for (auto& [value, draft] : drafts)
      for (int n = 0; n < changes && best.value > good_enough; ++n) {
        auto next = draft;
        change_order(next, set, random);
        auto rated = rating.rate(std::move(next));
        if (rated.value >= value) continue;
        value = rated.value;
        draft = rated.draft;
        if (value < best.value) best = std::move(rated);
      }
    std::stable_sort(drafts.begin(), drafts.end(),
                     [](TriedDraft const& a, TriedDraft const& b) { return a.value < b.value; });
    drafts.resize(drafts.size() / 2);
  }
  return best;
}

}  // namespace lanewise
