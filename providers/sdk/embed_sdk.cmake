# Writes OUT, a C++ file that holds every file of FILES, named relative to ROOT:
# `cmake -DOUT=… -DROOT=… -DFILES=a;b -P embed_sdk.cmake`.
set(rows "")
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH name "${ROOT}" "${file}")
  file(READ "${file}" text)
  string(APPEND rows "    {\"${name}\", R\"sdk(${text})sdk\"},\n")
endforeach()
file(WRITE "${OUT}.new" "// Made from providers/sdk by embed_sdk.cmake.
#include \"providers/sdk_files.h\"

namespace axle::providers {
namespace {

constexpr SdkFile files[] = {
${rows}};

}  // namespace

std::span<const SdkFile> sdk_files() { return files; }

}  // namespace axle::providers
")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
