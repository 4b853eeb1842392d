"""Games of a PGN file that `match` or one of its peers has written."""

import re


def read_games(path):
    """[(tags, moves without comments and numbers, the result as the last)]; none of a missing file."""
    text = path.read_text().strip() if path.exists() else ""
    games = []
    for block in re.split(r"\n\n(?=\[)", text) if text else []:
        tags = dict(re.findall(r'^\[(\w+) "(.*)"\]$', block, re.M))
        moves = re.sub(r"\{[^}]*\}", " ", block[block.rindex("]\n") + 2:])
        games.append((tags, [word for word in moves.split() if not re.match(r"\d+\.", word)]))
    return games
