#include "core/workload/workload_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>

#include "core/machine/field.hpp"
#include "lanewise/machine/setting.hpp"

namespace lanewise {
namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 4> kModes{"train", "prefill", "decode", "kv_transfer"};
constexpr std::array<std::string_view, 5> kFormats{"fp32", "bf16", "fp16", "fp8", "fp4"};
Words const kFormatWords{kFormats.begin(), kFormats.end()};

std::vector<Field<Precisions>> const& precision_fields() {
  using Key = FieldsOf<Precisions>;
  static std::vector<Field<Precisions>> const fields{
      Key::word("weights", "as they are gathered and read; bf16 when absent", kFormatWords, LANEWISE_MEMBER(weights)),
      Key::word("activations", "between layers, ranks and stages; bf16 when absent", kFormatWords,
                LANEWISE_MEMBER(activations)),
      Key::word("gradients", "as they are summed over replicas; fp32 when absent", kFormatWords,
                LANEWISE_MEMBER(gradients)),
      Key::word("kv", "in the cache of keys and values; bf16 when absent", kFormatWords, LANEWISE_MEMBER(kv)),
      Key::word("dispatch", "tokens on their way to experts; bf16 when absent", kFormatWords,
                LANEWISE_MEMBER(dispatch)),
      Key::word("combine", "results of experts on their way back; bf16 when absent", kFormatWords,
                LANEWISE_MEMBER(combine)),
      Key::word("matrices", "of matrix multiplications: which peak rate of a GPU counts; bf16 when absent",
                kFormatWords, LANEWISE_MEMBER(matrices))};
  return fields;
}

std::vector<Field<Parallelism>> const& parallel_fields() {
  using Key = FieldsOf<Parallelism>;
  static std::vector<Field<Parallelism>> const fields{
      Key::positive("tp", "tensor parallel: ranks that share the matrices of a layer", LANEWISE_MEMBER(tp)),
      Key::scalar("sp", "sequence parallel: these ranks also share the rest of a layer, by tokens",
                  LANEWISE_MEMBER(sp)),
      Key::positive("cp", "context parallel: ranks that share a sequence", LANEWISE_MEMBER(cp)),
      Key::word("cp_kind", "how attention sees the other parts of a sequence; ring when absent",
                {"ring", "all_gather", "ulysses"}, LANEWISE_MEMBER(cp_kind)),
      Key::positive("pp", "pipeline parallel: stages of layers", LANEWISE_MEMBER(pp)),
      Key::positive("vpp", "chunks of layers on each stage (interleaved pipeline)", LANEWISE_MEMBER(vpp)),
      Key::positive("dp", "data parallel: replicas", LANEWISE_MEMBER(dp)),
      Key::scalar("zero", "what replicas divide: 0 nothing, 1 optimizer state, 2 gradients too, 3 weights too (FSDP)",
                  LANEWISE_MEMBER(zero)),
      Key::positive("shards", "of zero 3: ranks that share one copy of the weights (HSDP); all replicas when absent",
                    LANEWISE_MEMBER(shards)),
      Key::positive("ep", "expert parallel: ranks that share the experts of a layer", LANEWISE_MEMBER(ep)),
      Key::positive("etp", "tensor parallel within an expert; as tp when absent", LANEWISE_MEMBER(etp)),
      Key::scalar("order", "which ranks are neighbours, innermost first; tp-cp-ep-dp-pp when absent",
                  LANEWISE_MEMBER(order))};
  return fields;
}

std::vector<Field<Batch>> const& batch_fields() {
  using Key = FieldsOf<Batch>;
  static std::vector<Field<Batch>> const fields{
      Key::positive("global", "train: sequences of a step, of all replicas together", LANEWISE_MEMBER(global)),
      Key::positive("micro", "train: sequences that pass the pipeline at once; 1 when absent", LANEWISE_MEMBER(micro)),
      Key::positive("sequence", "train: tokens of a sequence", LANEWISE_MEMBER(sequence)),
      Key::positive("concurrency", "inference: sequences of a batch of one replica; 1 when absent",
                    LANEWISE_MEMBER(concurrency)),
      Key::positive("prompt", "inference: tokens of a prompt", LANEWISE_MEMBER(prompt)),
      Key::positive("output", "decode: tokens that follow a prompt; half of them are there in the mean",
                    LANEWISE_MEMBER(output)),
      Key::scalar("prefix_hit", "inference: the share of a prompt that is in the cache already",
                  LANEWISE_MEMBER(prefix_hit)),
      Key::scalar("request_rate", "kv_transfer: prompts that end, of the whole service: 4 /s",
                  LANEWISE_MEMBER(request_rate))};
  return fields;
}

std::vector<Field<ExpertRouting>> const& routing_fields() {
  using Key = FieldsOf<ExpertRouting>;
  static std::vector<Field<ExpertRouting>> const fields{
      Key::positive("imbalance", "tokens of the busiest rank over the mean; 1 when absent", LANEWISE_MEMBER(imbalance)),
      Key::word("copies",
                "what a token is sent: a copy for each of its experts (all-to-all of Megatron, vLLM), or one for each "
                "rank that has some of them (DeepEP); expert when absent",
                {"expert", "rank"}, LANEWISE_MEMBER(dispatcher))};
  return fields;
}

std::vector<Field<Overlap>> const& overlap_fields() {
  using Key = FieldsOf<Overlap>;
  static std::vector<Field<Overlap>> const fields{
      Key::scalar("tp", "of tensor parallel, with the matrix multiplication beside it; false when absent",
                  LANEWISE_MEMBER(tp)),
      Key::scalar("cp", "of context parallel (ring), with attention; true when absent", LANEWISE_MEMBER(cp)),
      Key::scalar("ep", "of experts, with the computing of another micro-batch; false when absent",
                  LANEWISE_MEMBER(ep)),
      Key::scalar("dp",
                  "of gradients with the last backward pass, of weights with the next forward pass; true when absent",
                  LANEWISE_MEMBER(dp)),
      Key::scalar("pp", "between stages, with other micro-batches; true when absent", LANEWISE_MEMBER(pp))};
  return fields;
}

template <class Object>
MapSpec spec_of(std::string title, std::vector<Field<Object>> const& fields) {
  MapSpec spec{std::move(title), {}};
  for (auto const& field : fields) spec.fields.push_back(field.spec);
  return spec;
}

MapSpec const& precision_spec() {
  static MapSpec const spec = spec_of("precision", precision_fields());
  return spec;
}
MapSpec const& parallel_spec() {
  static MapSpec const spec = spec_of("parallel", parallel_fields());
  return spec;
}
MapSpec const& batch_spec() {
  static MapSpec const spec = spec_of("batch", batch_fields());
  return spec;
}
MapSpec const& routing_spec() {
  static MapSpec const spec = spec_of("routing", routing_fields());
  return spec;
}
MapSpec const& overlap_spec() {
  static MapSpec const spec = spec_of("overlap", overlap_fields());
  return spec;
}

FieldSpec map_field(std::string name, std::string doc, MapSpec const& map) {
  return {.name = std::move(name), .type = ValueType::Map, .doc = std::move(doc), .map = &map};
}

MapSpec const& fitted_spec() {
  static MapSpec const spec{
      "fitted",
      {{.name = "step_time", .type = ValueType::Time, .doc = "what a step took", .required = true},
       map_field("parallel", "in what this run differed; as the workload when absent", parallel_spec()),
       map_field("batch", "the same of its batch", batch_spec()),
       text_field("machine", "on which it ran; that of the workload when absent")}};
  return spec;
}

MapSpec const& compute_time_spec() {
  static MapSpec const spec{
      "compute",
      {{.name = "mfu",
        .type = ValueType::Ratio,
        .doc = "model FLOPs over the GPU's peak while it computes: 6 for each parameter that a token passes, and those "
               "of attention to the whole sequence (PaLM, arXiv 2204.02311)"},
       {.name = "memory_utilization",
        .type = ValueType::Ratio,
        .doc = "decode: weights and cache that are read, over the memory bandwidth; 60 % when absent"},
       {.name = "forward", .type = ValueType::Time, .doc = "of one micro-batch on one stage, instead of mfu"},
       {.name = "backward", .type = ValueType::Time, .doc = "the same of the backward pass; twice forward when absent"},
       map_field("fitted", "a measured step, to which the computing is fitted, instead of mfu", fitted_spec())}};
  return spec;
}

template <class Object>
void read_fields(MapReader& reader, std::vector<Field<Object>> const& fields, Object& object) {
  for (auto const& field : fields) field.read(object, reader);
}

template <class Object>
void read_block(MapReader& reader, std::string_view key, std::vector<Field<Object>> const& fields, Object& object) {
  if (auto block = reader.map(key)) read_fields(*block, fields, object);
}

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

// What of a workload does not fit together. `at`: the mapping with the parallelism, and the one with the batch.
class Checks {
 public:
  Checks(Workload const& workload, MapReader& reader) : w_(workload), p_(workload.parallel), reader_(reader) {}

  void run() {
    check_parallelism();
    if (w_.mode == WorkloadMode::Train)
      check_training();
    else
      check_inference();
    check_compute();
  }

 private:
  void refuse(std::string_view block, std::string_view key, std::string message) {
    auto const* node = reader_.node(block);
    auto const* at = node == nullptr ? nullptr : node->find(key);
    reader_.fail(at != nullptr ? *at : node != nullptr ? *node : reader_.self(), std::move(message));
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
    if (p_.pp * p_.vpp > model.layers + 2)  // embedding and output may stand for a layer each
      refuse("parallel", "pp",
             fmt::format("pp {} x vpp {} is more than the {} layers of {}", p_.pp, p_.vpp, model.layers, model.name));
    if (p_.vpp > 1 && p_.pp == 1) refuse("parallel", "vpp", "'vpp' interleaves the stages of 'pp', and there is one");
    if (p_.sp && p_.tp == 1) refuse("parallel", "sp", "'sp' is by the ranks of 'tp', and there is one");
    if (p_.zero > 3) refuse("parallel", "zero", fmt::format("zero {}: there is 0, 1, 2 and 3", p_.zero));
    if (p_.shards > 0 && (p_.zero != 3 || (p_.dp * p_.cp) % p_.shards != 0))
      refuse("parallel", "shards", "'shards' belongs to zero 3, and divides dp x cp");
    if (!is_order(p_.order))
      refuse("parallel", "order",
             fmt::format("'{}' is no order; write tp, cp, ep, dp and pp, each once, with '-' between", p_.order));
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
    if (model.experts > 0 && ranks % (p_.ep * p_.expert_tp()) != 0)
      refuse("parallel", "ep",
             fmt::format("ep {} x etp {} does not divide the {} ranks of a stage (tp x cp x dp)", p_.ep, p_.expert_tp(),
                         ranks));
  }

  void check_training() {
    auto const& b = w_.batch;
    if (b.global == 0 || b.sequence == 0)
      return refuse("batch", "global", "training needs 'global', sequences of a step, and 'sequence', tokens of each");
    if (b.global % (p_.dp * b.micro) != 0)
      refuse("batch", "global",
             fmt::format("{} sequences cannot be divided evenly over dp {} x micro {}", b.global, p_.dp, b.micro));
    if (b.sequence % (p_.cp * (p_.sp ? p_.tp : 1)) != 0)
      refuse("batch", "sequence",
             fmt::format("{} tokens cannot be divided evenly over cp {}{}", b.sequence, p_.cp,
                         p_.sp ? fmt::format(" x tp {}", p_.tp) : ""));
    if (p_.vpp > 1 && (b.global / (p_.dp * b.micro)) % p_.pp != 0)
      refuse("batch", "global",
             fmt::format("an interleaved pipeline needs a multiple of pp {} micro-batches, not {}", p_.pp,
                         b.global / (p_.dp * b.micro)));
  }

  void check_inference() {
    auto const& b = w_.batch;
    if (b.prompt == 0) refuse("batch", "prompt", "inference needs 'prompt', the tokens of a prompt");
    if (b.prefix_hit >= 1) refuse("batch", "prefix_hit", "less than 100 % of a prompt can be in the cache");
    if (p_.zero > 0) refuse("parallel", "zero", "'zero' belongs to training");
    bool const moves_cache = w_.mode == WorkloadMode::KvTransfer;
    if (moves_cache && (w_.ranks.empty() || w_.decode.empty()))
      reader_.fail(reader_.self(),
                   "kv_transfer needs 'ranks', the GPUs that prefill, and 'decode', those that receive");
    if (!moves_cache && !w_.decode.empty()) reader_.fail_at_key("decode", "'decode' belongs to the mode kv_transfer");
  }

  void check_compute() {
    auto const& c = w_.compute;
    int const ways = (c.mfu ? 1 : 0) + (c.forward ? 1 : 0) + (c.fitted ? 1 : 0);
    if (ways > 1) refuse("compute", "mfu", "'mfu', 'forward' and 'fitted' are three ways to say the same; give one");
    if (c.mfu && (*c.mfu <= 0 || *c.mfu > 1)) refuse("compute", "mfu", "'mfu' is above 0 % and at most 100 %");
    if (c.backward && !c.forward) refuse("compute", "backward", "'backward' needs 'forward' beside it");
    if (c.fitted && w_.mode != WorkloadMode::Train)
      refuse("compute", "fitted", "'fitted' belongs to training; give 'mfu' or 'forward'");
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

std::optional<LanguageModel> read_model(MapReader& reader) {
  auto const name = reader.text("model");
  if (!name) return std::nullopt;
  try {
    return find_language_model(*name, std::filesystem::path(reader.source().name()).parent_path());
  } catch (InputError const& error) {
    reader.fail(*reader.node("model"), error.what());
    return std::nullopt;
  }
}

std::vector<std::string> read_places(MapReader& reader, std::string_view key) {
  std::vector<std::string> names;
  for (auto const& text : reader.texts(key)) {
    try {
      for (auto& name : expand_range(text)) names.push_back(std::move(name));
    } catch (InputError const& error) {
      reader.fail(*reader.node(key), error.what());
    }
  }
  return names;
}

ComputeTime read_compute_time(MapReader& reader, Workload const& workload) {
  ComputeTime compute;
  auto block = reader.map("compute");
  if (!block) return compute;
  compute.mfu = block->ratio("mfu");
  compute.memory_utilization = block->ratio("memory_utilization");
  compute.forward = block->time("forward");
  compute.backward = block->time("backward");
  if (auto fitted = block->map("fitted")) {
    FittedStep step{fitted->time("step_time").value_or(Seconds(0)), workload.parallel, workload.batch,
                    fitted->text("machine").value_or("")};
    read_block(*fitted, "parallel", parallel_fields(), step.parallel);
    read_block(*fitted, "batch", batch_fields(), step.batch);
    compute.fitted = std::move(step);
  }
  return compute;
}

}  // namespace

std::string_view to_string(WorkloadMode mode) { return kModes.at(static_cast<std::size_t>(mode)); }
std::string_view to_string(NumberFormat format) { return kFormats.at(static_cast<std::size_t>(format)); }

int bits_of(NumberFormat format) {
  constexpr std::array<int, 5> kBits{32, 16, 16, 8, 4};
  return kBits.at(static_cast<std::size_t>(format));
}

MapSpec const& workload_spec() {
  static MapSpec const spec{
      "workload",
      {text_field("model", "a name of `lanewise list models`, a model file, or Hugging Face's config.json", true),
       {.name = "mode",
        .type = ValueType::Word,
        .doc = "a step of training, the prompts of a batch, a token of each sequence, or the cache on its way",
        .required = true,
        .words = {kModes.begin(), kModes.end()}},
       map_field("precision", "the formats of numbers", precision_spec()),
       map_field("parallel", "how ranks divide the work; one rank when absent", parallel_spec()),
       map_field("batch", "how much at once", batch_spec()),
       {.name = "routing",
        .type = ValueType::Custom,
        .doc = "how tokens go to experts: uniform, or how unevenly and in how many copies; uniform when absent",
        .map = &routing_spec(),
        .pattern = "^uniform$"},
       map_field("overlap", "which communication the software hides behind computing", overlap_spec()),
       {.name = "recompute",
        .type = ValueType::Word,
        .doc = "train: what of the activations is computed again in the backward pass; none when absent",
        .words = {"none", "full"}},
       map_field("compute", "how long computing takes, which lanewise does not predict", compute_time_spec()),
       text_field("library",
                  "that does the collectives: nccl, nccl-2.18 to nccl-2.30, rccl; as well as possible when absent"),
       {.name = "ranks",
        .type = ValueType::List,
        .doc = "GPUs in the order of ranks: names and ranges, or nodes with all of theirs: [node0..node15]; those of "
               "the machine in its own order when absent",
        .item = ValueType::Text},
       {.name = "decode",
        .type = ValueType::List,
        .doc = "kv_transfer: the GPUs or nodes that receive what 'ranks' prefilled",
        .item = ValueType::Text}}};
  return spec;
}

Workload read_workload(MapReader& reader) {
  Workload workload;
  workload.pos = {reader.source().name(), reader.self().line, reader.self().column};
  auto const model = read_model(reader);
  if (model) workload.model = *model;
  if (auto const mode = reader.text("mode"))
    workload.mode = static_cast<WorkloadMode>(std::find(kModes.begin(), kModes.end(), *mode) - kModes.begin());
  read_block(reader, "precision", precision_fields(), workload.precision);
  read_block(reader, "parallel", parallel_fields(), workload.parallel);
  read_block(reader, "batch", batch_fields(), workload.batch);
  read_block(reader, "overlap", overlap_fields(), workload.overlap);
  if (auto const* routing = reader.custom("routing"); routing != nullptr && routing->text != "uniform") {
    MapReader block(*routing, routing_spec(), reader.source(), reader.diagnostics());
    read_fields(block, routing_fields(), workload.routing);
  }
  if (reader.text("recompute") == "full") workload.recompute = Recompute::Full;
  workload.compute = read_compute_time(reader, workload);
  if (auto const name = reader.text("library"); name && *name != "best") {
    auto const library = parse_library(*name);
    if (!library.value) reader.fail(*reader.node("library"), library.problem);
    workload.library = library.value;
  }
  workload.ranks = read_places(reader, "ranks");
  workload.decode = read_places(reader, "decode");
  if (model && reader.diagnostics().empty()) Checks(workload, reader).run();
  return workload;
}

}  // namespace lanewise
