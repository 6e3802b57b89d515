#include "core/workload/workload_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/machine/files/key_values.hpp"
#include "core/planner/libraries/library_field.hpp"
#include "core/workload/token_tables.hpp"
#include "core/workload/trace_workload_reader.hpp"
#include "core/workload/workload_checks.hpp"
#include "core/workload/workload_fields.hpp"
#include "lanewise/machine/setting.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 4> kModes{"train", "prefill", "decode", "kv_transfer"};

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
       text_field("table", "a file tokens,forward_us,backward_us of micro-batches on one stage, instead of mfu"),
       map_field("fitted", "a measured step, to which the computing is fitted, instead of mfu", fitted_spec())}};
  return spec;
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
  if (auto const file = block->text("table")) {
    try {
      compute.table = read_compute_table(SourceText::load(file_of_scenario(reader.source(), *file)));
      compute.table->file = *file;
    } catch (InputError const& error) {
      reader.fail(*block->node("table"), error.what());
    }
  }
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

MapSpec const& workload_spec() {
  static MapSpec const spec{
      "workload",
      {text_field("model", "a name of `lanewise list models`, a model file, or Hugging Face's config.json"),
       text_field("trace",
                  "instead of model, mode and all else: execution traces of MLCommons Chakra (.et), %d being the rank; "
                  "without %d the trace of one rank that stands for all"),
       text_field("comm_groups", "with trace: a file of the ranks of each group, {\"1\": [0, 1, 2, 3]}"),
       {.name = "mode",
        .type = ValueType::Word,
        .doc = "a step of training, the prompts of a batch, a token of each sequence, or the cache on its way",
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
       map_field("offload", "what is not in GPU memory, and goes there when it is used", offload_spec()),
       map_field("checkpoint", "train: what is saved, and how often", checkpoint_spec()),
       map_field("data", "train: where tokens come from; not counted when absent", data_spec()),
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
  workload.library = read_library(reader);
  workload.ranks = expanded_names(reader, "ranks");
  if (reader.has("trace")) {
    read_trace(reader, workload);
    return workload;
  }
  for (auto const* key : {"model", "mode"})
    if (!reader.has(key))
      reader.fail(reader.self(), fmt::format("workload: the key '{}' is missing; a workload has 'model' and 'mode', or "
                                             "'trace'",
                                             key));
  if (reader.has("comm_groups")) reader.fail_at_key("comm_groups", "'comm_groups' is about the groups of a 'trace'");
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
  read_block(reader, "offload", offload_fields(), workload.offload);
  if (reader.has("checkpoint")) read_block(reader, "checkpoint", checkpoint_fields(), workload.checkpoint.emplace());
  if (reader.has("data")) read_block(reader, "data", data_fields(), workload.data.emplace());
  if (reader.text("recompute") == "full") workload.recompute = Recompute::Full;
  workload.compute = read_compute_time(reader, workload);
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
