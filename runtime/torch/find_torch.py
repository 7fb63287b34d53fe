#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tells meson about the torch of the interpreter that runs this: one "name=value" a line.

Prints nothing and ends with 1 where there is none, or one without torch.distributed.
"""
import pathlib
import sys
import sysconfig


def existing(paths):
    return [path for path in paths if pathlib.Path(path).is_dir()]


def main():
    try:
        import torch
        import torch.distributed
    except ImportError:
        return 1
    if not torch.distributed.is_available():
        return 1
    package = pathlib.Path(torch.__file__).parent
    headers = [
        package / "include", package / "include/torch/csrc/api/include",
        pathlib.Path("/usr/include/torch/csrc/api/include"), sysconfig.get_path("include"),
    ]
    print("version=" + torch.__version__)
    print("abi={:d}".format(torch._C._GLIBCXX_USE_CXX11_ABI))
    print("include=" + ":".join(existing(str(path) for path in headers)))
    print("lib=" + ":".join(existing([str(package / "lib")])))
    print("suffix=" + sysconfig.get_config_var("EXT_SUFFIX"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
