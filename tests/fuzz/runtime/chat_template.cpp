// Chat templates: whatever is recognised renders a conversation that has the user's text in it.
#include "runtime/tokenizer/chat_template.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle::runtime;
  using axle::fuzz::require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<ChatTemplate> chat = ChatTemplate::recognise(text, "fuzz");
  if (!chat) return 0;
  const Message message{"user", "text"};
  const auto pieces = chat->render({&message, 1});
  require(pieces.has_value());
  bool found = false;
  for (const TemplatePiece& piece : *pieces) found = found || (!piece.own && piece.text == "text");
  require(found);
  return 0;
}
