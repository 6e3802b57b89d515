#include "core/planner/collectives/trees/tree_packing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "core/model/resources/figures.hpp"
#include "core/planner/collectives/direct_ways.hpp"
#include "core/planner/collectives/trees/arborescence.hpp"
#include "core/rules/conditions.hpp"
#include "core/solver/congestion.hpp"
#include "core/solver/linear_program.hpp"

namespace lanewise {
namespace {

// Who is no participant may pass data on or not, and every choice is looked at for every root: so many at most.
constexpr std::size_t kMaxChoices = 1024;
constexpr std::size_t kMaxParticipants = 16;
constexpr int kMaxPricings = 200;
constexpr int kMaxRoundsForRoom = 10;
// Trees and bound this close (relative) are as good as met.
constexpr double kMet = 1e-3;
constexpr double kGiga = 1e-9;
// By so much more a tree's bytes count for each hop, where there is room: of 0 to 10 the one with the shortest plans on
// the bundled machines.
constexpr double kDeep = 4;
constexpr Bytes kLarge{std::int64_t{1} << 30};  // what a way's rate is asked for
constexpr Bytes kElement{16};                   // and what it takes to start
// In about so many pieces the plans of trees carry the part of a root.
constexpr double kPieces = 16;

// The linear programs of one collective and the trees found so far. So that their numbers lie around 1, bytes are
// shares of the collective's, capacities gigabytes a second, and times what a gigabyte takes where the collective is
// one.
class TreePacking {
 public:
  // Without a style it is for a bound: data go by engines and by kernels, and what steps take to start counts.
  TreePacking(Collective const& collective, Sites const& sites, Model const& model, PackingStyle const* style)
      : waypoints_(sites),
        model_(model),
        planner_(model),
        style_(style),
        bytes_(static_cast<double>(collective.bytes.value())) {
    auto const n = sites.participants;
    if (collective.op == CollectiveOp::Broadcast)
      roots_.push_back({collective.root, 1});
    else
      for (std::size_t i = 0; i < n; ++i) roots_.push_back({i, 1 / static_cast<double>(n)});
    for (std::uint32_t from = 0; from < sites.places.size(); ++from)
      for (std::uint32_t to = 0; to < sites.places.size(); ++to)
        if (from != to && !(is_memory(from) && is_memory(to))) add_legs(from, to);
    idle_.resize(capacities_.size(), style == nullptr ? soonest() : 0);
    prices_.resize(capacities_.size());
    for (std::size_t i = 0; i < prices_.size(); ++i) prices_[i] = 1 / capacities_[i];
  }

  // False where there is no answer, or none below `enough`.
  bool pack(Seconds enough) {
    double makespan = kForever;
    for (int round = 0; round < kMaxPricings; ++round) {
      auto const least = add_trees();
      if (!least) return false;
      keep_bound(*least);
      if (least_ * (1 + kMet) >= makespan) break;
      auto const solution = solve(shortest());
      if (!solution) return false;
      makespan = solution->x[0];
      take(*solution, 1);
    }
    makespan_ = makespan;
    return seconds(makespan) < enough;
  }

  // Henceforth it counts for how long nothing can be taken of a row: nothing flows before a step has started, and
  // nothing out of memory before something was written there. Nor does anything flow into memory that is not read in
  // time; what flows meanwhile may be able to take a part of the row alone. What is idle for longer than all may take
  // is perhaps not used at all.
  void count_starts() {
    auto const handover = [&](std::size_t leg) { return legs_[leg].handover / seconds(1); };
    std::vector<double> in(waypoints_.places.size(), kForever);
    std::vector<double> out(waypoints_.places.size(), kForever);
    for (std::size_t l = 0; l < legs_.size(); ++l) {
      in[legs_[l].to] = std::min(in[legs_[l].to], handover(l));
      out[legs_[l].from] = std::min(out[legs_[l].from], handover(l));
    }
    for (std::size_t row = 0; row < capacities_.size(); ++row) {
      auto before = kForever;
      auto behind = kForever;
      std::vector<std::size_t> until_the_end;
      for (std::size_t l = 0; l < legs_.size(); ++l) {
        if (weight(l, row) == 0) continue;
        auto const& leg = legs_[l];
        before = std::min(before, handover(l) + (is_memory(leg.from) ? in[leg.from] : 0));
        if (is_memory(leg.to))
          behind = std::min(behind, out[leg.to]);
        else
          until_the_end.push_back(l);
      }
      auto idle = before;
      if (before + behind <= least_) idle += behind * (1 - most_taken(until_the_end, row));
      if (before <= least_) idle_[row] = std::max(idle_[row], std::min(idle, soonest_other()));
    }
  }

  // Of all packings that take hardly longer, the one with most room on everything and few hops. Further trees are
  // looked for as if hops cost nothing; flat ones are there already.
  void make_room(double setup_cost_weight) {
    for (int round = 0; round < kMaxRoundsForRoom; ++round) {
      auto const solution = solve(least_congested(setup_cost_weight));
      if (!solution) return;
      take(*solution, solution->x.size() - trees_.size());
      for (std::size_t i = 0; i < prices_.size(); ++i) prices_[i] += setup_cost_weight / capacities_[i];
      auto const known = trees_.size();
      if (!add_trees() || trees_.size() == known) return;
    }
  }

  // Nullopt where the solver's rounding leaves a root without trees.
  [[nodiscard]] std::optional<Packing> packing() && {
    Packing packing{std::move(legs_), {}, std::move(capacities_)};
    for (auto const& [resource, row] : resources_) packing.capacities[row] /= kGiga;
    for (auto& tree : trees_) {
      tree.bytes *= bytes_;
      if (tree.bytes > 0) packing.trees.push_back(std::move(tree));
    }
    for (auto const& root : roots_)
      if (std::none_of(packing.trees.begin(), packing.trees.end(),
                       [&](PackedTree const& tree) { return tree.root == root.who; }))
        return std::nullopt;
    return packing;
  }

  [[nodiscard]] LowerBound bound() const {
    LowerBound bound{seconds(least_), {}};
    constexpr double kLeastShare = 1e-6;
    for (std::size_t i = 0; i < shares_.size(); ++i)
      if (shares_[i] > kLeastShare) bound.binding.push_back({names_[i], shares_[i]});
    sort_largest_first(bound.binding);
    return bound;
  }

 private:
  static constexpr double kForever = std::numeric_limits<double>::infinity();

  struct Root {
    std::size_t who = 0;
    double bytes = 0;  // of all
  };
  struct Take {
    std::size_t row = 0;
    double weight = 0;  // of the row's capacity for each byte
  };

  [[nodiscard]] Seconds seconds(double time) const { return Seconds(time * bytes_ * kGiga); }
  [[nodiscard]] bool is_memory(std::size_t place) const {
    return std::holds_alternative<NumaId>(waypoints_.places[place]);
  }

  void add_legs(std::uint32_t from, std::uint32_t to) {
    bool const through_host = is_memory(from) || is_memory(to);
    for (auto const op : {Op::Copy, Op::Write, Op::Read}) {
      // Whoever is no GPU runs no kernel.
      if ((op == Op::Write && is_memory(from)) || (op == Op::Read && is_memory(to))) continue;
      if (style_ != nullptr && !suits(op, through_host)) continue;
      for (auto const& judged : direct_ways(
               planner_, {.from = waypoints_.places[from], .to = waypoints_.places[to], .bytes = kLarge, .op = op}))
        add_leg({from, to, judged.way, op}, judged.cost->rate);
    }
  }
  [[nodiscard]] bool suits(Op op, bool through_host) const {
    if (through_host) return style_->host_by_kernels != (op == Op::Copy);
    return !style_->by_kernels || op != Op::Copy;
  }
  // Of this rate alone.
  void add_leg(Leg leg, BytesPerSecond rate) {
    auto const& from = waypoints_.places[leg.from];
    auto const& to = waypoints_.places[leg.to];
    auto const demand = model_.lower(from, to, kLarge, leg.op, leg.way);
    for (auto const& use : demand.uses)
      leg.uses.push_back({static_cast<std::uint32_t>(row_of(use.resource)), use.weight.ratio()});
    for (auto const engine : demand.engines) leg.engines.push_back(static_cast<std::uint32_t>(row_of(engine)));
    leg.cap = demand.cap;
    auto const piece = style_ == nullptr ? kElement : std::max(kElement, Bytes(std::llround(bytes_of_piece())));
    leg.handover = model_.lower(from, to, piece, leg.op, leg.way).latency();
    // What comes out of host memory was written by another GPU, and waits for it by an event.
    if (is_memory(leg.from))
      if (auto const gpu = gpu_at(model_.machine(), to))
        leg.handover += figures::chunk_gap(model_.machine().part_of(*gpu)) * model_.assumed()(Parameter::EngineStart);
    takes_.push_back(takes_of(leg, rate));
    legs_.push_back(std::move(leg));
  }
  // What a byte takes of each row. In a plan what goes through host memory goes in pieces, each with its hand-over, and
  // kernels carry no more over a leg than one flow of them: a packing that counts on more is full of legs that cannot
  // keep up. Of a bound engines count where nothing else moves data faster: between GPUs, and by the model's own rates.
  std::vector<Take> takes_of(Leg const& leg, BytesPerSecond rate) {
    std::vector<Take> takes;
    for (auto const& use : leg.uses) takes.push_back({use.resource, use.weight});
    auto time = 1 / (rate.value() * kGiga);
    bool const through_host = is_memory(leg.from) || is_memory(leg.to);
    if (style_ == nullptr && (through_host || !model_.machine().overrides.empty())) return takes;
    if (through_host) time += bytes_ / bytes_of_piece() * (leg.handover / seconds(1));
    for (auto const engine : leg.engines) takes.push_back({engine, time});
    if (!through_host || !leg.engines.empty()) return takes;
    takes.push_back({capacities_.size(), time});
    add_row("one flow", 1);
    return takes;
  }
  [[nodiscard]] double bytes_of_piece() const { return bytes_ * roots_.front().bytes / kPieces; }

  // Before this nothing flows, whatever moves it.
  [[nodiscard]] double soonest() {
    auto least = soonest_other();
    for (auto const& leg : legs_) least = std::min(least, leg.handover / seconds(1));
    return least;
  }
  // The least that a step takes to start which is none on a leg: staged or relayed as one. No core copies within a
  // collective.
  [[nodiscard]] double soonest_other() {
    if (soonest_other_) return *soonest_other_;
    soonest_other_ = kForever;
    for (auto const& from : waypoints_.places)
      for (auto const& to : waypoints_.places) {
        if (from == to || !gpu_at(model_.machine(), from) || !gpu_at(model_.machine(), to)) continue;
        for (auto const op : {Op::Copy, Op::Write, Op::Read})
          for (auto const& judged : planner_.choose({.from = from, .to = to, .bytes = kLarge, .op = op}).evaluated)
            if (judged.refused_by == nullptr && judged.cost && !is_direct(judged.way) &&
                judged.way.mechanism != Mechanism::BarCopy)
              soonest_other_ =
                  std::min(*soonest_other_, model_.lower(from, to, kElement, op, judged.way).latency() / seconds(1));
      }
    return *soonest_other_;
  }
  [[nodiscard]] double weight(std::size_t leg, std::size_t row) const {
    double weight = 0;
    for (auto const& take : takes_[leg])
      if (take.row == row) weight += take.weight;
    return weight;
  }
  // What legs take of a row at most, as a part of it: together they are held by every other row that all of them need.
  [[nodiscard]] double most_taken(std::vector<std::size_t> const& legs, std::size_t row) const {
    if (legs.empty()) return 0;
    double most = 1;
    for (std::size_t other = 0; other < capacities_.size(); ++other) {
      double taken = 0;
      for (auto const leg : legs) {
        auto const needs = weight(leg, other);
        if (needs > 0)
          taken = std::max(taken, weight(leg, row) / needs);
        else
          taken = kForever;
      }
      most = std::min(most, taken * capacities_[other] / capacities_[row]);
    }
    return most;
  }

  std::size_t row_of(ResourceId resource) {
    auto const [entry, fresh] = resources_.try_emplace(resource, capacities_.size());
    if (fresh) add_row(model_.resources().at(resource).name, model_.capacity(resource)->value() * kGiga);
    return entry->second;
  }
  std::size_t row_of(EngineId engine) {
    auto const [entry, fresh] = engines_.try_emplace(engine, capacities_.size());
    if (fresh) add_row(model_.resources().at(engine).name, model_.resources().at(engine).slots);
    return entry->second;
  }
  void add_row(std::string name, double capacity) {
    names_.push_back(std::move(name));
    capacities_.push_back(capacity);
  }

  // The cheapest tree of each root at the prices; what all bytes cost over these. Nullopt where a root cannot reach
  // everyone.
  std::optional<double> add_trees() {
    auto const count = waypoints_.places.size();
    EdgeCosts costs(count, std::vector<double>(count, kNoEdge));
    std::vector<std::vector<std::uint32_t>> cheapest(count, std::vector<std::uint32_t>(count, 0));
    for (std::uint32_t l = 0; l < legs_.size(); ++l) {
      double cost = 0;
      for (auto const& take : takes_[l]) cost += prices_[take.row] * take.weight;
      auto const& leg = legs_[l];
      if (cost >= costs[leg.from][leg.to]) continue;
      costs[leg.from][leg.to] = cost;
      cheapest[leg.from][leg.to] = l;
    }
    double least = 0;
    for (auto const& root : roots_) {
      auto const tree = cheapest_tree(costs, root.who);
      if (!tree) return std::nullopt;
      least += root.bytes * tree->cost;
      add_tree(root.who, tree->edges, cheapest);
      // A plan rather has trees of few hops, so that pieces are soon everywhere: one in which a hop costs as much as
      // the mean edge.
      if (style_ == nullptr) continue;
      auto const hop = tree->cost / static_cast<double>(tree->edges.size());
      if (auto const flat = shortest_paths(costs, root.who, hop, waypoints_.participants))
        add_tree(root.who, *flat, cheapest);
    }
    return least;
  }
  void add_tree(std::size_t root, Edges const& edges, std::vector<std::vector<std::uint32_t>> const& cheapest) {
    PackedTree added{root, 0, {}};
    for (auto const& [from, to] : edges) added.legs.push_back(cheapest[from][to]);
    bool const known = std::any_of(trees_.begin(), trees_.end(), [&](PackedTree const& other) {
      return other.root == added.root && other.legs == added.legs;
    });
    if (!known) trees_.push_back(std::move(added));
  }
  // Hops from the root, in the mean of all that it reaches.
  [[nodiscard]] double mean_depth(PackedTree const& tree) const {
    std::vector<double> depth(waypoints_.places.size(), 0);
    double sum = 0;
    for (auto const leg : tree.legs) sum += depth[legs_[leg].to] = depth[legs_[leg].from] + 1;
    return sum / std::max(1.0, static_cast<double>(tree.legs.size()));
  }
  // With any prices no trees cost less than the cheapest, so rounding cannot make the bound too high. What is idle is
  // as if something took it.
  void keep_bound(double cost) {
    double worth = 0;
    for (std::size_t i = 0; i < prices_.size(); ++i) {
      worth += prices_[i] * capacities_[i];
      cost += prices_[i] * capacities_[i] * idle_[i];
    }
    if (worth <= 0 || cost / worth <= least_) return;
    least_ = cost / worth;
    shares_.resize(prices_.size());
    for (std::size_t i = 0; i < prices_.size(); ++i) shares_[i] = prices_[i] * capacities_[i] / worth;
  }

  struct Tree {
    double cost = 0;
    Edges edges;
  };
  // Over all participants and any of the others.
  [[nodiscard]] std::optional<Tree> cheapest_tree(EdgeCosts const& costs, std::size_t root) const {
    auto const n = waypoints_.participants;
    auto const between = waypoints_.places.size() - n;
    std::optional<Tree> best;
    for (std::size_t chosen = 0; chosen < (std::size_t{1} << between); ++chosen) {
      std::vector<std::size_t> members;  // participants first, each at its own position
      for (std::size_t i = 0; i < waypoints_.places.size(); ++i)
        if (i < n || ((chosen >> (i - n)) & 1U) != 0) members.push_back(i);
      EdgeCosts among(members.size(), std::vector<double>(members.size()));
      for (std::size_t i = 0; i < members.size(); ++i)
        for (std::size_t j = 0; j < members.size(); ++j) among[i][j] = costs[members[i]][members[j]];
      auto const parents = cheapest_arborescence(among, root);
      if (!parents) continue;
      Tree tree;
      std::vector<std::size_t> reached{root};
      for (std::size_t k = 0; k < reached.size(); ++k)
        for (std::size_t i = 0; i < members.size(); ++i)
          if (i != root && (*parents)[i] == reached[k]) {
            reached.push_back(i);
            tree.cost += among[reached[k]][i];
            tree.edges.emplace_back(members[reached[k]], members[i]);
          }
      if (!best || tree.cost < best->cost) best = std::move(tree);
    }
    return best;
  }

  // A row for each root, all of whose bytes are carried.
  [[nodiscard]] LinearProgram rows_of_roots() const {
    LinearProgram program;
    for (auto const& root : roots_) program.add_row({.lower = root.bytes});
    return program;
  }
  // Behind them stand those of what is taken.
  [[nodiscard]] int row(std::size_t taken) const { return static_cast<int>(roots_.size() + taken); }
  void add_columns(LinearProgram& program, double setup_cost_weight) const {
    std::vector<double> taken(capacities_.size());
    for (auto const& tree : trees_) {
      auto const root = std::find_if(roots_.begin(), roots_.end(), [&](Root const& r) { return r.who == tree.root; });
      program.entries.push_back({static_cast<int>(root - roots_.begin()), 1});
      std::fill(taken.begin(), taken.end(), 0);
      for (auto const leg : tree.legs)
        for (auto const& take : takes_[leg]) taken[take.row] += take.weight;
      double cost = 0;
      for (std::size_t i = 0; i < taken.size(); ++i) {
        if (taken[i] > 0) program.entries.push_back({row(i), taken[i]});
        cost += setup_cost_weight * taken[i] / capacities_[i];
      }
      program.end_column(cost * (1 + kDeep * mean_depth(tree)));
    }
  }
  // The least T in which the trees known so far carry everything.
  [[nodiscard]] LinearProgram shortest() const {
    auto program = rows_of_roots();
    for (std::size_t i = 0; i < capacities_.size(); ++i) program.add_row({.upper = -capacities_[i] * idle_[i]});
    for (std::size_t i = 0; i < capacities_.size(); ++i) program.entries.push_back({row(i), -capacities_[i]});
    program.end_column(1);
    add_columns(program, 0);
    return program;
  }
  // The least crowding, where that time is given.
  [[nodiscard]] LinearProgram least_congested(double setup_cost_weight) const {
    auto program = rows_of_roots();
    for (auto const capacity : capacities_) program.add_row({.upper = kUncongestedUtilisation * makespan_ * capacity});
    for (std::size_t i = 0; i < capacities_.size(); ++i)
      add_congestion_cost(program, row(i), capacities_[i], makespan_);
    add_columns(program, setup_cost_weight);
    return program;
  }
  // Trees stand behind `first` other columns.
  void take(LinearSolution const& solution, std::size_t first) {
    for (std::size_t t = 0; t < trees_.size(); ++t) trees_[t].bytes = solution.x[first + t];
    for (std::size_t i = 0; i < prices_.size(); ++i)
      prices_[i] = std::max(0.0, -solution.duals[static_cast<std::size_t>(row(i))]);
  }

  Sites const& waypoints_;
  Model const& model_;
  Planner planner_;
  PackingStyle const* style_;
  double bytes_;
  std::vector<Root> roots_;
  std::map<ResourceId, std::size_t> resources_;
  std::map<EngineId, std::size_t> engines_;
  std::vector<std::string> names_;  // of rows
  std::vector<double> capacities_;  // of rows: a second; of engines, how many
  std::vector<double> idle_;        // of rows: as long at least nothing is taken
  std::optional<double> soonest_other_;
  std::vector<Leg> legs_;
  std::vector<std::vector<Take>> takes_;  // of legs
  std::vector<PackedTree> trees_;
  std::vector<double> prices_;  // of rows
  std::vector<double> shares_;  // of rows in the bound
  double least_ = 0;
  double makespan_ = 0;
};

}  // namespace

bool can_be_packed(Collective const& collective, Sites const& sites) {
  bool const gathers = collective.op == CollectiveOp::AllGather;
  if ((!gathers && collective.op != CollectiveOp::Broadcast) || collective.bytes == Bytes(0) || !linear_solver() ||
      sites.participants > kMaxParticipants)
    return false;
  auto const between = sites.places.size() - sites.participants;
  auto const roots = gathers ? sites.participants : 1;
  return between < std::bit_width(kMaxChoices) && (roots << between) <= kMaxChoices;
}

std::vector<Packing> packed_trees(Collective const& collective, Sites const& sites, Model const& model,
                                  PackingStyle const& style) {
  std::vector<Packing> packings;
  if (!can_be_packed(collective, sites)) return packings;
  TreePacking earliest(collective, sites, model, &style);
  if (!earliest.pack(style.time_limit)) return packings;
  for (auto const setup_cost_weight : style.setup_cost_weights) {
    auto with_room = earliest;
    with_room.make_room(setup_cost_weight);
    if (auto packing = std::move(with_room).packing()) packings.push_back(std::move(*packing));
  }
  return packings;
}

std::optional<LowerBound> packing_bound(Collective const& collective, Sites const& sites, Model const& model) {
  if (!can_be_packed(collective, sites)) return std::nullopt;
  TreePacking packing(collective, sites, model, nullptr);
  constexpr Seconds kAny{std::numeric_limits<double>::infinity()};
  if (!packing.pack(kAny)) return std::nullopt;
  packing.count_starts();
  packing.pack(kAny);
  return packing.bound();
}

}  // namespace lanewise
