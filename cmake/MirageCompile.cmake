# Warnings, sanitizers, and mirage_add_library(name FILES... LINK libs...): one static library a folder.
add_library(mirage_options INTERFACE)
target_include_directories(mirage_options INTERFACE ${CMAKE_SOURCE_DIR}/include)
target_compile_options(mirage_options INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter>
                                                $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wno-unused-parameter>)
add_link_options(-fuse-ld=lld -Wl,-z,defs)
if(MIRAGE_SANITIZE)
  if(MIRAGE_SANITIZE STREQUAL "thread")
    set(sanitizers -fsanitize=thread)
    set(runtime tsan)
  else()
    set(sanitizers -fsanitize=address,undefined)
    set(runtime asan)
    add_compile_options(-fno-sanitize-recover=undefined)
    set(MIRAGE_ASAN_OPTIONS "detect_container_overflow=0:strict_string_checks=1") # beside them, what a test bears
  endif()
  add_compile_options(${sanitizers} -fno-omit-frame-pointer)
  # The shared runtime, found by rpath: the plugin is loaded into an mlir-opt that is not instrumented.
  add_link_options(${sanitizers} -shared-libsan)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-resource-dir OUTPUT_VARIABLE MIRAGE_CLANG_RESOURCES
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND CMAKE_BUILD_RPATH ${MIRAGE_CLANG_RESOURCES}/lib/linux)
  set(MIRAGE_SANITIZER_RUNTIME ${MIRAGE_CLANG_RESOURCES}/lib/linux/libclang_rt.${runtime}-${CMAKE_HOST_SYSTEM_PROCESSOR}.so)
  # For tests that load our code into an interpreter, which frees little at its end.
  set(MIRAGE_PRELOAD_ENVIRONMENT "LD_PRELOAD=${MIRAGE_SANITIZER_RUNTIME}"
                                 "ASAN_OPTIONS=${MIRAGE_ASAN_OPTIONS}:allow_user_poisoning=0:detect_leaks=0")
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

# LLVM and the small libraries are linked as Debian's shared ones, but as archives into a target whose property
# MIRAGE_LINK_STATIC is set, and into all where MIRAGE_STATIC is.
set(MIRAGE_IS_STATIC "$<OR:$<BOOL:${MIRAGE_STATIC}>,$<BOOL:$<TARGET_PROPERTY:MIRAGE_LINK_STATIC>>>")

# mirage_link_either(interface_library STATIC ... SHARED ...)
function(mirage_link_either name)
  cmake_parse_arguments(arg "" "" "STATIC;SHARED" ${ARGN})
  foreach(item ${arg_STATIC})
    target_link_libraries(${name} INTERFACE "$<${MIRAGE_IS_STATIC}:${item}>")
  endforeach()
  foreach(item ${arg_SHARED})
    target_link_libraries(${name} INTERFACE "$<$<NOT:${MIRAGE_IS_STATIC}>:${item}>")
  endforeach()
endfunction()

# mirage_find_library(VARIABLE name header package [PIC]): what to link in VARIABLE, the header's folder in VARIABLE_INCLUDE.
# Debian's archives are made for programs; one that is PIC can go into a shared library as well.
function(mirage_find_library variable name header package)
  find_path(${variable}_INCLUDE ${header})
  find_library(${variable}_SHARED ${name})
  find_library(${variable}_ARCHIVE lib${name}.a)
  if(NOT ${variable}_INCLUDE OR NOT ${variable}_SHARED OR NOT ${variable}_ARCHIVE)
    message(FATAL_ERROR "Mirage-MLIR needs ${name}, and its header, library or archive was not found. On Debian 12 run "
                        "scripts/setup.sh (package ${package}).")
  endif()
  set(static "$<BOOL:${MIRAGE_STATIC}>")
  if("PIC" IN_LIST ARGN)
    set(static "${MIRAGE_IS_STATIC}")
  endif()
  set(${variable} "$<IF:${static},${${variable}_ARCHIVE},${${variable}_SHARED}>" PARENT_SCOPE)
endfunction()
