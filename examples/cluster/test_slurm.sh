#!/usr/bin/env bash
# Starts a Slurm of one node and runs the batch scripts on it. test.sh calls it
# in a network namespace of its own, because the daemons listen on all addresses.
set -euo pipefail
here=$1 work=$2
ip link set lo up
ip addr add 198.18.0.1/32 dev lo # getaddrinfo wants an address that is not of loopback
s=$work/slurm-daemons
mkdir -p "$s/spool" "$s/state"
dd if=/dev/urandom of="$s/munge.key" bs=1024 count=1 status=none
chmod 400 "$s/munge.key"
host=$(hostname -s)
cpus=$(nproc)
cat > "$s/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$s/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation=$s/state
SlurmdSpoolDir=$s/spool
SlurmctldPidFile=$s/slurmctld.pid
SlurmdPidFile=$s/slurmd.pid
SlurmctldLogFile=$s/slurmctld.log
SlurmdLogFile=$s/slurmd.log
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus RealMemory=8192 State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$s/slurm.conf
pids=()
stop() {
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
  sleep 1
  for p in "${pids[@]}"; do kill -9 "$p" 2>/dev/null || true; done
  wait
  [ $ok = 1 ] || tail -n 20 "$s"/*.log
}
ok=0
trap stop EXIT
munged --foreground --force --key-file="$s/munge.key" --socket="$s/munge.socket" --pid-file="$s/munge.pid" \
  --log-file="$s/munge.log" --seed-file="$s/munge.seed" 2>/dev/null &
pids+=($!)
for _ in $(seq 50); do [ -S "$s/munge.socket" ] && break; sleep 0.1; done
slurmctld -D 2>/dev/null &
pids+=($!)
slurmd -D 2>/dev/null &
pids+=($!)
for _ in $(seq 30); do timeout 2 sinfo -h -o %T 2>/dev/null | grep -q idle && break; sleep 0.5; done
timeout 5 sinfo

export PLAN=$work/plan.json OUT=$work/slurm
cd "$work"
for f in pack finish; do sbatch --test-only "$here/$f.sbatch"; done
wait_for() { # until no job is left
  for _ in $(seq 600); do [ -z "$(timeout 5 squeue -h)" ] && return; sleep 0.2; done
  squeue
  return 1
}
job=$(sbatch --parsable "$here/pack.sbatch")
end=$(sbatch --parsable --dependency="afterok:$job" --kill-on-invalid-dep=yes "$here/finish.sbatch")
wait_for
scontrol show job "$end" | grep -o 'JobState=[A-Z]*' | grep -q COMPLETED
test -s "$OUT/data-index.json"
grep -h '"shards"' "pack-finish-$end.log"

# Two shards are lost: finish fails, and their tasks of the array run again.
rm "$OUT"/data-0000[5].tar "$OUT"/data-00011.json "$OUT/data-index.json"
end=$(sbatch --parsable "$here/finish.sbatch")
wait_for
scontrol show job "$end" | grep -o 'ExitCode=1:0'
grep -h 'is missing' "pack-finish-$end.log" | head -2
# Shards 5 and 11 of 24 are in parts 3 and 7 of 16.
job=$(PARTS=16 sbatch --parsable --array=3,7 "$here/pack.sbatch")
end=$(sbatch --parsable --dependency="afterok:$job" --kill-on-invalid-dep=yes "$here/finish.sbatch")
wait_for
scontrol show job "$end" | grep -o 'JobState=[A-Z]*' | grep -q COMPLETED
ok=1
echo "Slurm $(sinfo --version) ran the array and the parts of it"
