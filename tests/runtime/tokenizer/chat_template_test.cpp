#include "runtime/tokenizer/chat_template.h"

#include <doctest/doctest.h>

#include "runtime/tokenizer/jinja_text.h"

namespace {

using namespace axle::runtime;

const std::string chatml =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' "
    "}}{% endif %}";
const std::string smollm =
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ "
    "'<|im_start|>system\nYou are small.<|im_end|>\n' }}{% endif %}" +
    chatml.substr(chatml.find("{{"));
const std::string llama3 =
    "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = "
    "'<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | "
    "trim + "
    "'<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ "
    "content }}{% endfor %}{% if add_generation_prompt %}{{ "
    "'<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}";
const std::string llama31 =
    R"({{- bos_token }}
{%- if not date_string is defined %}
    {%- set date_string = "1 Jan 2024" %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- endif %}
{#- System message #}
{{- "<|start_header_id|>system<|end_header_id|>\n\n" }}
{{- "Cutting Knowledge Date: December 2023\n" }}
{{- "Today Date: " + date_string + "\n\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %})";
const std::string qwen3 =
    R"({%- if tools %}
    {{- "# Tools\n<tool_call>" }}
{%- else %}
    {%- if messages[0].role == 'system' %}
        {{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
        {%- set content = message.content.split('</think>')[-1].lstrip('\n') %}
        {%- if loop.index0 > ns.last_query_index %}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %})";
const std::string mistral =
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{ '[INST] ' + "
    "message['content'] + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ "
    "message['content'] + eos_token + ' ' }}{% else %}{{ raise_exception('Only user and assistant "
    "roles are supported!') }}{% endif %}{% endfor %}";
const std::string mistral_system =
    R"({%- if messages[0]["role"] == "system" %}{%- set system_message = messages[0]["content"] %}{%- endif %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST]" + system_message + "\n\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST]" + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token }}
    {%- endif %}
{%- endfor %})";

using Messages = std::vector<Message>;

Result<std::string> rendered(const std::string& text, const Messages& messages) {
  const Result<ChatTemplate> chat = ChatTemplate::recognise(text, "m");
  REQUIRE_MESSAGE(chat, text);
  const auto pieces = chat->render(messages);
  if (!pieces) return std::unexpected(pieces.error());
  std::string all;
  for (const TemplatePiece& piece : *pieces) all += piece.text;
  return all;
}

TEST_CASE("chat template: ChatML, with and without a system message of its own") {
  const Messages one = {{"user", " Hi "}};
  CHECK(rendered(chatml, one) == "<|im_start|>user\n Hi <|im_end|>\n<|im_start|>assistant\n");
  CHECK(rendered(smollm, one) ==
        "<|im_start|>system\nYou are small.<|im_end|>\n<|im_start|>user\n Hi "
        "<|im_end|>\n<|im_start|>assistant\n");
  CHECK(rendered(smollm, {{"system", "S"}, {"user", "U"}}) ==
        "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n");
}

TEST_CASE("chat template: Qwen 3 leaves out what was thought before earlier answers") {
  CHECK(rendered(qwen3,
                 {{"user", "A"}, {"assistant", "<think>x</think>\n\nB"}, {"user", "C</think>"}}) ==
        "<|im_start|>user\nA<|im_end|>\n<|im_start|>assistant\nB<|im_end|>\n<|im_start|>user\n"
        "C</think><|im_end|>\n<|im_start|>assistant\n");
}

TEST_CASE("chat template: Llama 3, and later ones with a date") {
  const std::string user = "<|start_header_id|>user<|end_header_id|>\n\n";
  const std::string end = "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n";
  CHECK(rendered(llama3, {{"user", " Hi\n"}}) == "<|begin_of_text|>" + user + "Hi" + end);
  const std::string system =
      "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: "
      "December 2023\nToday Date: 1 Jan 2024\n\n";
  CHECK(rendered(llama31, {{"user", "Hi"}}) == system + "<|eot_id|>" + user + "Hi" + end);
  CHECK(rendered(llama31, {{"system", "S "}, {"user", "Hi"}}) ==
        system + "S<|eot_id|>" + user + "Hi" + end);
}

TEST_CASE("chat template: Mistral's instructions") {
  const Messages three = {{"user", "A"}, {"assistant", " B "}, {"user", "C"}};
  CHECK(rendered(mistral, three) == "<s>[INST] A [/INST] B </s> [INST] C [/INST]");
  CHECK_FALSE(rendered(mistral, {{"system", "S"}, {"user", "U"}}));
  Messages four = three;
  four.insert(four.begin(), {"system", "S"});
  CHECK(rendered(mistral_system, four) == "<s>[INST]A[/INST] B</s>[INST]S\n\nC[/INST]");
}

TEST_CASE("chat template: only the template's own pieces may hold control tokens") {
  const Result<ChatTemplate> chat = ChatTemplate::recognise(chatml, "m");
  REQUIRE(chat);
  const Message message{"user", "<|im_end|>"};
  const auto pieces = chat->render({&message, 1});
  REQUIRE(pieces);
  REQUIRE(pieces->size() == 4);
  CHECK_FALSE((*pieces)[1].own);
  CHECK((*pieces)[1].text == "<|im_end|>");
  for (const std::size_t i : {0, 2, 3}) CHECK((*pieces)[i].own);
}

TEST_CASE("chat template: conversations that it does not have") {
  for (const Messages& messages : {Messages{}, Messages{{"tool", "x"}},
                                   Messages{{"user", "a"}, {"system", "b"}, {"user", "c"}},
                                   Messages{{"user", "a"}, {"assistant", "b"}}}) {
    const auto text = rendered(chatml, messages);
    REQUIRE_FALSE(text);
    CHECK(text.error().status == AXLE_BAD_ARGUMENT);
  }
  CHECK_FALSE(rendered(mistral, {{"user", "a"}, {"user", "b"}}));
}

TEST_CASE("chat template: others are refused, however near") {
  const auto changed = [](std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  for (const std::string& text :
       {std::string(), std::string("{{ messages }}"), "Hello " + chatml, chatml + "{{ x }}",
        changed(chatml, "'<|im_end|>'", "'<|im_end|>' + eos_token"),
        changed(chatml, "+ '\n' +", "+ '<|im_sep|>' +"), changed(llama3, " | trim", ""),
        changed(llama31, "'<|eot_id|>' }}", "'<|end|>' }}"),
        changed(llama31, "December 2023", "June 2025"),
        changed(mistral, "'[INST] '", "'<<SYS>>[INST] '"), changed(mistral, " + eos_token", ""),
        changed(mistral_system, "loop.last", "true"), changed(qwen3, "> ns.last", "< ns.last")}) {
    CAPTURE(text);
    const auto chat = ChatTemplate::recognise(text, "model.gguf");
    REQUIRE_FALSE(chat);
    CHECK(chat.error().status == AXLE_UNSUPPORTED);
    CHECK(chat.error().message.find("--raw") != std::string::npos);
  }
}

TEST_CASE("chat template: Jinja in one form") {
  CHECK(canonical_jinja(
            "{%- if  a == \"b c\" -%}\n x {{- message.role }}\n{# no #}\n{% endif %}\n") ==
        "{%ifa=='b c'%}x{{message['role']}}\n{%endif%}");
  CHECK(canonical_jinja(R"({{ 'a\'b\n\\' }})") == "{{'a'b\n\\'}}");
  for (const char* cut : {"{", "{{", "{{ 'a", "{{ 'a\\", "{%-", "{# x", "{{ a -", "{{ a }"})
    CHECK(canonical_jinja(cut).size() <= std::string_view(cut).size() + 2);
}

}  // namespace
