#include "core/workload/placement_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

// The words of an order, of which those in `parallel` that have one rank are left out.
std::vector<std::string> dividing_words(Parallelism const& parallel) {
  std::vector<std::string> words;
  for (std::size_t start = 0; start < parallel.order.size(); start += 3) {
    auto word = parallel.order.substr(start, 2);
    auto const size = word == "tp"   ? parallel.tp
                      : word == "cp" ? parallel.cp
                      : word == "dp" ? parallel.dp
                      : word == "pp" ? parallel.pp
                                     : 1;
    if (size > 1) words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

std::vector<std::string> distinct_orders(Parallelism const& parallel) {
  auto const words = dividing_words(parallel);
  std::vector<std::size_t> places(words.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::vector<std::string> orders;
  do {
    std::vector<std::string> order;
    for (auto const place : places) order.push_back(words[place]);
    orders.push_back(fmt::format("{}", fmt::join(order, "-")));
  } while (std::next_permutation(places.begin(), places.end()));
  return orders;
}

std::string full_order(std::string const& order) {
  auto full = order;
  for (auto const* word : {"tp", "cp", "ep", "dp", "pp"})
    if (order.find(word) == std::string::npos) full += (full.empty() ? "" : "-") + std::string(word);
  return full;
}

SearchedOrder search_order(Workload const& workload, Model const& model, StageTime const& stage) {
  constexpr double kMinImprovement = 1e-6;  // less is rounding
  auto const orders = distinct_orders(workload.parallel);
  SearchedOrder best;
  best.tried = orders.size();
  best.default_order = orders.front();
  bool found = false;
  std::string failure;
  KnownTimes known;
  auto candidate = workload;
  for (auto const& order : orders) {
    candidate.parallel.order = full_order(order);
    try {
      auto const step = compose_step(candidate, estimated_times(candidate, model, known), stage).step;
      if (order == best.default_order) best.step_as_default = step;
      if (!found || step < best.step * (1 - kMinImprovement)) {
        found = true;
        best.order = order;
        best.step = step;
      }
    } catch (PlanError const& error) {
      if (failure.empty()) failure = error.what();
    }
  }
  if (!found) throw PlanError(failure);
  return best;
}

}  // namespace lanewise
