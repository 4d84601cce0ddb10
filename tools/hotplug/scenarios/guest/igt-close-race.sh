#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# igt-close-race.sh NODE TEST SECONDS: run one of IGT's close races and check its output, too: it passes even if it could not open a GPU.

exec igt_judge "$1" --timeout "$3" "amdgpu/amd_close_race@$2|blind-gfx|shows= alive|never=: 0 alive|never=, 0 subs"
