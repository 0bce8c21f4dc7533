#!/bin/sh
# Runs a command whose `mpirun` spreads its ranks over two nodes in turns: a check
# of several nodes on one machine.
#
#   test/Integration/MPI/nodes.sh mpirun -n 4 build/bin/braid-run prog.mlir --print
#   test/Integration/MPI/nodes.sh python3 test/Integration/MPI/conformance.py PROGRAM DIRECTORY
#
# A node is a set of namespaces: host name, network, processes, shared memory, and
# TMPDIR. Only a virtual Ethernet link connects the nodes; they share the other
# folders, and all ranks can run on the same cores. The command is on the first node.
#
# BRAID_NODES_RATE=800mbit limits the link, as tc spells it.
#
# Needs Open MPI, ip (and tc for a rate), and root or user namespaces. The exit status
# is that of the command; 77: this machine does not permit it.
set -eu
[ $# -gt 0 ] || { sed -n '2,16s/^# \{0,1\}//p' "$0"; exit 2; }

# The namespaces end with the process: nothing stays.
if [ -z "${BRAID_NODE_FOLDER-}" ]; then
  missing() { echo "nodes.sh: this machine does not permit namespaces: $1" >&2; exit 77; }
  command -v ip > /dev/null || missing "there is no 'ip'"
  user=
  [ "$(id -u)" = 0 ] || user="--user --map-root-user"
  spaces="$user --mount --net --uts --ipc --pid --fork --kill-child --mount-proc"
  # The same steps as below.
  # shellcheck disable=SC2086
  why=$(unshare $spaces sh -c 'hostname node0 && mount -t tmpfs none /dev/shm &&
    ip link add eth0 type veth peer name eth1' 2>&1) || missing "$why"
  BRAID_NODE_FOLDER=$(mktemp -d)
  trap 'rmdir "$BRAID_NODE_FOLDER/tmp"; rm -rf "$BRAID_NODE_FOLDER"' EXIT
  trap 'exit 130' INT TERM
  mkdir "$BRAID_NODE_FOLDER/tmp"
  export BRAID_NODE_FOLDER
  status=0
  # shellcheck disable=SC2086
  unshare $spaces "$0" "$@" || status=$?
  exit $status
fi

folder=$BRAID_NODE_FOLDER
network=10.213.77
setUpNode() {
  hostname "node$1"
  mount -t tmpfs none /dev/shm
  mount -t tmpfs none "$folder/tmp"
  ip link set lo up
  ip addr add "$network.$1/24" dev eth0
  ip link set eth0 up
  [ -z "${BRAID_NODES_RATE-}" ] ||
    tc qdisc add dev eth0 root tbf rate "$BRAID_NODES_RATE" burst 256kb latency 20ms
}
if [ "$1" = --second-node ]; then
  # The first node moves the other end of the link here.
  read -r _ < "$folder/linked"
  setUpNode 2
  echo ready > "$folder/ready"
  exec sleep infinity
fi

mkfifo "$folder/linked" "$folder/ready"
unshare --mount --net --uts --ipc --pid --fork --kill-child --mount-proc "$0" --second-node &
# The process that `unshare` starts is in the namespaces.
second=
while [ -z "$second" ]; do
  second=$(cat "/proc/$!/task/$!/children")
  second=${second% }
done
ip link add eth0 type veth peer name eth1
ip link set eth1 netns "$second" name eth0
echo linked > "$folder/linked"
setUpNode 1
read -r _ < "$folder/ready"

# In place of ssh: options, the host, and the command.
cat > "$folder/agent" <<AGENT
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
shift
exec nsenter --target $second --mount --net --uts --ipc --pid -- sh -c "\$*"
AGENT
chmod +x "$folder/agent"
printf '%s slots=64\n' "$network.1" "$network.2" > "$folder/hosts"
export TMPDIR="$folder/tmp"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent="$folder/agent"
export OMPI_MCA_orte_default_hostfile="$folder/hosts"
export OMPI_MCA_rmaps_base_mapping_policy=node OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_oob_tcp_if_include=eth0 OMPI_MCA_btl_tcp_if_include=eth0
status=0
"$@" || status=$?
exit $status
