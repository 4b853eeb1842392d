-- Version 2: what a machine was like while it played a batch, fault reports of games that an engine lost by its own fault,
-- exclusions, and what replaying games found.

-- As the worker told it; NULL: it did not.
ALTER TABLE batches ADD COLUMN load_delay REAL;        -- share of thinking time without a CPU
ALTER TABLE batches ADD COLUMN load_steal REAL;        -- share of CPU time that a hypervisor took
ALTER TABLE batches ADD COLUMN load_swap_mib REAL;     -- swapped in meanwhile
ALTER TABLE batches ADD COLUMN load_speed REAL;        -- nodes/s in play, this batch
ALTER TABLE batches ADD COLUMN load_speed_before REAL; -- the same, first batch of the task
-- The limits that it was held against, so that a replay flags as the day itself did.
ALTER TABLE batches ADD COLUMN limit_busy REAL;
ALTER TABLE batches ADD COLUMN limit_slow REAL;
ALTER TABLE batches ADD COLUMN limit_swap_mib REAL;
ALTER TABLE batches ADD COLUMN flags TEXT NOT NULL DEFAULT ''; -- of busy, slow, swap, with blanks between
CREATE INDEX batches_flagged ON batches (test_id) WHERE flags <> '';
CREATE INDEX batches_flagged_worker ON batches (worker_id) WHERE flags <> '';

-- Counts and verdicts of one owner's machines wait for another's word; a resumed test begins anew in that.
ALTER TABLE tests ADD COLUMN resumed REAL;

-- A game that ended by a crash, a stall, an illegal move or on time, as its worker saw it. Beyond so many a test only
-- the row is kept.
CREATE TABLE fault_reports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    test_id INTEGER NOT NULL REFERENCES tests,
    task_id INTEGER NOT NULL REFERENCES tasks,
    worker_id INTEGER NOT NULL REFERENCES workers,
    seq INTEGER NOT NULL CHECK (seq BETWEEN 0 AND 9),
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64), -- of the body as it came
    pair INTEGER NOT NULL,
    game INTEGER NOT NULL CHECK (game IN (0, 1)),
    side TEXT NOT NULL CHECK (side IN ('new', 'base')), -- the culprit
    ending TEXT NOT NULL CHECK (ending IN ('crash', 'stall', 'illegal', 'time')),
    reason TEXT NOT NULL,
    overloaded INTEGER NOT NULL CHECK (overloaded IN (0, 1)),
    content BLOB,                           -- zstd of {"pgn", "protocol_log", "errors"}; NULL: not kept
    received REAL NOT NULL,
    UNIQUE (task_id, seq)
) STRICT;
CREATE INDEX fault_reports_test ON fault_reports (test_id, id);
CREATE INDEX fault_reports_kept ON fault_reports (test_id) WHERE content IS NOT NULL;
CREATE INDEX fault_reports_worker ON fault_reports (worker_id);

-- What a maintainer, or the server by itself, took out of a test's results: whole windows of one machine. It holds for
-- what comes later, too, until it is taken back.
CREATE TABLE exclusions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    test_id INTEGER NOT NULL REFERENCES tests,
    worker_id INTEGER NOT NULL REFERENCES workers,
    which TEXT NOT NULL CHECK (which IN ('flagged', 'all')),
    reason TEXT NOT NULL,
    user_id INTEGER REFERENCES users,       -- NULL: the server
    created REAL NOT NULL,
    undone REAL,
    undone_by INTEGER REFERENCES users
) STRICT;
CREATE UNIQUE INDEX exclusions_live ON exclusions (test_id, worker_id, which) WHERE undone IS NULL;

-- Batches whose games were played over again with the rules. `fault` is empty where all was well.
CREATE TABLE replays (
    batch_id INTEGER PRIMARY KEY REFERENCES batches,
    fault TEXT NOT NULL,
    games INTEGER NOT NULL,
    created REAL NOT NULL
) STRICT;

CREATE INDEX replays_fault ON replays (batch_id) WHERE fault <> '';

CREATE INDEX workers_user ON workers (user_id) WHERE user_id IS NOT NULL;
