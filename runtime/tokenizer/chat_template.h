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
/// user who writes one writes its text (Tokenizer::Piece).
struct TemplatePiece {
  std::string text;
  bool own = false;
};

class ChatTemplate {
 public:
  enum class Family : std::uint8_t { chatml, llama3, mistral };

  /// AXLE_UNSUPPORTED, with a word about `--raw`, for any other template. Tools are not rendered:
  /// a template's part for them does not matter.
  [[nodiscard]] static Result<ChatTemplate> recognise(std::string_view text,
                                                      const std::string& where);

  /// Ends where the assistant's answer begins. AXLE_BAD_ARGUMENT for a role that the template does
  /// not have at that place.
  [[nodiscard]] Result<std::vector<TemplatePiece>> render(std::span<const Message> messages) const;

  [[nodiscard]] Family family() const { return family_; }

 private:
  using Pieces = std::vector<TemplatePiece>;

  explicit ChatTemplate(Family family) : family_(family) {}

  [[nodiscard]] bool read_chatml(const std::string& text);
  [[nodiscard]] bool read_llama3(const std::string& text);
  [[nodiscard]] bool read_mistral(const std::string& text);
  [[nodiscard]] bool read_instruction(const std::string& text);
  [[nodiscard]] Result<void> check_roles(std::span<const Message> messages) const;
  void render_chatml(std::span<const Message> messages, Pieces& to) const;
  void render_llama3(std::span<const Message> messages, Pieces& to) const;
  void render_mistral(std::span<const Message> messages, Pieces& to) const;

  Family family_;
  std::string default_system_;   ///< of ChatML; empty: none
  bool drops_thoughts_ = false;  ///< Qwen3: of earlier answers only what follows "</think>"
  /// Llama 3.1 and later: what stands before every system message. The date is the template's own,
  /// not today's: the same conversation gives the same tokens on every day.
  std::string before_system_;

  /// Of Mistral.
  struct Instruction {
    std::string before;  ///< "[INST] ", " [INST] " or "[INST]"
    std::string after;   ///< " [/INST]" or "[/INST]"
    std::string before_answer;
    std::string after_answer;
    bool trims_answer = false;
    enum class System : std::uint8_t { none, first, last } system = System::none;
  };
  Instruction instruction_;
};

}  // namespace axle::runtime
