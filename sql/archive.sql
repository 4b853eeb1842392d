-- The games that are kept of batches: server/ledger/archive.h and audit_games.c.

-- Whether a batch counts, in a word, as games are marked with it.
-- text counts_word: CASE WHEN k.rerun_of IS NOT NULL THEN 'rerun' WHEN b.excluded THEN 'excluded' WHEN b.position IS NOT NULL THEN 'counted'
-- text counts_word: WHEN b.waits AND t.state <> 'finished' THEN 'waits' ELSE 'late' END

-- The next batches of a test after batch :after, in order of arrival: those that count, or all. Of one task, machine or
-- place in its task if that is not 0, 0 or -1.
-- name: archive_batches rows
-- types: :task int, :machine int, :seq int, :all bool, counts text, outcomes text?, wins int?, losses int?, draws int?, crashes int?, time_losses int?
-- types: ponders int?, first_pair int, chess960 bool, dealt_by_seed int?, base_tc text?, base_sha text?, base_engine text?, reference_speed real
SELECT b.id, b.test_id AS test, b.task_id AS task, b.worker_id AS machine, w.name AS machine_name, b.seq, b.units, b.outcomes, b.wins,
       b.losses, b.draws, b.crashes, b.time_losses, b.ponders + b.ponders_against AS ponders, b.speed, b.games_sha256 AS sha256,
       b.received, @counts_word AS counts, k.first_pair + b.seq * t.batch_pairs AS first_pair, t.title,
       t.variant = 'chess960' AS chess960, t.seed AS dealt_by_seed, o.openings, k.side AS new_side, n.tc AS new_tc, n.sha AS new_sha,
       m.title AS new_engine, a.tc AS base_tc, a.sha AS base_sha, x.title AS base_engine,
       coalesce(k.reference_speed, e.reference_speed) AS reference_speed, e.scale_min, e.scale_max
FROM log b JOIN tasks k ON k.id = b.task_id JOIN tests t ON t.id = b.test_id JOIN workers w ON w.id = b.worker_id
     JOIN engines e ON e.id = t.engine_id JOIN books o ON o.id = t.book_id
     JOIN sides n ON n.test_id = t.id AND n.side = k.side JOIN engines m ON m.id = n.engine_id
     LEFT JOIN sides a ON a.test_id = t.id AND a.side = k.against LEFT JOIN engines x ON x.id = a.engine_id
WHERE b.test_id = :test AND b.id > :after AND (:all OR (b.position IS NOT NULL AND NOT b.excluded))
  AND (:task = 0 OR b.task_id = :task) AND (:machine = 0 OR b.worker_id = :machine) AND (:seq < 0 OR b.seq = :seq)
ORDER BY b.id LIMIT :limit

-- Whether the games of a test can be asked for. No row: there is no such test.
-- name: archive_test row
SELECT games_dropped FROM tests WHERE id = :test

-- name: archive_task value
-- types: value int
SELECT count(*) FROM tasks WHERE id = :task AND test_id = :test

-- name: archive_machine value
-- types: value int
SELECT EXISTS (SELECT 1 FROM tasks WHERE test_id = :test AND worker_id = :machine)

-- All games that came for a test, whether they count or not.
-- name: archive_stored value
-- types: value int
SELECT coalesce(sum(2 * units), 0) FROM batches WHERE test_id = :test AND outcomes IS NOT NULL

-- ---- the check

-- All tests of which batches of games came, with what the ledger says of their games.
-- name: archive_check_tests rows
-- types: games int?, dropped_on text?
SELECT t.id, t.units_counted, t.games_dropped, strftime('%Y-%m-%d', t.games_dropped, 'unixepoch') AS dropped_on,
       (SELECT sum(b.wins + b.losses + b.draws) FROM counted_batches b WHERE b.test_id = t.id) AS games
FROM tests t WHERE EXISTS (SELECT 1 FROM batches b WHERE b.test_id = t.id AND b.outcomes IS NOT NULL) ORDER BY t.id

-- `uploaded`: the games that came for this place in the task.
-- name: archive_check_batches rows
-- types: counts bool, uploaded text?
SELECT b.id, b.task_id AS task, b.seq, b.units, b.games_sha256 AS sha256, b.position IS NOT NULL AND NOT b.excluded AS counts,
       (SELECT g.sha256 FROM games g WHERE g.task_id = b.task_id AND g.seq = b.seq) AS uploaded
FROM log b WHERE b.test_id = :test AND b.outcomes IS NOT NULL ORDER BY b.id
