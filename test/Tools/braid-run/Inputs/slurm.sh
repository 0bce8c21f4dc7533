#!/bin/sh
# Runs a command beside a Slurm of one node, as root: a check of `srun`.
#
#   test/Tools/braid-run/Inputs/slurm.sh srun --mpi=pmix -n 4 build/bin/braid-run prog.mlir --print
#   BRAID_MPI_LAUNCHER="srun --mpi=pmix" test/Tools/braid-run/Inputs/slurm.sh python3 \
#     test/Integration/MPI/conformance.py PROGRAM DIRECTORY
#
# Needs slurmctld, slurmd, slurm-client and munge (Debian: slurm-wlm). The daemons and
# their files are gone afterwards.
set -eu
[ $# -gt 0 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }

# munged wants a folder that every user can reach, which TMPDIR may not be.
folder=$(mktemp -d /tmp/braid-slurm.XXXXXX)
chmod 711 "$folder"
pids=
end() {
  for pid in $pids; do kill "$pid" 2>/dev/null || :; done
  for pid in $pids; do wait "$pid" 2>/dev/null || :; done
  rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' INT TERM

head -c 128 /dev/urandom > "$folder/key"
chmod 400 "$folder/key"
mkdir "$folder/controller" "$folder/node" "$folder/tmp"
host=$(hostname -s)
# Several of these may run at a time, so the ports and PMIx' folder (TmpFS) differ.
port=$((20000 + $$ % 20000))
cat > "$folder/slurm.conf" <<CONF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthInfo=socket=$folder/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmctldPidFile=$folder/controller.pid
SlurmdPidFile=$folder/node.pid
StateSaveLocation=$folder/controller
SlurmdSpoolDir=$folder/node
SlurmctldLogFile=$folder/controller.log
SlurmdLogFile=$folder/node.log
SlurmdParameters=config_overrides
TmpFS=$folder/tmp
NodeName=$host NodeAddr=127.0.0.1 CPUs=8
PartitionName=all Nodes=$host Default=YES OverSubscribe=FORCE:8
CONF
export SLURM_CONF="$folder/slurm.conf"

munged --foreground --key-file="$folder/key" --socket="$folder/munge" \
  --pid-file="$folder/munge.pid" --seed-file="$folder/seed" 2> "$folder/munge.log" &
pids=$!
slurmctld -D 2> /dev/null &
pids="$! $pids"
slurmd -D 2> /dev/null &
pids="$! $pids"
for _ in $(seq 100); do
  [ "$(sinfo -h -o %T 2> /dev/null)" = idle ] && break
  for pid in $pids; do kill -0 "$pid" 2> /dev/null || { cat "$folder"/*.log; exit 1; }; done
  sleep 0.2
done
[ "$(sinfo -h -o %T)" = idle ] || { cat "$folder"/*.log; exit 1; }
"$@"
