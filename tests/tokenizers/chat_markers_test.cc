// Recognises families of chat templates by the marks in their text. The texts here are made up:
// each has the marks that its family's row asks for, in the form in which files have them.
#include "compiler/import/tokenizer/chat_markers.h"

#include <gtest/gtest.h>

namespace aicf {
namespace {

TEST(ChatMarkers, NameFamilies) {
  const struct {
    const char* family;
    const char* text;
  } kTexts[] = {
      {"", ""},
      {"unknown", "{{ messages }}"},
      {"chatml", "{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>' }}"},
      {"smollm",
       "{{ '<|im_start|>system\\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
       "Face<|im_end|>\\n' }}"},
      {"qwen2", "{{ '<|im_start|>system\nYou are a helpful assistant.<|im_end|>' }}"},
      {"qwen1.5", "{{ '<|im_start|>system\nYou are a helpful assistant<|im_end|>' }}"},
      {"qwen2.5",
       "{{ '<|im_start|>system\\nYou are Qwen, created by Alibaba Cloud. You are a helpful "
       "assistant.<|im_end|>\\n' }}"},
      {"phi4", "'<|im_start|>user<|im_sep|>' + m.content + '<|im_end|>'"},
      {"phi3", "'<|user|>\n' + m.content + '<|end|>\n<|assistant|>\n'"},
      {"llama3", "'<|start_header_id|>' + m.role + '<|end_header_id|>' + '<|eot_id|>'"},
      {"gemma", "'<start_of_turn>model' + m.content + '<end_of_turn>'"},
      {"mistral-v1", "' [INST] ' + m.content + ' [/INST]'"},
      {"mistral-v7", "'[SYSTEM_PROMPT] ' + s + '[/SYSTEM_PROMPT]' + '[INST] ' + m + '[/INST]'"},
      // Like ChatML, and something else in one place.
      {"unknown", "{{ '<|im_start|>system\nYou are Somebody.<|im_end|>' }}"},
      {"unknown", "{{ bos_token }}{{ '<|im_start|>' + m.role + '<|im_end|>' }}"},
      {"unknown", "{{ '<|im_start|>assistant\n<think>' + '<|im_end|>' }}"},
      {"unknown", "{% set default_system_message = d %}'[SYSTEM_PROMPT]' '[INST]'"},
  };
  for (const auto& [family, text] : kTexts) EXPECT_EQ(RecognizeChatTemplate(text), family) << text;
}

}  // namespace
}  // namespace aicf
