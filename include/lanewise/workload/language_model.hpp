#pragma once
// A transformer as facts: what of it decides the traffic between GPUs.
//
//   LanguageModel const model = find_language_model("llama-3-70b");
//   model.kv_elements_per_token();   // of all layers
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/io/file.hpp"
#include "lanewise/machine/figure_source.hpp"

namespace lanewise {

struct LanguageModel {
  std::string name;
  std::string title;
  std::optional<int> year;             // in which it was published
  std::int64_t parameters = 0;         // all
  std::int64_t active_parameters = 0;  // those that one token passes; 0: all
  int layers = 0;
  int hidden_size = 0;
  int attention_heads = 0;
  int key_value_heads = 0;
  int head_size = 0;
  int ffn_size = 0;       // of dense layers; 0: every layer has experts
  bool gated_ffn = true;  // three matrices instead of two
  int vocabulary = 0;
  int max_sequence = 0;          // tokens; 0: unknown
  bool tied_embeddings = false;  // the output matrix is the embedding
  int experts = 0;               // routed ones of a layer; 0: a dense model
  int experts_per_token = 0;
  int shared_experts = 0;  // that every token passes
  int expert_ffn_size = 0;
  int dense_layers = 0;           // without experts, in a model with experts
  int latent_key_value_size = 0;  // elements a token and layer that latent attention caches; 0: keys and values
  int sliding_window = 0;         // tokens that `windowed_layers` look back at; 0: all layers see everything
  int windowed_layers = 0;
  std::vector<FigureSource> sources;
  friend bool operator==(LanguageModel const&, LanguageModel const&) = default;

  [[nodiscard]] int expert_layers() const { return experts > 0 ? layers - dense_layers : 0; }
  // Of all routed experts of all layers.
  [[nodiscard]] std::int64_t expert_parameters() const;
  // Those that a token passes in matrices: the active ones without an embedding that is only looked up.
  [[nodiscard]] std::int64_t multiplied_parameters() const;
  // What the cache keeps of a token for attention, of all layers that see everything, and of all windowed layers.
  [[nodiscard]] std::int64_t kv_elements_per_token() const;
  [[nodiscard]] std::int64_t windowed_kv_elements_per_token() const;
};

// The parameters that these sizes make, without biases and norms (which are less than 0.1 %). Of latent attention only
// an upper bound.
std::int64_t count_parameters(LanguageModel const& model);

// Reads `lanewise: model/1`. Throws InputError listing every problem.
LanguageModel read_language_model(SourceText const& source);
// Reads config.json of a model as Hugging Face's transformers write it. Its name is that of the file's folder. Throws
// InputError naming what is missing.
LanguageModel read_hugging_face_config(SourceText const& source);

// The names of the models that come with lanewise, and of those in the folder LANEWISE_MODELS; sorted.
std::vector<std::string> language_model_names();
// A model by name, or a file of either format; a file is first looked for in `folder`. Throws InputError when there is
// none, or its file is wrong.
LanguageModel find_language_model(std::string const& name_or_file, std::filesystem::path const& folder = {});

}  // namespace lanewise
