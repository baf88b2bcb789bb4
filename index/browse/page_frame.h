#pragma once
// What all pages for people have in common, and the files that they share.

#include <string>
#include <string_view>
#include <vector>

#include "index/browse/page_machines.h"

namespace axle::index {

struct FramedPage {
  std::string title;         ///< not yet escaped, like `project`
  std::string_view to_root;  ///< "../../": from the page to the folder of the index
  std::string body;          ///< of <main>
  bool has_machines = false;
  std::string project = {};  ///< empty: the page is of none
};

/// A whole page. It loads nothing but the shared files, and has no script or style of its own.
[[nodiscard]] std::string page_frame(const FramedPage& page);

/// What a page may load: https://www.w3.org/TR/CSP3/. In each page, and in what a server says.
inline constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'";

struct SharedFile {
  std::string path;  ///< below the index: "page/style.css"
  std::string text;
};

/// The script of all pages, whose first line changes with everything that the pages share.
[[nodiscard]] SharedFile page_script();
/// The style and the machines.
[[nodiscard]] std::vector<SharedFile> other_shared_files(const PageMachines& machines);

/// Whether a page was made here, not by the owner of the folder.
[[nodiscard]] bool is_our_page(std::string_view text);

}  // namespace axle::index
