#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# same-hive.sh BDF BDF: fail unless both GPUs have the same hive id.

cd /sys/bus/pci/devices && cat "$1/xgmi_hive_info/xgmi_hive_id" >/tmp/hive || exit
grep -x '[1-9][0-9]*' /tmp/hive && cmp /tmp/hive "$2/xgmi_hive_info/xgmi_hive_id"
