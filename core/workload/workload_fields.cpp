#include "core/workload/workload_fields.hpp"

#include <array>

#include "core/workload/token_tables.hpp"

namespace lanewise {
namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 5> kFormats{"fp32", "bf16", "fp16", "fp8", "fp4"};
Words const kFormatWords{kFormats.begin(), kFormats.end()};

template <class Object>
MapSpec spec_of(std::string title, std::vector<Field<Object>> const& fields) {
  MapSpec spec{std::move(title), {}};
  for (auto const& field : fields) spec.fields.push_back(field.spec);
  return spec;
}

}  // namespace

std::string_view to_string(NumberFormat format) { return kFormats.at(static_cast<std::size_t>(format)); }

int bits_of(NumberFormat format) {
  constexpr std::array<int, 5> kBits{32, 16, 16, 8, 4};
  return kBits.at(static_cast<std::size_t>(format));
}

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

static Field<ExpertRouting> expert_tokens_field() {
  Field<ExpertRouting> field;
  field.spec = {.name = "tokens_per_expert",
                .type = ValueType::Custom,
                .doc = "tokens that each expert of a layer got, instead of imbalance: a list, or a file of numbers",
                .item = ValueType::Custom,
                .pattern = "^.+$"};
  field.read = [](ExpertRouting& routing, MapReader& reader) {
    routing.tokens_per_expert = read_expert_tokens(reader, "tokens_per_expert");
    if (reader.has("imbalance") && reader.has("tokens_per_expert"))
      reader.fail_at_key("imbalance", "'imbalance' and 'tokens_per_expert' say the same; give one");
  };
  return field;
}

std::vector<Field<ExpertRouting>> const& routing_fields() {
  using Key = FieldsOf<ExpertRouting>;
  static std::vector<Field<ExpertRouting>> const fields{
      Key::positive("imbalance", "tokens of the busiest rank over the mean; 1 when absent", LANEWISE_MEMBER(imbalance)),
      Key::word("copies",
                "what a token is sent: a copy for each of its experts (all-to-all of Megatron, vLLM), or one for each "
                "rank that has some of them (DeepEP); expert when absent",
                {"expert", "rank"}, LANEWISE_MEMBER(dispatcher)),
      expert_tokens_field()};
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

std::vector<Field<Offload>> const& offload_fields() {
  using Key = FieldsOf<Offload>;
  static std::vector<Field<Offload>> const fields{
      Key::scalar("weights", "the share of a rank's weights that every pass copies to the GPU; 0 when absent",
                  LANEWISE_MEMBER(weights)),
      Key::scalar("kv", "prefill, decode: the share of the cache that is not in GPU memory; 0 when absent",
                  LANEWISE_MEMBER(kv)),
      Key::scalar("optimizer", "train: the CPU keeps the optimizer's state and updates the weights (ZeRO-Offload)",
                  LANEWISE_MEMBER(optimizer)),
      Key::word("to", "where all this is: in host memory or on drives; host when absent", {"host", "nvme"},
                LANEWISE_MEMBER(to))};
  return fields;
}

std::vector<Field<Checkpoint>> const& checkpoint_fields() {
  using Key = FieldsOf<Checkpoint>;
  static auto const fields = [] {
    std::vector<Field<Checkpoint>> all{
        Key::positive("every", "steps from one to the next", LANEWISE_MEMBER(every)),
        Key::positive("bytes_per_parameter", "of weights and optimizer state; 14 when absent (Adam with bf16 weights)",
                      LANEWISE_MEMBER(bytes_per_parameter)),
        Key::word("to", "in host memory, or from there on drives while training goes on; host when absent",
                  {"host", "nvme"}, LANEWISE_MEMBER(to))};
    all.front().spec.required = true;
    return all;
  }();
  return fields;
}

std::vector<Field<DataLoading>> const& data_fields() {
  using Key = FieldsOf<DataLoading>;
  static std::vector<Field<DataLoading>> const fields{
      Key::positive("bytes_per_token", "that a rank of the first stage reads; 4 when absent",
                    LANEWISE_MEMBER(bytes_per_token)),
      Key::word("from", "host memory or drives; host when absent", {"host", "nvme"}, LANEWISE_MEMBER(from))};
  return fields;
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

MapSpec const& offload_spec() {
  static MapSpec const spec = spec_of("offload", offload_fields());
  return spec;
}
MapSpec const& checkpoint_spec() {
  static MapSpec const spec = spec_of("checkpoint", checkpoint_fields());
  return spec;
}
MapSpec const& data_spec() {
  static MapSpec const spec = spec_of("data", data_fields());
  return spec;
}

FieldSpec map_field(std::string name, std::string doc, MapSpec const& map) {
  return {.name = std::move(name), .type = ValueType::Map, .doc = std::move(doc), .map = &map};
}

}  // namespace lanewise
