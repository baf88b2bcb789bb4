#pragma once
// How a model wants a conversation written: the templates of well-known families, recognised by
// their (Jinja) text, which is not run.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/result.h"

namespace axle::runtime {

struct Message {
  std::string role;  ///< "system", "user" or "assistant"
  std::string content;
};

/// A piece of a rendered conversation. Only the template's own pieces may hold control tokens: a
/// user who writes one writes its text.
struct TemplatePiece {
  std::string text;
  bool own = false;
};

class ChatTemplate {
 public:
  enum class Family : std::uint8_t { chatml, llama3, mistral };

  /// AXLE_UNSUPPORTED, with a word about `--raw`, for any other template.
  [[nodiscard]] static Result<ChatTemplate> recognise(std::string_view text,
                                                      const std::string& where);

  /// Ends where the assistant's answer begins. AXLE_BAD_ARGUMENT for a role that the template does
  /// not have at that place.
  [[nodiscard]] Result<std::vector<TemplatePiece>> render(std::span<const Message> messages) const;

  [[nodiscard]] Family family() const { return family_; }

 private:
  explicit ChatTemplate(Family family) : family_(family) {}

  Family family_;
  std::string default_system_;     ///< of ChatML; empty: none
  bool space_before_text_ = true;  ///< of Mistral: "[INST] text", not "[INST]text"
};

}  // namespace axle::runtime
