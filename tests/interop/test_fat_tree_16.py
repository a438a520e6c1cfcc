#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A full fat tree of 16-port switches: tests that take a tool minutes here run on smaller trees."""

import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import subnet  # noqa: E402

if __name__ == '__main__':
    sys.exit(subnet.main([('fat tree 16', ibsim.fat_tree(16))], thorough=False))
