#include "core/design/job_digest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lanewise {
namespace {

void add_model(LanguageModel const& model, Digest& digest) {
  digest.add(fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", model.parameters,
                         model.active_parameters, model.layers, model.hidden_size, model.attention_heads,
                         model.key_value_heads, model.head_size, model.ffn_size, model.gated_ffn, model.vocabulary,
                         model.tied_embeddings, model.experts, model.experts_per_token, model.shared_experts,
                         model.expert_ffn_size, model.dense_layers, model.latent_key_value_size, model.sliding_window,
                         model.windowed_layers));
}

void add_trace(TracedStep const& step, Digest& digest) {
  digest.add(fmt::format("{} {}", step.ranks, step.one_for_all));
  for (auto const& node : step.trace.nodes)
    digest.add(fmt::format("{} {} {} {} {} {} {} {}", static_cast<int>(node.kind), fmt::join(node.after, ","),
                           node.duration.value(), static_cast<int>(node.collective), node.bytes, node.group,
                           node.peer.value_or(-1), node.id));
  for (auto const& [name, ranks] : step.groups) digest.add(fmt::format("{}: {}", name, fmt::join(ranks, ",")));
  for (auto const& send : step.sends) digest.add(fmt::format("{} {} {}", send.bytes, send.from, send.to));
}

}  // namespace

void add_job_entry(YamlNode const& entry, Digest& digest) {
  digest.add(entry.text);
  for (auto const& item : entry.items) add_job_entry(item, digest);
  for (auto const& [key, line, column, value] : entry.entries) {
    if (key == "name" || key == "weight") continue;
    digest.add(key);
    add_job_entry(value, digest);
  }
  digest.add(entry.kind == YamlKind::Sequence ? "]" : "}");
}

void add_files_of(Workload const& workload, Digest& digest) {
  add_model(workload.model, digest);
  for (auto const tokens : workload.routing.tokens_per_expert) digest.add(fmt::format("{}", tokens));
  if (workload.compute.table)
    for (auto const& row : workload.compute.table->rows)
      digest.add(fmt::format("{} {} {}", row.tokens, row.forward.value(), row.backward.value_or(Seconds(0)).value()));
  if (workload.trace) add_trace(*workload.trace, digest);
}

}  // namespace lanewise
