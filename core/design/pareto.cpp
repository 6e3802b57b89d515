#include "core/design/pareto.hpp"

#include <algorithm>
#include <limits>

#include "core/io/interrupt.hpp"

namespace lanewise {
namespace {

bool has_same_currency(CandidateResult const& a, CandidateResult const& b) {
  return a.bill.price && b.bill.price && a.bill.price->currency == b.bill.price->currency;
}

// Whether `a` costs and draws no more than `b`, as far as that is known of `b`.
bool costs_no_more(CandidateResult const& a, CandidateResult const& b) {
  if (b.bill.price && (!has_same_currency(a, b) || a.bill.price->amount > b.bill.price->amount)) return false;
  return !b.power || (a.power && *a.power <= *b.power);
}

// Whether one of both is less, where it is known of both.
bool costs_less(CandidateResult const& a, CandidateResult const& b) {
  return (has_same_currency(a, b) && a.bill.price->amount < b.bill.price->amount) ||
         (a.power && b.power && *a.power < *b.power);
}

bool takes_no_more(Bill const& a, Bill const& b) {
  return std::all_of(a.lines.begin(), a.lines.end(), [&](BillLine const& line) {
    auto const same =
        std::find_if(b.lines.begin(), b.lines.end(), [&](BillLine const& other) { return other.part == line.part; });
    return same != b.lines.end() && same->count >= line.count;
  });
}

bool is_as_fast(CandidateResult const& a, CandidateResult const& b) {
  for (std::size_t j = 0; j < b.jobs.size(); ++j) {
    if (!b.jobs[j].figures) continue;
    if (!a.jobs[j].figures || a.jobs[j].figures->time > b.jobs[j].figures->time) return false;
  }
  return true;
}

bool beats(CandidateResult const& a, CandidateResult const& b) {
  return a.gpus == b.gpus && is_as_fast(a, b) && costs_no_more(a, b) &&
         (a.broken_limits.empty() || !b.broken_limits.empty()) && takes_no_more(a.bill, b.bill);
}

// The sums of times and of parts: what beats a candidate has none of them larger.
std::pair<double, int> size_of(CandidateResult const& result) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::pair<double, int> size{0, 0};
  for (auto const& job : result.jobs) {
    double const time = job.figures ? job.figures->time.value() : kNever;
    size.first += time;
  }
  for (auto const& line : result.bill.lines) size.second += line.count;
  return size;
}

}  // namespace

void find_front(std::vector<CandidateResult>& all) {
  auto const is_better = [](CandidateResult const& a, CandidateResult const& b) {
    return a.score > 0 && a.score >= b.score && costs_no_more(a, b) && (a.score > b.score || costs_less(a, b));
  };
  for (auto& result : all)
    result.on_front = result.score > 0 && result.beaten_by.empty() &&
                      std::none_of(all.begin(), all.end(), [&](auto const& other) { return is_better(other, result); });
}

void find_beaten(std::vector<CandidateResult>& all) {
  std::vector<std::size_t> order;
  std::vector<std::pair<double, int>> sizes;
  for (std::size_t i = 0; i < all.size(); ++i) {
    sizes.push_back(size_of(all[i]));
    if (!all[i].jobs.empty()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return sizes[a] < sizes[b]; });
  std::vector<std::size_t> kept;  // what beats a candidate comes before it, and is kept or beaten by one that is
  for (auto const i : order) {
    throw_if_interrupted();
    auto const better = std::find_if(kept.begin(), kept.end(), [&](auto k) { return beats(all[k], all[i]); });
    if (!all[i].candidate.source.empty() && better != kept.end())
      all[i].beaten_by = all[*better].candidate.name;
    else
      kept.push_back(i);
  }
}

}  // namespace lanewise
