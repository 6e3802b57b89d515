// Reads nccl-tests and rccl-tests: collectives by size, and sendrecv_perf, in which every rank sends to the next and
// receives from the one before, all at the same time.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "core/interop/benchmarks/nccl_tests_output.hpp"
#include "core/planner/libraries/steps/link_shares.hpp"
#include "core/units/statistics.hpp"
#include "lanewise/machine/setting.hpp"

namespace lanewise {
namespace {

// Below it NCCL's time for a call and its launch make up much of a figure.
constexpr Bytes kLargeMessage{std::int64_t{16} << 20};
// A row that takes less than this many times the shortest of its table is one of launches.
constexpr double kLaunches = 1.5;
constexpr Bytes kLargeCollective{std::int64_t{128} << 10};
// Sends and receives are predicted without NCCL's time for a call. A row must take this many times the shortest of its
// table; a call is then less than an eighth of it.
constexpr double kMinCallTimes = 8;
// Both halves of a row do nearly the same work: if they differ by more than this, something else ran beside one.
constexpr double kMaxHalvesRatio = 1.5;

// Words that name a model have letters and digits: H100, B200, L40S, 4090.
std::set<std::string> models_in(std::string_view text) {
  std::set<std::string> models;
  std::string word;
  auto const end = [&] {
    auto const digits = std::count_if(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    bool const memory = word.ends_with("GB") || word.ends_with("GIB");
    if (digits >= 2 && word.size() >= 3 && !memory && !word.starts_with("HBM")) models.insert(word);
    word.clear();
  };
  for (char const c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    else
      end();
  }
  end();
  return models;
}

class NcclTestsMeaning {
 public:
  NcclTestsMeaning(Machine const& machine, BenchmarkBuilder& builder) : machine_(machine), builder_(builder) {}

  void add(std::vector<NcclTestsTable> const& tables) {
    for (auto const& table : tables)
      if (!add_table(table)) break;
    add_pending();
    for (auto const& [program, rows] : skipped_)
      builder_.note(
          fmt::format("{} row{} of {}_perf: what NCCL does for it is not known", rows, rows == 1 ? "" : "s", program));
  }

 private:
  // False: an error was reported that the tables after it would share.
  bool add_table(NcclTestsTable const& table) {
    for (auto const& rank : table.ranks)
      if (is_other_product(rank.product)) {
        auto const gpus = machine_.all(PciKind::Gpu);
        builder_.fail(rank.line, rank.column,
                      fmt::format("this ran on '{}', and the GPUs of {} are {}: is this the machine?", rank.product,
                                  machine_.name, machine_.part_of(gpus.front())->title));
        return false;
      }
    if (table.rows.empty()) return true;
    auto const slower = [](NcclTestsRow const& a, NcclTestsRow const& b) {
      return a.bus.value_or(0) < b.bus.value_or(0);
    };
    // Bandwidths are printed with two decimals: the largest are the most precise.
    auto const& fastest = *std::max_element(table.rows.begin(), table.rows.end(), slower);
    auto const count = rank_count(table, fastest);
    if (count == 0) return false;
    auto const* program = program_of(table, fastest, count);
    if (program == nullptr) {
      builder_.fail(fastest.line, fastest.column,
                    "nothing here says which test it was; say it: --collective OP, or --sendrecv");
      return false;
    }
    if (!program->op && !program->is_sendrecv()) {
      skipped_[std::string(program->name)] += static_cast<int>(table.rows.size());
      return true;
    }
    auto const among = participants(table, count, fastest);
    for (auto const& row : table.rows) add_row(row, *program, among, table);
    return true;
  }

  [[nodiscard]] bool is_other_product(std::string_view product) const {
    auto const named = models_in(product);
    auto const gpus = machine_.all(PciKind::Gpu);
    if (named.empty() || gpus.empty() || machine_.part_of(gpus.front()) == nullptr) return false;
    auto const known = models_in(machine_.part_of(gpus.front())->title);
    if (known.empty()) return false;
    return std::none_of(named.begin(), named.end(), [&](std::string const& name) {
      return std::any_of(known.begin(), known.end(),
                         [&](std::string const& other) { return other.starts_with(name) || name.starts_with(other); });
    });
  }

  // What a table is of: as the output or the command line says, else as a row tells. nullptr: they do not.
  static NcclTestsProgram const* program_of(NcclTestsTable const& table, NcclTestsRow const& row, std::size_t ranks) {
    if (table.program != nullptr) return table.program;
    if (row.root && *row.root >= 0) {
      if (!row.redop.empty()) return nccl_tests_program("reduce");
      // A scatter and a gather look alike, and their busbw is less than their algbw.
      bool const is_part = row.bus && row.algorithm && *row.bus < 0.98 * *row.algorithm;
      return is_part ? nullptr : nccl_tests_program("broadcast");
    }
    if (row.redop.empty() || !row.bus || !row.algorithm || *row.algorithm <= 0) return nullptr;
    auto const factor = *row.bus / *row.algorithm;
    auto const is_of = [&](CollectiveOp op) { return std::abs(factor / passes_of(op, ranks) - 1) < 0.02; };
    // Of two ranks an all_reduce has the factor of sendrecv.
    if (ranks > 2 && is_of(CollectiveOp::AllReduce)) return nccl_tests_program("all_reduce");
    if (is_of(CollectiveOp::ReduceScatter)) return nccl_tests_program("reduce_scatter");
    return nullptr;
  }

  // How many ranks there were by the bandwidths of a row, whose program may be unknown: busbw is algbw times what
  // passes a hop of a ring. They are printed with two decimals at best: as many as are listed, or all of the machine,
  // where that fits. nullopt: the row does not tell.
  [[nodiscard]] std::optional<std::size_t> ranks_shown(NcclTestsTable const& table, NcclTestsRow const& row) const {
    if (!row.bus || !row.algorithm || *row.algorithm <= 0) return std::nullopt;
    auto const factor = *row.bus / *row.algorithm;
    auto op = factor > 1 ? CollectiveOp::AllReduce : CollectiveOp::ReduceScatter;
    if (table.program == nullptr) {
      if (row.redop.empty() || row.root.value_or(-1) >= 0 || std::abs(factor - 1) < 0.02) return std::nullopt;
    } else {
      if (!table.program->op || table.program->op == CollectiveOp::Broadcast ||
          table.program->op == CollectiveOp::Reduce)
        return std::nullopt;
      op = *table.program->op;
    }
    auto const most = 2 * passes_of(op, 2);  // of ever more ranks
    if (factor >= most) return std::nullopt;
    auto const fits = [&](std::size_t ranks, double decimals) {
      return ranks > 1 && std::abs(passes_of(op, ranks) - factor) <= decimals * (1 + factor) / *row.algorithm;
    };
    if (fits(table.ranks.size(), 0.05)) return table.ranks.size();
    if (auto const all = machine_.all(PciKind::Gpu).size(); fits(all, 0.005)) return all;
    auto const ranks = static_cast<std::size_t>(std::round(most / (most - factor)));
    if (ranks < 2 || (fits(ranks, 0.005) && fits(ranks + 1, 0.005))) return std::nullopt;
    return ranks;
  }

  // How many ranks a table is of: as many as are listed, unless bandwidths tell that the list is missing or cut. 0: an
  // error was reported.
  std::size_t rank_count(NcclTestsTable const& table, NcclTestsRow const& row) {
    auto const gpus = machine_.all(PciKind::Gpu).size();
    auto const listed = table.ranks.size();
    auto const shown = ranks_shown(table, row);
    if (shown ? listed == *shown : listed >= 2) return listed;
    auto const count = shown.value_or(listed == 0 ? gpus : 1);
    if (count < 2 || count > gpus) {
      builder_.fail(row.line, row.column,
                    count < 2 ? std::string("the lines '# Rank N ... device D' of at least two ranks must come first")
                              : fmt::format("busbw and algbw differ as with {} ranks, and {} has {} GPUs", count,
                                            machine_.name, gpus));
      return 0;
    }
    builder_.note(fmt::format(
        "{} listed; taken for {} of the {} GPUs{}",
        listed == 0 ? std::string("no ranks are") : fmt::format("{} rank{}", listed, listed == 1 ? " is" : "s are"),
        count, gpus, shown ? ", as busbw and algbw say" : ""));
    return count;
  }

  // The GPUs of the ranks, in their order: as listed, or where others took part the machine's first.
  std::vector<std::string> participants(NcclTestsTable const& table, std::size_t count, NcclTestsRow const& row) {
    std::vector<std::string> names;
    for (std::size_t rank = 0; rank < count; ++rank)
      names.push_back(count == table.ranks.size() ? place(table.ranks[rank], table.ranks, row)
                                                  : builder_.gpu_of_rank(rank, row.line, row.column));
    return names;
  }

  std::string place(NcclTestsRank const& rank, std::vector<NcclTestsRank> const& ranks, NcclTestsRow const& row) {
    std::vector<std::string> hosts;
    for (auto const& known : ranks)
      if (std::find(hosts.begin(), hosts.end(), known.host) == hosts.end()) hosts.push_back(known.host);
    auto const node = static_cast<std::size_t>(std::find(hosts.begin(), hosts.end(), rank.host) - hosts.begin());
    return builder_.gpu(rank.device, row.line, row.column, hosts.size() > 1 ? std::optional(node) : std::nullopt);
  }

  void add_row(NcclTestsRow const& row, NcclTestsProgram const& program, std::vector<std::string> const& among,
               NcclTestsTable const& table) {
    auto const bytes = Bytes(static_cast<std::int64_t>(row.bytes));
    auto const time = row.time_us * 1e-6;
    if (program.is_sendrecv()) return add_sendrecv(bytes, time, among, row);
    auto const op = program.op;
    auto const root = static_cast<std::size_t>(std::max(row.root.value_or(0), 0));
    if (root >= among.size())
      return builder_.fail(row.line, row.column, fmt::format("root {}: only {} ranks take part", root, among.size()));
    if (op == CollectiveOp::AllToAll && row.bytes % (16 * among.size()) != 0) return;
    MeasuredSeries like;
    like.quantity = MeasuredQuantity::Makespan;
    auto& collective = like.collective.emplace();
    collective.op = *op;
    collective.library = table.library;
    collective.figure = CollectiveFigure::Time;
    collective.among = among;
    collective.root = root;
    for (auto const& [name, value] : table.variables) like.settings.push_back({"library.env." + name, value});
    like.name = fmt::format("{}-{}", to_string(*op), among.size());
    if (root > 0) like.name += fmt::format("-root-{}", root);
    std::replace(like.name.begin(), like.name.end(), '_', '-');
    pending_.push_back({std::move(like), {}, bytes, time, is_disturbed(row), row.line, row.column});
    if (!table.version_known)
      builder_.note(fmt::format("the version of NCCL is not said; taken for {}", to_string(table.library)));
  }

  struct Pending {
    MeasuredSeries like;
    std::vector<MeasuredFlow> flows;  // of sends and receives
    Bytes bytes{0};
    double time = 0;
    bool is_disturbed = false;
    int line = 0, column = 0;
  };

  // Few bytes take the time of their launches, which overlap with what they start: a row that takes hardly longer says
  // nothing of the machine. Of a table without such rows, its shortest time.
  void add_pending() {
    std::map<std::string, std::vector<double>> small;
    std::map<std::string, double> shortest;
    for (auto const& one : pending_) {
      auto const [found, is_new] = shortest.try_emplace(one.like.name, one.time);
      if (!is_new) found->second = std::min(found->second, one.time);
      if (one.bytes < kLargeCollective) small[one.like.name].push_back(one.time);
    }
    for (auto& [name, times] : small) shortest[name] = std::max(shortest[name], median(times));
    for (auto& one : pending_) {
      auto const calls = small.find(one.like.name);
      explain_doubt(one, shortest.at(one.like.name), calls != small.end() ? median(calls->second) : 0);
      if (one.like.collective)
        builder_.add_collective(one.like, one.bytes, one.time, one.line, one.column);
      else
        builder_.add(one.like, std::move(one.flows), one.bytes, one.time, one.line, one.column);
    }
    pending_.clear();
  }

  // Says of a figure that tells nothing of the machine why. Of its table, `shortest`: what a row takes, and `call`:
  // what rows of few bytes do; 0: it has none.
  static void explain_doubt(Pending& one, double shortest, double call) {
    auto const doubt = [&](std::string const& kind, std::string why) {
      one.like.name += kind;
      one.like.doubtful = std::move(why);
    };
    if (one.like.collective) {
      bool const is_of_launches = one.time < kLaunches * shortest && one.bytes < kLargeMessage;
      if (one.bytes < kLargeCollective || is_of_launches)
        return doubt("-small", "the time of launches is much of it, which depends on the host");
    } else if (one.bytes < kLargeMessage || one.time < kMinCallTimes * call) {
      return doubt("-small", "NCCL's own time for a call is much of it, which is not modelled");
    }
    if (one.is_disturbed)
      doubt("-disturbed", "out of place and in place differ by more than half: something else ran beside one of them");
  }

  static bool is_disturbed(NcclTestsRow const& row) {
    if (!row.in_place_us || *row.in_place_us <= 0 || row.time_us <= 0) return false;
    auto const ratio = *row.in_place_us / row.time_us;
    return ratio > kMaxHalvesRatio || ratio < 1 / kMaxHalvesRatio;
  }

  void add_sendrecv(Bytes bytes, double value, std::vector<std::string> const& among, NcclTestsRow const& row) {
    std::vector<MeasuredFlow> flows;
    for (std::size_t i = 0; i < among.size(); ++i) flows.push_back({among[i], among[(i + 1) % among.size()]});
    MeasuredSeries like;
    like.quantity = MeasuredQuantity::Makespan;
    like.op = Op::Write;
    like.name = "sendrecv";
    pending_.push_back({std::move(like), std::move(flows), bytes, value, is_disturbed(row), row.line, row.column});
  }

  Machine const& machine_;
  BenchmarkBuilder& builder_;
  std::vector<Pending> pending_;  // figures, until all of a table are known
  std::map<std::string, int> skipped_;
};

// What the command line says that it was; nullptr: nothing.
NcclTestsProgram const* given_program(BenchmarkOptions const& options) {
  NcclTestsProgram const* program = nullptr;
  if (options.collective)
    program =
        nccl_tests_program(options.collective == CollectiveOp::AllToAll ? "alltoall" : to_string(*options.collective));
  return program == nullptr && options.sendrecv ? nccl_tests_program("sendrecv") : program;
}

}  // namespace

Measurement read_nccl_tests(SourceText const& source, Machine const& machine, BenchmarkOptions const& options) {
  BenchmarkBuilder builder(source, machine, options, Benchmark::NcclTests);
  builder.method("nccl-tests: the time of a call, out of place where that was measured");
  NcclTestsMeaning(machine, builder).add(read_nccl_tests_tables(source, builder, given_program(options)));
  return builder.finish();
}

}  // namespace lanewise
