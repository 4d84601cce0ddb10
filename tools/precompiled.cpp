// SPDX-License-Identifier: GPL-2.0
// Purpose: gives the precompiled header a target to be made for, see CMakeLists.txt.
