# What runs on a host, as root: it answers requests, one a line, on standard input and output.
#
# A request is a verb and its arguments, without quoting: paths hold letters, digits and "._/@+-" alone.
# An answer is any number of lines and one that ends it: ". ok" or ". fail WHY". After a request that changes
# something and fails nothing more is done. Needed: a POSIX shell, coreutils, and systemctl where there are units.
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
umask 077
set -f

# Everything that is kept on the host about what was laid down.
home=/var/lib/trellis
record=$home/record
# Files that were received and are not in their place yet; a line each: "HASH  TEMPORARY" and "TEMPORARY PATH".
sums='' moves=''
nl='
'

# Runs a command; what it says is the reason when it fails.
try() {
  why=$("$@" 2>&1 </dev/null) && return 0
  why="$1: $why"
  return 1
}

# The temporary name beside a file: hidden, because the kubelet starts every other file of its folder.
temporary() { tmp=${1%/*}/.${1##*/}.trellis-new; }

# Passes on exactly so many bytes of standard input.
bytes() {
  blocks=$(($1 / 65536)) rest=$(($1 % 65536))
  [ "$blocks" -eq 0 ] || dd bs=65536 count="$blocks" iflag=fullblock 2>/dev/null || return 1
  [ "$rest" -eq 0 ] || dd bs="$rest" count=1 iflag=fullblock 2>/dev/null
}

# observe PATH...: what is there, and the hash of files.
observe() {
  files=''
  for path do
    [ -f "$path" ] && [ ! -L "$path" ] && files="$files $path"
  done
  stat -c 'is %f %u %g %s %n' "$@" 2>/dev/null
  # shellcheck disable=SC2086
  [ -z "$files" ] || sha256sum $files 2>/dev/null
  :
}

# contents PATH LIMIT: the file as base64, cut off after so many bytes.
contents() { head -c "$2" "$1" 2>/dev/null | base64; }

# certificates PATH: the certificates of a file, without the key that may stand beside them.
certificates() {
  inside=''
  while read -r line; do
    case $line in *'BEGIN CERTIFICATE'*) inside=1 ;; esac
    [ -z "$inside" ] || printf '%s\n' "$line"
    case $line in *'END CERTIFICATE'*) inside='' ;; esac
  done 2>/dev/null <"$1"
  :
}

# units NAME...: "unit NAME ENABLED ACTIVE".
units() {
  for unit do
    enabled=$(systemctl is-enabled "$unit" 2>/dev/null) active=$(systemctl is-active "$unit" 2>/dev/null)
    echo "unit $unit ${enabled:-unknown} ${active:-unknown}"
  done
}

# recorded: what was laid down here.
recorded() { [ ! -f "$record" ] || { cat "$record"; echo; }; }

# locked: who works on this host: "lock ID OWNER SECONDS".
locked() {
  [ -f "$home/lock/owner" ] || return 0
  now=$(date +%s) since=$(stat -c %Y "$home/lock/owner" 2>/dev/null || echo "$now")
  read -r id owner <"$home/lock/owner" && echo "lock $id $owner $((now - since))"
}

# lock ID OWNER: from now on this one works here. The folder is made by one alone. Where the same one was here before
# and its connection broke, what it had asked for last is waited for.
lock() {
  try mkdir -p "$home" || return 1
  if ! mkdir "$home/lock" 2>/dev/null; then
    former='' id=''
    { read -r id owner && read -r former; } 2>/dev/null <"$home/lock/owner" || id=${id:-$1}
    [ "$id" = "$1" ] || { why="locked $id $owner"; return 1; }
    left=150
    while [ -n "$former" ] && [ "$former" != $$ ] && [ "$left" -gt 0 ] && kill -0 "$former" 2>/dev/null; do
      left=$((left - 1))
      sleep 0.2
    done
  fi
  printf '%s %s\n%s\n' "$1" "$2" $$ >"$home/lock/owner" || { why='cannot write the lock'; return 1; }
}

# unlock: nobody works here.
unlock() { try rm -rf "$home/lock"; }

# folder MODE PATH
folder() {
  [ -d "$2" ] || try mkdir -p -m 0755 "$2" || return 1
  try chmod "$1" "$2" && try chown 0:0 "$2"
}

# mode MODE PATH: mode and owner, the contents are right.
mode() { try chown 0:0 "$2" && try chmod "$1" "$2"; }

# stage MODE HASH BYTES PATH, and then the bytes: receives a file beside its place.
stage() {
  temporary "$4"
  [ ! -e "$tmp" ] && [ ! -L "$tmp" ] || try rm -rf "$tmp" || return 1
  { : >"$tmp"; } 2>/dev/null || { why="$4: the folder cannot be written"; return 1; }
  bytes "$3" >>"$tmp" || { why="$4: no room, or the connection broke"; rm -f "$tmp"; return 1; }
  [ "$1" = 0600 ] || try chmod "$1" "$tmp" || return 1
  sums="$sums$2  $tmp$nl" moves="$moves$tmp $4$nl"
}

# commit: checks what was received, brings it to the disk, and puts each file in its place at once.
commit() {
  [ -n "$moves" ] || return 0
  printf %s "$sums" | sha256sum -c >/dev/null 2>&1 || { why='a file did not arrive whole'; return 1; }
  temporaries='' folders=''
  while read -r tmp path; do
    [ -z "$path" ] || temporaries="$temporaries $tmp" folders="$folders ${path%/*}/"
  done <<EOF
$moves
EOF
  # shellcheck disable=SC2086
  sync $temporaries 2>/dev/null || sync
  while read -r tmp path; do
    [ -z "$path" ] || try mv -fT "$tmp" "$path" || return 1
  done <<EOF
$moves
EOF
  # shellcheck disable=SC2086
  sync $folders 2>/dev/null || sync
  sums='' moves=''
}

# save PATH: keeps a file that is not ours before it is replaced.
save() {
  try mkdir -p "$home/saved${1%/*}" || return 1
  [ -e "$home/saved$1" ] || try cp -pP "$1" "$home/saved$1"
}

# restore PATH: puts it back.
restore() { [ ! -e "$home/saved$1" ] || try mv -fT "$home/saved$1" "$1"; }

# remove PATH...: files of ours.
remove() {
  for path do
    temporary "$path"
    try rm -f "$path" "$tmp" || return 1
  done
}

# rmdir PATH...: folders of ours that are empty.
empty() {
  for path do rmdir "$path" 2>/dev/null; done
  :
}

# clear PATH...: folders that hold nothing but ours. Mounts below them go first; nothing beyond them is touched.
clear() {
  for path do
    while read -r _ at _; do
      case $at in "$path"/*) mounted="$at$nl${mounted:-}" ;; esac
    done 2>/dev/null </proc/mounts
    while read -r at; do [ -z "$at" ] || umount -l "$at" 2>/dev/null; done <<EOF
${mounted:-}
EOF
    mounted=''
    try rm -rf --one-file-system "$path" || return 1
  done
}

# link NAME, table FAMILY/NAME: what components set up in the network.
link() { [ ! -e "/sys/class/net/$1" ] || try ip link delete "$1"; }
table() { nft delete table "${1%/*}" "${1#*/}" 2>/dev/null; :; }

# pods: ends the containers of the cluster, whose runtime is ours too.
pods() {
  for task in $(timeout 20 ctr -n k8s.io task ls -q 2>/dev/null); do
    timeout 20 ctr -n k8s.io task kill -a -s KILL "$task" >/dev/null 2>&1
  done
  :
}

# forget: nothing of ours is here any more.
forget() { try rm -rf "$home"; }

# systemd ACTION [UNIT]
systemd() { try timeout 120 systemctl "$@"; }

# halt UNIT: stopped and disabled, if there is such a unit at all.
halt() {
  systemctl cat "$1" >/dev/null 2>&1 </dev/null || return 0
  systemd stop "$1" && systemd disable "$1"
}

# nudge UNIT: a unit of the system reads its files again. One that complains about a line has done the others; what the
# kernel lacks is a finding of its own.
nudge() { systemd restart "$1" || :; }

# wait PATH SECONDS: until the file is there.
await() {
  left=$(($2 * 5))
  while [ ! -s "$1" ]; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || { why="$1 is not there after $2 s"; return 1; }
    sleep 0.2
  done
}

# tail UNIT: the last lines that a unit logged.
journal() { timeout 10 journalctl --no-pager -q -o cat -n 20 -u "$1" 2>/dev/null | head -c 8192; echo; }

# A first word of a file, or nothing.
word() { read -r value _ 2>/dev/null <"$1" || value=''; }

# facts ADDRESS PORT...: what has to be known before files can be made and before anything is changed.
facts() {
  address=$1
  shift
  while IFS='=' read -r key value; do
    value=${value#\"} value=${value%\"}
    case $key in ID) echo "os $value" ;; VERSION_ID) echo "os-version $value" ;; esac
  done 2>/dev/null </etc/os-release
  echo "arch $(uname -m)"
  echo "kernel $(uname -r)"
  echo "hostname $(uname -n)"
  word /etc/machine-id && echo "machine-id $value"
  word /sys/class/dmi/id/product_uuid && echo "product-uuid $value"
  word /proc/sys/kernel/random/boot_id && echo "boot-id $value"
  word /proc/sys/net/ipv4/ip_forward && echo "ip-forward $value"
  echo "uid $(id -u)"
  echo "cpus $(nproc 2>/dev/null)"
  [ ! -d /run/systemd/system ] || echo 'systemd yes'
  [ ! -f /sys/fs/cgroup/cgroup.controllers ] || echo 'cgroup v2'
  [ ! -d /sys/fs/cgroup/memory ] || echo 'cgroup v1'
  while read -r key value _; do
    case $key in MemTotal:) echo "memory-kib $value" ;; esac
  done 2>/dev/null </proc/meminfo
  while read -r key value; do
    case $key in CapEff:) echo "capabilities $value" ;; esac
  done 2>/dev/null </proc/self/status
  while read -r name _ size _; do
    [ "$name" = Filename ] || echo "swap $name $size"
  done 2>/dev/null </proc/swaps
  resolvers
  # Read at once: a shell reads lines byte by byte, and these are long files.
  release=$(uname -r)
  modules=$(cat "/lib/modules/$release/modules.builtin" "/lib/modules/$release/modules.dep" 2>/dev/null)
  for module in overlay br_netfilter vxlan nf_tables; do
    [ ! -d "/sys/module/$module" ] || { echo "module $module"; continue; }
    case $modules in */"$module".ko*) echo "module $module" ;; esac
  done
  for folder in /usr/local/bin /usr/bin; do
    [ -x "$folder/containerd" ] && echo "containerd $folder/containerd" && break
  done
  links "$address"
  for folder in /var/lib/containerd /var/lib/kubelet /var/lib/etcd; do
    space "$folder"
  done
  [ -f "$record" ] || leftovers
  sockets=$(cat /proc/net/tcp /proc/net/tcp6 2>/dev/null)
  for port do listener "$port"; done
  echo "time $(date +%s)"
}

# The resolvers of a file, and whether there is one behind the local one.
resolvers() {
  for file in /etc/resolv.conf /run/systemd/resolve/resolv.conf; do
    [ -f "$file" ] || continue
    echo "resolv-conf $file"
    while read -r key value _; do
      [ "$key" != nameserver ] || echo "nameserver $file $value"
    done <"$file"
  done 2>/dev/null
}

# The link that has the address, and the size of its packets. The table of local routes is the same everywhere.
links() {
  ip -o -4 addr show 2>/dev/null | while read -r _ link _ with _; do
    link=${link%%@*}
    [ "${with%/*}" != "$1" ] || { word "/sys/class/net/$link/mtu"; echo "link $link ${value:-1500}"; }
  done
}

# Free space of the disk that a folder is on, or will be.
space() {
  at=$1
  while [ ! -d "$at" ] && [ -n "$at" ]; do at=${at%/*}; done
  df -Pk "${at:-/}" 2>/dev/null | while read -r _ _ _ free _ on; do
    [ "$free" = Available ] || echo "disk $1 $free $on"
  done
}

# What another installation left.
leftovers() {
  for path in /etc/kubernetes /var/lib/kubelet /var/lib/etcd /etc/cni/net.d /var/lib/rancher /var/lib/k0s /etc/rancher; do
    [ ! -d "$path" ] || [ -z "$(ls -A "$path" 2>/dev/null)" ] || echo "leftover $path"
  done
  for unit in kubelet k3s k3s-agent k0scontroller k0sworker rke2-server rke2-agent microk8s; do
    [ "$(systemctl is-active "$unit" 2>/dev/null)" != active ] || echo "running $unit.service"
  done
}

# Who listens on a port: "listener PORT PID NAME".
listener() {
  wanted=$(printf %04X "$1")
  case $sockets in *":$wanted 00000000"*":0000 0A "*) ;; *) return 0 ;; esac
  inode=$(printf '%s\n' "$sockets" | while read -r _ local _ state _ _ _ _ _ inode _; do
    [ "${local##*:}" != "$wanted" ] || [ "$state" != 0A ] || { echo "$inode"; break; }
  done)
  [ -n "$inode" ] || return 0
  set +f
  owner='0 unknown'
  for fd in /proc/[0-9]*/fd/*; do
    [ "$(readlink "$fd" 2>/dev/null)" = "socket:[$inode]" ] || continue
    pid=${fd#/proc/} pid=${pid%%/*}
    word "/proc/$pid/comm"
    owner="$pid ${value:-unknown}"
    break
  done
  set -f
  echo "listener $1 $owner"
}

# latency FOLDER: how long the disk takes to keep 2 KiB, in microseconds, of 50 times.
latency() {
  at=$1
  while [ ! -d "$at" ] && [ -n "$at" ]; do at=${at%/*}; done
  probe=${at:-/}/.trellis-probe
  from=$(date +%s%N)
  # Where it cannot be tried out there is a finding less; a full disk is found by its free space.
  if dd if=/dev/zero of="$probe" bs=2048 count=50 oflag=dsync 2>/dev/null; then
    to=$(date +%s%N)
    echo "latency $(((to - from) / 50000))"
  fi
  rm -f "$probe"
}

# reach ADDRESS BYTES: whether a packet of that size arrives there.
reach() {
  command -v ping >/dev/null 2>&1 || { echo "reach $1 unknown"; return 0; }
  if ping -n -q -c 1 -W 2 -M 'do' -s $(($2 - 28)) "$1" >/dev/null 2>&1; then echo "reach $1 whole"
  elif ping -n -q -c 1 -W 2 "$1" >/dev/null 2>&1; then echo "reach $1 small"
  else echo "reach $1 no"
  fi
}

# What was received and not put in its place goes when this ends, however it ends.
leave() {
  while read -r tmp path; do [ -z "$path" ] || rm -f "$tmp"; done <<EOF
$moves
EOF
}
trap leave EXIT
trap 'exit 1' HUP INT TERM PIPE

echo 'trellis-host 1'
while IFS=' ' read -r verb arguments; do
  why=''
  # shellcheck disable=SC2086
  set -- $arguments
  case $verb in
    observe | contents | certificates | units | recorded | locked | facts | reach | journal | latency)
      "$verb" "$@" && echo '. ok' || echo ". fail $why" ;;
    lock | unlock | folder | mode | stage | commit | save | restore | remove | empty | clear | link | table | pods | forget | systemd | halt | nudge | await)
      "$verb" "$@" || { printf '. fail %s\n' "$(printf %s "$why" | tr '\n' ' ' | head -c 2000)"; exit 1; }
      echo '. ok' ;;
    bye) exit 0 ;;
    *) echo '. fail no such request'; exit 1 ;;
  esac
done
