#include "core/workload/language_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/spelling.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace fs = std::filesystem;
namespace {

int ffn_matrices(LanguageModel const& model) { return model.gated_ffn ? 3 : 2; }

// Numbers of parameters are exact up to 2^53; larger ones are refused by size_problem().
std::int64_t count_of(double count) { return static_cast<std::int64_t>(std::min(count, 1e18)); }

std::vector<fs::path> model_folders() { return own_and_bundled_folders("LANEWISE_MODELS", "workloads/models"); }

LanguageModel read_model_file(fs::path const& path) {
  auto const source = SourceText::load(path);
  return path.extension() == ".json" ? read_hugging_face_config(source) : read_language_model(source);
}

}  // namespace

std::int64_t LanguageModel::expert_parameters() const {
  return count_of(static_cast<double>(expert_layers()) * experts * ffn_matrices(*this) * hidden_size * expert_ffn_size);
}

std::int64_t LanguageModel::multiplied_parameters() const {
  auto const used = active_parameters > 0 ? active_parameters : parameters;
  auto const looked_up = tied_embeddings ? 0 : std::int64_t{vocabulary} * hidden_size;
  return std::max<std::int64_t>(used - looked_up, 0);
}

std::int64_t LanguageModel::kv_elements_per_token() const {
  auto const of_layer =
      latent_key_value_size > 0 ? std::int64_t{latent_key_value_size} : std::int64_t{2} * key_value_heads * head_size;
  return of_layer * (layers - windowed_layers);
}

std::int64_t LanguageModel::windowed_kv_elements_per_token() const {
  return std::int64_t{2} * key_value_heads * head_size * windowed_layers;
}

std::int64_t count_parameters(LanguageModel const& model) {
  auto const hidden = static_cast<double>(model.hidden_size);
  auto const query = hidden * model.attention_heads * model.head_size;
  auto const key_value = hidden * model.key_value_heads * model.head_size;
  auto const dense_layers = model.experts > 0 ? model.dense_layers : model.layers;
  auto const ffn = ffn_matrices(model) * hidden * model.ffn_size;
  auto const beside_experts =  // shared experts and the router
      ffn_matrices(model) * hidden * model.expert_ffn_size * model.shared_experts + hidden * model.experts;
  return count_of(model.vocabulary * hidden * (model.tied_embeddings ? 1 : 2) +
                  model.layers * (2 * query + 2 * key_value) + dense_layers * ffn +
                  model.expert_layers() * beside_experts) +
         model.expert_parameters();
}

std::string size_problem(LanguageModel const& model) {
  constexpr int kMaxSize = 1 << 20;
  constexpr double kMaxParameters = 1e17;
  for (auto const& [name, size] : {std::pair("layers", model.layers),
                                   {"hidden_size", model.hidden_size},
                                   {"attention_heads", model.attention_heads},
                                   {"key_value_heads", model.key_value_heads},
                                   {"head_size", model.head_size},
                                   {"ffn_size", model.ffn_size},
                                   {"experts", model.experts},
                                   {"shared_experts", model.shared_experts},
                                   {"expert_ffn_size", model.expert_ffn_size},
                                   {"latent_key_value_size", model.latent_key_value_size}})
    if (size > kMaxSize) return fmt::format("'{}': {} is more than any model has; at most {}", name, size, kMaxSize);
  auto const all = std::max(static_cast<double>(model.parameters), static_cast<double>(count_parameters(model)));
  if (all > kMaxParameters) return fmt::format("its sizes make {:.3g} parameters; at most {:.0e}", all, kMaxParameters);
  return {};
}

std::vector<std::string> language_model_names() { return names_of_yaml_files(model_folders()); }

LanguageModel find_language_model(std::string const& name_or_file, fs::path const& folder) {
  std::error_code error;
  bool const is_path = is_file_text(name_or_file);
  if (!is_path)
    for (auto const& models : model_folders())
      if (auto const path = models / (name_or_file + ".yaml"); fs::is_regular_file(path, error))
        return read_model_file(path);
  if (is_path)
    for (auto const& path : {folder / name_or_file, fs::path(name_or_file)})
      if (fs::is_regular_file(path, error)) return read_model_file(path);
  throw InputError(
      fmt::format("no model is called '{}'{} give a file, config.json of Hugging Face or a model file, or a "
                  "name of `lanewise list models`",
                  name_or_file, did_you_mean_first(name_or_file, language_model_names())));
}

}  // namespace lanewise
