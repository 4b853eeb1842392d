-- Version 4: who is behind what arrives.

-- ---- owners and machines

-- The network that a machine last came from, as address_network() writes it: an IPv4 address, or an IPv6 /64.
ALTER TABLE workers ADD COLUMN network TEXT NOT NULL DEFAULT '';
UPDATE workers SET network = address;
-- An owner is an account, or the network of machines without one.
ALTER TABLE workers ADD COLUMN owner TEXT
    GENERATED ALWAYS AS (coalesce('user ' || user_id, 'network ' || network)) VIRTUAL;
CREATE INDEX workers_network ON workers (network, created);
CREATE INDEX workers_owner ON workers (owner);
-- Whose machine it was when the batch arrived; a machine may change hands.
ALTER TABLE batches ADD COLUMN owner TEXT NOT NULL DEFAULT '';
UPDATE batches SET owner = (SELECT owner FROM workers w WHERE w.id = batches.worker_id);

-- Owners with a record: see ledger_record_judge.
CREATE TABLE records (
    owner TEXT PRIMARY KEY,
    since REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX batches_owner ON batches (owner) WHERE counted = 1 AND excluded = 0;

-- What a task weighs for hunger, and how long its machine may need for a batch, whatever its heartbeats say.
ALTER TABLE tasks ADD COLUMN hunger INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN batch_s REAL NOT NULL DEFAULT 86400;
ALTER TABLE tasks ADD COLUMN batch_until REAL NOT NULL DEFAULT 0;
UPDATE tasks SET hunger = cores, batch_until = lease_until + 86400;
-- Who began these pairs and did not report them; '': nobody did.
ALTER TABLE returned_pairs ADD COLUMN owner TEXT NOT NULL DEFAULT '';
-- Tasks in a row that a machine ended without a result, and until when it gets none for that.
ALTER TABLE workers ADD COLUMN fruitless INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workers ADD COLUMN rest_until REAL NOT NULL DEFAULT 0;

-- ---- accounts

-- The account's token that a machine registered with, as in api_tokens; '': none.
ALTER TABLE workers ADD COLUMN user_token_hash TEXT NOT NULL DEFAULT '';
-- Networks that an account signed in from, and browsers ('device HASH'), the last ones.
CREATE TABLE known_networks (
    user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
    network TEXT NOT NULL,
    last REAL NOT NULL,
    PRIMARY KEY (user_id, network)
) STRICT, WITHOUT ROWID;
-- Subjects: 'user:ID', 'name:HASH' where there is no such account, each also with ' NETWORK'; 'network:…', 'session:…', 'signup:…'.
DELETE FROM login_failures;
-- Why a machine may not work: 'machine' it is blocked, 'owner' its account is, 'token' its token was revoked; '': nothing.
CREATE VIEW standings AS
SELECT w.id, CASE WHEN w.blocked THEN 'machine' WHEN u.state <> 'active' THEN 'owner'
                  WHEN w.user_token_hash <> '' AND NOT EXISTS (SELECT 1 FROM api_tokens t WHERE t.token_hash = w.user_token_hash)
                  THEN 'token' ELSE '' END AS barred
FROM workers w LEFT JOIN users u ON u.id = w.user_id;

-- Machines come and go by the thousand: no page walks all of them.
CREATE INDEX workers_seen ON workers (last_seen);
-- Sums over all machines: 'games', credited to them.
CREATE TABLE totals (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO totals SELECT 'games', coalesce(sum(games), 0) FROM workers;
CREATE TRIGGER workers_total_add AFTER INSERT ON workers WHEN NEW.games <> 0
    BEGIN UPDATE totals SET value = value + NEW.games WHERE name = 'games'; END;
CREATE TRIGGER workers_total_change AFTER UPDATE OF games ON workers
    BEGIN UPDATE totals SET value = value + NEW.games - OLD.games WHERE name = 'games'; END;
-- A machine that was never given a task is forgotten in time, see machines_forget.
ALTER TABLE workers ADD COLUMN tasked INTEGER NOT NULL DEFAULT 0;
UPDATE workers SET tasked = 1 WHERE id IN (SELECT worker_id FROM tasks);
CREATE TRIGGER tasks_tasked AFTER INSERT ON tasks
    BEGIN UPDATE workers SET tasked = 1 WHERE id = NEW.worker_id AND tasked = 0; END;
CREATE INDEX workers_idle ON workers (last_seen) WHERE tasked = 0 AND blocked = 0;
-- What a deleted machine might still be named by is looked for in these.
CREATE INDEX events_worker ON events (worker_id) WHERE worker_id IS NOT NULL;
CREATE INDEX failures_worker ON failures (worker_id);
CREATE INDEX benches_worker ON benches (worker_id);
CREATE INDEX exclusions_worker ON exclusions (worker_id);

-- ---- approvals and commits

-- Counts that a submission declared: of this test alone, and only until machines have established that of the commit.
ALTER TABLE tests ADD COLUMN new_bench_declared INTEGER CHECK (new_bench_declared > 0);
ALTER TABLE tests ADD COLUMN base_bench_declared INTEGER CHECK (base_bench_declared > 0);

-- A maintainer said that its commit does harm: no later test has that commit among its ancestors.
ALTER TABLE tests ADD COLUMN harmful INTEGER NOT NULL DEFAULT 0 CHECK (harmful IN (0, 1));
-- 0: the base is not in the history of the baseline; the test holds while the approval of a test of that commit stands.
ALTER TABLE tests ADD COLUMN base_in_baseline INTEGER NOT NULL DEFAULT 1 CHECK (base_in_baseline IN (0, 1));
CREATE INDEX tests_harmful ON tests (engine_id) WHERE harmful;
CREATE INDEX tests_outside ON tests (engine_id, state) WHERE NOT base_in_baseline;

-- ---- games and disk

-- Batches that are being played over again just now: one, and those before it of which the result is not written yet. A row
-- that is there when the server starts is of a batch during which the server ended: that batch is not tried again.
CREATE TABLE replays_started (
    batch_id INTEGER PRIMARY KEY REFERENCES batches,
    started REAL NOT NULL
) STRICT;
-- Why the games of this batch were not played over again after all; '': they were.
ALTER TABLE replays ADD COLUMN left_out TEXT NOT NULL DEFAULT '';
CREATE INDEX replays_left_out ON replays (batch_id) WHERE left_out <> '';
-- When the games of a finished test were deleted because the disk was nearly full; NULL: they are kept.
ALTER TABLE tests ADD COLUMN games_dropped REAL;
CREATE INDEX games_sha256 ON games (sha256);
