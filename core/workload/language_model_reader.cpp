#include <fmt/format.h>

#include "core/machine/field.hpp"
#include "core/machine/figure_source.hpp"
#include "core/workload/language_model.hpp"

namespace lanewise {
namespace {

using ModelKey = FieldsOf<LanguageModel>;
using ModelField = Field<LanguageModel>;

ModelField required(ModelField field) {
  field.spec.required = true;
  return field;
}

std::vector<ModelField> const& model_fields() {
  static std::vector<ModelField> const fields{
      ModelKey::scalar("title", "the model's name, for display", LANEWISE_MEMBER(title)),
      ModelKey::positive("year", "year in which it was published", LANEWISE_MEMBER(year)),
      required(ModelKey::positive("parameters", "all of them, experts too", LANEWISE_MEMBER(parameters))),
      ModelKey::positive("active_parameters", "those that one token passes; all when absent",
                         LANEWISE_MEMBER(active_parameters)),
      required(ModelKey::positive("layers", "transformer layers", LANEWISE_MEMBER(layers))),
      required(ModelKey::positive("hidden_size", "elements of a token between layers", LANEWISE_MEMBER(hidden_size))),
      required(ModelKey::positive("attention_heads", "query heads of a layer", LANEWISE_MEMBER(attention_heads))),
      required(ModelKey::positive("key_value_heads",
                                  "heads of keys and values of a layer; as many as query heads without "
                                  "grouping",
                                  LANEWISE_MEMBER(key_value_heads))),
      required(ModelKey::positive("head_size", "elements of a head", LANEWISE_MEMBER(head_size))),
      ModelKey::positive("ffn_size", "inner size of a dense layer's feed-forward network", LANEWISE_MEMBER(ffn_size)),
      ModelKey::scalar("gated_ffn",
                       "the feed-forward network has a gate, so three matrices instead of two; true when absent",
                       LANEWISE_MEMBER(gated_ffn)),
      required(ModelKey::positive("vocabulary", "tokens that it knows", LANEWISE_MEMBER(vocabulary))),
      ModelKey::positive("max_sequence", "the longest sequence, in tokens", LANEWISE_MEMBER(max_sequence)),
      ModelKey::scalar("tied_embeddings", "the output matrix is the embedding; false when absent",
                       LANEWISE_MEMBER(tied_embeddings)),
      ModelKey::positive("experts", "routed experts of a layer; absent: a dense model", LANEWISE_MEMBER(experts)),
      ModelKey::positive("experts_per_token", "experts that a token is sent to", LANEWISE_MEMBER(experts_per_token)),
      ModelKey::scalar("shared_experts", "experts of a layer that every token passes", LANEWISE_MEMBER(shared_experts)),
      ModelKey::positive("expert_ffn_size", "inner size of one expert", LANEWISE_MEMBER(expert_ffn_size)),
      ModelKey::scalar("dense_layers", "layers without experts, of a model with experts",
                       LANEWISE_MEMBER(dense_layers)),
      ModelKey::positive("latent_key_value_size",
                         "of latent attention (MLA): what the cache keeps of a token and layer, in elements",
                         LANEWISE_MEMBER(latent_key_value_size)),
      ModelKey::positive("sliding_window", "tokens that the windowed layers look back at",
                         LANEWISE_MEMBER(sliding_window)),
      ModelKey::positive("windowed_layers", "layers that look no further back than the window",
                         LANEWISE_MEMBER(windowed_layers))};
  return fields;
}

}  // namespace

MapSpec const& language_model_spec() {
  static MapSpec const spec = [] {
    MapSpec made{"model", {}};
    made.fields.push_back(
        {.name = "lanewise", .type = ValueType::Word, .doc = "model/1", .required = true, .words = {"model/1"}});
    made.fields.push_back({.name = "model", .type = ValueType::Id, .doc = "its name", .required = true});
    for (auto const& field : model_fields()) made.fields.push_back(field.spec);
    made.fields.push_back({.name = "sources",
                           .type = ValueType::Dictionary,
                           .doc = "what the figures rest on, by key",
                           .map = &figure_source_spec(),
                           .item = ValueType::Map});
    return made;
  }();
  return spec;
}

std::vector<ModelProblem> problems_of(LanguageModel const& model) {
  std::vector<ModelProblem> problems;
  auto const refuse = [&](std::string key, std::string why) { problems.push_back({std::move(key), std::move(why)}); };
  if (auto problem = size_problem(model); !problem.empty()) return {{"layers", std::move(problem)}};
  if (model.key_value_heads > 0 && model.attention_heads % model.key_value_heads != 0)
    refuse("key_value_heads", fmt::format("{} query heads cannot share {} heads of keys and values evenly",
                                          model.attention_heads, model.key_value_heads));
  if (model.experts > 0 && (model.experts_per_token == 0 || model.expert_ffn_size == 0))
    refuse("experts", "a model with experts needs 'experts_per_token' and 'expert_ffn_size'");
  if (model.experts_per_token > model.experts)
    refuse("experts_per_token",
           fmt::format("a token cannot be sent to {} of {} experts", model.experts_per_token, model.experts));
  if (model.dense_layers > model.layers)
    refuse("dense_layers", fmt::format("{} dense layers, and the model has {}", model.dense_layers, model.layers));
  if (model.windowed_layers > model.layers)
    refuse("windowed_layers",
           fmt::format("{} windowed layers, and the model has {}", model.windowed_layers, model.layers));
  if ((model.windowed_layers > 0) != (model.sliding_window > 0))
    refuse("sliding_window", "'sliding_window' and 'windowed_layers' belong together");
  bool const has_dense = model.experts == 0 || model.dense_layers > 0;
  if (has_dense && model.ffn_size == 0) refuse("ffn_size", "its dense layers need 'ffn_size'");
  if (model.active_parameters > model.parameters) refuse("active_parameters", "more than all parameters");
  if (problems.empty() && model.expert_parameters() > model.parameters)
    refuse("parameters", fmt::format("its experts alone have {} parameters", model.expert_parameters()));
  return problems;
}

LanguageModel read_language_model(SourceText const& source) {
  auto const root = parse_yaml(source);
  expect_schema(root, "model/1", source);
  Diagnostics diagnostics;
  MapReader reader(root, language_model_spec(), source, diagnostics);
  LanguageModel model;
  model.name = reader.text("model").value_or("");
  std::vector<std::string> keys;
  for (auto const& field : model_fields()) {
    field.read(model, reader);
    keys.push_back(field.spec.name);
  }
  model.sources = read_figure_sources(reader, keys, "model");
  if (diagnostics.empty())
    for (auto const& problem : problems_of(model)) reader.fail_at_key(problem.key, problem.why);
  diagnostics.throw_if_any();
  return model;
}

}  // namespace lanewise
