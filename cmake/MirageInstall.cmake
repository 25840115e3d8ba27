# What `cmake --install` and `cpack` put where. The prefix may be moved afterwards: run paths start at $ORIGIN, and the CMake and
# pkg-config files find themselves.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Public headers: what the shared library exports (lib/capi/symbols.map), and what those stand on.
set(MIRAGE_PUBLIC_HEADERS arena.h attrs.def bridge.h callable.h diag.h dtypes.def launch_plan.h ops.def runtime.h schedule.def schedule.h status.h target.h ugraph.h)
set(MIRAGE_PUBLIC_C_HEADERS Block.h Compile.h Dialects.h Kernel.h Passes.h Register.h Thread.h Values.h)
# Tools, and libraries beside libmirage-mlir-c.so that stand on it or on nothing of ours: a new one is one more name here.
set(MIRAGE_INSTALLED_TOOLS mirage-check mirage-import mirage-lsp-server mirage-mlir-opt mirage-mlir-reduce mirage-run mirage-tune)
set(MIRAGE_INSTALLED_LIBRARIES mirage_plugin mirage_launch mirage_emulated)

# Where the loader would not find libMLIR by itself, its folder is a run path as well.
set(mlir_rpath "")
file(REAL_PATH ${MIRAGE_LLVM_LIB_DIR}/libMLIR.so mlir_library)
get_filename_component(mlir_folder ${mlir_library} DIRECTORY)
if(NOT mlir_folder MATCHES "^(/usr)?/lib(64|/[^/]*-linux-gnu)?$")
  set(mlir_rpath ${mlir_folder})
endif()
file(RELATIVE_PATH lib_from_bin /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(${MIRAGE_INSTALLED_TOOLS} PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin};${mlir_rpath}")
set_target_properties(mirage_shared ${MIRAGE_INSTALLED_LIBRARIES} PROPERTIES INSTALL_RPATH "$ORIGIN;${mlir_rpath}")

# ---- programs and libraries
set_target_properties(mirage_shared PROPERTIES EXPORT_NAME mirage-mlir)
target_include_directories(mirage_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS ${MIRAGE_INSTALLED_TOOLS} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS ${MIRAGE_INSTALLED_LIBRARIES} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS mirage_shared EXPORT MirageMLIRTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# ---- headers
foreach(header ${MIRAGE_PUBLIC_HEADERS})
  install(FILES include/mirage/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mirage)
endforeach()
foreach(header ${MIRAGE_PUBLIC_C_HEADERS})
  install(FILES include/mirage-c/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mirage-c)
endforeach()

# ---- find_package(MirageMLIR) and pkg-config
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/MirageMLIR)
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(MIRAGE_CAPI_NAMES "")
foreach(archive ${MIRAGE_CAPI_ARCHIVES})
  get_filename_component(name ${archive} NAME_WE)
  string(REPLACE "libMLIRCAPI" "" name ${name})
  list(APPEND MIRAGE_CAPI_NAMES ${name})
endforeach()
list(JOIN MIRAGE_CAPI_ARCHIVES " " MIRAGE_CAPI_FLAGS)
set(MIRAGE_LLVM_INCLUDE_DIR ${MLIR_INCLUDE_DIRS})
list(GET MIRAGE_LLVM_INCLUDE_DIR 0 MIRAGE_LLVM_INCLUDE_DIR)
file(RELATIVE_PATH MIRAGE_PREFIX_FROM_PKGCONFIG /${pkgconfig_folder} /)
configure_package_config_file(cmake/MirageMLIRConfig.cmake.in ${CMAKE_BINARY_DIR}/MirageMLIRConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/MirageMLIRConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT MirageMLIRTargets NAMESPACE MirageMLIR:: DESTINATION ${package_folder})
install(FILES ${CMAKE_BINARY_DIR}/MirageMLIRConfig.cmake ${CMAKE_BINARY_DIR}/MirageMLIRConfigVersion.cmake
        DESTINATION ${package_folder})
foreach(name mirage-mlir mirage-mlir-with-mlir)
  configure_file(cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig_folder})
endforeach()

# ---- documents, and programs to begin with
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright) # where Debian looks for it
install(FILES dialect/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME dialects.md)
install(FILES passes/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME passes.md)
install(FILES examples/COMPILER.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_BINARY_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/reference OPTIONAL) # target mirage-docs
file(GLOB examples CONFIGURE_DEPENDS examples/*.mlir)
install(FILES ${examples} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(DIRECTORY test/sample-compiler DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# ---- packages: cpack, or the target `package`
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME ${PROJECT_NAME})
set(CPACK_PACKAGE_VENDOR "The Mirage-MLIR authors")
set(CPACK_PACKAGE_CONTACT "The Mirage-MLIR authors <mirage-mlir@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "superoptimizer for tensor programs, as an MLIR dialect plugin and a C library")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/MirageCPack.cmake)
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # libmlir-22, libz3-4 ...
# dpkg-shlibdeps meets libLLVM by a link of llvm-22-dev's, of which it knows no package.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libllvm${LLVM_VERSION_MAJOR} (>= 1:${MIRAGE_LLVM_VERSION})")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libmlir-22-dev (>= 1:${MIRAGE_LLVM_VERSION}), llvm-22-dev (>= 1:${MIRAGE_LLVM_VERSION}), mlir-22-tools")
include(CPack)
