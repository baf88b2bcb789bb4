#include "runtime/tokenizer/chat_template.h"

#include <algorithm>
#include <optional>

#include "runtime/tokenizer/jinja_text.h"

namespace axle::runtime {
namespace {

bool has(std::string_view text, std::string_view piece) {
  return text.find(piece) != std::string_view::npos;
}

/// Whether all tokens of the form "<|name|>" are among `known`.
bool has_only(std::string_view text, std::span<const std::string_view> known) {
  for (std::size_t at = text.find("<|"); at != std::string_view::npos;
       at = text.find("<|", at + 1)) {
    const std::size_t end = text.find("|>", at);
    if (end == std::string_view::npos) return false;
    const std::string_view name = text.substr(at + 2, end - at - 2);
    if (std::find(known.begin(), known.end(), name) == known.end()) return false;
  }
  return true;
}

/// What stands for `*` in the first place where `text` has `before`*`after`. A string's end, or
/// code, cannot be part of it.
std::optional<std::string> literal_between(std::string_view text, std::string_view before,
                                           std::string_view after) {
  for (std::size_t at = text.find(before); at != std::string_view::npos;
       at = text.find(before, at + 1)) {
    const std::string_view rest = text.substr(at + before.size());
    const std::size_t end = rest.find_first_of("'{}");
    const std::size_t found = rest.find(after);
    if (found != std::string_view::npos && found <= end) return std::string(rest.substr(0, found));
  }
  return std::nullopt;
}

void remove(std::string& text, std::string_view piece) {
  const std::size_t at = text.find(piece);
  if (at != std::string::npos) text.erase(at, piece.size());
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view spaces = " \t\n\r\f\v";
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(spaces) - first + 1));
}

// Pieces of templates in the form of canonical_jinja.
constexpr std::string_view chatml_turns[] = {
    "{{'<|im_start|>'+message['role']+'\n'+message['content']+'<|im_end|>'+'\n'}}",
    "{{'<|im_start|>'+message['role']+'\n'+message['content']+'<|im_end|>\n'}}"};
constexpr std::string_view chatml_answer =
    "{%ifadd_generation_prompt%}{{'<|im_start|>assistant\n'}}";
constexpr std::string_view chatml_system_before = "{{'<|im_start|>system\n";
constexpr std::string_view chatml_system_after = "<|im_end|>\n'}}";
constexpr std::string_view chatml_own_system =
    "{{'<|im_start|>system\n'+messages[0]['content']+'<|im_end|>\n'}}";
constexpr std::string_view chatml_tokens[] = {"im_start", "im_end"};

constexpr std::string_view llama3_turns =
    "{%setloop_messages=messages%}{%formessageinloop_messages%}{%setcontent='<|start_header_id|>'+"
    "message['role']+'<|end_header_id|>\n\n'+message['content']|trim+'<|eot_id|>'%}{%if"
    "loop.index0==0%}{%setcontent=bos_token+content%}{%endif%}{{content}}{%endfor%}";
constexpr std::string_view llama3_answer =
    "{{'<|start_header_id|>assistant<|end_header_id|>\n\n'}}";
constexpr std::string_view llama31_pieces[] = {
    "{%setsystem_message=messages[0]['content']|trim%}{%setmessages=messages[1:]%}",
    "{{'<|start_header_id|>system<|end_header_id|>\n\n'}}",
    "{{'Cutting Knowledge Date: December 2023\n'}}{{'Today Date: '+date_string+'\n\n'}}",
    "{{system_message}}{{'<|eot_id|>'}}",
    ("{{'<|start_header_id|>'+message['role']+'<|end_header_id|>\n\n'+message['content']|trim+'<|"
     "eot_id|>'}}"),
    llama3_answer};
constexpr std::string_view llama31_tokens[] = {"start_header_id", "end_header_id", "eot_id",
                                               "eom_id", "python_tag"};

constexpr std::string_view condition = "{%ifadd_generation_prompt%}";
constexpr std::string_view end_of_condition = "{%endif%}";

}  // namespace

bool ChatTemplate::read_chatml(const std::string& text) {
  if (!has_only(text, chatml_tokens) || !has(text, chatml_answer)) return false;
  const auto* const turn = std::find_if(std::begin(chatml_turns), std::end(chatml_turns),
                                        [&](std::string_view one) { return has(text, one); });
  if (turn == std::end(chatml_turns)) return false;
  const std::optional<std::string> system =
      literal_between(text, chatml_system_before, chatml_system_after);
  default_system_ = system.value_or("");
  if (has(text, "tools")) {  // Qwen's: with a part that is for tools only
    drops_thoughts_ = has(text, "message['content'].split('</think>')[-1].lstrip('\n')") &&
                      has(text, "loop.index0>ns.last_query_index");
    const bool thinks = has(text, "think");
    return has(text, chatml_own_system) && has(text, "{%iftools%}") && has(text, "<tool_call>") &&
           thinks == drops_thoughts_ && system.has_value() == !drops_thoughts_;
  }
  // Nothing else may be in it.
  std::string rest = text;
  remove(rest,
         "{%ifnotadd_generation_promptisdefined%}{%setadd_generation_prompt=false%}{%endif%}");
  if (system) {
    remove(rest, "{%ifloop.firstandmessages[0]['role']!='system'%}" +
                     std::string(chatml_system_before) + *system +
                     std::string(chatml_system_after) + "{%endif%}");
  }
  return rest == "{%formessageinmessages%}" + std::string(*turn) + "{%endfor%}" +
                     std::string(chatml_answer) + std::string(end_of_condition);
}

bool ChatTemplate::read_llama3(const std::string& text) {
  const std::string answer(llama3_answer);
  if (text == std::string(llama3_turns) + answer || text == std::string(llama3_turns) +
                                                                std::string(condition) + answer +
                                                                std::string(end_of_condition))
    return true;
  const bool later = std::all_of(std::begin(llama31_pieces), std::end(llama31_pieces),
                                 [&](std::string_view piece) { return has(text, piece); }) &&
                     has_only(text, llama31_tokens) && text.starts_with("{{bos_token}}");
  const auto date = literal_between(text, "{%setdate_string='", "'%}");
  if (!later || !date) return false;
  before_system_ = "Cutting Knowledge Date: December 2023\nToday Date: " + *date + "\n\n";
  return true;
}

/// Exactly one of the ways to write a user's message and an answer must be in the text.
bool ChatTemplate::read_instruction(const std::string& text) {
  int ways = 0;
  for (const char* before : {"[INST] ", " [INST] ", "[INST]"}) {
    for (const char* after : {" [/INST]", "[/INST]"}) {
      if (!has(text, std::string("{{'") + before + "'+message['content']+'" + after + "'}}"))
        continue;
      ++ways;
      instruction_.before = before;
      instruction_.after = after;
    }
  }
  if (ways != 1) return false;
  for (const char* before : {"", " "}) {
    for (const bool trims : {false, true}) {
      for (const char* after : {"", " "}) {
        const std::string answer = std::string("%}{{") + (*before != 0 ? "' '+" : "") +
                                   "message['content']" + (trims ? "|trim" : "") + "+eos_token" +
                                   (*after != 0 ? "+' '" : "") + "}}";
        if (!has(text, answer)) continue;
        ++ways;
        instruction_.before_answer = before;
        instruction_.trims_answer = trims;
        instruction_.after_answer = after;
      }
    }
  }
  return ways == 2;
}

bool ChatTemplate::read_mistral(const std::string& text) {
  using System = Instruction::System;
  const bool begins = text.starts_with("{{bos_token}}") || has(text, "%}{{bos_token}}{%for");
  if (!begins || has(text, "<<SYS>>") || has(text, "SYSTEM_PROMPT") || has(text, "<|"))
    return false;
  if (!read_instruction(text)) return false;
  if (!has(text, "system_message"))
    return has(text, "Only user and assistant roles are supported!");
  if (!has(text, "{{'" + instruction_.before + "'+system_message+'\n\n'+message['content']+'" +
                     instruction_.after + "'}}"))
    return false;
  const bool last = has(text, "{%ifloop.lastandsystem_messageisdefined%}") ||
                    has(text, "{%if(message==user_messages[-1])andsystem_messageisdefined%}");
  const bool first = has(text, "{%ifloop.firstandsystem_messageisdefined%}");
  instruction_.system = last ? System::last : System::first;
  return first != last;
}

Result<ChatTemplate> ChatTemplate::recognise(std::string_view text, const std::string& where) {
  const std::string canonical = canonical_jinja(text);
  ChatTemplate chatml(Family::chatml);
  if (chatml.read_chatml(canonical)) return chatml;
  ChatTemplate llama3(Family::llama3);
  if (llama3.read_llama3(canonical)) return llama3;
  ChatTemplate mistral(Family::mistral);
  if (mistral.read_mistral(canonical)) return mistral;
  return failure(
      AXLE_UNSUPPORTED,
      "%s: the chat template is none of ChatML, Llama 3 and Mistral; raw (`--raw` of the program) "
      "continues the prompt as it is",
      where.c_str());
}

void ChatTemplate::render_chatml(std::span<const Message> messages, Pieces& to) const {
  const bool has_system = !messages.empty() && messages[0].role == "system";
  if (!has_system && !default_system_.empty())
    to.push_back({"<|im_start|>system\n" + default_system_ + "<|im_end|>\n", true});
  for (const Message& message : messages) {
    to.push_back({"<|im_start|>" + message.role + "\n", true});
    std::string content = message.content;
    const std::size_t thought = content.rfind("</think>");
    if (drops_thoughts_ && message.role == "assistant" && thought != std::string::npos) {
      content.erase(0, thought + std::string_view("</think>").size());
      content.erase(0, std::min(content.find_first_not_of('\n'), content.size()));
    }
    to.push_back({std::move(content), false});
    to.push_back({"<|im_end|>\n", true});
  }
  to.push_back({"<|im_start|>assistant\n", true});
}

void ChatTemplate::render_llama3(std::span<const Message> messages, Pieces& to) const {
  to.push_back({"<|begin_of_text|>", true});
  const bool has_system = !messages.empty() && messages[0].role == "system";
  if (!before_system_.empty() && !has_system)
    to.push_back(
        {"<|start_header_id|>system<|end_header_id|>\n\n" + before_system_ + "<|eot_id|>", true});
  for (const Message& message : messages) {
    const bool is_system = message.role == "system";
    to.push_back({"<|start_header_id|>" + message.role + "<|end_header_id|>\n\n" +
                      (is_system ? before_system_ : ""),
                  true});
    to.push_back({trimmed(message.content), false});
    to.push_back({"<|eot_id|>", true});
  }
  to.push_back({"<|start_header_id|>assistant<|end_header_id|>\n\n", true});
}

void ChatTemplate::render_mistral(std::span<const Message> messages, Pieces& to) const {
  using System = Instruction::System;
  to.push_back({"<s>", true});
  std::string system;
  bool is_first = true;
  for (const Message& message : messages) {
    const bool is_last = &message == &messages.back();
    if (message.role == "system") {
      system = message.content + "\n\n";
    } else if (message.role == "user") {
      const bool takes = instruction_.system == System::last ? is_last : is_first;
      to.push_back({instruction_.before, true});
      to.push_back({(takes ? system : "") + message.content, false});
      to.push_back({instruction_.after, true});
      is_first = false;
    } else {
      const std::string content =
          instruction_.trims_answer ? trimmed(message.content) : message.content;
      to.push_back({instruction_.before_answer + content, false});
      to.push_back({"</s>" + instruction_.after_answer, true});
    }
  }
}

Result<void> ChatTemplate::check_roles(std::span<const Message> messages) const {
  const bool may_have_system =
      family_ != Family::mistral || instruction_.system != Instruction::System::none;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string& role = messages[i].role;
    const bool known =
        role == "user" || role == "assistant" || (role == "system" && i == 0 && may_have_system);
    if (!known)
      return failure(AXLE_BAD_ARGUMENT,
                     "message %zu has the role \"%s\"; this model's chat template has user, "
                     "assistant%s",
                     i, role.c_str(), may_have_system ? " and, for the first message, system" : "");
  }
  if (messages.empty() || messages.back().role != "user")
    return failure(AXLE_BAD_ARGUMENT,
                   "the last message is not the user's: there is nothing to answer");
  if (family_ != Family::mistral) return {};
  const std::size_t begin = messages[0].role == "system" ? 1 : 0;
  for (std::size_t i = begin; i < messages.size(); ++i) {
    if ((messages[i].role == "user") != ((i - begin) % 2 == 0))
      return failure(AXLE_BAD_ARGUMENT,
                     "message %zu has the role \"%s\"; in this model's chat template user and "
                     "assistant take turns",
                     i, messages[i].role.c_str());
  }
  return {};
}

Result<std::vector<TemplatePiece>> ChatTemplate::render(std::span<const Message> messages) const {
  const Result<void> roles = check_roles(messages);
  if (!roles) return std::unexpected(roles.error());
  Pieces pieces;
  switch (family_) {
    case Family::chatml:
      render_chatml(messages, pieces);
      break;
    case Family::llama3:
      render_llama3(messages, pieces);
      break;
    case Family::mistral:
      render_mistral(messages, pieces);
      break;
  }
  return pieces;
}

}  // namespace axle::runtime
