#include "lanewise/workload/language_model.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "core/io/yaml.hpp"
#include "tests/support/marked_errors.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;

class EveryModel : public testing::TestWithParam<std::string> {};

TEST_P(EveryModel, HasAsManyParametersAsItsSizesMake) {
  auto const model = find_language_model(GetParam());
  EXPECT_EQ(model.name, GetParam());
  // The formula has no biases, norms and encoders of pictures, and is an upper bound for latent attention.
  auto const ratio = static_cast<double>(count_parameters(model)) / static_cast<double>(model.parameters);
  EXPECT_NEAR(ratio, 1, model.latent_key_value_size > 0 ? 0.05 : 0.02);
}

TEST_P(EveryModel, NamesASourceOfEveryFigure) {
  auto const model = find_language_model(GetParam());
  for (auto const& source : model.sources) EXPECT_FALSE(source.text.empty()) << source.figure;
  EXPECT_GE(model.sources.size(), 10U);
  auto const file = std::filesystem::path(LANEWISE_SOURCE_DIR) / "workloads/models" / (GetParam() + ".yaml");
  for (auto const& entry : parse_yaml(SourceText::load(file)).entries) {
    bool const is_name = entry.key == "lanewise" || entry.key == "model" || entry.key == "title";
    if (is_name || entry.key == "sources") continue;
    auto const found = std::find_if(model.sources.begin(), model.sources.end(),
                                    [&](FigureSource const& source) { return source.figure == entry.key; });
    EXPECT_NE(found, model.sources.end()) << entry.key;
  }
}

INSTANTIATE_TEST_SUITE_P(Bundled, EveryModel, testing::ValuesIn(language_model_names()), [](auto const& one) {
  auto name = one.param;
  for (auto& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
});

TEST(LanguageModel, ThereAreFifteenAtLeast) { EXPECT_GE(language_model_names().size(), 15U); }

TEST(LanguageModel, CachesWhatItsAttentionNeeds) {
  // 2 x 80 layers x 8 heads x 128: 320 KiB a token of bf16.
  EXPECT_EQ(find_language_model("llama-3-70b").kv_elements_per_token(), 163840);
  // 61 layers x (512 + 64): 70,272 B.
  EXPECT_EQ(find_language_model("deepseek-v3").kv_elements_per_token(), 35136);
  auto const gemma = find_language_model("gemma-3-27b");
  EXPECT_EQ(gemma.kv_elements_per_token(), 2 * 10 * 16 * 128);
  EXPECT_EQ(gemma.windowed_kv_elements_per_token(), 2 * 52 * 16 * 128);
}

TEST(LanguageModel, CountsExperts) {
  auto const model = find_language_model("mixtral-8x7b");
  EXPECT_EQ(model.expert_layers(), 32);
  EXPECT_EQ(model.expert_parameters(), 32LL * 8 * 3 * 4096 * 14336);
}

std::string with(std::string const& change) {
  return "lanewise: model/1\nmodel: tiny\nparameters: 1000\nlayers: 4\nhidden_size: 64\nattention_heads: 8\n"
         "key_value_heads: 2\nhead_size: 8\nvocabulary: 100\n" +
         change;
}
LanguageModel read(std::string const& text) { return read_language_model(SourceText::from_memory("m.yaml", text)); }

TEST(LanguageModel, ReadsAFile) {
  auto const model = read(with("ffn_size: 256\ngated_ffn: false\n"));
  EXPECT_EQ(model.ffn_size, 256);
  EXPECT_FALSE(model.gated_ffn);
}

TEST(LanguageModel, RefusesWhatContradictsItself) {
  auto const error = [](std::string const& change) { return test::input_error([&] { read(with(change)); }); };
  EXPECT_THAT(error(""), HasSubstr("its dense layers need 'ffn_size'"));
  EXPECT_THAT(error("ffn_size: 256\nexperts: 8\n"), HasSubstr("needs 'experts_per_token'"));
  EXPECT_THAT(error("ffn_size: 1\nexperts: 2\nexperts_per_token: 3\nexpert_ffn_size: 5\n"),
              HasSubstr("a token cannot be sent to 3 of 2 experts"));
  EXPECT_THAT(error("ffn_size: 256\nsliding_window: 9\n"), HasSubstr("belong together"));
  EXPECT_THAT(error("fnn_size: 256\n"), HasSubstr("did you mean 'ffn_size'?"));
}

TEST(LanguageModel, SuggestsTheNearestName) {
  EXPECT_THAT(test::input_error([] { find_language_model("lama-3-70b"); }), HasSubstr("did you mean 'llama-3-70b'?"));
}

LanguageModel from_config(std::string const& json) {
  return read_hugging_face_config(SourceText::from_memory("models/tiny/config.json", json));
}

TEST(HuggingFaceConfig, GivesADenseModel) {
  auto const model = from_config(R"({"model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192,
    "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672, "vocab_size": 128256,
    "rope_scaling": null, "tie_word_embeddings": false, "max_position_embeddings": 8192})");
  auto const facts = find_language_model("llama-3-70b");
  EXPECT_EQ(model.name, "tiny");
  EXPECT_EQ(model.head_size, 128);
  EXPECT_TRUE(model.gated_ffn);
  EXPECT_NEAR(static_cast<double>(model.parameters), static_cast<double>(facts.parameters), 1e7);
}

TEST(HuggingFaceConfig, GivesLatentAttentionAndExperts) {
  auto const model = from_config(R"({"model_type": "deepseek_v3", "num_hidden_layers": 61, "hidden_size": 7168,
    "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 18432, "vocab_size": 129280,
    "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
    "first_k_dense_replace": 3, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128, "v_head_dim": 128})");
  EXPECT_EQ(model.latent_key_value_size, 576);
  EXPECT_EQ(model.dense_layers, 3);
  EXPECT_EQ(model.shared_experts, 1);
  EXPECT_NEAR(static_cast<double>(model.parameters), 671e9, 1e9);          // README_WEIGHTS.md: 671B
  EXPECT_NEAR(static_cast<double>(model.active_parameters), 37.6e9, 5e8);  // with embedding and output
}

TEST(HuggingFaceConfig, LooksIntoTheTextOfAMixedModel) {
  auto const model = from_config(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text",
    "num_hidden_layers": 62, "hidden_size": 5376, "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128,
    "intermediate_size": 21504, "vocab_size": 262208, "sliding_window": 1024, "sliding_window_pattern": 6}})");
  EXPECT_EQ(model.windowed_layers, 52);
  EXPECT_TRUE(model.tied_embeddings);
  EXPECT_NEAR(static_cast<double>(model.parameters), 27.0e9, 2e8);
}

TEST(HuggingFaceConfig, SaysWhatIsMissing) {
  EXPECT_THAT(test::input_error([] { from_config("{\"layers\": 3}"); }),
              HasSubstr("no config.json of a language model: 'num_hidden_layers' is missing"));
  EXPECT_THAT(test::input_error([] { from_config("{\"num_hidden_layers\": -3}"); }),
              HasSubstr("expected a whole number above 0"));
}

}  // namespace
}  // namespace lanewise
