"""nvcache's library as a Conan package: libnvcache.so, headers, and the command nvcache.

    conan create packaging/conan

What it is built with comes from the system: script/setup --for install has the list.
"""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy, load


class Nvcache(ConanFile):
    name = "nvcache"
    license = "Apache-2.0"
    url = "https://nvcache.example/"
    description = "Caches for memory whose writes hurt its reads"
    topics = ("cache", "rocksdb", "nvme", "cxl", "persistent-memory")
    package_type = "shared-library"
    settings = "os", "arch", "compiler", "build_type"

    def _root(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        text = load(self, os.path.join(self._root(), "CMakeLists.txt"))
        self.version = re.search(r"project\(nvcache VERSION ([\d.]+)", text)[1]

    def export(self):
        copy(self, "CMakeLists.txt", self._root(), os.path.join(self.export_folder, "root"))

    def export_sources(self):
        for part in ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "cmake/*", "src/*",
                     "include/*", "apps/*", "contrib/*", "script/*", "tools/*", "adapters/*"):
            copy(self, part, self._root(), self.export_sources_folder)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXPERIMENTS", "SERVER", "ROCKSDB", "WIREDTIGER", "JVM"):
            toolchain.cache_variables[f"NVCACHE_{part}"] = False
        toolchain.cache_variables["CMAKE_UNITY_BUILD"] = True
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["nvcache"]
        self.cpp_info.set_property("cmake_target_name", "nvcache::nvcache")
        self.cpp_info.set_property("pkg_config_name", "nvcache")
