// encode_lines MODEL: reads JSON strings from stdin, a line each, and prints the tokens of each as
// a JSON list, then what they decode to. For tokenizer_differential.py.
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "runtime/files/mapped_file.h"
#include "runtime/model/model.h"

int main(int argc, char** argv) {
  using axle::runtime::MappedFile;
  using axle::runtime::Model;
  using axle::runtime::Tokenizer;
  if (argc != 2) return 2;
  const std::string path = argv[1];
  const auto run = [](const Tokenizer& tokenizer) {
    std::string line;
    while (std::getline(std::cin, line)) {
      const std::string text = nlohmann::json::parse(line).get<std::string>();
      const Tokenizer::Piece piece{text, true};
      const auto tokens = tokenizer.encode({&piece, 1}, true);
      std::cout << nlohmann::json({tokens, tokenizer.decode(tokens, true)})
                       .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)
                << "\n";
    }
  };
  if (path.ends_with(".json")) {
    const auto file = MappedFile::open(path);
    const auto tokenizer = Tokenizer::parse_json(file->text(), path);
    if (!tokenizer) {
      std::cerr << tokenizer.error().message << "\n";
      return 1;
    }
    run(*tokenizer);
  } else {
    const auto model = Model::open(path);
    if (!model) {
      std::cerr << model.error().message << "\n";
      return 1;
    }
    run(model->tokenizer());
  }
  return 0;
}
