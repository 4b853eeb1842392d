"""What `make bench` measures of verdicts, by name and with SEED=: `order`, whether more tests pass if batches count in the order in
which they arrive; `worth`, what patches that passed are worth, by the printed Elo and by the prior of their engine; `verdicts`, whether
the verdicts of the ledger have the errors that tests state."""

import subprocess

from figures import head


def table(build, name, rows, seed):
    """A table that grows row by row; GAMES= is its number of tests or engines for each row."""
    head(seed)
    return subprocess.run([str(word) for word in (build / "tests" / name, seed, rows or "") if word], check=False).returncode == 0


def order(build, games, seed):
    return table(build, "order_table", games, seed)


def worth(build, games, seed):
    return table(build, "worth_table", games, seed)


def verdicts(build, games, seed):
    return table(build, "verdict_table", games, seed)
