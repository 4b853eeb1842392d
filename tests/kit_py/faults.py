"""The expected verdict on every fault of the toy engine at every moment.

A verdict is the end of the referee's sentence behind "White" or "Black"; SAME stands for a game that goes on as if
nothing were. A fault has a set of verdicts if the system's timing decides between them."""

SAME = "plays on"
GONE, STALL, TIME, ILLEGAL = " disconnects", "'s connection stalls", " loses on time", " makes an illegal move: "
ENDED, SILENT_START = "ended before it answered", "did not answer"

# The process has ended; or it lives and has closed a pipe; or it says nothing that helps.
ENDS = ["crash", "abort", "exit", "exit1", "kill", "halfline", "orphan", "daemon"]
CLOSES = ["closeout", "closeboth"]
SILENT = ["hang", "sigstop", "burn", "deaf", "flood", "chatter", "storm", "trickle", "errflood", "exec", "regroup"]
HARMLESS = ["child", "setsid", "daemonchild", "many", "forkbomb", "chatterchild", "ignore", "errburst", "closeerr",
            "longline", "garbage", "nulbytes", "options", "earlymove", "readyoks", "memory"]
DEEDS = [*ENDS, *CLOSES, "closein", *SILENT, *HARMLESS]
FIRST_START = ["start", "uci", "option", "ready0"]

ANSWERS = {
    "illegal": ILLEGAL + "e2e5", "illegaltwice": ILLEGAL + "e2e5", "badsyntax": ILLEGAL + "Nf3!", "uppercase": ILLEGAL,
    "nullmove": ILLEGAL + "0000", "none": ILLEGAL + "(none)", "empty": ILLEGAL + "(empty)", "noword": TIME,
    "stuck": ILLEGAL, "otherside": ILLEGAL, "doublemove": ILLEGAL, "sanmove": ILLEGAL, "hugemove": ILLEGAL,
    "late": TIME, "nonl": TIME, "cronly": TIME, "closestdin": GONE,
    **dict.fromkeys(["ok", "rookcastle", "nopromotion", "upperpromotion", "wrongpromotion", "slowstart", "sleep", "crlf",
                     "blanks", "tabs", "trailing", "ponder", "badponder", "dupbest", "dupbest2", "split", "bytewise",
                     "noscore", "matescore", "hugescore", "hugenodes", "baddepth", "infobest", "manyinfos", "utf8",
                     "wrongpv", "otherpv", "falsemate"], SAME),
}
ANSWERED_AT_FLAG = {TIME, SAME}  # "atflag": both are right


def expected(deed, moment):
    """Verdicts on the games in which the deed is done. Moments beyond the toy's own: "again:MOMENT" for an engine that
    worked before and is started again, "between" for after the last move of a game."""
    again = moment.startswith("again:")
    if again:
        moment = moment[6:]
    if deed == "earlymove" and moment in ("go", "after"):
        return {ILLEGAL + "a1a1"} if moment == "go" else {ILLEGAL + "a1a1", SAME}
    if moment == "quit" or deed in HARMLESS:
        return {SAME}
    starting = moment in FIRST_START
    if deed == "closein":
        return closed_input(moment, again)
    if deed in ENDS and moment == "between":
        return {SAME, GONE}  # its end is found before the next game, or it ends during `ucinewgame`
    if deed in ENDS or deed in CLOSES:
        return {ENDED} if starting and not again else {GONE}
    if starting and not again:
        return {SILENT_START}
    return {TIME} if moment in ("go", "after") else {STALL}


def closed_input(moment, again):
    """Found by the next write, or by silence if everything was written before."""
    if moment in FIRST_START:
        silent, gone = (STALL, GONE) if again else (SILENT_START, ENDED)
        return {silent, gone} if moment == "start" else {silent}
    if moment == "after":
        return {GONE, TIME}
    return {GONE, STALL} if moment == "between" else {TIME} if moment == "go" else {STALL}


def deed_rows():
    """(deed, moment, moves before it)."""
    for deed in DEEDS:
        for moment in FIRST_START:
            yield deed, moment, 0
            if deed not in SILENT or deed == "hang" or moment == "uci":  # the wait is the same, and long
                yield deed, "again:" + moment, 0
        yield from [(deed, "newgame", 0), (deed, "ready", 0), (deed, "go", 0), (deed, "go", 3), (deed, "after", 2),
                    (deed, "between", 8), (deed, "quit", 0)]


def answer_rows():
    for answer in [*ANSWERS, "atflag"]:
        yield answer, "go", 0
        yield answer, "go", 3


def verdicts(row):
    """`row` has fault, moment and level. At level 2 the sandbox's own process keeps the pipes open,
    so an engine that closes them only seems to be silent."""
    if row.fault == "atflag":
        return ANSWERED_AT_FLAG
    found = {ANSWERS[row.fault]} if row.fault in ANSWERS else expected(row.fault, row.moment)
    if row.level == 2 and row.fault in (*CLOSES, "closein", "closestdin"):
        found = found | ({TIME} if row.fault == "closestdin" else expected("hang", row.moment))
    return found


def lost_games(moment):
    """Which of the four games have the fault: it shows twice in all."""
    if moment.startswith("again:"):
        return [2, 3]
    return [2, 3, 4] if moment == "between" else [1, 2]
