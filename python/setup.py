"""Builds the shared library with Go, and wheels that hold it: one for each platform, for any Python 3."""

import os
import pathlib
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

MODULE = pathlib.Path(__file__).resolve().parent.parent
SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")


class Build(build_py):
    def run(self):
        super().run()
        out = pathlib.Path(self.build_lib, "lacuna", "liblacuna" + SUFFIX).resolve()
        out.parent.mkdir(parents=True, exist_ok=True)
        command = [
            os.environ.get("GO", "go"), "build", "-trimpath", "-buildmode=c-shared", "-tags=lacuna_shared", "-ldflags=-s -w", "-o", str(out), "./python/shared",
        ]  # fmt: skip
        try:
            subprocess.run(command, cwd=MODULE, env={**os.environ, "CGO_ENABLED": "1"}, check=True)
        except (OSError, subprocess.CalledProcessError) as e:
            raise SystemExit(f"lacuna: the engine is built with Go (https://go.dev) and a C compiler, from its repository: {e}")
        out.with_suffix(".h").unlink(missing_ok=True)


class Wheel(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False  # there is machine code in it

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": Build, "bdist_wheel": Wheel})
