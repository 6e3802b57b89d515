#include "core/planner/bounds/lower_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/plan/dag.hpp"
#include "core/planner/bounds/collective_bound.hpp"
#include "core/planner/bounds/job_set_bound.hpp"
#include "core/planner/schedules/configuration_program.hpp"
#include "core/solver/congestion.hpp"
#include "core/solver/linear_program.hpp"

namespace lanewise {
namespace {

// Beyond this many ways the program is not solved but bounded by single resources: a set so large is nearly always
// bound by one of them.
constexpr std::size_t kMaxColumns = 20000;
// A program is solved so often with more limits on engines, if it has at most so many ways.
constexpr int kMaxTightened = 4;
constexpr std::size_t kMaxTightenedColumns = 2000;
// Of sets up to this size what may move side by side is looked into, some tenths of a second for the largest.
constexpr std::size_t kMaxConfigured = 16;

double gigabytes(BytesPerSecond rate) { return rate.value() * kMillisecond / kMegabyte; }
double milliseconds(Seconds time) { return time.value() / kMillisecond; }

// One limit that every plan obeys: the sum of coefficient x bytes over ways is at most width x (T - waits).
struct Limit {
  enum class Kind : std::uint8_t { Resource, Engine, Way, Held } kind = Kind::Resource;
  std::size_t id = 0;  // of the resource or engine; of a way: its column
  double width = 0;
  double before = 0;  // when at the earliest anything moves there
  double after = 0;   // how long after the last of it the set goes on at least
  [[nodiscard]] double waits() const { return before + after; }
};

// A way of a transfer as a column: what it takes of each limit.
struct Column {
  std::size_t transfer = 0;
  std::size_t option = 0;
  std::vector<std::pair<std::size_t, double>> takes;  // limit, coefficient
};

class Program {
 public:
  Program(std::vector<OpenTransfer> const& transfers, Model const& model, std::vector<double> const& head,
          std::vector<double> const& tail)
      : transfers_(transfers), model_(model), head_(head), tail_(tail) {
    resource_limit_.assign(model.resources().count(), kNone);
    engine_limit_.assign(model.resources().engine_count(), kNone);
    for (std::size_t i = 0; i < transfers.size(); ++i) add_transfer(i);
  }

  [[nodiscard]] std::size_t columns() const { return columns_.size(); }

  // Any weights of the limits, none negative, give a time that no plan beats (weak duality): with prices on what is
  // narrow every byte pays at least its cheapest way. So the solver's rounding cannot make the bound wrong.
  [[nodiscard]] double bound_of(std::vector<double> const& weights) const {
    double width = 0;
    double owed = 0;
    for (std::size_t l = 0; l < limits_.size(); ++l) {
      width += weights[l] * limits_[l].width;
      owed += weights[l] * (limits_[l].width * limits_[l].waits());
    }
    if (!(width > 0)) return 0;
    std::vector<double> cheapest(transfers_.size(), std::numeric_limits<double>::infinity());
    for (auto const& column : columns_) {
      double price = 0;
      for (auto const& [limit, coefficient] : column.takes) price += weights[limit] * coefficient;
      cheapest[column.transfer] = std::min(cheapest[column.transfer], price);
    }
    for (std::size_t i = 0; i < transfers_.size(); ++i)
      owed += cheapest[i] * static_cast<double>(transfers_[i].bytes.value()) / kMegabyte;
    return owed / width;
  }

  // The weights of the best bound found.
  [[nodiscard]] std::vector<double> weights() {
    auto const optimal = optimum();  // may add limits
    auto best = single_limit();
    takes_turns_ = optimal && !has_engines_for_all(*optimal);
    if (optimal && bound_of(optimal->weights) > bound_of(best)) best = optimal->weights;
    return best;
  }
  // Whether the ways of the program's last answer are too many for the engines that they hold: then no plan is through
  // as early as it says, unless they take turns.
  [[nodiscard]] bool takes_turns() const { return takes_turns_; }
  // When at the earliest anything moves.
  [[nodiscard]] double first_byte() const {
    auto first = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < transfers_.size(); ++i) first = std::min(first, first_byte(i));
    return first;
  }

  [[nodiscard]] std::optional<Division> division() {
    auto const optimal = optimum();
    if (!optimal) return std::nullopt;
    Division division{{}, {}, Seconds(bound_of(optimal->weights) * kMillisecond)};
    for (auto const& transfer : transfers_) division.bytes.emplace_back(transfer.options.size(), 0.0);
    for (std::size_t c = 0; c < columns_.size(); ++c)
      division.bytes[columns_[c].transfer][columns_[c].option] = optimal->bytes[c];
    if (each_has_one_way()) return division;
    if (auto const emptier = least_congested(optimal->makespan)) {
      division.least_congested = division.bytes;
      for (std::size_t c = 0; c < columns_.size(); ++c)
        division.least_congested[columns_[c].transfer][columns_[c].option] = (*emptier)[c];
    }
    return division;
  }

  [[nodiscard]] std::vector<LowerBound::Part> parts(std::vector<double> const& weights) const {
    double width = 0;
    for (std::size_t l = 0; l < limits_.size(); ++l) width += weights[l] * limits_[l].width;
    std::vector<LowerBound::Part> parts;
    constexpr double kNotable = 1e-4;
    for (std::size_t l = 0; l < limits_.size(); ++l) {
      auto const share = width > 0 ? weights[l] * limits_[l].width / width : 0;
      if (share > kNotable) parts.push_back({name_of(limits_[l]), share});
    }
    sort_largest_first(parts);
    return parts;
  }

 private:
  static constexpr auto kNone = static_cast<std::size_t>(-1);

  // When at the earliest a byte of transfer i moves.
  [[nodiscard]] double first_byte(std::size_t i) const {
    return head_[i] + *std::min_element(least_[i].begin(), least_[i].end());
  }

  std::size_t limit(std::size_t& place, Limit::Kind kind, std::size_t id, double width, double before, double after) {
    if (place == kNone) {
      place = limits_.size();
      limits_.push_back({kind, id, width, before, after});
    }
    limits_[place].before = std::min(limits_[place].before, before);
    limits_[place].after = std::min(limits_[place].after, after);
    return place;
  }

  void add_transfer(std::size_t i) {
    auto const& transfer = transfers_[i];
    auto& least = least_.emplace_back();
    for (auto const& option : transfer.options) least.push_back(milliseconds(min_latency(model_, transfer, option)));
    auto const first = first_byte(i);
    for (std::size_t o = 0; o < transfer.options.size(); ++o) {
      auto const& option = transfer.options[o];
      Column column{i, o, {}};
      for (auto const& use : option.demand.uses) {
        auto const capacity = model_.capacity(use.resource);
        if (!capacity) continue;
        auto const at = limit(resource_limit_[index(use.resource)], Limit::Kind::Resource, index(use.resource),
                              gigabytes(*capacity), first, tail_[i]);
        column.takes.emplace_back(at, use.weight.ratio());
      }
      std::map<std::size_t, int> slots;
      for (auto const engine : option.demand.engines) {
        auto const at = limit(engine_limit_[index(engine)], Limit::Kind::Engine, index(engine),
                              model_.resources().at(engine).slots, head_[i], tail_[i]);
        ++slots[at];
      }
      for (auto const& [at, count] : slots) {
        // An engine is held from before the first byte. A way that carries a share of the bytes pays at least that
        // share of its latency.
        auto const latency = least[o] * kMegabyte / static_cast<double>(transfer.bytes.value());
        column.takes.emplace_back(at, count * (1 / gigabytes(option.rate) + (transfer.bytes > Bytes(0) ? latency : 0)));
      }
      std::size_t own = kNone;
      column.takes.emplace_back(limit(own, Limit::Kind::Way, columns_.size(), gigabytes(option.rate), first, tail_[i]),
                                1.0);
      columns_.push_back(std::move(column));
    }
  }

  // The best of: one resource or engine alone; all the ways of one transfer.
  [[nodiscard]] std::vector<double> single_limit() const {
    std::vector<double> least(limits_.size(), 0);  // what all transfers together take of it at least
    std::size_t best = 0;
    Columns columns_of(transfers_.size());
    for (std::size_t c = 0; c < columns_.size(); ++c) columns_of[columns_[c].transfer].push_back(c);
    for (std::size_t i = 0; i < transfers_.size(); ++i) {
      std::map<std::size_t, std::pair<std::size_t, double>> takes;  // limit: ways that take of it, the least
      for (auto const c : columns_of[i])
        for (auto const& [at, coefficient] : columns_[c].takes) {
          auto& entry = takes[at];
          entry.second = entry.first == 0 ? coefficient : std::min(entry.second, coefficient);
          ++entry.first;
        }
      for (auto const& [at, entry] : takes)
        if (entry.first == columns_of[i].size())
          least[at] += entry.second * static_cast<double>(transfers_[i].bytes.value()) / kMegabyte;
    }
    auto const alone = [&](std::size_t l) { return limits_[l].waits() + least[l] / limits_[l].width; };
    for (std::size_t l = 1; l < limits_.size(); ++l)
      if (alone(l) > alone(best)) best = l;
    std::vector<double> weights(limits_.size(), 0);
    weights[best] = 1;
    auto bound = bound_of(weights);
    for (auto const& columns : columns_of) {
      if (transfers_.size() > 1 && columns_.size() > kMaxColumns) break;
      std::vector<double> all_ways(limits_.size(), 0);
      for (auto const c : columns) all_ways[columns_[c].takes.back().first] = 1;
      if (bound_of_one(columns) <= bound) continue;
      bound = bound_of_one(columns);
      weights = all_ways;
    }
    return weights;
  }
  // As bound_of, with a weight of 1 on the own limits of one transfer's ways.
  [[nodiscard]] double bound_of_one(std::vector<std::size_t> const& columns) const {
    double width = 0;
    double owed = 0;
    for (auto const c : columns) {
      auto const& own = limits_[columns_[c].takes.back().first];
      width += own.width;
      owed += own.width * own.waits();
    }
    auto const bytes = transfers_[columns_[columns.front()].transfer].bytes;
    return (owed + static_cast<double>(bytes.value()) / kMegabyte) / width;
  }

  using Columns = std::vector<std::vector<std::size_t>>;
  struct Optimum {
    std::vector<double> weights;  // of the limits: the duals
    std::vector<double> bytes;    // of the columns
    double makespan = 0;          // in the units of the program
  };
  // The program solved, with the limits on shared engines that its first answers would break.
  std::optional<Optimum> optimum() {
    if (columns_.size() > kMaxColumns) return std::nullopt;
    auto found = solved();
    for (int round = 0; found && round < kMaxTightened && columns_.size() <= kMaxTightenedColumns; ++round) {
      if (!tighten(*found)) break;
      auto tighter = solved();
      if (!tighter) break;
      found = std::move(tighter);
    }
    if (found) found->weights.resize(limits_.size(), 0);  // of limits added behind the last answer
    return found;
  }

  // Flows that share a resource hold their engines for longer than each would alone. Of ways that pass resource r, each
  // at most at rate u (weighted), k at a time move at most min(k u, C). With j = floor(C / u), whatever k is,
  // k >= j + (what they move - j u) / (C - j u), so over a time T they hold engines for at least
  // bytes / (C - j u) - T (j u / (C - j u) - j), and together with all other ways for at most the engines' T.
  bool tighten(Optimum const& found) {
    bool any = false;
    auto const count = limits_.size();
    Columns through(count);  // of each limit
    Columns ways(count);     // of these those in use
    for (std::size_t c = 0; c < columns_.size(); ++c)
      for (auto const& [at, coefficient] : columns_[c].takes) {
        through[at].push_back(c);
        if (found.bytes[c] > 0) ways[at].push_back(c);
      }
    for (std::size_t r = 0; r < count; ++r) {
      if (limits_[r].kind != Limit::Kind::Resource || ways[r].size() < 2) continue;
      auto const moved = moved_through(r, ways[r], found);
      // There is always room for one flow at its full rate, so for half of the capacity.
      if (moved <= limits_[r].width * found.makespan / 2) continue;
      auto const engines = engines_of(ways[r]);
      if (engines.size() > 1) any = add_if_broken(r, engines, moved, found, through) || any;
      for (auto const engine : engines) any = add_if_broken(r, {engine}, moved, found, through) || any;
    }
    return any;
  }

  // Megabytes of these ways through a resource, as it counts them.
  [[nodiscard]] double moved_through(std::size_t resource, std::vector<std::size_t> const& ways,
                                     Optimum const& found) const {
    double moved = 0;
    for (auto const c : ways)
      for (auto const& [at, coefficient] : columns_[c].takes)
        if (at == resource) moved += coefficient * found.bytes[c] / kMegabyte;
    return moved;
  }
  // The limits of engines that one of the ways holds.
  [[nodiscard]] std::vector<std::size_t> engines_of(std::vector<std::size_t> const& ways) const {
    std::vector<std::size_t> engines;
    for (auto const c : ways)
      for (auto const& [at, coefficient] : columns_[c].takes)
        if (limits_[at].kind == Limit::Kind::Engine) engines.push_back(at);
    std::sort(engines.begin(), engines.end());
    engines.erase(std::unique(engines.begin(), engines.end()), engines.end());
    return engines;
  }

  bool add_if_broken(std::size_t resource, std::vector<std::size_t> const& engines, double moved, Optimum const& found,
                     Columns const& through) {
    auto const capacity = limits_[resource].width;
    double fastest = 0;  // of what passes it and holds one of the engines
    for (auto const c : through[resource]) {
      double passed = 0;
      bool holds = false;
      for (auto const& [at, coefficient] : columns_[c].takes) {
        if (at == resource) passed = coefficient;
        holds = holds || std::binary_search(engines.begin(), engines.end(), at);
      }
      if (holds) fastest = std::max(fastest, passed * gigabytes(option_of(columns_[c]).rate));
    }
    auto const whole = std::floor(capacity / fastest * (1 + 1e-9));
    auto const rest = capacity - whole * fastest;
    constexpr double kLeastRest = 0.02;  // with less there is nearly room for a whole number of flows
    if (!(fastest > 0) || rest < kLeastRest * capacity || moved <= whole * fastest * found.makespan) return false;
    Limit limit{Limit::Kind::Held, resource, whole * fastest / rest - whole, std::numeric_limits<double>::infinity(),
                std::numeric_limits<double>::infinity()};
    for (auto const engine : engines) {
      limit.width += limits_[engine].width;
      limit.before = std::min(limit.before, limits_[engine].before);
      limit.after = std::min(limit.after, limits_[engine].after);
    }
    std::vector<std::size_t> holding;  // columns that hold one of the engines
    for (auto const engine : engines) holding.insert(holding.end(), through[engine].begin(), through[engine].end());
    std::sort(holding.begin(), holding.end());
    holding.erase(std::unique(holding.begin(), holding.end()), holding.end());
    std::vector<std::pair<std::size_t, double>> takes;  // column, coefficient
    double taken = 0;
    for (auto const c : holding) {
      double coefficient = 0;  // as the engines count it
      double passed = 0;
      for (auto const& [at, takes_of_it] : columns_[c].takes) {
        if (at == resource) passed = takes_of_it;
        if (std::binary_search(engines.begin(), engines.end(), at)) coefficient += takes_of_it;
      }
      if (passed > 0) coefficient += passed / rest - 1 / gigabytes(option_of(columns_[c]).rate);
      takes.emplace_back(c, coefficient);
      taken += coefficient * found.bytes[c] / kMegabyte;
    }
    constexpr double kBroken = 1 + 1e-4;
    if (taken <= limit.width * (found.makespan - limit.waits()) * kBroken) return false;
    for (auto const& [c, coefficient] : takes) {
      auto& of_column = columns_[c].takes;
      of_column.insert(of_column.end() - 1, {limits_.size(), coefficient});  // its own limit stays the last
    }
    limits_.push_back(limit);
    return true;
  }
  [[nodiscard]] TransferOption const& option_of(Column const& column) const {
    return transfers_[column.transfer].options[column.option];
  }

  [[nodiscard]] bool has_engines_for_all(Optimum const& found) const {
    std::map<EngineId, int> held;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (found.bytes[c] > 0)
        for (auto const engine : option_of(columns_[c]).demand.engines) ++held[engine];
    return std::all_of(held.begin(), held.end(),
                       [&](auto const& entry) { return entry.second <= model_.resources().at(entry.first).slots; });
  }

  // A row for each transfer, all of whose bytes go somewhere.
  [[nodiscard]] LinearProgram rows_of_transfers() const {
    LinearProgram program;
    for (auto const& transfer : transfers_) {
      auto const bytes = static_cast<double>(transfer.bytes.value()) / kMegabyte;
      program.add_row({bytes, bytes});
    }
    return program;
  }
  // The limits that say anything, as rows behind those: what takes of each, in `time`. None: -1.
  [[nodiscard]] std::vector<int> add_limits(LinearProgram& program, double time) const {
    std::vector<int> row_of(limits_.size(), -1);
    for (std::size_t l = 0; l < limits_.size(); ++l)
      if (limits_[l].kind != Limit::Kind::Way || caps(limits_[l]))
        row_of[l] = program.add_row({.upper = limits_[l].width * (time - limits_[l].waits())});
    return row_of;
  }
  // The ways as columns.
  void add_ways(LinearProgram& program, std::vector<int> const& row_of, double setup_cost_weight) const {
    for (auto const& column : columns_) {
      program.entries.push_back({static_cast<int>(column.transfer), 1});
      double cost = 0;
      for (auto const& [at, coefficient] : column.takes) {
        if (row_of[at] < 0) continue;
        program.entries.push_back({row_of[at], coefficient});
        cost += setup_cost_weight * coefficient / limits_[at].width;
      }
      program.end_column(cost);
    }
  }

  // Bytes of the columns: with most room, where it takes hardly longer than this.
  [[nodiscard]] std::optional<std::vector<double>> least_congested(double makespan) const {
    auto program = rows_of_transfers();
    auto const row_of = add_limits(program, kUncongestedUtilisation * makespan);
    for (std::size_t l = 0; l < limits_.size(); ++l)
      if (row_of[l] >= 0) add_congestion_cost(program, row_of[l], limits_[l].width, makespan);
    auto const first = program.cost.size();
    constexpr double kThrift = 0.1;
    add_ways(program, row_of, kThrift);
    auto const solution = solve(program);
    if (!solution) return std::nullopt;
    std::vector<double> bytes;
    for (std::size_t c = 0; c < columns_.size(); ++c) bytes.push_back(solution->x[first + c] * kMegabyte);
    return bytes;
  }

  [[nodiscard]] bool each_has_one_way() const {
    return !transfers_.empty() && std::all_of(transfers_.begin(), transfers_.end(),
                                              [](OpenTransfer const& one) { return one.options.size() == 1; });
  }
  // Then the fullest limit is all there is to it.
  [[nodiscard]] Optimum solved_by_fullest() const {
    Optimum found;
    found.bytes.resize(columns_.size());
    std::vector<double> taken(limits_.size(), 0);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      found.bytes[c] = static_cast<double>(transfers_[columns_[c].transfer].bytes.value());
      for (auto const& [at, coefficient] : columns_[c].takes) taken[at] += coefficient * found.bytes[c] / kMegabyte;
    }
    std::size_t fullest = 0;
    for (std::size_t l = 0; l < limits_.size(); ++l) {
      if (limits_[l].kind == Limit::Kind::Way && !caps(limits_[l])) continue;
      auto const time = limits_[l].waits() + taken[l] / limits_[l].width;
      if (time <= found.makespan) continue;
      found.makespan = time;
      fullest = l;
    }
    found.weights.resize(limits_.size(), 0);
    found.weights[fullest] = 1 / limits_[fullest].width;
    return found;
  }

  // Minimise T so that all bytes go somewhere and no limit is passed.
  [[nodiscard]] std::optional<Optimum> solved() const {
    if (each_has_one_way()) return solved_by_fullest();
    auto program = rows_of_transfers();
    auto const row_of = add_limits(program, 0);
    for (std::size_t l = 0; l < limits_.size(); ++l)
      if (row_of[l] >= 0) program.entries.push_back({row_of[l], -limits_[l].width});
    program.end_column(1);  // T
    add_ways(program, row_of, 0);
    auto const solution = solve(program);
    if (!solution) return std::nullopt;
    std::vector<double> weights(limits_.size(), 0);
    for (std::size_t l = 0; l < limits_.size(); ++l)
      if (row_of[l] >= 0) weights[l] = std::max(0.0, -solution->duals[static_cast<std::size_t>(row_of[l])]);
    std::vector<double> bytes;
    for (std::size_t c = 0; c < columns_.size(); ++c) bytes.push_back(solution->x[c + 1] * kMegabyte);
    return Optimum{std::move(weights), std::move(bytes), solution->x[0]};
  }
  // Whether a way is slower alone than the narrowest of what it passes: only then its own limit says anything.
  [[nodiscard]] bool caps(Limit const& own) const {
    auto const& column = columns_[own.id];
    return transfers_[column.transfer].options[column.option].demand.cap < kUnlimited;
  }

  [[nodiscard]] std::string name_of(Limit const& limit) const {
    switch (limit.kind) {
      case Limit::Kind::Resource: return model_.resources().at(ResourceId(limit.id)).name;
      case Limit::Kind::Engine: return model_.resources().at(EngineId(limit.id)).name;
      case Limit::Kind::Held: return name_of(limits_[limit.id]) + " and engines held meanwhile";
      case Limit::Kind::Way: break;
    }
    auto const& transfer = transfers_[columns_[limit.id].transfer];
    auto const& option = transfer.options[columns_[limit.id].option];
    auto const cost = model_.cost(option.demand, transfer.bytes);
    return fmt::format("{} of {} by {}", cost ? model_.text_of_binding(*cost) : "?", transfer.id,
                       to_string(option.way.mechanism));
  }

  std::vector<OpenTransfer> const& transfers_;
  Model const& model_;
  std::vector<double> const& head_;
  std::vector<double> const& tail_;
  std::vector<std::vector<double>> least_;  // latencies, of each option of each transfer
  std::vector<Limit> limits_;
  std::vector<std::size_t> resource_limit_;
  std::vector<std::size_t> engine_limit_;
  std::vector<Column> columns_;
  bool takes_turns_ = false;
};

// The least time of each transfer were it alone, before which those after it cannot begin.
std::vector<double> alone(std::vector<OpenTransfer> const& transfers, Model const& model) {
  std::vector<double> times;
  std::vector<double> const none{0};
  for (auto const& transfer : transfers) {
    OpenTransfer single = transfer;
    single.after.clear();
    std::vector<OpenTransfer> const one{std::move(single)};
    Program program(one, model, none, none);
    times.push_back(program.bound_of(program.weights()));
  }
  return times;
}

struct ChainOrder {
  std::vector<double> head;  // before a transfer can begin
  std::vector<double> tail;  // what must follow it
  double longest = 0;        // chain
  std::vector<std::size_t> chain;
};

// A plan's transfers wait only for earlier ones, or else its steps are no order at all.
ChainOrder order_of(std::vector<OpenTransfer> const& transfers, Model const& model) {
  auto const count = transfers.size();
  ChainOrder order{std::vector<double>(count, 0), std::vector<double>(count, 0), 0, {}};
  if (std::all_of(transfers.begin(), transfers.end(), [](auto const& t) { return t.after.empty(); })) return order;
  auto const time = alone(transfers, model);
  auto paths = longest_paths(dag_of_after(transfers), time);
  order.head = std::move(paths.head);
  order.tail = std::move(paths.tail);
  std::size_t last = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (order.head[i] + time[i] > order.head[last] + time[last]) last = i;
  order.longest = order.head[last] + time[last];
  for (auto at = last;;) {
    order.chain.push_back(at);
    auto const& after = transfers[at].after;
    auto const before = std::max_element(after.begin(), after.end(), [&](std::size_t a, std::size_t b) {
      return order.head[a] + time[a] < order.head[b] + time[b];
    });
    if (before == after.end()) break;
    at = *before;
  }
  return order;
}

// Where the set falls into stages: the first transfer of each, every one of which waits for all of the stages before.
// One behind the last ends the list.
std::vector<std::size_t> stages(std::vector<OpenTransfer> const& transfers) {
  auto const count = transfers.size();
  for (std::size_t i = 0; i < count; ++i)
    for (auto const other : transfers[i].after)
      if (other >= i) return {0, count};  // listed in another order: one stage
  Ancestors const ancestors(dag_of_after(transfers));
  std::vector<std::size_t> complete(count, 0);  // how many of the first are all waited for
  for (std::size_t i = 0; i < count; ++i)
    while (complete[i] < i && ancestors.has(i, complete[i])) ++complete[i];
  std::vector<std::size_t> starts{count};
  auto least = count;
  for (auto i = count; i-- > 1;) {
    least = std::min(least, complete[i]);
    if (least >= i) starts.push_back(i);
  }
  starts.push_back(0);
  std::reverse(starts.begin(), starts.end());
  return starts;
}

// What no plan beats because engines are whole: what moves side by side must find its engines free. In milliseconds, of
// transfers that wait for none; 0 where that was not found out.
double bound_of_configurations(std::vector<OpenTransfer> const& transfers, Model const& model) {
  TransferSet set;
  set.transfers = transfers;
  for (auto const& transfer : transfers) {
    auto const fastest =
        std::max_element(transfer.options.begin(), transfer.options.end(),
                         [](TransferOption const& a, TransferOption const& b) { return a.rate < b.rate; });
    if (fastest->rate <= BytesPerSecond(0)) return 0;
    set.default_option.push_back(static_cast<std::size_t>(fastest - transfer.options.begin()));
  }
  return milliseconds(ConfigurationProgram(set, model).least());
}

LowerBound bound_of_stage(std::vector<OpenTransfer> const& transfers, Model const& model) {
  auto const order = order_of(transfers, model);
  Program program(transfers, model, order.head, order.tail);
  auto const weights = program.weights();
  auto const time = program.bound_of(weights);
  LowerBound bound{Seconds(std::max(time, order.longest) * kMillisecond), program.parts(weights)};
  if (order.longest > time) {
    bound.binding.clear();
    for (auto it = order.chain.rbegin(); it != order.chain.rend(); ++it)
      bound.binding.push_back({transfers[*it].id, 1.0 / static_cast<double>(order.chain.size())});
  }
  if (order.longest > 0 || !program.takes_turns() || transfers.size() > kMaxConfigured) return bound;
  auto const with_turns = Seconds((program.first_byte() + bound_of_configurations(transfers, model)) * kMillisecond);
  if (with_turns <= bound.makespan) return bound;
  auto const share = bound.makespan / with_turns;
  for (auto& part : bound.binding) part.share *= share;
  bound.binding.push_back({kTurnsAtEngines, 1 - share});
  sort_largest_first(bound.binding);
  bound.makespan = with_turns;
  return bound;
}

// Transfers [first, end), waiting only for one another.
std::vector<OpenTransfer> stage_of(std::vector<OpenTransfer> const& transfers, std::size_t first, std::size_t end) {
  std::vector<OpenTransfer> stage(transfers.begin() + static_cast<std::ptrdiff_t>(first),
                                  transfers.begin() + static_cast<std::ptrdiff_t>(end));
  for (auto& transfer : stage) {
    std::erase_if(transfer.after, [&](std::size_t before) { return before < first; });
    for (auto& before : transfer.after) before -= first;
  }
  return stage;
}

}  // namespace

void sort_largest_first(std::vector<LowerBound::Part>& parts) {
  std::stable_sort(parts.begin(), parts.end(), [](auto const& a, auto const& b) { return a.share > b.share; });
}

std::optional<LowerBound> lower_bound(std::vector<OpenTransfer> const& transfers, Model const& model) {
  bool const open = std::all_of(transfers.begin(), transfers.end(), [](auto const& t) { return !t.options.empty(); });
  if (transfers.empty() || !open) return std::nullopt;
  bool const free = std::all_of(transfers.begin(), transfers.end(), [](auto const& t) { return t.after.empty(); });
  if (free) return bound_of_stage(transfers, model);
  auto const starts = stages(transfers);
  LowerBound bound;
  std::map<std::string, double> parts;
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
    auto const stage = bound_of_stage(stage_of(transfers, starts[s], starts[s + 1]), model);
    bound.makespan += stage.makespan;
    for (auto const& part : stage.binding) parts[part.name] += part.share * stage.makespan.value();
  }
  for (auto const& [name, time] : parts) bound.binding.push_back({name, time / bound.makespan.value()});
  sort_largest_first(bound.binding);
  return bound;
}

std::optional<LowerBound> lower_bound(Plan const& plan, Model const& model) {
  if (plan.collective) return collective_bound(*plan.collective, model);
  if (is_job_set(plan)) return job_set_bound(plan, model);
  return lower_bound(open_transfers(plan, model), model);
}

std::optional<Division> best_division(std::vector<OpenTransfer> const& transfers, Model const& model) {
  std::vector<double> const none(transfers.size(), 0);
  return Program(transfers, model, none, none).division();
}

std::string binding_text(LowerBound const& bound) {
  constexpr std::size_t kMaxNamed = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMaxNamed, bound.binding.size()); ++i)
    text += (text.empty() ? "" : ", ") + bound.binding[i].name;
  if (bound.binding.size() > kMaxNamed) text += fmt::format(" and {} more", bound.binding.size() - kMaxNamed);
  return text;
}

}  // namespace lanewise
