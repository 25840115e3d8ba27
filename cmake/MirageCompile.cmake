# Warnings, sanitizers, and mirage_add_library(name FILES... LINK libs...): one static library a folder.
add_library(mirage_options INTERFACE)
target_include_directories(mirage_options INTERFACE ${CMAKE_SOURCE_DIR}/include)
target_compile_options(mirage_options INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter>
                                                $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wno-unused-parameter>)
add_link_options(-fuse-ld=lld -Wl,-z,defs)
if(MIRAGE_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr,function -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  # The shared runtime, found by rpath: the plugin is loaded into an mlir-opt that is not instrumented.
  add_link_options(-fsanitize=address,undefined -shared-libsan)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-resource-dir OUTPUT_VARIABLE MIRAGE_CLANG_RESOURCES
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND CMAKE_BUILD_RPATH ${MIRAGE_CLANG_RESOURCES}/lib/linux)
  set(MIRAGE_SANITIZER_RUNTIME ${MIRAGE_CLANG_RESOURCES}/lib/linux/libclang_rt.asan-${CMAKE_HOST_SYSTEM_PROCESSOR}.so)
endif()
if(MIRAGE_STATIC)
  add_compile_options(-ffunction-sections -fdata-sections)
  add_link_options(-Wl,--gc-sections -static-libstdc++ -static-libgcc)
endif()

function(mirage_add_library name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/lib ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC mirage_options ${arg_LINK})
endfunction()
