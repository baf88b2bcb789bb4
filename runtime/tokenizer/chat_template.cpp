#include "runtime/tokenizer/chat_template.h"

#include <algorithm>

namespace axle::runtime {
namespace {

bool has(std::string_view text, std::string_view piece) {
  return text.find(piece) != std::string_view::npos;
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view spaces = " \t\n\r\f\v";
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(spaces) - first + 1));
}

/// The text between `<|im_start|>system\n` and `<|im_end|>` that a ChatML template has of its own,
/// for conversations that do not begin with a system message; empty where there is none.
std::string own_system_message(std::string_view text) {
  for (const std::string_view line_end : {"\n", "\\n"}) {
    const std::string start = "<|im_start|>system" + std::string(line_end);
    const std::size_t at = text.find(start);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = text.substr(at + start.size());
    const std::size_t end = rest.find("<|im_end|>");
    if (end == std::string_view::npos) continue;
    const std::string_view message = rest.substr(0, end);
    // Code between both means that the message is the user's.
    if (has(message, "{") || has(message, "'") || has(message, "+")) continue;
    return std::string(message);
  }
  return "";
}

}  // namespace

Result<ChatTemplate> ChatTemplate::recognise(std::string_view text, const std::string& where) {
  if (has(text, "<|im_start|>") && has(text, "<|im_end|>") && has(text, "role") &&
      !has(text, "<|im_sep|>")) {
    ChatTemplate chatml(Family::chatml);
    chatml.default_system_ = own_system_message(text);
    return chatml;
  }
  if (has(text, "<|start_header_id|>") && has(text, "<|end_header_id|>") && has(text, "<|eot_id|>"))
    return ChatTemplate(Family::llama3);
  if (has(text, "[INST]") && has(text, "[/INST]") && !has(text, "<<SYS>>")) {
    ChatTemplate mistral(Family::mistral);
    mistral.space_before_text_ = has(text, "[INST] ");
    return mistral;
  }
  return failure(
      AXLE_UNSUPPORTED,
      "%s: the chat template is none of ChatML, Llama 3 and Mistral; `--raw` continues the "
      "prompt as it is",
      where.c_str());
}

namespace {

using Pieces = std::vector<TemplatePiece>;

void render_chatml(std::span<const Message> messages, const std::string& default_system,
                   Pieces& to) {
  const bool has_system = !messages.empty() && messages[0].role == "system";
  if (!has_system && !default_system.empty())
    to.push_back({"<|im_start|>system\n" + default_system + "<|im_end|>\n", true});
  for (const Message& message : messages) {
    to.push_back({"<|im_start|>" + message.role + "\n", true});
    to.push_back({message.content, false});
    to.push_back({"<|im_end|>\n", true});
  }
  to.push_back({"<|im_start|>assistant\n", true});
}

void render_llama3(std::span<const Message> messages, Pieces& to) {
  to.push_back({"<|begin_of_text|>", true});
  for (const Message& message : messages) {
    to.push_back({"<|start_header_id|>" + message.role + "<|end_header_id|>\n\n", true});
    to.push_back({trimmed(message.content), false});
    to.push_back({"<|eot_id|>", true});
  }
  to.push_back({"<|start_header_id|>assistant<|end_header_id|>\n\n", true});
}

void render_mistral(std::span<const Message> messages, bool space, Pieces& to) {
  to.push_back({"<s>", true});
  std::string system;
  for (const Message& message : messages) {
    if (message.role == "system") {
      system = message.content + "\n\n";
    } else if (message.role == "user") {
      to.push_back({space ? "[INST] " : "[INST]", true});
      to.push_back({system + message.content, false});
      to.push_back({space ? " [/INST]" : "[/INST]", true});
      system.clear();
    } else {
      to.push_back({(space ? " " : "") + message.content, false});
      to.push_back({"</s>", true});
    }
  }
}

}  // namespace

Result<std::vector<TemplatePiece>> ChatTemplate::render(std::span<const Message> messages) const {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string& role = messages[i].role;
    const bool known = role == "user" || role == "assistant" || (role == "system" && i == 0);
    if (!known)
      return failure(
          AXLE_BAD_ARGUMENT,
          "message %zu has the role \"%s\"; there are user, assistant and, for the first "
          "message, system",
          i, role.c_str());
  }
  Pieces pieces;
  switch (family_) {
    case Family::chatml:
      render_chatml(messages, default_system_, pieces);
      break;
    case Family::llama3:
      render_llama3(messages, pieces);
      break;
    case Family::mistral:
      render_mistral(messages, space_before_text_, pieces);
      break;
  }
  return pieces;
}

}  // namespace axle::runtime
