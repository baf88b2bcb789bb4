#include "resolver/request/upload_cutoff.h"

namespace axle::resolver {

const UploadCutoff* UploadCutoffs::find(std::string_view name) const {
  if (const auto own = of_package.find(name); own != of_package.end())
    return own->second ? &*own->second : nullptr;
  return general ? &*general : nullptr;
}

}  // namespace axle::resolver
