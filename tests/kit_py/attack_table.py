"""What `make bench PARTS=attacks` prints: attack by attack what was seen, and the limit that it may reach."""

from public_server import NELO, SIGMA

SHARE, WORDS = 0.05, 118


class Table:
    """What was seen, attack by attack."""

    def __init__(self):
        self.fine = True

    def attack(self, title):
        print(f"\n  {title}", flush=True)

    def line(self, label, text, fine=True):
        print(f"    {label:<12} {text}{'' if fine else '   <-- TOO FAR'}", flush=True)
        self.fine &= fine

    def limit(self, text, fine):
        self.line("limit", text, fine)


def said(reply):
    """A refusal in one line."""
    if reply.status == 200:
        return "200: taken"
    text = f"{reply.status} {reply.code}: {reply.json['error']['message']}"
    return text if len(text) <= WORDS else text[:WORDS] + "…"


def percent(share):
    return f"{100 * share:.1f} %"


def limit_of_share(lab, table):
    worst = lab.share_of(0)
    table.limit(f"unproven owners make 5 % of the counted pairs: at most {percent(worst)} at any time", worst <= SHARE)


def evidence(lab, machine):
    """What stands against it on the page of suspects."""
    items = lab.anyone.api("GET", "/suspects").json["items"]
    return "; ".join(one["text"] for item in items if item["id"] == machine.id for one in item["evidence"])


def points_of(outcomes):
    return sum(map(int, outcomes))


def counted_elsewhere(lab, machine, first):
    """How many batches that begin with this pair count from others than the owner of the machine."""
    return lab.sql("SELECT count(*) FROM tasks k JOIN counted_batches b ON b.task_id = k.id WHERE k.test_id = ? AND k.owner <> "
                   "(SELECT owner FROM workers WHERE id = ?) AND k.first_pair + b.seq * b.units = ?", lab.test, machine.id, first)[0][0]


def outcomes_of(lab, condition, *values):
    return "".join(text for text, in lab.sql(f"SELECT outcomes FROM counted_batches WHERE test_id = ? AND {condition}", lab.test, *values))


def score_of(lab, machine=None):
    """The share of points in the pairs that count, of all machines or of one."""
    text = outcomes_of(lab, "? IN (0, worker_id)", machine.id if machine else 0)
    return points_of(text) / (4 * len(text)) if text else float("nan")


def nelo_of(lab, level):
    """The normalized Elo of the pairs that count, of owners of this level."""
    text = outcomes_of(lab, "level = ?", level)
    return (points_of(text) / len(text) - 2) / SIGMA / 2 ** 0.5 * NELO if text else float("nan")
