"""Builds the example of C against the package, and runs it."""
import atexit
import os
import shutil
import tempfile

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy


class Test(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "VirtualRunEnv"
    test_type = "explicit"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        """Not in the checkout."""
        folder = tempfile.mkdtemp(prefix="nvcache.")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        self.folders.build = folder
        self.folders.generators = folder

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        toolchain.generate()

    def build(self):
        copy(self, "c_quickstart.c", os.path.join(self.recipe_folder, *[os.pardir] * 3, "examples"),
             self.build_folder)
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(os.path.join(self.build_folder, "example"), env="conanrun")
