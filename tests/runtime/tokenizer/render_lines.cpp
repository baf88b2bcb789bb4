// Reads [template, [[role, text], …]] from stdin, a JSON list a line; prints the conversation as
// the template has it, a JSON string, or null where the template or the conversation is refused.
// For chat_template_differential.py.
#include <iostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/tokenizer/chat_template.h"

namespace {

using namespace axle::runtime;
using nlohmann::json;

json answer(const json& question) {
  const auto chat = ChatTemplate::recognise(question[0].get<std::string>(), "");
  if (!chat) return nullptr;
  std::vector<Message> messages;
  for (const json& message : question[1])
    messages.push_back({message[0].get<std::string>(), message[1].get<std::string>()});
  const auto pieces = chat->render(messages);
  if (!pieces) return nullptr;
  std::string text;
  for (const TemplatePiece& piece : *pieces) text += piece.text;
  return text;
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line))
    std::cout << answer(json::parse(line)).dump(-1, ' ', true) << "\n";
  return 0;
}
