#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# init.sh: the first process of a node from where its root is its own: starts gpupoold and the cluster, and reaps what has lost its parent.
# Who ends it has cut the node's power.

cd /
log=/var/log/cluster
umask 022
mkdir -p /var/lib/pacemaker/{cib,pengine,blackbox,cores} /var/log/pacemaker /var/lib/corosync /var/log/corosync /var/lib/gpupool /run/gpupool
chown -R hacluster:haclient /var/lib/pacemaker /var/log/pacemaker /run/crm
chmod 750 /var/lib/pacemaker/*

# A daemon that ends is started again, as systemd would.
supervise() { while :; do "$@"; printf '%(%T)T %s ended with %s\n' -1 "$1" $?; sleep 0.1; done; }
supervise gpupoold --driver fake --config /etc/gpupool.json --metrics /run/gpupool/metrics --log debug </dev/null >>"$log/gpupoold.log" 2>&1 &
corosync >>"$log/corosync.out" 2>&1 || echo "corosync ended with $?" >>"$log/corosync.out"
PCMK_logfile=$log/pacemaker.log pacemakerd </dev/null >>"$log/pacemakerd.out" 2>&1 &
wait
