#include "core/workload/workload_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/machine/field.hpp"
#include "core/machine/files/key_values.hpp"
#include "core/planner/libraries/library_field.hpp"
#include "core/workload/workload_checks.hpp"
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
      Key::scalar("order",
                  "which ranks are neighbours, innermost first, or search: the order with the shortest step; "
                  "tp-cp-ep-dp-pp when absent",
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

// `order: search` leaves the order open.
void read_parallelism(MapReader& reader, Parallelism& parallel) {
  read_block(reader, "parallel", parallel_fields(), parallel);
  parallel.search_order = parallel.order == "search";
  if (parallel.search_order) parallel.order = Parallelism{}.order;
}

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
    read_parallelism(*fitted, step.parallel);
    if (step.parallel.search_order)
      fitted->fail_at_key("parallel", "'order: search' is for a step to be planned; a measured one ran in some order");
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
  read_parallelism(reader, workload.parallel);
  read_block(reader, "batch", batch_fields(), workload.batch);
  read_block(reader, "overlap", overlap_fields(), workload.overlap);
  if (auto const* routing = reader.custom("routing"); routing != nullptr && routing->text != "uniform") {
    MapReader block(*routing, routing_spec(), reader.source(), reader.diagnostics());
    read_fields(block, routing_fields(), workload.routing);
  }
  if (reader.text("recompute") == "full") workload.recompute = Recompute::Full;
  workload.compute = read_compute_time(reader, workload);
  workload.library = read_library(reader);
  workload.ranks = expanded_names(reader, "ranks");
  workload.decode = expanded_names(reader, "decode");
  if (model && reader.diagnostics().empty()) check_workload(workload, reader);
  if (auto const& fitted = workload.compute.fitted; fitted && reader.diagnostics().empty()) {
    auto measured = workload;
    measured.parallel = fitted->parallel;
    measured.batch = fitted->batch;
    if (auto compute = reader.map("compute"))
      if (auto block = compute->map("fitted")) check_workload(measured, *block);
  }
  return workload;
}

}  // namespace lanewise
