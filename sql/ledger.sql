-- The ledger's queries: tests' states, tasks, batches. Only server/ledger*.c uses them.

-- name: ledger_setting
SELECT value FROM settings WHERE name = ?1

-- ---- states of a test

-- name: ledger_test_state
SELECT state, title, engine_id, llr FROM tests WHERE id = ?1

-- name: ledger_test_activate
UPDATE tests SET state = 'active', approved_hash = ?2, approved_by = nullif(?3, 0) WHERE id = ?1

-- name: ledger_test_withdraw
UPDATE tests SET state = 'pending', approved_hash = NULL, approved_by = NULL WHERE id = ?1

-- name: ledger_test_set_state
UPDATE tests SET state = ?2 WHERE id = ?1

-- name: ledger_test_finish
UPDATE tests SET state = 'finished', result = ?2, reason = ?3, finished = ?4 WHERE id = ?1

-- name: ledger_tasks_stop
UPDATE tasks SET state = 'stopped', finished = ?2 WHERE test_id = ?1 AND state = 'open'

-- name: ledger_returned_clear
DELETE FROM returned_pairs WHERE test_id = ?1

-- name: ledger_test_tasks
SELECT id, worker_id FROM tasks WHERE test_id = ?1 AND state = 'open'

-- ---- tasks

-- name: ledger_task
SELECT k.worker_id, k.state, k.phase, k.first_pair, k.pair_count, k.plies, k.next_seq, k.begun,
       k.lease_until, k.lease_s, t.id, t.state, t.kind, t.model, t.elo0, t.elo1, t.alpha, t.beta,
       t.batch_pairs, t.pairs_max, t.ptnml0, t.ptnml1, t.ptnml2, t.ptnml3, t.ptnml4, t.llr, t.sprt_state,
       (SELECT w.blocked FROM workers w WHERE w.id = k.worker_id)
FROM tasks k JOIN tests t ON t.id = k.test_id WHERE k.id = ?1

-- name: ledger_task_beat
UPDATE tasks SET phase = ?2, plies = ?3, begun = ?4, lease_until = ?5 WHERE id = ?1

-- name: ledger_task_end
UPDATE tasks SET state = ?2, begun = ?3, finished = ?4 WHERE id = ?1

-- name: ledger_tasks_expired
SELECT id, worker_id FROM tasks WHERE state = 'open' AND lease_until < ?1 ORDER BY lease_until LIMIT 1000

-- name: ledger_leases_shift
UPDATE tasks SET lease_until = lease_until + ?1 WHERE state = 'open'

-- name: ledger_worker_open_tasks
SELECT id FROM tasks WHERE worker_id = ?1 AND state = 'open'

-- name: ledger_worker_offer
UPDATE workers SET cores = ?2, last_seen = ?3 WHERE id = ?1

-- name: ledger_worker_seen
UPDATE workers SET last_seen = ?2 WHERE id = ?1

-- ---- ranges of pairs that came back

-- name: ledger_returned_first
SELECT first_pair, pair_count FROM returned_pairs WHERE test_id = ?1 ORDER BY first_pair LIMIT 1

-- name: ledger_returned_at
SELECT first_pair, pair_count FROM returned_pairs
WHERE test_id = ?1 AND first_pair <= ?2 ORDER BY first_pair DESC LIMIT 1

-- name: ledger_returned_remove
DELETE FROM returned_pairs WHERE test_id = ?1 AND first_pair = ?2

-- name: ledger_returned_count
SELECT pair_count FROM returned_pairs WHERE test_id = ?1 AND first_pair = ?2

-- name: ledger_returned_add
INSERT INTO returned_pairs (test_id, first_pair, pair_count) VALUES (?1, ?2, ?3)

-- name: ledger_dealt_again
SELECT EXISTS (SELECT 1 FROM tasks WHERE test_id = ?1 AND id > ?2 AND first_pair < ?4 AND first_pair + pair_count > ?3)

-- ---- claims

-- The tests that a worker (?1) might play, with what the scheduler weighs. ?2 now, ?3 its cores.
-- name: ledger_candidates
SELECT t.id, t.priority, t.threads, t.batch_pairs,
       t.pairs_max - (t.ptnml0 + t.ptnml1 + t.ptnml2 + t.ptnml3 + t.ptnml4)
           - (SELECT coalesce(sum(k.pair_count - k.next_seq * t.batch_pairs), 0) FROM tasks k
              WHERE k.test_id = t.id AND k.state = 'open'),
       2 * (t.ptnml0 + t.ptnml1 + t.ptnml2 + t.ptnml3 + t.ptnml4), t.llr, t.elo0, t.tc,
       (SELECT coalesce(sum(k.cores), 0) FROM tasks k WHERE k.test_id = t.id AND k.state = 'open'),
       t.base_options, t.new_options, t.author_id,
       EXISTS (SELECT 1 FROM failures f WHERE f.test_id = t.id AND f.worker_id = ?1
               AND (f.kind IN ('build', 'bench', 'engine') OR f.created > ?2 - 3600)),
       t.id = (SELECT k.test_id FROM tasks k WHERE k.worker_id = ?1 ORDER BY k.id DESC LIMIT 1),
       e.name, e.reference_speed, e.scale_min, e.scale_max
FROM tests t JOIN engines e ON e.id = t.engine_id
WHERE t.state = 'active' AND t.threads <= ?3 ORDER BY t.priority DESC, t.id

-- name: ledger_next_pair
UPDATE tests SET next_pair = next_pair + ?2 WHERE id = ?1 RETURNING next_pair - ?2

-- name: ledger_test_start
UPDATE tests SET started = ?2 WHERE id = ?1 AND started IS NULL

-- name: ledger_task_add
INSERT INTO tasks (test_id, worker_id, first_pair, pair_count, cores, lease_until, lease_s, created)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)

-- name: ledger_worker_speed
UPDATE workers SET speed = ?2 WHERE id = ?1

-- ---- batches

-- name: ledger_batch_stored
SELECT outcomes, wins, losses, draws, crashes, time_losses, tc, speed, busy, coalesce(games_sha256, ''), counted AND NOT excluded,
       coalesce(load_delay, -1), coalesce(load_steal, -1), coalesce(load_swap_mib, -1), coalesce(load_speed, -1),
       coalesce(load_speed_before, -1)
FROM batches WHERE task_id = ?1 AND seq = ?2

-- name: ledger_batch_add
INSERT INTO batches (test_id, task_id, worker_id, seq, outcomes, wins, losses, draws, crashes, time_losses,
                     tc, speed, busy, games_sha256, received, counted, excluded, llr, load_delay, load_steal, load_swap_mib,
                     load_speed, load_speed_before, limit_busy, limit_slow, limit_swap_mib, marks)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25,
        ?26, ?27)

-- The limits beyond which a batch is marked, as an operator set them.
-- name: ledger_mark_limits
SELECT (SELECT value FROM settings WHERE name = 'mark_busy'), (SELECT value FROM settings WHERE name = 'mark_slow'),
       (SELECT value FROM settings WHERE name = 'mark_swap_mib')

-- What a machine, or all machines of its user, have played.
-- name: ledger_credit
SELECT coalesce(u.name, ''),
       CASE WHEN u.id IS NULL THEN w.games ELSE (SELECT sum(o.games) FROM workers o WHERE o.user_id = u.id) END
FROM workers w LEFT JOIN users u ON u.id = w.user_id WHERE w.id = ?1

-- Whether what worker ?2 sends to test ?1 is excluded, ?3: its marks.
-- name: ledger_is_excluded
SELECT EXISTS (SELECT 1 FROM exclusions WHERE test_id = ?1 AND worker_id = ?2 AND undone IS NULL AND (which = 'all' OR ?3 <> ''))

-- ---- evidence

-- name: ledger_evidence_sha
SELECT sha256 FROM evidence WHERE task_id = ?1 AND seq = ?2

-- name: ledger_evidence_kept
SELECT count(*), coalesce(sum(length(content)), 0) FROM evidence WHERE test_id = ?1 AND content IS NOT NULL

-- name: ledger_evidence_add
INSERT INTO evidence (test_id, task_id, worker_id, seq, sha256, pair, game, side, ending, reason, overloaded, content, received)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)

-- name: ledger_task_stored
UPDATE tasks SET next_seq = ?2, begun = max(begun, ?3), phase = 'play', lease_until = max(lease_until, ?4) WHERE id = ?1

-- name: ledger_test_counted
UPDATE tests SET ptnml0 = ?2, ptnml1 = ?3, ptnml2 = ?4, ptnml3 = ?5, ptnml4 = ?6,
       wins = wins + ?7, losses = losses + ?8, draws = draws + ?9, crashes = crashes + ?10,
       time_losses = time_losses + ?11, llr = ?12, sprt_state = ?13
WHERE id = ?1

-- name: ledger_worker_credit
UPDATE workers SET games = games + ?2, last_seen = ?3 WHERE id = ?1

-- name: ledger_games_put
INSERT INTO games (task_id, seq, sha256, received) VALUES (?1, ?2, ?3, ?4)

-- name: ledger_games
SELECT sha256 FROM games WHERE task_id = ?1 AND seq = ?2

-- ---- failures and benches. An owner is a user, or the address of machines without one.

-- name: ledger_failure_add
INSERT INTO failures (test_id, task_id, worker_id, kind, side, message, log, bench, created)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, nullif(?8, 0), ?9)

-- name: ledger_owner
SELECT coalesce('user ' || user_id, 'address ' || address) FROM workers WHERE id = ?1

-- Whether a machine of another owner than ?1 was heard of since ?2 and has ?3 cores.
-- name: ledger_others_active
SELECT EXISTS (SELECT 1 FROM workers WHERE coalesce('user ' || user_id, 'address ' || address) <> ?1
               AND last_seen >= ?2 AND blocked = 0 AND cores >= ?3)

-- name: ledger_failing_owners
SELECT count(DISTINCT coalesce('user ' || w.user_id, 'address ' || w.address))
FROM failures f JOIN workers w ON w.id = f.worker_id
WHERE f.test_id = ?1 AND f.kind = ?2 AND f.side = ?3

-- name: ledger_playing_owners
SELECT count(DISTINCT coalesce('user ' || w.user_id, 'address ' || w.address))
FROM tasks k JOIN workers w ON w.id = k.worker_id WHERE k.test_id = ?1 AND k.next_seq > 0

-- name: ledger_side
SELECT t.engine_id, CASE ?2 WHEN 'new' THEN t.new_commit ELSE t.base_commit END, c.bench, t.threads
FROM tests t JOIN commits c ON c.engine_id = t.engine_id
     AND c.sha = CASE ?2 WHEN 'new' THEN t.new_commit ELSE t.base_commit END
WHERE t.id = ?1

-- name: ledger_bench_add
INSERT INTO benches (engine_id, sha, worker_id, nodes, created) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (engine_id, sha, worker_id) DO UPDATE SET nodes = excluded.nodes, created = excluded.created

-- Owners of whom a machine measured ?3 nodes, owners of whom none did, one of the other counts, and how many of the
-- first have machines that disagree with each other.
-- name: ledger_bench_owners
WITH owners AS (SELECT max(b.nodes = ?3) AS agrees, max(CASE WHEN b.nodes <> ?3 THEN b.nodes END) AS other
                FROM benches b JOIN workers w ON w.id = b.worker_id WHERE b.engine_id = ?1 AND b.sha = ?2
                GROUP BY coalesce('user ' || w.user_id, 'address ' || w.address))
SELECT sum(agrees), sum(NOT agrees), max(other), sum(agrees AND other IS NOT NULL) FROM owners

-- name: ledger_bench_establish
UPDATE commits SET bench = ?3 WHERE engine_id = ?1 AND sha = ?2

-- ---- the audit

-- name: ledger_check_tests
SELECT id, state, kind, model, elo0, elo1, alpha, beta, batch_pairs, pairs_max, next_pair, coalesce(result, ''),
       ptnml0, ptnml1, ptnml2, ptnml3, ptnml4, wins, losses, draws, crashes, time_losses, llr, sprt_state,
       EXISTS (SELECT 1 FROM exclusions x WHERE x.test_id = tests.id)
FROM tests ORDER BY id

-- name: ledger_check_batches
SELECT b.id, k.first_pair, b.seq, b.outcomes, b.wins, b.losses, b.draws, b.crashes, b.time_losses, b.counted, b.llr,
       b.excluded, b.marks, b.busy, coalesce(b.load_delay, -1), coalesce(b.load_steal, -1), coalesce(b.load_swap_mib, -1),
       coalesce(b.load_speed, -1), coalesce(b.load_speed_before, -1), coalesce(b.limit_busy, -1), coalesce(b.limit_slow, -1),
       coalesce(b.limit_swap_mib, -1),
       EXISTS (SELECT 1 FROM exclusions x WHERE x.test_id = b.test_id AND x.worker_id = b.worker_id AND x.undone IS NULL
               AND (x.which = 'all' OR b.marks <> ''))
FROM batches b JOIN tasks k ON k.id = b.task_id WHERE b.test_id = ?1 ORDER BY b.id

-- name: ledger_check_tasks
SELECT id, first_pair, pair_count, state, next_seq, begun,
       (SELECT count(*) FROM batches b WHERE b.task_id = tasks.id) FROM tasks WHERE test_id = ?1 ORDER BY id

-- name: ledger_check_returned
SELECT first_pair, pair_count FROM returned_pairs WHERE test_id = ?1
