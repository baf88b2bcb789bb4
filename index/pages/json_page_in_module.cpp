// parse_json_page for the program: in the module, which is opened for the first page.
#include <bit>
#include <new>
#include <stdexcept>
#include <utility>

#include "index/pages/json_page_module.h"

namespace axle::index {
namespace {

Result<ParseJsonPage> open_parser() {
  const auto function = open_module(json_page_module, module_paths(json_page_module));
  if (!function) return std::unexpected(function.error());
  return std::bit_cast<ParseJsonPage>(*function);
}

}  // namespace

Result<ProjectPage> parse_json_page(std::string body, std::string_view page_url, Report& report) {
  static const Result<ParseJsonPage> parse = open_parser();
  if (!parse) return std::unexpected(parse.error());
  const ParseJsonPage in_module = *parse;
  Result<ProjectPage> page;
  switch (in_module(JsonPageLayout(), std::move(body), page_url, report, page)) {
    case JsonPageEnd::out_of_memory:
      throw std::bad_alloc();
    case JsonPageEnd::defect:
      throw std::runtime_error("the module for pages of indexes ended with an exception");
    case JsonPageEnd::other_layout:
      return other_release(json_page_module, module_paths(json_page_module));
    case JsonPageEnd::done:
      break;
  }
  return page;
}

}  // namespace axle::index
