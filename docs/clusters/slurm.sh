#!/usr/bin/env bash
#SBATCH --job-name=assay
#SBATCH --nodes=8
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=16
#SBATCH --time=04:00:00
#SBATCH --signal=B:TERM@120
# A Ray cluster inside a Slurm job: a node of Ray on every node of the job, and one assay command on the first.
# sbatch slurm.sh MODEL TEXT RUN; submitted again after a time-out, it goes on where it was.
set -euo pipefail
model=$1 text=$2 run=$3

port=6379
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN
RAY_AUTH_TOKEN=$(openssl rand -hex 32)

# Nodes end with the step that started them; `ray stop` would end those of other jobs on a shared node.
srun --nodes=1 --ntasks=1 --nodelist="$head" ray start --head --port="$port" --include-dashboard=false --block &
sleep 30
if [ "$SLURM_JOB_NUM_NODES" -gt 1 ]; then
  srun --nodes=$((SLURM_JOB_NUM_NODES - 1)) --ntasks=$((SLURM_JOB_NUM_NODES - 1)) --exclude="$head" \
    ray start --address="$head:$port" --block &
  sleep 30
fi

# SIGTERM two minutes before the end of the allocation: the command ends cleanly (143) and can be submitted again.
assay score "$model" "$text" --engine ray --address "$head:$port" --gpus-per-worker 4 --dtype bfloat16 -o "$run" &
command=$!
trap 'kill -TERM "$command"' TERM
code=0
wait "$command" || code=$?
if kill -0 "$command" 2>/dev/null; then # the trap ended the first wait
  code=0
  wait "$command" || code=$?
fi
exit "$code"
