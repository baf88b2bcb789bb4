# The one program of one architecture: clang and libc++ of the package index's ziglang, which links against glibc 2.17 of any
# architecture. one_program.sh brings the compilers, and has libraries.sh build the libraries.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES AXLE_RELEASE_ARCHITECTURE)
set(dist ${CMAKE_CURRENT_LIST_DIR}/../../build/dist)
set(AXLE_RELEASE_TOOLS ${dist}/tools)
set(AXLE_RELEASE_PREFIX ${dist}/${AXLE_RELEASE_ARCHITECTURE}/libraries)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${AXLE_RELEASE_ARCHITECTURE})
set(CMAKE_C_COMPILER ${AXLE_RELEASE_TOOLS}/${AXLE_RELEASE_ARCHITECTURE}-cc)
set(CMAKE_CXX_COMPILER ${AXLE_RELEASE_TOOLS}/${AXLE_RELEASE_ARCHITECTURE}-c++)
set(CMAKE_AR ${AXLE_RELEASE_TOOLS}/${AXLE_RELEASE_ARCHITECTURE}-ar)
set(CMAKE_RANLIB ${AXLE_RELEASE_TOOLS}/${AXLE_RELEASE_ARCHITECTURE}-ranlib)
# Nothing of the machine that builds: its headers and libraries are newer than what the program may need.
set(CMAKE_FIND_ROOT_PATH ${AXLE_RELEASE_PREFIX})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
