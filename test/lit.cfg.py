# The lit suite: which files are tests, and what their RUN lines may use.
#
#   tools         ours (mirage-mlir-opt, mirage-run, ...) and LLVM's (mlir-opt, mlir-tblgen, FileCheck, not, split-file)
#   %plugin       our plugin, for %stock-mlir-opt         %source   root of the source tree
#   %preload      before a program that is not instrumented and loads a library of ours
#   %compile, %launch-mlir-opt, %bufferize, %finish, %run-main, %launch-case      launch/README.md
#   %fake-cuda    a CUDA driver without a GPU (unit/fake_cuda.c), for MIRAGE_CUDA_LIBRARY
#   %bin          folder of our tools                    %docs      the reference pages
#   %python       the interpreter that runs lit          %t, %s    as always
#   %candidates   test/emulator/candidates.py, which takes fewer under sanitizers; so does %varied, varied.py beside it
#   features      nvidia-gpu, ptxas, plugin, z3
import os
import shutil

import lit.formats

config.name = "mirage"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["inputs"]
config.test_source_root = os.path.dirname(__file__)

tools = [os.path.join(config.mirage_binary_root, "bin"), config.mirage_llvm_tools]
config.environment["PATH"] = os.pathsep.join(tools + [os.environ.get("PATH", "/usr/bin:/bin")])
# The tuning database of a test run is the test run's own.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
# What a test selects must not depend on the GPU of the machine: tests of measuring ask for it.
config.environment["MIRAGE_MEASURE"] = "no"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "LD_LIBRARY_PATH", "MIRAGE_CUDA_LIBRARY"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%plugin", config.mirage_plugin))
# A stock mlir-opt is not instrumented: it can load a sanitized plugin when the sanitizer's runtime is there before it.
preload = f"env LD_PRELOAD={config.mirage_sanitizer_runtime} " if config.mirage_sanitizer_runtime else ""
config.substitutions.append(("%stock-mlir-opt", preload + "mlir-opt"))
config.substitutions.append(("%preload ", preload))
# What a compiled program is called and launched by: stock passes around ours, and the stock runner with our runtime library.
config.substitutions.append(("%launch-case", f"{config.mirage_python} {os.path.join(config.test_source_root, 'launch', 'case.py')}"))
config.substitutions.append(("%compile", "mirage-mlir-opt --convert-linalg-to-mirage --mirage-superoptimize"))
plugins = f"--load-dialect-plugin={config.mirage_plugin} --load-pass-plugin={config.mirage_plugin}"
config.substitutions.append(("%launch-mlir-opt", f"{preload}mlir-opt {plugins}"))
config.substitutions.append(("%bufferize", "one-shot-bufferize{bufferize-function-boundaries allow-unknown-ops "
                             "function-boundary-type-conversion=identity-layout-map},buffer-deallocation-pipeline,"
                             "convert-linalg-to-loops"))
config.substitutions.append(("%finish", "convert-scf-to-cf,convert-math-to-llvm,expand-strided-metadata,gpu-to-llvm,"
                             "convert-to-llvm,reconcile-unrealized-casts"))
runner_libraries = [os.path.join(config.mirage_binary_root, "lib", "libmirage_runtime.so")]
runner_libraries += [os.path.join(config.mirage_llvm_tools, "..", "lib", f"libmlir_{name}runner_utils.so") for name in ("", "c_")]
config.substitutions.append(("%run-main", f"{preload}mlir-runner -O2 -e main --entry-point-result=void "
                             f"--shared-libs={','.join(runner_libraries)}"))
# Every candidate, or a few of them where each is ten times as slow.
few = " --most 3" if config.mirage_sanitizer_runtime else ""
few += f" --keep {os.path.join(config.test_exec_root, 'proven')}"  # what ctest -R proofs looks at
candidates = os.path.join(config.test_source_root, "emulator", "candidates.py")
config.substitutions.append(("%candidates", f"{config.mirage_python} {candidates}{few}"))
varied = os.path.join(config.test_source_root, "emulator", "varied.py")
config.substitutions.append(("%varied", f"{config.mirage_python} {varied}{few}"))
config.substitutions.append(("%fake-cuda", os.path.join(config.mirage_binary_root, "lib", "libmirage_fake_cuda.so")))
config.substitutions.append(("%source", config.mirage_source_root))
config.substitutions.append(("%mirage-check", os.path.join(tools[0], "mirage-check")))
config.substitutions.append(("%docs", os.path.join(config.mirage_binary_root, "docs")))
config.substitutions.append(("%bin", os.path.join(config.mirage_binary_root, "bin")))
config.substitutions.append(("%python", config.mirage_python))

if os.path.exists("/dev/nvidia0"):
    config.available_features.add("nvidia-gpu")
if shutil.which("ptxas", path=config.environment["PATH"]):
    config.available_features.add("ptxas")
if os.path.exists(config.mirage_plugin):
    config.available_features.add("plugin")
if config.mirage_z3:
    config.available_features.add("z3")
