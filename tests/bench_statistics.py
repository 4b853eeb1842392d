"""What `make bench` measures of verdicts, by name and with SEED=: `order`, whether more tests pass if batches count in the order in
which they arrive."""

import subprocess

from figures import head


def order(build, games, seed):
    """A table that grows row by row; GAMES= is its number of tests for each row."""
    head(seed)
    subprocess.run([str(word) for word in (build / "tests" / "order_table", seed, games or "") if word], check=True)
    return True
