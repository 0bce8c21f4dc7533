#!/usr/bin/env bash
# fake-machine.sh FOLDER COMMAND...: runs the command on a machine that it makes
# believe in, by the programs in FOLDER/bin, which are all it sees. Settings:
#   USER_ID    who runs the command (default 0, root)
#   SUDO       "yes": sudo works; "password": it asks; unset: there is none
#   INSTALLED  the Debian packages that are there already
#   KNOWN      those that apt knows without an update; "all": all of them
#   UPDATED    those that it knows after one
#   APT_FAILS  "yes": installing fails
set -eu
folder=$1
shift
rm -rf "$folder"
mkdir -p "$folder/bin"
for program in bash env dirname grep awk sed cat tail tee mkdir nproc printf date rm true id; do
  ln -s "$(type -P "$program")" "$folder/bin/$program"
done
rm "$folder/bin/id"
fake() { printf '#!%s\n%s\n' "$(command -v bash)" "$2" >"$folder/bin/$1" && chmod +x "$folder/bin/$1"; }

fake id "echo ${USER_ID:-0}"
fake dpkg-query "for package in ${INSTALLED:-}; do echo \"installed \$package\"; done"
fake apt-cache "
known=\" ${KNOWN:-} \"
[ ! -e $folder/updated ] || known=\" ${UPDATED:-} \"
package=\${!#}
[[ \$known == *\" all \"* || \$known == *\" \$package \"* ]]"
fake apt-get "
echo \"apt-get \$*\" >>$folder/apt-calls
case \" \$* \" in
*' update '*) >$folder/updated ;;
*) echo 'Setting up something'
   [ '${APT_FAILS:-}' != yes ] || { echo 'E: the disk is full' >&2; exit 100; } ;;
esac"
case ${SUDO:-} in
yes) fake sudo 'while [[ $1 == -* ]]; do shift; done; exec "$@"' ;;
password) fake sudo 'echo "sudo: a password is required" >&2; exit 1' ;;
esac

export BRAID_BUILD_DIR=$folder/build
PATH=$folder/bin exec "$@" </dev/null
