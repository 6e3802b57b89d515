// Reads config.json of Hugging Face's transformers. The keys that mean the same have other names in families of models;
// a value that a family leaves out is the default of its configuration class.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <set>
#include <span>

#include "core/workload/language_model.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

using Keys = std::initializer_list<std::string_view>;

constexpr int kMaxCount = 1 << 24;  // tokens of the longest sequence, words of the largest vocabulary

// Families whose feed-forward networks have two matrices; in all others a gate makes three.
constexpr std::array<std::string_view, 11> kUngatedFamilies{
    "gpt2", "gptj", "gpt_neox", "gpt_bigcode", "opt", "bloom", "falcon", "phi", "starcoder2", "nemotron", "mpt"};
// Families that tie the output matrix to the embedding unless told otherwise.
constexpr std::array<std::string_view, 7> kTiedFamilies{"gpt2",   "opt",         "bloom", "gemma",
                                                        "gemma2", "gemma3_text", "mpt"};

class ConfigReader {
 public:
  ConfigReader(YamlNode const& root, SourceText const& source) : source_(source), root_(root), text_(root) {
    // Models of text and pictures keep the language model's configuration below.
    if (auto const* text = root.find("text_config"); text != nullptr && text->kind == YamlKind::Map) text_ = *text;
  }

  LanguageModel read() {
    LanguageModel model;
    auto const folder = std::filesystem::path(source_.name()).parent_path().filename().string();
    model.name = folder.empty() ? std::filesystem::path(source_.name()).stem().string() : folder;
    model.title = model.name;
    model.layers = needed({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
    model.hidden_size = needed({"hidden_size", "n_embd", "d_model"});
    model.attention_heads = needed({"num_attention_heads", "n_head", "n_heads", "num_heads"});
    model.vocabulary = needed({"vocab_size"});
    model.key_value_heads = count({"num_key_value_heads", "num_kv_heads"}).value_or(model.attention_heads);
    model.max_sequence = count({"max_position_embeddings", "n_positions", "max_seq_len"}).value_or(0);
    model.gated_ffn = !is_one_of(kUngatedFamilies);
    model.tied_embeddings = flag("tie_word_embeddings").value_or(is_one_of(kTiedFamilies));
    auto const head_size = count({"head_dim", "v_head_dim"});
    if (!head_size && (model.attention_heads == 0 || model.hidden_size % std::max(model.attention_heads, 1) != 0))
      fail("'head_dim' is missing, and the heads do not divide the hidden size");
    model.head_size = head_size.value_or(model.hidden_size / std::max(model.attention_heads, 1));
    read_experts(model);
    read_windows(model);
    if (auto problem = size_problem(model); !problem.empty()) fail(std::move(problem));
    diagnostics_.throw_if_any();
    model.parameters = count_parameters(model);
    if (auto const latent = count({"kv_lora_rank"})) read_latent_attention(model, *latent);
    if (model.experts > 0)
      model.active_parameters = model.parameters - model.expert_parameters() +
                                model.expert_parameters() / model.experts * model.experts_per_token;
    if (diagnostics_.empty())
      for (auto const& problem : problems_of(model)) fail(problem.why);
    diagnostics_.throw_if_any();
    return model;
  }

 private:
  void fail(std::string message) {
    diagnostics_.add({source_.name(), root_.line, root_.column}, std::move(message), {});
  }

  [[nodiscard]] YamlNode const* find(std::string_view key) const {
    auto const* node = text_.find(key);
    if (node == nullptr) node = root_.find(key);
    return node == nullptr || node->kind == YamlKind::Null || node->text == "null" ? nullptr : node;
  }

  // The first of these keys that is there, as a whole number above 0.
  std::optional<int> count(Keys keys) {
    for (auto const key : keys) {
      auto const* node = find(key);
      if (node == nullptr) continue;
      int value = 0;
      auto const& text = node->text;
      auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (node->kind == YamlKind::Scalar && error == std::errc() && end == text.data() + text.size() && value > 0 &&
          value <= kMaxCount)
        return value;
      diagnostics_.add({source_.name(), node->line, node->column},
                       fmt::format("'{}': expected a whole number above 0, at most {}", key, kMaxCount),
                       source_.line(node->line));
      return std::nullopt;
    }
    return std::nullopt;
  }

  int needed(Keys keys) {
    auto const value = count(keys);
    if (!value && diagnostics_.empty())
      fail(fmt::format("no config.json of a language model: '{}' is missing", *keys.begin()));
    return value.value_or(0);
  }

  std::optional<bool> flag(std::string_view key) const {
    auto const* node = find(key);
    if (node == nullptr) return std::nullopt;
    return node->text == "true";
  }

  [[nodiscard]] std::string family() const {
    auto const* node = find("model_type");
    return node == nullptr ? "" : node->text;
  }
  [[nodiscard]] bool is_one_of(std::span<std::string_view const> families) const {
    return std::find(families.begin(), families.end(), family()) != families.end();
  }

  // How many of a list's entries are one of these words.
  [[nodiscard]] int entries_of(std::string_view key, std::set<std::string> const& words) const {
    auto const* node = find(key);
    if (node == nullptr) return 0;
    return static_cast<int>(std::count_if(node->items.begin(), node->items.end(),
                                          [&](YamlNode const& item) { return words.contains(item.text); }));
  }

  void read_experts(LanguageModel& model) {
    auto const ffn =
        count({"intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size"}).value_or(4 * model.hidden_size);
    model.experts = count({"n_routed_experts", "num_experts", "num_local_experts"}).value_or(0);
    if (model.experts <= 1) {
      model.experts = 0;
      model.ffn_size = ffn;
      return;
    }
    bool const is_llama4 = family().starts_with("llama4");
    model.experts_per_token = needed({"num_experts_per_tok", "num_experts_per_token", "moe_topk"});
    model.expert_ffn_size = count({"moe_intermediate_size", "expert_ffn_hidden_size"}).value_or(ffn);
    model.shared_experts = count_or_zero({"n_shared_experts", "num_shared_experts"});
    if (auto const shared = count({"shared_expert_intermediate_size"}))
      model.shared_experts = std::max(1, *shared / model.expert_ffn_size);
    if (is_llama4) model.shared_experts = 1;
    model.dense_layers = count_or_zero({"first_k_dense_replace"});
    if (auto const* only = find("mlp_only_layers")) model.dense_layers += static_cast<int>(only->items.size());
    auto const step = count({"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_freq"}).value_or(1);
    if (step > 1) model.dense_layers += model.layers - model.layers / step;
    if (model.dense_layers > 0) model.ffn_size = is_llama4 ? count({"intermediate_size_mlp"}).value_or(ffn) : ffn;
  }

  // The same where the number may be 0.
  int count_or_zero(Keys keys) {
    auto const* node = find(*keys.begin());
    return node != nullptr && node->text == "0" ? 0 : count(keys).value_or(0);
  }

  void read_windows(LanguageModel& model) {
    auto const window = count({"sliding_window", "attention_chunk_size"});
    if (!window || flag("use_sliding_window") == false) return;
    model.windowed_layers = entries_of("layer_types", {"sliding_attention", "chunked_attention"});
    if (auto const pattern = count({"sliding_window_pattern"}); pattern && find("layer_types") == nullptr)
      model.windowed_layers = model.layers - model.layers / *pattern;  // every last of the pattern sees everything
    else if (family() == "mistral" && find("layer_types") == nullptr)
      model.windowed_layers = model.layers;
    if (family().starts_with("llama4") && find("layer_types") == nullptr)
      model.windowed_layers = model.layers - model.layers / count({"no_rope_layer_interval"}).value_or(4);
    if (model.windowed_layers > 0) model.sliding_window = *window;
  }

  // Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): low-rank projections instead of those that
  // count_parameters() counts, and a cache of the latent vector and one rotary key.
  void read_latent_attention(LanguageModel& model, int latent) {
    auto const rotary = needed({"qk_rope_head_dim"});
    auto const plain = needed({"qk_nope_head_dim"});
    auto const value = needed({"v_head_dim"});
    auto const hidden = std::int64_t{model.hidden_size};
    auto const heads = std::int64_t{model.attention_heads};
    auto const counted = 2 * hidden * heads * model.head_size + 2 * hidden * model.key_value_heads * model.head_size;
    auto const query_latent = count({"q_lora_rank"});
    constexpr int kMaxLatent = 1 << 16;
    if (std::max({latent, rotary, plain, value, query_latent.value_or(0)}) > kMaxLatent)
      return fail(fmt::format("a latent or head size of latent attention is above {}", kMaxLatent));
    auto const query =
        query_latent ? *query_latent * (hidden + heads * (plain + rotary)) : hidden * heads * (plain + rotary);
    auto const key_value = hidden * (latent + rotary) + latent * heads * (plain + value);
    auto const output = heads * value * hidden;
    model.parameters += model.layers * (query + key_value + output - counted);
    model.latent_key_value_size = latent + rotary;
  }

  SourceText const& source_;
  YamlNode const& root_;
  YamlNode text_;
  Diagnostics diagnostics_;
};

}  // namespace

LanguageModel read_hugging_face_config(SourceText const& source) {
  auto const root = parse_yaml(source);
  if (root.kind != YamlKind::Map)
    throw InputError({{source.whole(), "no config.json of a language model: it is no object", {}}});
  return ConfigReader(root, source).read();
}

}  // namespace lanewise
