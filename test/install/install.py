"""Tests what others get: an installed prefix, a package, and a compiler outside the tree that is built on them.

    install.py STEP --build BUILD --source SOURCE --work FOLDER --llvm PREFIX --tools NAME,NAME...

    prefix    cmake --install to a clean folder, which is then moved: FOLDER/prefix, what the other steps use
    sample    test/sample-compiler by find_package and by pkg-config, run on the emulator
    refused   what must fail, and what it must say
    package   .deb and .tar.gz: contents, dependencies; unpacked elsewhere, the tools and the sample run from there
    page      every block of examples/COMPILER.md (page.py)

Nothing here sees the build tree: programs run with an empty environment, and what the loader opens is looked at.
"""
import argparse
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys

import page
import symbols

TOO_LARGE = """mirage_kernel.graph @large(%x: tensor<9999999999x9xf32>) -> tensor<9999999999x9xf32> {
  %y = exp %x : tensor<9999999999x9xf32>
  return %y : tensor<9999999999x9xf32>
}
"""


class Place:
    """Where everything is. `prefix` is what is tested."""

    def __init__(self, args, prefix):
        self.build, self.source, self.work, self.llvm, self.tools = args.build, args.source, args.work, args.llvm, args.tools
        self.sample = self.source / "test/sample-compiler"
        self.prefix = prefix
        self.lib = prefix / "lib"
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.work), "MIRAGE_MEASURE": "no", "LC_ALL": "C.UTF-8",
                            "XDG_CACHE_HOME": str(self.work / "cache"), "MIRAGE_CUDA_LIBRARY": "/nonexistent/libcuda.so"}


def run(place, *command, fails=None, cwd=None, **environment):
    """Output of a command. fails: what it must say while it ends with another status than 0."""
    command = [str(part) for part in command]
    done = subprocess.run(command, env={**place.environment, **environment}, cwd=cwd or place.work, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = f"$ {' '.join(command)}\n{done.stdout}"
    if (done.returncode != 0) != (fails is not None):
        raise SystemExit(f"{said}\nended with {done.returncode}")
    if done.returncode < 0 or (fails and not re.search(fails, done.stdout)):
        raise SystemExit(f"{said}\nexpected it to say: {fails} (status {done.returncode})")
    return done.stdout


def check(condition, *what):
    if not condition:
        raise SystemExit(" ".join(map(str, what)))


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


# ---------------------------------------------------------------------------------------------------------------- prefix


def run_paths(file):
    dynamic = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
    found = re.search(r"R(?:UN)?PATH\).*\[(.*)\]", dynamic)
    return found.group(1).split(":") if found else []


def check_relocatable(place, root):
    """No file but the tools' debug information knows where it was built."""
    for file in sorted(root.rglob("*")):
        if file.is_symlink() or not file.is_file():
            continue
        content = file.read_bytes()
        if content.startswith(b"\x7fELF"):
            paths = run_paths(file)
            check(paths and paths[0].startswith("$ORIGIN"), file, "has run path", paths)
            check(not any(str(place.build) in path for path in paths), file, "has run path", paths)
        else:
            check(str(place.build).encode() not in content, file, "names the build tree")


def check_header_examples(place, llvm):
    """What a header shows behind "Example:" compiles with that header."""
    found = 0
    for header in sorted(place.prefix.glob("include/mirage-c/*.h")):
        for example in re.findall(r"^// Example:\n((?://(?:   .*)?\n)+)", header.read_text(), re.M):
            code = "".join(line[5:] + "\n" for line in example.splitlines())
            source = place.work / "example.c"
            source.write_text(f'#include "mirage-c/{header.name}"\n#include <stdio.h>\n#include <string.h>\n{code}')
            run(place, "cc", "-std=c11", "-Wall", "-Werror", "-fsyntax-only", f"-I{place.prefix}/include", "-isystem",
                f"{llvm}/include", source)
            found += 1
    check(found >= 2, found, "examples in headers")


def step_prefix(args):
    first, prefix = args.work / "first", args.work / "prefix"
    fresh(args.work)
    place = Place(args, prefix)
    subprocess.run(["cmake", "--install", args.build, "--prefix", first, "--strip"], check=True, stdout=subprocess.DEVNULL)
    first.rename(prefix)
    check(sorted(p.name for p in (prefix / "bin").iterdir()) == sorted(args.tools), "bin holds", list((prefix / "bin").iterdir()))
    check(not (prefix / "mirage_mlir").exists(), "the Python package was installed, too")
    headers = {p.name for p in prefix.glob("include/mirage*/*")}
    check({"Compile.h", "Register.h", "ugraph.h", "ops.def"} <= headers, "headers:", headers)
    check(not {"search.h", "verify.h", "codegen.h"} & headers, "a private header was installed:", headers)
    check_relocatable(place, prefix)
    library = prefix / "lib/libmirage-mlir-c.so.0.1"
    dynamic = run(place, "readelf", "-d", library)
    check("soname: [libmirage-mlir-c.so.0.1]" in dynamic, dynamic)
    check("[libMLIR.so" in dynamic and "[libLLVM" in dynamic, "MLIR is not shared:", dynamic)
    names = symbols.declared(prefix / "include", "clang-22", [f"-I{args.llvm}/include"])
    there = symbols.exported(library, "nm")
    check(len(names) > 100 and names == there, "declared, not exported:", names - there, "exported, not declared:", there - names)
    for header in sorted(prefix.glob("include/mirage*/*.h")):  # each stands by itself, in C and in C++
        for language, standard in (("c", "c11"), ("c++", "c++17")):
            run(place, "cc", "-x", language, f"-std={standard}", "-Wall", "-Werror", "-fsyntax-only", f"-I{prefix}/include",
                "-isystem", f"{args.llvm}/include", header, "-Wno-pragma-once-outside-header")
    check_header_examples(place, args.llvm)
    for tool in args.tools:
        run(place, prefix / "bin" / tool, "--help")


# ---------------------------------------------------------------------------------------------------------------- sample


def value(i, e):
    return ((7 * e + 3 * i) % 11 - 5) / 16


def expected():
    """What norm_linear.mlir computes, of the inputs that run.c fills in."""
    x = [[value(0, 64 * r + c) for c in range(64)] for r in range(4)]
    w = [[value(1, 16 * r + c) for c in range(16)] for r in range(64)]
    out = []
    for row in x:
        scale = 1 / math.sqrt(sum(v * v for v in row) / 64)
        out += [math.exp(sum(v * scale * w[k][j] for k, v in enumerate(row))) for j in range(16)]
    return out


def check_output(text):
    shown = [float(v) for v in re.search(r"output 0:(.*)", text).group(1).split()]
    check(len(shown) == 6 and all(abs(a - b) < 1e-4 * abs(b) for a, b in zip(shown, expected())), text, expected()[:6])
    check(re.search(r"kernel norm_linear_\w+_k0 grid \d+x\d+x\d+ block \d+", text), text)
    check("pointer 0: input 0" in text and "ran on the emulator" in text, text)


def check_loaded(place, *command):
    """The program opens nothing of the build tree, and one MLIR and one library of ours."""
    text = run(place, *command, LD_DEBUG="files")
    opened = {line.split("file=")[1].split()[0] for line in text.splitlines() if "generating link map" in line or "file=/" in line}
    inside = [o for o in opened if o.startswith((f"{place.build}/lib/", f"{place.build}/bin/"))]
    check(not inside, "opened in the build tree:", inside)
    for name in ("libMLIR.so", "libmirage-mlir-c.so"):
        loaded = {os.path.basename(o) for o in opened if name in o}
        check(len(loaded) == 1, name, loaded)


def sample_by_cmake(place, into):
    run(place, "cmake", "-S", place.sample, "-B", into, f"-DCMAKE_PREFIX_PATH={place.prefix}")
    run(place, "cmake", "--build", into)
    return into


def sample_by_pkg_config(place, into):
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(place.sample, into)
    run(place, "make", "-C", into, f"PKG_CONFIG_PATH={place.lib}/pkgconfig")
    return into


def run_sample(place, folder):
    program = place.sample / "norm_linear.mlir"
    check_output(run(place, folder / "sample-compiler", program))
    check_output(run(place, folder / "one-call", program, "a100"))
    check_loaded(place, folder / "sample-compiler", program)


def step_sample(place):
    by_cmake = sample_by_cmake(place, fresh(place.work / "by-cmake"))
    run_sample(place, by_cmake)
    run_sample(place, sample_by_pkg_config(place, place.work / "by-pkg-config"))
    program = place.sample / "norm_linear.mlir"
    # On a driver without a GPU, whose kernels do nothing: the road to a device is open.
    fake = place.build / "lib/libmirage_fake_cuda.so"
    check("ran on Fake GPU" in run(place, by_cmake / "sample-compiler", program, MIRAGE_CUDA_LIBRARY=fake), "no fake GPU")
    # One pipeline of our passes and MLIR's.
    check_output(run(place, by_cmake / "sample-compiler", program,
                     "builtin.module(canonicalize,convert-linalg-to-mirage,mirage-superoptimize{measure=no progress=none})"))


# --------------------------------------------------------------------------------------------------------------- refused


def configure_refused(place, says, *options):
    run(place, "cmake", "-S", place.sample, "-B", fresh(place.work / "refused"), *options, fails=says)


def step_refused(place):
    given = f"-DCMAKE_PREFIX_PATH={place.prefix}"
    configure_refused(place, r"Could not find a package configuration file provided by\s+\"MirageMLIR\"")
    configure_refused(place, r"MirageMLIRConfig.cmake, version: 0.1.0", given, "-DSAMPLE_WANTED=0.2")
    configure_refused(place, r"MirageMLIRConfig.cmake, version: 0.1.0", given, "-DSAMPLE_WANTED=1.0")
    configure_refused(place, r"LLVM/MLIR 22.1, and none was found: on Debian install\s+libmlir-22-dev", given,
                      "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON")
    other = fresh(place.work / "other-mlir")
    (other / "MLIRConfig.cmake").write_text("set(LLVM_VERSION 19.1.7)\nset(LLVM_VERSION_MAJOR 19)\nset(LLVM_VERSION_MINOR 1)\n")
    configure_refused(place, r"built with LLVM/MLIR 22.1, and 19.1.7\s+was\s+found\s+in\s", given, f"-DMLIR_DIR={other}")
    configure_refused(place, r"no component Parts: Core\s+and\s+MLIR", given, "-DSAMPLE_WANTED=0.1;COMPONENTS;Parts")
    run(place, "pkg-config", "--cflags", "mirage-mlir", fails="mirage-mlir")
    run(place, "pkg-config", "--print-errors", "mirage-mlir >= 0.2", fails="has version .0.1.0., required version is .>= 0.2",
        PKG_CONFIG_PATH=str(place.lib / "pkgconfig"))
    refuse_programs(place)


def refuse_programs(place):
    folder = place.work / "by-cmake"
    if not (folder / "sample-compiler").exists():
        sample_by_cmake(place, fresh(folder))
    compiler, call = folder / "sample-compiler", folder / "one-call"
    broken, large, empty = (place.work / name for name in ("broken.mlir", "large.mlir", "empty.mlir"))
    broken.write_text("func.func @f(%x: tensor<4xf32>) {\n  %y = linalg.nothing %x\n}\n")
    large.write_text(TOO_LARGE)
    empty.write_text("module {}\n")
    program = place.sample / "norm_linear.mlir"
    for tool in (compiler, call):
        run(place, tool, broken, fails=r"broken.mlir.?:2:8.*linalg.nothing")
        run(place, tool, large, fails=r"large.mlir.?:2:8.*extent of 9999999999 is beyond 32-bit indices")
        run(place, tool, empty, fails=r"no program: the module holds neither")
        run(place, tool, place.work / "absent.mlir", fails="absent.mlir|could not open")
        run(place, tool, fails="usage: ")
    run(place, compiler, program, "builtin.module(mirage-superoptimise)", fails="mirage-superoptimise")
    run(place, compiler, program, "builtin.module(convert-linalg-to-mirage)", fails="no µGraph is selected for this program")
    run(place, call, program, "h9000", fails="target 'h9000' is not known; known are")
    run(place, call, program, "h200", "max-block-ops=0", fails="max-block-ops must lie between 1 and 64")


# --------------------------------------------------------------------------------------------------------------- package


def make_packages(place):
    into = fresh(place.work / "packages")
    run(place, "cpack", "--config", place.build / "CPackConfig.cmake", "-B", into)
    deb, tar = sorted(into.glob("*.deb")), sorted(into.glob("*.tar.gz"))
    check(len(deb) == 1 and len(tar) == 1, list(into.iterdir()))
    return deb[0], tar[0]


def check_deb(place, deb):
    fields = run(place, "dpkg-deb", "--field", deb)
    version = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
    check(deb.name == f"mirage-mlir_0.1.0_{version}.deb", deb.name)
    depends = re.search(r"^Depends: (.*)$", fields, re.M).group(1)
    for library in ("libmlir-22", "libllvm22", "libc6", "libz3-4", "libjansson4", "libsqlite3-0", "libpopt0", "libstdc++6"):
        check(re.search(rf"(^|, ){re.escape(library)}\b", depends), library, "is not in:", depends)
    check("libmlir-22-dev" in re.search(r"^Suggests: (.*)$", fields, re.M).group(1), fields)
    listed = run(place, "dpkg-deb", "--contents", deb)
    for file in [f"usr/bin/{tool}" for tool in place.tools] + [
            "usr/lib/libmirage-mlir-c.so.0.1", "usr/lib/mirage-mlir.so", "usr/include/mirage-c/Compile.h",
            "usr/lib/cmake/MirageMLIR/MirageMLIRConfig.cmake", "usr/lib/pkgconfig/mirage-mlir.pc",
            "usr/share/doc/mirage-mlir/LICENSE", "usr/share/doc/mirage-mlir/README.md"]:
        check(re.search(rf" \./{re.escape(file)}( ->|$)", listed, re.M), file, "is not in:\n", listed)
    check("python" not in listed and "fake_cuda" not in listed and "test_" not in listed, "too much:\n", listed)


def use_package(place, root):
    """The tools and the sample, from where a package was unpacked."""
    place.prefix, place.lib = root, root / "lib"
    check_relocatable(place, root)
    compiled = place.work / "compiled.mlir"
    run(place, root / "bin/mirage-mlir-opt", "--mirage-superoptimize", place.source / "examples/lora.mlir", "-o", compiled)
    check("1 ok, 0 refused" in run(place, root / "bin/mirage-check", compiled), "mirage-check")
    check(": ok" in run(place, root / "bin/mirage-run", "--target=cpu", compiled), "mirage-run")
    run(place, root / "bin/mirage-tune", "list")
    text = run(place, place.llvm / "bin/mlir-opt", f"--load-dialect-plugin={place.lib}/mirage-mlir.so",
               f"--load-pass-plugin={place.lib}/mirage-mlir.so", "--pass-pipeline=builtin.module(mirage-superoptimize)",
               place.source / "examples/lora.mlir")
    check("gpu.binary" in text, text[-2000:])
    run_sample(place, sample_by_cmake(place, fresh(place.work / "by-cmake-package")))


def step_package(place):
    deb, tar = make_packages(place)
    check_deb(place, deb)
    unpacked = fresh(place.work / "unpacked")
    run(place, "dpkg-deb", "-x", deb, unpacked)
    use_package(place, unpacked / "usr")
    run(place, "tar", "-xzf", tar, "-C", fresh(place.work / "untarred"))
    roots = list((place.work / "untarred").iterdir())
    check(len(roots) == 1 and (roots[0] / "bin/mirage-mlir-opt").exists(), roots)
    run(place, roots[0] / "bin/mirage-mlir-opt", "--version")
    for folder in ("unpacked", "untarred", "packages/_CPack_Packages"):
        shutil.rmtree(place.work / folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=["prefix", "sample", "refused", "package", "page"])
    for name in ("build", "source", "work", "llvm"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    parser.add_argument("--tools", required=True, type=lambda text: text.split(","))
    args = parser.parse_args()
    if args.step == "prefix":
        step_prefix(args)
        return
    place = Place(args, args.work / "prefix")
    place.work = args.work / args.step
    if args.step in ("package", "page") and not shutil.which("dpkg-deb"):
        print("skipped: no Debian packages can be made here")
        sys.exit(77)
    place.work.mkdir(exist_ok=True)
    if args.step == "page":
        page.step_page(place, run, check)
    else:
        {"sample": step_sample, "refused": step_refused, "package": step_package}[args.step](place)


if __name__ == "__main__":
    sys.exit(main())
