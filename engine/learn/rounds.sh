#!/bin/sh
# Makes a net from nothing, in rounds of games and training. The classical evaluation plays the
# games of the first round; the newest net plays those of the next rounds. Each training starts from
# the net before and uses the games of all rounds.
# The same command continues an interrupted run. FOLDER has games-1, net-1, games-2, net-2, …
set -eu
if [ $# -lt 5 ]; then
    echo "usage: rounds.sh ENGINE FOLDER ROUNDS GAMES NODES [option of train…]" >&2
    exit 2
fi
engine=$(realpath "$1") folder=$2 rounds=$3 games=$4 nodes=$5
shift 5
mkdir -p "$folder"
cd "$folder"
round=1
data=
net=none
begin=
while [ "$round" -le "$rounds" ]; do
    echo "round $round of $rounds"
    data="$data games-$round"
    "$engine" datagen --net "$net" --out "games-$round" --games "$games" --nodes "$nodes" --seed "$round"
    # shellcheck disable=SC2086 # lists of words
    "$engine" train --data $data --out "net-$round" --epochs 6 --resume $begin "$@"
    net="net-$round/net.compact"
    begin="--from $net --lr 0.0007 --buckets 8"
    round=$((round + 1))
done
