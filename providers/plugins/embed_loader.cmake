# Writes OUT, a C++ file that holds the script FILE: `cmake -DOUT=… -DFILE=… -P embed_loader.cmake`.
file(READ "${FILE}" text)
file(WRITE "${OUT}.new" "// Made from providers/plugins/python_loader.py by embed_loader.cmake.
#include \"providers/plugins/python_loader.h\"

namespace axle::plugins {

const char* python_loader() { return R\"python(${text})python\"; }

}  // namespace axle::plugins
")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
