#include "index/browse/page_frame.h"

#include <span>

#include <fmt/format.h>

#include "index/browse/html_text.h"
#include "index/browse/page_assets.h"
#include "wheel/hash/sha256.h"

namespace axle::index {
namespace {

constexpr std::string_view generator = "<meta name=generator content=\"variant index\">";

std::string_view shared_asset(std::string_view name) {
  for (const PageAsset& one : page_assets()) {
    if (one.name == name) return one.text;
  }
  return {};
}

}  // namespace

std::string page_frame(const FramedPage& page) {
  const std::string title = html_text(page.title);
  const std::string scripts = fmt::format(
      "{1}<script src=\"{0}page/script.js\" defer></script>\n", page.to_root,
      page.has_machines
          ? fmt::format("<script src=\"{}page/machines.js\" defer></script>\n", page.to_root)
          : "");
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n{0}\n<meta "
      "http-equiv=Content-Security-Policy content=\"{1}\">\n<meta name=viewport "
      "content=\"width=device-width, initial-scale=1\">\n<meta name=color-scheme content=\"light "
      "dark\">\n<title>{2}</title>\n<link rel=stylesheet href=\"{3}page/style.css\">\n{4}</head>\n"
      "<body data-root=\"{3}\" data-project=\"{5}\">\n<a class=skip href=\"#main\">Skip to the "
      "content</a>\n{7}<main id=main tabindex=-1>\n{6}</main>\n<footer><p>A static package "
      "index. Installers read <a href=\"{3}simple/index.html\">its simple pages</a>.</p></footer>\n"
      "</body>\n</html>\n",
      generator, page_policy, title, page.to_root, scripts, html_text(page.project), page.body,
      page.to_root.empty() ? std::string()
                           : fmt::format("<header><nav aria-label=Index><a "
                                         "href=\"{}index.html\">Package index</a></nav></header>\n",
                                         page.to_root));
}

SharedFile page_script() {
  std::string text = "(() => {\n\"use strict\";\n";
  // In the order in which they use each other.
  for (const std::string_view part :
       {"tags", "python_versions", "ranking", "choice", "pasted", "elements", "answer", "pages"}) {
    text += shared_asset(part);
  }
  text += "})();\n";
  const std::string stamp =
      wheel::render_hex(wheel::sha256(text + std::string(shared_asset("style"))));
  return {"page/script.js", fmt::format("// {}\n{}", stamp, text)};
}

std::vector<SharedFile> other_shared_files(const PageMachines& machines) {
  // A script, since a page that was opened as a file may not read other files.
  return {{"page/style.css", std::string(shared_asset("style"))},
          {"page/machines.js",
           fmt::format("globalThis.variantMachines = {};\n", machines.machines_json())}};
}

bool is_our_page(std::string_view text) {
  constexpr std::size_t head = 512;
  return text.substr(0, head).contains(generator);
}

}  // namespace axle::index
