#pragma once
// Where the rows of a RECORD lead to, folder by folder.

#include <cstdint>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "installer/environment/installed.h"
#include "installer/environment/roots.h"

namespace axle::installer {

struct RecordPlaces {
  struct File {
    std::uint32_t folder;  ///< its place in `folders`
    std::string name;
  };
  /// What is not to be touched, as RECORD lists it.
  struct Kept {
    std::string listed;
    bool outside;  ///< of the environment; otherwise it is the environment's own (Roots)
  };
  std::vector<std::string> folders;  ///< absolute, without links, each once
  std::vector<File> files;           ///< they need not exist
  std::vector<Kept> kept;
};

/// `record`: the text of its RECORD. Errors: those of for_each_record_row and of PathResolver.
[[nodiscard]] Result<RecordPlaces> find_places(const InstalledDistribution& distribution,
                                               std::string_view record, const Roots& roots,
                                               PathResolver& resolver);

/// Most of the folders that find_places will find, in a tenth of its time: those of plain paths,
/// whatever they lead to.
[[nodiscard]] std::vector<std::string> guess_folders(const InstalledDistribution& distribution,
                                                     std::string_view record);

}  // namespace axle::installer
