#include "core/planner/schedules/flow_symmetries.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

#include "core/planner/schedules/schedule_limits.hpp"

namespace lanewise {
namespace {

constexpr std::uint32_t kNobody = ~std::uint32_t{0};
// Figures of alike ways differ by no more than rounding.
constexpr double kEqual = 1e-9;

bool are_equal(double one, double other) {
  return std::abs(one - other) <= kEqual * std::max(std::abs(one), std::abs(other));
}

// One to one; ids from 0 on.
class Matching {
 public:
  explicit Matching(std::size_t count) : to_(count, kNobody), from_(count, kNobody) {}
  // False: one of the two has another partner.
  bool match(std::size_t one, std::size_t other) {
    if (to_[one] == kNobody && from_[other] == kNobody) {
      to_[one] = static_cast<std::uint32_t>(other);
      from_[other] = static_cast<std::uint32_t>(one);
    }
    return to_[one] == other && from_[other] == one;
  }

 private:
  std::vector<std::uint32_t> to_;
  std::vector<std::uint32_t> from_;
};

class SymmetrySearch {
 public:
  SymmetrySearch(TransferSet const& set, Model const& model, CandidateFlows const& flows)
      : set_(set), model_(model), flows_(flows), first_flow_(first_options(set)) {
    for (auto const& transfer : set.transfers)
      for (auto const& place : {transfer.from, transfer.to})
        if (number_.try_emplace(place, number_.size()).second) places_.push_back(place);
    transfer_of_.assign(places_.size() * places_.size(), kNobody);
    for (std::size_t i = 0; i < set.transfers.size(); ++i) {
      auto& transfer = transfer_of(number_.at(set.transfers[i].from), number_.at(set.transfers[i].to));
      has_one_a_pair_ = has_one_a_pair_ && transfer == kNobody;
      transfer = static_cast<std::uint32_t>(i);
    }
  }

  // Of each place, a symmetry that leaves those before it where they are and moves it to each other place.
  std::vector<FlowSymmetries::Permutation> generators() {
    std::vector<FlowSymmetries::Permutation> found;
    if (!has_one_a_pair_) return found;
    find_kinds_of_pairs();
    for (std::size_t fixed = places_.size(); fixed-- > 0;)
      for (auto other = fixed + 1; other < places_.size(); ++other) {
        image_.resize(fixed);
        std::iota(image_.begin(), image_.end(), std::size_t{0});
        if (is_possible(other) && extend(other)) found.push_back(permuted_flows_);
      }
    return found;
  }

 private:
  std::uint32_t& transfer_of(std::size_t from, std::size_t to) { return transfer_of_[from * places_.size() + to]; }
  [[nodiscard]] std::uint32_t kind_of(std::size_t from, std::size_t to) const {
    return kind_of_pair_[from * places_.size() + to];
  }

  // What can be seen of the transfer between two places without asking what its ways use.
  void find_kinds_of_pairs() {
    using Seen = std::pair<std::int64_t, std::vector<std::pair<Mechanism, float>>>;
    std::map<Seen, std::uint32_t> known;
    kind_of_pair_.assign(transfer_of_.size(), kNobody);
    for (std::size_t pair = 0; pair < transfer_of_.size(); ++pair) {
      if (transfer_of_[pair] == kNobody) continue;
      auto const& transfer = set_.transfers[transfer_of_[pair]];
      std::vector<std::pair<Mechanism, float>> ways;
      for (auto const& option : transfer.options)
        ways.emplace_back(option.way.mechanism, static_cast<float>(option.rate.value()));
      std::sort(ways.begin(), ways.end());
      Seen seen{transfer.bytes.value(), std::move(ways)};
      kind_of_pair_[pair] = known.try_emplace(std::move(seen), static_cast<std::uint32_t>(known.size())).first->second;
    }
  }

  // Whether the next place may become this one, as far as the places before it tell.
  [[nodiscard]] bool is_possible(std::size_t candidate) const {
    auto const next = image_.size();
    if (std::find(image_.begin(), image_.end(), candidate) != image_.end()) return false;
    if (places_[next].index() != places_[candidate].index()) return false;
    if (kind_of(next, next) != kind_of(candidate, candidate)) return false;
    for (std::size_t other = 0; other < next; ++other)
      if (kind_of(next, other) != kind_of(candidate, image_[other]) ||
          kind_of(other, next) != kind_of(image_[other], candidate))
        return false;
    return true;
  }

  // Lets the next place become `candidate`, and finds places for all after it.
  bool extend(std::size_t candidate) {
    if (tries_left_ == 0) return false;
    --tries_left_;
    image_.push_back(candidate);
    bool found = image_.size() == places_.size() && permutes_flows();
    if (image_.size() < places_.size())
      for (std::size_t other = 0; other < places_.size() && !found; ++other)
        found = is_possible(other) && extend(other);
    image_.pop_back();
    return found;
  }

  // Whether transfers, ways, resources and engines all find partners; sets permuted_flows_.
  bool permutes_flows() {
    permuted_flows_.assign(flows_.size(), kNobody);
    Matching flows(flows_.size());
    Matching resources(model_.resources().count());
    Matching engines(flows_.engine_count());
    for (std::size_t from = 0; from < places_.size(); ++from)
      for (std::size_t to = 0; to < places_.size(); ++to) {
        auto const one = transfer_of(from, to);
        if (one == kNobody) continue;
        auto const other = transfer_of(image_[from], image_[to]);
        auto const& options = set_.transfers[one].options;
        for (std::size_t o = 0; o < options.size(); ++o) {
          auto const partner = partner_of(options[o], one, other, o);
          if (!partner || !use_alike(options[o], set_.transfers[other].options[*partner], resources, engines))
            return false;
          auto const flow = first_flow_[one] + o;
          auto const image = first_flow_[other] + *partner;
          if (!flows.match(flow, image)) return false;
          permuted_flows_[flow] = static_cast<std::uint32_t>(image);
        }
      }
    return true;
  }

  // The option of another transfer that takes the place of this one: the same way, over the image of its relay. Where
  // several look alike, in their order.
  [[nodiscard]] std::optional<std::size_t> partner_of(TransferOption const& option, std::size_t transfer,
                                                      std::size_t other, std::size_t number) const {
    auto const look_alike = [&](TransferOption const& a, TransferOption const& b, bool permutes) {
      auto const relay = permutes ? image_of(a.way.relay) : a.way.relay;
      return a.way.mechanism == b.way.mechanism && a.op == b.op && a.way.drive == b.way.drive && relay == b.way.relay &&
             are_equal(a.rate.value(), b.rate.value());
    };
    auto const& own = set_.transfers[transfer].options;
    auto before = std::count_if(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(number),
                                [&](TransferOption const& each) { return look_alike(each, option, false); });
    auto const& others = set_.transfers[other].options;
    for (std::size_t o = 0; o < others.size(); ++o)
      if (look_alike(option, others[o], true) && before-- == 0) return o;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<PciId> image_of(std::optional<PciId> relay) const {
    auto const found = relay ? number_.find(*relay) : number_.end();
    return found == number_.end() ? relay : std::optional(std::get<PciId>(places_[image_[found->second]]));
  }

  bool use_alike(TransferOption const& one, TransferOption const& other, Matching& resources, Matching& engines) const {
    auto const& a = one.demand;
    auto const& b = other.demand;
    if (a.uses.size() != b.uses.size() || a.engines.size() != b.engines.size()) return false;
    if (!are_equal(a.latency().value(), b.latency().value())) return false;
    for (std::size_t k = 0; k < a.uses.size(); ++k)
      if (!are_equal(a.uses[k].weight.ratio(), b.uses[k].weight.ratio()) ||
          model_.capacity(a.uses[k].resource) != model_.capacity(b.uses[k].resource) ||
          !resources.match(index(a.uses[k].resource), index(b.uses[k].resource)))
        return false;
    for (std::size_t k = 0; k < a.engines.size(); ++k)
      if (flows_.slots(a.engines[k]) != flows_.slots(b.engines[k]) ||
          !engines.match(index(a.engines[k]), index(b.engines[k])))
        return false;
    return true;
  }

  TransferSet const& set_;
  Model const& model_;
  CandidateFlows const& flows_;
  std::vector<std::size_t> first_flow_;
  std::vector<Place> places_;
  std::map<Place, std::size_t> number_;     // of a place
  std::vector<std::uint32_t> transfer_of_;  // by pair of places
  std::vector<std::uint32_t> kind_of_pair_;
  bool has_one_a_pair_ = true;
  std::vector<std::size_t> image_;  // of the first places
  std::size_t tries_left_ = kScheduleLimits.max_symmetry_tries;
  std::vector<std::uint32_t> permuted_flows_;
};

// Numbers from 0 on, equal for what permutations take to each other.
std::vector<std::uint32_t> orbits(std::size_t count, std::vector<std::vector<std::uint32_t>> const& permutations) {
  std::vector<std::uint32_t> first(count);
  std::iota(first.begin(), first.end(), 0U);
  auto const root = [&](std::uint32_t each) {
    while (first[each] != each) each = first[each];
    return each;
  };
  for (auto const& permutation : permutations)
    for (std::uint32_t each = 0; each < count; ++each) {
      auto const [low, high] = std::minmax({root(each), root(permutation[each])});
      first[high] = low;
    }
  std::vector<std::uint32_t> numbers(count);
  std::uint32_t kinds = 0;
  for (std::uint32_t each = 0; each < count; ++each)
    numbers[each] = first[each] == each ? kinds++ : numbers[root(each)];
  return numbers;
}

}  // namespace

FlowSymmetries::FlowSymmetries(TransferSet const& set, Model const& model, CandidateFlows const& flows)
    : generators_(SymmetrySearch(set, model, flows).generators()) {
  std::vector<Permutation> of_transfers;
  for (auto const& permutation : generators_) {
    auto& permuted = of_transfers.emplace_back(set.transfers.size(), 0);
    for (std::uint32_t flow = 0; flow < flows.size(); ++flow)
      permuted[flows[flow].transfer] = static_cast<std::uint32_t>(flows[permutation[flow]].transfer);
  }
  kinds_ = orbits(set.transfers.size(), of_transfers);
  kinds_of_flows_ = orbits(flows.size(), generators_);
}

}  // namespace lanewise
