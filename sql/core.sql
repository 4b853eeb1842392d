-- Queries for settings, idempotency, housekeeping, replays and the disk.

-- name: setting_get value
SELECT value FROM settings WHERE name = :name

-- name: setting_set
INSERT INTO settings (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = :value

-- name: setting_unset
DELETE FROM settings WHERE name = :name

-- name: settings_all rows
SELECT name, value FROM settings ORDER BY name

-- The first reason stays.
-- name: reached_add
INSERT INTO reached (id, created, reason) VALUES (1, :now, :reason) ON CONFLICT DO NOTHING

-- Whom the server trusts, and whether the setting says so. `at` and `reason` are NULL if it was never reached.
-- name: trust row
-- types: mode text, set bool, at real?, reason text?
SELECT t.mode, EXISTS (SELECT 1 FROM settings WHERE name = 'trust' AND value IN ('private', 'public')) AS "set", r.created AS at, r.reason
FROM trust t LEFT JOIN reached r

-- The account of a machine, and whether it has a role.
-- name: person_of_machine row
-- types: name text?, has_role bool
SELECT u.name, EXISTS (SELECT 1 FROM role_holders h WHERE h.user_id = w.user_id) AS has_role
FROM workers w LEFT JOIN users u ON u.id = w.user_id WHERE w.id = :worker

-- name: idempotency_get row
SELECT request_hash, status, body FROM idempotency WHERE subject = :subject AND key = :key

-- name: idempotency_put
INSERT INTO idempotency (subject, key, request_hash, status, body, created)
VALUES (:subject, :key, :request_hash, :status, :body, :created)

-- name: idempotency_expire
DELETE FROM idempotency WHERE created < :before

-- name: sessions_expire
DELETE FROM sessions WHERE expires < :now

-- name: login_failures_expire
DELETE FROM login_failures WHERE last < :before

-- Machines that never got a task and whose last request is old; a limited number at a time.
-- name: machines_forget
DELETE FROM workers WHERE id IN (SELECT id FROM workers w WHERE tasked = 0 AND blocked = 0 AND last_seen < :before
    AND NOT EXISTS (SELECT 1 FROM events e WHERE e.worker_id = w.id) ORDER BY last_seen LIMIT 200)

-- name: event_add
INSERT INTO events (created, type, user_id, worker_id, test_id, message, last)
VALUES (:created, :type, nullif(:user, 0), nullif(:worker, 0), nullif(:test, 0), :message, :created)

-- Adds a routine event to a row of the :period seconds before it: that of the same type, test, user and machine, else
-- the newest if :rows rows of the type and the test are of that period. The row keeps all different messages up to
-- :message_max characters. Changes no row if the event needs its own.
-- name: event_repeat
-- types: :message text, :message_max int, :period real
UPDATE events SET repeats = repeats + 1, last = :created,
    message = CASE WHEN instr(message, :message) > 0 OR length(message) + length(:message) > :message_max THEN message
                   ELSE message || '; ' || :message END
WHERE id = (
    WITH recent AS MATERIALIZED (
        SELECT id, user_id, worker_id FROM events
        WHERE type = :type AND type IN (SELECT type FROM routine_events) AND created > :created - :period
          AND test_id IS nullif(:test, 0) ORDER BY created DESC LIMIT :rows)
    SELECT coalesce((SELECT id FROM recent WHERE user_id IS nullif(:user, 0) AND worker_id IS nullif(:worker, 0)),
                    (SELECT max(id) FROM recent HAVING count(*) = :rows)))

-- Removes old routine events; a limited number at a time.
-- name: events_forget
DELETE FROM events WHERE id IN (SELECT id FROM events WHERE type IN (SELECT type FROM routine_events) AND created < :before LIMIT 200)

-- name: engine_first value
-- types: value int
SELECT min(id) FROM engines

-- A machine is online at :now if it has sent a request within :online_s seconds.
-- name: core_metrics object
-- types: :now real, :online_s real
SELECT (SELECT count(*) FROM tests WHERE state = 'active') AS tests_active,
       (SELECT count(*) FROM tests WHERE state = 'pending') AS tests_pending,
       (SELECT count(*) FROM workers WHERE last_seen > :now - :online_s) AS workers_active,
       (SELECT count(*) FROM tasks WHERE state = 'open') AS tasks_open,
       (SELECT value FROM totals WHERE name = 'games') AS games,
       (SELECT count(*) FROM fault_reports) AS faults,
       (SELECT count(*) FROM batches WHERE flags <> '') AS batches_flagged,
       (SELECT count(*) FROM failures WHERE kind = 'games') AS batches_refused,
       (SELECT count(*) FROM users) AS users

-- name: integrity_check rows
-- types: integrity_check text
PRAGMA integrity_check

-- name: foreign_key_check rows
-- types: table text, rowid int?, parent text, fkid int
PRAGMA foreign_key_check

-- ---- the disk

-- Whether the blob is needed. 0: no row refers to it, 1: it is needed, 2: it has games that were dropped. A snapshot
-- is needed while workers may build it; afterwards it can be made again. Rows of other kinds are never deleted.
-- name: blob_standing value
-- types: value int
SELECT CASE WHEN EXISTS (SELECT 1 FROM blobs WHERE sha256 = :sha256 AND kind <> 'games')
              OR EXISTS (SELECT 1 FROM nets WHERE sha256 = :sha256)
              OR EXISTS (SELECT 1 FROM commits_built WHERE snapshot = :sha256)
              OR EXISTS (SELECT 1 FROM games g JOIN tasks k ON k.id = g.task_id JOIN tests t ON t.id = k.test_id
                         WHERE g.sha256 = :sha256 AND t.games_dropped IS NULL) THEN 1
            WHEN EXISTS (SELECT 1 FROM blobs WHERE sha256 = :sha256) THEN 2
            ELSE 0 END

-- The next test whose games are dropped, of those that ended before a time: the oldest first, accepted and merged ones
-- last.
-- name: disk_test_to_drop value
SELECT t.id FROM tests t
WHERE t.state = 'finished' AND t.games_dropped IS NULL AND t.finished <= :before
  AND EXISTS (SELECT 1 FROM tasks k JOIN games g ON g.task_id = k.id WHERE k.test_id = t.id)
ORDER BY t.result = 'accepted' OR t.merged IS NOT NULL, t.finished, t.id LIMIT 1

-- name: disk_games_of_test value
-- types: value int
SELECT count(*) FROM tasks k JOIN games g ON g.task_id = k.id WHERE k.test_id = :test

-- name: disk_games_dropped
UPDATE tests SET games_dropped = :now WHERE id = :test

-- Gives up the patches of tests that were stopped before a time and are not approved. Not those that another test has
-- as its base, and not those of harmful commits, which are compared with later ones. A limited number at a time.
-- name: disk_patches_dropped
UPDATE tests SET patch_dropped = :now WHERE id IN (
    SELECT t.id FROM tests t
    WHERE t.result = 'stopped' AND t.approved_hash IS NULL AND t.patch_dropped IS NULL AND t.finished <= :before AND NOT t.harmful
      AND NOT EXISTS (SELECT 1 FROM sides n JOIN sides s ON s.engine_id = n.engine_id AND s.sha = n.sha AND s.test_id <> t.id
                                    AND s.side <> 'new'
                           JOIN tests o ON o.id = s.test_id AND o.patch_dropped IS NULL
                      WHERE n.test_id = t.id AND n.side = 'new')
    LIMIT 100)
