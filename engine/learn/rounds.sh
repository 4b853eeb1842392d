#!/bin/sh
# A net from nothing, in rounds of games and training. The first games are those of the classical
# evaluation; after that the newest net and the classical evaluation judge together, which is
# stronger than either, and each net goes on from the one before, which is half of its teacher, with
# the games of all rounds.
# Begun again it goes on where it was interrupted. In FOLDER: games-1, net-1, games-2, net-2, …
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
judge="--net none"
begin="--strays 1"
while [ "$round" -le "$rounds" ]; do
    echo "round $round of $rounds"
    data="$data games-$round"
    # shellcheck disable=SC2086 # lists of words
    "$engine" datagen $judge --out "games-$round" --games "$games" --nodes "$nodes" --seed "$round"
    # shellcheck disable=SC2086
    "$engine" train --data $data --out "net-$round" --epochs 6 --resume $begin "$@"
    judge="--net net-$round/net.compact --classical 50"
    begin="--from net-$round/net.compact --lr 0.0007 --buckets 8 --distil 0.5 --strays 1"
    round=$((round + 1))
done
