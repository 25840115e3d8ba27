# Finds LLVM and MLIR 22.1 as Debian ships them; any other version is refused.
set(MIRAGE_LLVM_VERSION 22.1)
list(PREPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
find_package(MLIR CONFIG)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR "Mirage-MLIR needs LLVM/MLIR ${MIRAGE_LLVM_VERSION}, and none was found. On Debian 12 run "
                      "scripts/setup.sh (packages libmlir-22-dev and llvm-22-dev of bookworm-security); elsewhere set "
                      "MLIR_DIR to the lib/cmake/mlir folder of a ${MIRAGE_LLVM_VERSION} build.")
endif()
if(NOT "${LLVM_VERSION_MAJOR}.${LLVM_VERSION_MINOR}" STREQUAL MIRAGE_LLVM_VERSION)
  message(FATAL_ERROR "Mirage-MLIR needs LLVM/MLIR ${MIRAGE_LLVM_VERSION}, found ${LLVM_VERSION} in ${LLVM_DIR}. On Debian 12 "
                      "run scripts/setup.sh and configure with -DMLIR_DIR=/usr/lib/llvm-22/lib/cmake/mlir.")
endif()

set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_library(mirage_llvm_headers INTERFACE)
target_include_directories(mirage_llvm_headers SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
separate_arguments(MIRAGE_LLVM_DEFINITIONS NATIVE_COMMAND ${LLVM_DEFINITIONS})
target_compile_options(mirage_llvm_headers INTERFACE ${MIRAGE_LLVM_DEFINITIONS})

# mirage_llvm: the LLVM C API. mirage_mlir_c: the MLIR C API on top of libMLIR. libMLIR.so exports no C API, so its archives
# are linked by path: naming the CMake targets would drag in a second, static MLIR.
set(MIRAGE_LLVM_LIB_DIR ${LLVM_LIBRARY_DIR})
set(MIRAGE_CAPI_ARCHIVES "")
foreach(name IR Transforms GPU NVVM LLVM Func Arith ControlFlow SCF Math MemRef Tensor Linalg Tosa Index Conversion Bufferization)
  list(APPEND MIRAGE_CAPI_ARCHIVES ${MIRAGE_LLVM_LIB_DIR}/libMLIRCAPI${name}.a)
endforeach()
add_library(mirage_llvm INTERFACE)
target_link_libraries(mirage_llvm INTERFACE mirage_llvm_headers)
add_library(mirage_mlir_c INTERFACE)
target_link_libraries(mirage_mlir_c INTERFACE mirage_llvm_headers)

# The archives, for targets that link statically (MirageCompile.cmake).
execute_process(COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --libs nvptx x86 orcjit passes irreader
                OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "-l" "" names "${flags}")
separate_arguments(names UNIX_COMMAND "${names}")
set(llvm_archives "")
foreach(name ${names})
  list(APPEND llvm_archives ${MIRAGE_LLVM_LIB_DIR}/lib${name}.a)
endforeach()
file(GLOB mlir_archives ${MIRAGE_LLVM_LIB_DIR}/libMLIR*.a)
list(FILTER mlir_archives EXCLUDE REGEX "Test|CAPI|LspServer")
# What LLVM itself needs, as archives where there are some. Debian builds libzstd.so without libzstd.a in the same package:
# then the shared one travels beside what was linked (scripts/gpu-bundle.sh, auditwheel).
set(system_libraries "")
foreach(name z zstd tinfo)
  find_library(MIRAGE_STATIC_${name} NAMES lib${name}.a)
  if(MIRAGE_STATIC_${name})
    list(APPEND system_libraries ${MIRAGE_STATIC_${name}})
  else()
    file(GLOB shared /usr/lib/*/lib${name}.so.[0-9] /usr/lib64/lib${name}.so.[0-9])
    list(APPEND system_libraries ${shared})
  endif()
endforeach()
find_package(Threads REQUIRED)
list(APPEND system_libraries Threads::Threads ${CMAKE_DL_LIBS} m)
if(MIRAGE_STATIC)
  set(CMAKE_BUILD_RPATH "$ORIGIN/../lib")
  # The path in the program serves its libraries too: libz3 needs the C++ runtime that travels beside it.
  target_link_options(mirage_llvm_headers INTERFACE -Wl,--as-needed -Wl,--disable-new-dtags)
endif()
mirage_link_either(mirage_llvm STATIC -Wl,--start-group ${llvm_archives} -Wl,--end-group ${system_libraries} SHARED LLVM)
mirage_link_either(mirage_mlir_c STATIC -Wl,--start-group ${MIRAGE_CAPI_ARCHIVES} ${mlir_archives} ${llvm_archives} -Wl,--end-group
                                        ${system_libraries} SHARED ${MIRAGE_CAPI_ARCHIVES} MLIR LLVM)
