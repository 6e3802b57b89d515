#include "core/workload/workload_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/workload/token_tables.hpp"
#include "core/workload/traffic.hpp"

namespace lanewise {
namespace {

using Words = std::vector<std::string>;

bool is_order(std::string const& order) {
  std::array<std::string, 5> words{"cp", "dp", "ep", "pp", "tp"};
  Words found;
  for (std::size_t start = 0; start <= order.size();) {
    auto const end = std::min(order.find('-', start), order.size());
    found.push_back(order.substr(start, end - start));
    start = end + 1;
  }
  return std::is_permutation(found.begin(), found.end(), words.begin(), words.end());
}

// What of a workload does not fit together.
class WorkloadChecks {
 public:
  WorkloadChecks(Workload const& workload, MapReader& reader) : w_(workload), p_(workload.parallel), reader_(reader) {}

  void run() {
    if (!check_sizes()) return;
    check_parallelism();
    if (w_.mode == WorkloadMode::Train)
      check_training();
    else
      check_inference();
    check_routing();
    check_storage();
    check_compute();
  }

 private:
  void refuse(std::string_view block, std::string_view key, std::string message) {
    auto const* node = reader_.node(block);
    auto const* at = node == nullptr ? nullptr : node->find(key);
    reader_.fail(at != nullptr ? *at : node != nullptr ? *node : reader_.self(), std::move(message));
  }

  // Whether nothing is so large that the rest would overflow.
  bool check_sizes() {
    constexpr int kMaxEach = 1 << 24;
    constexpr double kMaxRanks = 1 << 20;
    auto const ranks = static_cast<double>(p_.tp) * p_.cp * p_.pp * p_.dp;
    if (ranks > kMaxRanks) {
      refuse("parallel", "dp", fmt::format("{:.0f} ranks; at most {:.0f}", ranks, kMaxRanks));
      return false;
    }
    auto const& b = w_.batch;
    for (int const size :
         {p_.vpp, p_.ep, p_.etp, p_.shards, b.global, b.micro, b.sequence, b.concurrency, b.prompt, b.output})
      if (size > kMaxEach) {
        refuse("batch", "global", fmt::format("{} is more than any workload has; at most {}", size, kMaxEach));
        return false;
      }
    auto const tokens = static_cast<double>(b.micro) * b.sequence + static_cast<double>(b.concurrency) * b.prompt;
    auto const& routing = w_.routing;
    auto const imbalance = routing.tokens_per_expert.empty() ? routing.imbalance : p_.ep;  // at most
    auto const copies = std::max(1, w_.model.experts_per_token) * imbalance;
    constexpr double kMaxElements = 1e14;  // of one message
    if (tokens * w_.model.hidden_size * copies * p_.expert_tp() > kMaxElements) {
      refuse("batch", "global", "a message of all these tokens is larger than any memory");
      return false;
    }
    return true;
  }

  void check_parallelism() {
    auto const& model = w_.model;
    if (model.attention_heads % p_.tp != 0)
      refuse("parallel", "tp",
             fmt::format("tp {} does not divide the {} heads of {}; allowed: {}", p_.tp, model.attention_heads,
                         model.name, divisors(model.attention_heads)));
    if (std::max(p_.tp, model.key_value_heads) % std::min(p_.tp, model.key_value_heads) != 0)
      refuse("parallel", "tp",
             fmt::format("tp {} and the {} heads of keys and values of {} do not divide one another", p_.tp,
                         model.key_value_heads, model.name));
    if (std::int64_t{p_.pp} * p_.vpp > model.layers + 2)  // embedding and output may stand for a layer each
      refuse("parallel", "pp",
             fmt::format("pp {} x vpp {} is more than the {} layers of {}", p_.pp, p_.vpp, model.layers, model.name));
    if (p_.vpp > 1 && p_.pp == 1) refuse("parallel", "vpp", "'vpp' interleaves the stages of 'pp', and there is one");
    if (p_.sp && p_.tp == 1) refuse("parallel", "sp", "'sp' is by the ranks of 'tp', and there is one");
    if (p_.zero > 3) refuse("parallel", "zero", fmt::format("zero {}: there is 0, 1, 2 and 3", p_.zero));
    if (p_.shards > 0 && model.experts > 0) refuse("parallel", "shards", "'shards' is for models without experts");
    if (p_.cp_kind == ContextKind::Ulysses && model.attention_heads % (p_.tp * p_.cp) != 0)
      refuse("parallel", "cp",
             fmt::format("tp {} x cp {} (ulysses) does not divide the {} heads of {}", p_.tp, p_.cp,
                         model.attention_heads, model.name));
    if (p_.shards > 0 && (p_.zero != 3 || (p_.dp * p_.cp) % p_.shards != 0))
      refuse("parallel", "shards", "'shards' belongs to zero 3, and divides dp x cp");
    if (!is_order(p_.order))
      refuse("parallel", "order",
             fmt::format("'{}' is no order; write tp, cp, ep, dp and pp, each once, with '-' between, or search",
                         p_.order));
    check_experts();
  }

  void check_experts() {
    auto const& model = w_.model;
    if (p_.ep > 1 && model.experts == 0)
      return refuse("parallel", "ep", fmt::format("{} has no experts to divide by 'ep'", model.name));
    if (model.experts > 0 && model.experts % p_.ep != 0)
      refuse("parallel", "ep",
             fmt::format("ep {} does not divide the {} experts of {}; allowed: {}", p_.ep, model.experts, model.name,
                         divisors(model.experts)));
    auto const ranks = p_.tp * p_.cp * p_.dp;
    if (model.experts > 0 && ranks % (std::int64_t{p_.ep} * p_.expert_tp()) != 0)
      refuse("parallel", "ep",
             fmt::format("ep {} x etp {} does not divide the {} ranks of a stage (tp x cp x dp)", p_.ep, p_.expert_tp(),
                         ranks));
  }

  void check_training() {
    auto const& b = w_.batch;
    if (b.global == 0 || b.sequence == 0)
      return refuse("batch", "global", "training needs 'global', sequences of a step, and 'sequence', tokens of each");
    if (b.global % (std::int64_t{p_.dp} * b.micro) != 0)
      refuse("batch", "global",
             fmt::format("{} sequences cannot be divided evenly over dp {} x micro {}", b.global, p_.dp, b.micro));
    if (b.sequence % (p_.cp * (p_.sp ? p_.tp : 1)) != 0)
      refuse("batch", "sequence",
             fmt::format("{} tokens cannot be divided evenly over cp {}{}", b.sequence, p_.cp,
                         p_.sp ? fmt::format(" x tp {}", p_.tp) : ""));
    if (p_.vpp > 1 && (b.global / (std::int64_t{p_.dp} * b.micro)) % p_.pp != 0)
      refuse("batch", "global",
             fmt::format("an interleaved pipeline needs a multiple of pp {} micro-batches, not {}", p_.pp,
                         b.global / (std::int64_t{p_.dp} * b.micro)));
  }

  void check_inference() {
    auto const& b = w_.batch;
    if (b.prompt == 0) refuse("batch", "prompt", "inference needs 'prompt', the tokens of a prompt");
    if (b.prefix_hit >= 1) refuse("batch", "prefix_hit", "less than 100 % of a prompt can be in the cache");
    if (p_.zero > 0) refuse("parallel", "zero", "'zero' belongs to training");
    if (p_.vpp > 1) refuse("parallel", "vpp", "'vpp' belongs to training");
    bool const moves_cache = w_.mode == WorkloadMode::KvTransfer;
    if (moves_cache && (w_.ranks.empty() || w_.decode.empty()))
      reader_.fail(reader_.self(),
                   "kv_transfer needs 'ranks', the GPUs that prefill, and 'decode', those that receive");
    if (!moves_cache && !w_.decode.empty()) reader_.fail_at_key("decode", "'decode' belongs to the mode kv_transfer");
  }

  void check_compute() {
    auto const& c = w_.compute;
    int const ways = (c.mfu ? 1 : 0) + (c.forward ? 1 : 0) + (c.table ? 1 : 0) + (c.fitted ? 1 : 0);
    if (ways > 1)
      refuse("compute", "mfu", "'mfu', 'forward', 'table' and 'fitted' are four ways to say the same; give one");
    if (c.table) check_table(*c.table);
    if (c.memory_utilization && (*c.memory_utilization <= 0 || *c.memory_utilization > 1))
      refuse("compute", "memory_utilization", "'memory_utilization' is above 0 % and at most 100 %");
    if ((c.forward && *c.forward <= Seconds(0)) || (c.backward && *c.backward <= Seconds(0)) ||
        (c.fitted && c.fitted->step_time <= Seconds(0)))
      refuse("compute", "forward", "computing takes more than no time");
    if (c.mfu && (*c.mfu <= 0 || *c.mfu > 1)) refuse("compute", "mfu", "'mfu' is above 0 % and at most 100 %");
    if (c.backward && !c.forward) refuse("compute", "backward", "'backward' needs 'forward' beside it");
    if (c.fitted && w_.mode != WorkloadMode::Train)
      refuse("compute", "fitted", "'fitted' belongs to training; give 'mfu' or 'forward'");
  }

  void check_table(ComputeTable const& table) {
    auto const tokens = static_cast<double>(tokens_at_once(w_));
    auto const times = times_at(table, tokens);
    if (!times)
      return refuse("compute", "table",
                    fmt::format("a micro-batch has {:.0f} tokens, and {} is about {:.0f} to {:.0f}", tokens, table.file,
                                table.rows.front().tokens, table.rows.back().tokens));
    if (w_.mode == WorkloadMode::Train && !times->backward)
      refuse("compute", "table", fmt::format("training needs the column backward_us, which {} lacks", table.file));
  }

  void check_storage() {
    bool const trains = w_.mode == WorkloadMode::Train;
    auto const& offload = w_.offload;
    if (offload.weights > 1) refuse("offload", "weights", "at most 100 % of the weights can be outside of GPU memory");
    if (offload.kv > 1) refuse("offload", "kv", "at most 100 % of the cache can be outside of GPU memory");
    if (reader_.has("offload") && offload.weights == 0 && offload.kv == 0 && !offload.optimizer)
      refuse("offload", "to", "nothing is outside of GPU memory; name a share of 'weights' or 'kv', or 'optimizer'");
    if (trains && offload.kv > 0)
      refuse("offload", "kv", "'kv' belongs to prefill and decode; training keeps no cache");
    if (!trains && offload.optimizer) refuse("offload", "optimizer", "'optimizer' belongs to training");
    if (w_.mode == WorkloadMode::KvTransfer && reader_.has("offload"))
      reader_.fail_at_key("offload", "'offload' belongs to train, prefill and decode");
    if (w_.checkpoint && !trains) reader_.fail_at_key("checkpoint", "'checkpoint' belongs to training");
    if (w_.data && !trains) reader_.fail_at_key("data", "'data' belongs to training");
    constexpr int kMaxBytes = 1 << 10;  // more has no optimizer, and no token
    if (w_.checkpoint && w_.checkpoint->bytes_per_parameter > kMaxBytes)
      refuse("checkpoint", "bytes_per_parameter", fmt::format("at most {} bytes a parameter", kMaxBytes));
    if (w_.data && w_.data->bytes_per_token > kMaxBytes * kMaxBytes)
      refuse("data", "bytes_per_token", fmt::format("at most {} bytes a token", kMaxBytes * kMaxBytes));
  }

  void check_routing() {
    auto const& tokens = w_.routing.tokens_per_expert;
    if (w_.routing.imbalance < 1) refuse("routing", "imbalance", "the busiest rank has the mean at least: 1 or more");
    if (tokens.empty()) return;
    if (tokens.size() != static_cast<std::size_t>(w_.model.experts))
      return refuse(
          "routing", "tokens_per_expert",
          fmt::format("{} numbers, and {} has {} experts in a layer", tokens.size(), w_.model.name, w_.model.experts));
    if (std::all_of(tokens.begin(), tokens.end(), [](double of_expert) { return of_expert == 0; }))
      refuse("routing", "tokens_per_expert", "no expert got a token");
  }

  static std::string divisors(int number) {
    Words found;
    for (int i = 1; i <= number; ++i)
      if (number % i == 0) found.push_back(std::to_string(i));
    return fmt::format("{}", fmt::join(found, ", "));
  }

  Workload const& w_;
  Parallelism const& p_;
  MapReader& reader_;
};

}  // namespace

void check_workload(Workload const& workload, MapReader& reader) { WorkloadChecks(workload, reader).run(); }

}  // namespace lanewise
