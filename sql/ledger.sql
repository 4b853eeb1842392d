-- The ledger's queries: states of tests, tasks, batches. Only server/ledger uses them.

-- ---- states of a test

-- name: ledger_test_state
SELECT state, title, engine_id, llr FROM tests WHERE id = ?1

-- The state of a test that may be resumed: 'paused' or 'failed'.
-- name: ledger_test_resumable
SELECT CASE WHEN result = 'failed' AND NOT harmful THEN 'failed' ELSE state END FROM tests WHERE id = ?1

-- name: ledger_test_activate
UPDATE tests SET state = 'active', approved_hash = ?2, approved_by = nullif(?3, 0) WHERE id = ?1

-- name: ledger_test_withdraw
UPDATE tests SET state = 'pending', approved_hash = NULL, approved_by = NULL, reason = '' WHERE id = ?1

-- name: ledger_test_set_state
UPDATE tests SET state = ?2 WHERE id = ?1

-- name: ledger_test_suspend
UPDATE tests SET state = 'paused', reason = ?2 WHERE id = ?1

-- name: ledger_test_resumed
UPDATE tests SET resumed = ?2, reason = '', state = 'active', result = NULL, finished = NULL WHERE id = ?1

-- Bench counts of a test's commits that are not established.
-- name: ledger_benches_forget
DELETE FROM benches WHERE (engine_id, sha) IN
    (SELECT c.engine_id, c.sha FROM tests t JOIN commits c ON c.engine_id = t.engine_id AND c.sha IN (t.new_commit, t.base_commit)
     WHERE t.id = ?1 AND c.bench IS NULL)

-- name: ledger_test_finish
UPDATE tests SET state = 'finished', result = :result, reason = :reason, finished = :finished WHERE id = :test

-- name: ledger_tasks_stop
UPDATE tasks SET state = 'stopped', finished = ?2 WHERE test_id = ?1 AND state = 'open'

-- name: ledger_returned_clear
DELETE FROM returned_pairs WHERE test_id = ?1

-- name: ledger_test_tasks
SELECT id, worker_id FROM tasks WHERE test_id = ?1 AND state = 'open'

-- ---- tasks

-- name: ledger_task
SELECT k.test_id, k.worker_id, k.state, k.phase, k.first_pair, k.pair_count, k.plies, k.next_seq, k.started_pairs,
       k.lease_until, k.lease_s, k.batch_s, k.batch_until, w.owner, s.barred <> '' AS barred
FROM tasks k JOIN workers w ON w.id = k.worker_id JOIN standings s ON s.id = k.worker_id WHERE k.id = ?1

-- name: ledger_test
SELECT id, state, kind, model, elo0, elo1, alpha, beta, batch_pairs, pairs_max, ptnml0, ptnml1, ptnml2, ptnml3, ptnml4,
       wins, losses, draws, crashes, time_losses, sprt_state
FROM tests WHERE id = ?1

-- name: ledger_task_heartbeat
UPDATE tasks SET phase = :phase, plies = :plies, started_pairs = :started_pairs, lease_until = :lease_until WHERE id = :task

-- name: ledger_task_end
UPDATE tasks SET state = :state, started_pairs = :started_pairs, finished = :finished WHERE id = :task

-- At most ?2, for which the caller has room.
-- name: ledger_tasks_expired
SELECT id, worker_id FROM tasks WHERE state = 'open' AND lease_until < ?1 ORDER BY lease_until LIMIT ?2

-- name: ledger_leases_shift
UPDATE tasks SET lease_until = lease_until + ?1, batch_until = batch_until + ?1 WHERE state = 'open'

-- name: ledger_worker_open_tasks
SELECT id FROM tasks WHERE worker_id = ?1 AND state = 'open'

-- name: ledger_worker_offer
UPDATE workers SET cores = min(?2, coalesce(json_extract(host, '$.logical_cores'), ?2)), last_seen = ?3 WHERE id = ?1

-- Seconds for which a machine must still wait for a task.
-- name: ledger_worker_rest
SELECT max(0.0, rest_until - ?2) FROM workers WHERE id = ?1

-- One more task of machine :worker ended without a result. After more than :free in a row it must wait: :first_s
-- seconds, then twice as long with each further one, :most_s at most.
-- name: ledger_worker_fruitless
-- types: :now real, :most_s int, :first_s int
UPDATE workers SET fruitless = fruitless + 1,
       rest_until = CASE WHEN fruitless < :free THEN 0.0 ELSE :now + min(:most_s, :first_s << min(fruitless - :free, 10)) END
WHERE id = :worker

-- name: ledger_worker_seen
UPDATE workers SET last_seen = ?2 WHERE id = ?1

-- ---- ranges of pairs that returned

-- The first range that owner ?2 did not start; '': any range.
-- name: ledger_returned_first
SELECT first_pair, pair_count, owner FROM returned_pairs WHERE test_id = ?1 AND (?2 = '' OR owner <> ?2)
ORDER BY first_pair LIMIT 1

-- name: ledger_returned_at
SELECT first_pair, pair_count, owner FROM returned_pairs
WHERE test_id = ?1 AND first_pair <= ?2 ORDER BY first_pair DESC LIMIT 1

-- name: ledger_returned_remove
DELETE FROM returned_pairs WHERE test_id = ?1 AND first_pair = ?2

-- name: ledger_returned_count
SELECT pair_count FROM returned_pairs WHERE test_id = ?1 AND first_pair = ?2 AND owner = ?3

-- name: ledger_returned_add
INSERT INTO returned_pairs (test_id, first_pair, pair_count, owner) VALUES (:test, :first_pair, :pair_count, :owner)

-- name: ledger_dealt_again
SELECT EXISTS (SELECT 1 FROM tasks WHERE test_id = :test AND id > :after AND first_pair < :end AND first_pair + pair_count > :first)

-- ---- claims

-- Whether any pair can be dealt.
-- name: ledger_any_active
SELECT EXISTS (SELECT 1 FROM tests WHERE state = 'active')

-- The machine that claims: its owner, the cores that count, whether a batch of it has counted, whether its owner has a
-- record, and the tasks that it holds. Also the cores of the largest machine of another owner, and of another owner
-- with a record, active since ?2.
-- name: ledger_claimant
WITH others AS (SELECT o.cores, EXISTS (SELECT 1 FROM records r WHERE r.owner = o.owner) AS proven
                FROM workers o JOIN workers me ON me.id = ?1 WHERE o.last_seen >= ?2 AND o.blocked = 0 AND o.owner <> me.owner)
SELECT w.owner, w.cores, EXISTS (SELECT 1 FROM batches b WHERE b.worker_id = w.id AND b.counted = 1 AND b.excluded = 0)
           AS has_counted,
       EXISTS (SELECT 1 FROM records r WHERE r.owner = w.owner) AS has_record,
       (SELECT count(*) FROM tasks k WHERE k.worker_id = w.id AND k.state = 'open') AS open_tasks,
       (SELECT coalesce(max(cores), 0) FROM others) AS largest_other,
       (SELECT coalesce(max(cores), 0) FROM others WHERE proven) AS largest_proven
FROM workers w WHERE w.id = ?1

-- The tests that a worker (:worker) may play, with the values that the scheduler needs. :cores: its cores, :owner: its
-- owner. :retry_s: seconds after which it may try again a test that it failed for a reason that may pass.
-- name: ledger_candidates
WITH sums AS (SELECT k.test_id, sum(k.pair_count - k.next_seq * t.batch_pairs) AS pairs, sum(k.counted_cores) AS counted_cores,
                     sum(CASE WHEN w.owner = :owner THEN k.pair_count - k.next_seq * t.batch_pairs ELSE 0 END) AS own,
                     sum(CASE WHEN r.owner IS NULL THEN k.pair_count - k.next_seq * t.batch_pairs ELSE 0 END) AS unproven
              FROM tasks k JOIN tests t ON t.id = k.test_id JOIN workers w ON w.id = k.worker_id
                   LEFT JOIN records r ON r.owner = w.owner
              WHERE k.state = 'open' GROUP BY k.test_id),
     -- The bytes of the files that are placed before the build: those of the engine and those of each commit.
     placed AS (SELECT c.engine_id, c.sha, (SELECT coalesce(sum(b.size), 0) FROM
                    (SELECT value FROM json_each(e.build, '$.files') UNION ALL SELECT value FROM json_each(c.files)) f
                    JOIN blobs b ON b.sha256 = json_extract(f.value, '$.blob')) AS bytes
                FROM commits c JOIN engines e ON e.id = c.engine_id)
SELECT t.id, t.priority, t.threads, t.batch_pairs,
       t.pairs_max - (t.ptnml0 + t.ptnml1 + t.ptnml2 + t.ptnml3 + t.ptnml4)
           - coalesce(h.pairs, 0) AS pairs_left,
       2 * (t.ptnml0 + t.ptnml1 + t.ptnml2 + t.ptnml3 + t.ptnml4) AS games,
       t.llr, t.elo0, t.tc, coalesce(h.counted_cores, 0) AS counted_cores, t.base_options, t.new_options, t.author_id,
       EXISTS (SELECT 1 FROM failures f WHERE f.test_id = t.id AND f.worker_id = :worker AND f.created > coalesce(t.resumed, 0)
               AND (f.kind IN ('build', 'bench', 'engine') OR f.created > :now - :retry_s)) AS has_failed,
       t.id = (SELECT k.test_id FROM tasks k WHERE k.worker_id = :worker ORDER BY k.id DESC LIMIT 1) AS was_last,
       e.name, e.reference_speed, e.scale_min, e.scale_max, coalesce(h.pairs, 0) AS open_pairs,
       coalesce(h.own, 0) AS own_pairs, coalesce(h.unproven, 0) AS unproven_pairs,
       coalesce((SELECT bytes FROM placed p WHERE p.engine_id = t.engine_id AND p.sha = t.new_commit), 0) AS new_files_bytes,
       coalesce((SELECT bytes FROM placed p WHERE p.engine_id = t.engine_id AND p.sha = t.base_commit), 0) AS base_files_bytes
FROM tests t JOIN engines e ON e.id = t.engine_id LEFT JOIN sums h ON h.test_id = t.id
WHERE t.state = 'active' AND t.threads <= :cores ORDER BY t.priority DESC, t.id

-- name: ledger_next_pair
UPDATE tests SET next_pair = next_pair + ?2 WHERE id = ?1 RETURNING next_pair - ?2

-- name: ledger_test_start
UPDATE tests SET started = ?2 WHERE id = ?1 AND started IS NULL

-- name: ledger_task_add
INSERT INTO tasks (test_id, worker_id, first_pair, pair_count, cores, lease_until, lease_s, created, counted_cores, batch_s, batch_until)
VALUES (:test, :worker, :first_pair, :pair_count, :cores, :lease_until, :lease_s, :created, :counted_cores, :batch_s, :batch_until)

-- name: ledger_worker_speed
UPDATE workers SET speed = ?2 WHERE id = ?1

-- ---- batches

-- name: ledger_batch_stored
SELECT outcomes, wins, losses, draws, crashes, time_losses, tc, speed, busy, coalesce(games_sha256, '') AS games_sha256,
       counted AND NOT excluded AS counts,
       coalesce(load_delay, -1) AS load_delay, coalesce(load_steal, -1) AS load_steal, coalesce(load_swap_mib, -1) AS load_swap_mib, coalesce(load_speed, -1) AS load_speed,
       coalesce(load_rest_new, -1) AS load_rest_new, coalesce(load_rest_base, -1) AS load_rest_base,
       coalesce(load_speed_before, -1) AS load_speed_before
FROM batches WHERE task_id = ?1 AND seq = ?2

-- name: ledger_batch_add
INSERT INTO batches (test_id, task_id, worker_id, seq, outcomes, wins, losses, draws, crashes, time_losses,
                     tc, speed, busy, games_sha256, received, counted, excluded, llr, load_delay, load_steal, load_swap_mib,
                     load_rest_new, load_rest_base, load_speed, load_speed_before, limit_busy, limit_slow, limit_swap_mib, flags, owner)
VALUES (:test, :task, :worker, :seq, :outcomes, :wins, :losses, :draws, :crashes, :time_losses, :tc, :speed, :busy, :games_sha256, :received, :counted, :excluded, :llr, :load_delay, :load_steal, :load_swap_mib, :load_rest_new, :load_rest_base, :load_speed, :load_speed_before, :limit_busy, :limit_slow,
        :limit_swap_mib, :flags, (SELECT owner FROM workers WHERE id = :worker))

-- The games that a machine, or all machines of its user, have played.
-- name: ledger_credit
SELECT coalesce(u.name, '') AS user,
       CASE WHEN u.id IS NULL THEN w.games ELSE (SELECT sum(o.games) FROM workers o WHERE o.user_id = u.id) END AS games
FROM workers w LEFT JOIN users u ON u.id = w.user_id WHERE w.id = ?1

-- Whether batches of worker ?2 in test ?1 with the flags ?3 are excluded.
-- name: ledger_is_excluded
SELECT EXISTS (SELECT 1 FROM exclusions WHERE test_id = ?1 AND worker_id = ?2 AND undone IS NULL AND (which = 'all' OR ?3 <> ''))

-- ---- fault reports

-- name: ledger_fault_report_sha
SELECT sha256 FROM fault_reports WHERE task_id = ?1 AND seq = ?2

-- The number and bytes of fault reports that test ?1 keeps: of all owners, and of the owner of machine ?2.
-- name: ledger_fault_report_kept
SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes, coalesce(sum(own), 0) AS own_count,
       coalesce(sum(own * size), 0) AS own_bytes
FROM (SELECT length(e.content) AS size, w.owner = (SELECT owner FROM workers WHERE id = ?2) AS own
      FROM fault_reports e JOIN workers w ON w.id = e.worker_id WHERE e.test_id = ?1 AND e.content IS NOT NULL)

-- For batch :seq of task :task (pairs :first to below :end): how many games ended on time (:on_time 1) or by another
-- fault (0), according to its counts, and how many fault reports of these exist.
-- name: ledger_fault_report_founded
SELECT CASE WHEN :on_time THEN b.time_losses ELSE b.crashes END AS counted,
       (SELECT count(*) FROM fault_reports e
        WHERE e.task_id = :task AND e.pair >= :first AND e.pair < :end AND (e.ending = 'time') = :on_time) AS reported
FROM batches b WHERE b.task_id = :task AND b.seq = :seq

-- name: ledger_fault_report_add
INSERT INTO fault_reports (test_id, task_id, worker_id, seq, sha256, pair, game, side, ending, reason, overloaded, content, received)
VALUES (:test, :task, :worker, :seq, :sha256, :pair, :game, :side, :ending, :reason, :overloaded, :blob, :received)

-- name: ledger_task_stored
-- types: :started_pairs int, :lease_until real
UPDATE tasks SET next_seq = :next_seq, started_pairs = max(started_pairs, :started_pairs), phase = 'play', lease_until = max(lease_until, :lease_until),
       batch_until = :batch_until
WHERE id = :task

-- name: ledger_test_counted
UPDATE tests SET ptnml0 = :ptnml0, ptnml1 = :ptnml1, ptnml2 = :ptnml2, ptnml3 = :ptnml3, ptnml4 = :ptnml4,
       wins = :wins, losses = :losses, draws = :draws, crashes = :crashes, time_losses = :time_losses,
       llr = :llr, sprt_state = :sprt_state
WHERE id = :test

-- name: ledger_worker_credit
UPDATE workers SET games = games + ?2, last_seen = ?3, fruitless = 0 WHERE id = ?1

-- name: ledger_games_put
INSERT INTO games (task_id, seq, sha256, received) VALUES (:task, :seq, :sha256, :received)

-- name: ledger_games
SELECT sha256 FROM games WHERE task_id = ?1 AND seq = ?2

-- ---- failures and benches. An owner is a user, or the network of machines without one.

-- name: ledger_failure_add
INSERT INTO failures (test_id, task_id, worker_id, kind, side, message, log, bench, created)
VALUES (:test, :task, :worker, :kind, :side, :message, :log, nullif(:bench, 0), :created)

-- The reports of owners, one row for each owner and network, about the failure :kind of :side in test :test: whether
-- the owner reports it, has sent results, has a machine that is active since :since and could try, and has a record.
-- The most important rows come first; at most :most, for which the caller has room.
-- name: ledger_failure_voices
WITH this AS (SELECT id, threads, coalesce(resumed, 0) AS resumed FROM tests WHERE id = :test),
     failed AS (SELECT f.worker_id, f.kind = :kind AND f.side = :side AS so FROM failures f, this
                WHERE f.test_id = this.id AND f.created > this.resumed),
     played AS (SELECT worker_id FROM tasks WHERE test_id = :test AND next_seq > 0),
     concerned AS (SELECT worker_id FROM failed UNION SELECT worker_id FROM played
                   UNION SELECT id FROM workers WHERE last_seen >= :since),
     said AS (SELECT o.owner, o.network, max(o.id IN (SELECT worker_id FROM failed WHERE so)) AS failing,
                     max(o.id IN (SELECT worker_id FROM played)) AS played,
                     max(o.last_seen >= :since AND o.cores >= this.threads AND o.id NOT IN (SELECT worker_id FROM failed)) AS could
              FROM concerned c JOIN workers o ON o.id = c.worker_id JOIN standings s ON s.id = o.id AND s.barred = '', this
              GROUP BY o.owner, o.network)
SELECT owner, network, failing, played, could, EXISTS (SELECT 1 FROM records r WHERE r.owner = said.owner) AS proven
FROM said ORDER BY proven DESC, failing DESC, played DESC LIMIT :most

-- name: ledger_side
SELECT t.engine_id, CASE ?2 WHEN 'new' THEN t.new_commit ELSE t.base_commit END AS sha,
       coalesce(c.bench, CASE ?2 WHEN 'new' THEN t.new_bench_declared ELSE t.base_bench_declared END) AS bench,
       c.bench IS NULL AS is_open
FROM tests t JOIN commits c ON c.engine_id = t.engine_id
     AND c.sha = CASE ?2 WHEN 'new' THEN t.new_commit ELSE t.base_commit END
WHERE t.id = ?1

-- name: ledger_bench_add
INSERT INTO benches (engine_id, sha, worker_id, nodes, created) VALUES (:engine, :sha, :worker, :nodes, :created)
ON CONFLICT (engine_id, sha, worker_id) DO UPDATE SET nodes = excluded.nodes, created = excluded.created

-- The counts that machines measured for a commit, oldest first; those of owners with a record come before all others.
-- name: ledger_bench_votes
SELECT b.nodes, b.worker_id, w.owner, w.name, w.network, EXISTS (SELECT 1 FROM records r WHERE r.owner = w.owner) AS proven
FROM benches b JOIN workers w ON w.id = b.worker_id JOIN standings s ON s.id = w.id AND s.barred = ''
WHERE b.engine_id = ?1 AND b.sha = ?2 ORDER BY proven DESC, b.created, b.worker_id

-- Whether an owner is active since :since that has not measured commit :sha of engine :engine and has a machine that
-- could measure it for test :test: one in another network, and one with a record. Also whether any owner has a record.
-- name: ledger_bench_scene
WITH this AS (SELECT id, threads, coalesce(resumed, 0) AS resumed FROM tests WHERE id = :test),
     voted AS (SELECT v.owner, v.network FROM benches b JOIN workers v ON v.id = b.worker_id WHERE b.engine_id = :engine AND b.sha = :sha),
     others AS (SELECT EXISTS (SELECT 1 FROM records r WHERE r.owner = o.owner) AS proven, o.network
                FROM workers o JOIN standings s ON s.id = o.id AND s.barred = '', this
                WHERE o.last_seen >= :since AND o.cores >= this.threads AND o.owner NOT IN (SELECT owner FROM voted)
                  AND o.id NOT IN (SELECT f.worker_id FROM failures f WHERE f.test_id = this.id AND f.created > this.resumed))
SELECT EXISTS (SELECT 1 FROM others WHERE network NOT IN (SELECT network FROM voted WHERE network <> '')) AS others,
       EXISTS (SELECT 1 FROM others WHERE proven) AS proven_others, EXISTS (SELECT 1 FROM records) AS any_records

-- Sides of active tests whose bench was measured and is not established yet: at most ?1, for which the caller has room.
-- name: ledger_benches_open
SELECT t.id, s.side FROM tests t JOIN (SELECT 'new' AS side UNION ALL SELECT 'base') s
     JOIN commits c ON c.engine_id = t.engine_id AND c.sha = CASE s.side WHEN 'new' THEN t.new_commit ELSE t.base_commit END
WHERE t.state = 'active' AND c.bench IS NULL
  AND EXISTS (SELECT 1 FROM benches b WHERE b.engine_id = c.engine_id AND b.sha = c.sha) LIMIT ?1

-- The last task of machine ?2 in test ?1 about which it has reported no failure.
-- name: ledger_task_of_outvoted
SELECT id FROM tasks k WHERE test_id = ?1 AND worker_id = ?2
  AND NOT EXISTS (SELECT 1 FROM failures f WHERE f.task_id = k.id) ORDER BY id DESC LIMIT 1

-- For a maintainer who corrects the bench count of a commit: measurements of it are deleted, and machines may try its
-- tests again.
-- name: ledger_bench_known
SELECT coalesce(bench, 0) FROM commits WHERE engine_id = ?1 AND sha = ?2

-- name: ledger_benches_drop
DELETE FROM benches WHERE engine_id = ?1 AND sha = ?2

-- name: ledger_bench_of_tests
UPDATE tests SET new_bench_declared = CASE new_commit WHEN ?2 THEN NULL ELSE new_bench_declared END,
       base_bench_declared = CASE base_commit WHEN ?2 THEN NULL ELSE base_bench_declared END,
       resumed = CASE state WHEN 'finished' THEN resumed ELSE ?3 END
WHERE engine_id = ?1 AND (new_commit = ?2 OR base_commit = ?2) AND (state <> 'finished' OR result = 'failed')

-- name: ledger_bench_establish
UPDATE commits SET bench = ?3 WHERE engine_id = ?1 AND sha = ?2

-- ---- exclusions and blocked machines

-- name: ledger_worker_there
SELECT EXISTS (SELECT 1 FROM workers WHERE id = ?1)

-- name: ledger_worker_blocked
SELECT blocked FROM workers WHERE id = ?1

-- name: ledger_worker_block
UPDATE workers SET blocked = ?2 WHERE id = ?1

-- name: ledger_excludable
SELECT EXISTS (SELECT 1 FROM batches WHERE test_id = ?1 AND worker_id = ?2 AND excluded = 0 AND counted = 1
               AND (?3 = 'all' OR flags <> ''))

-- name: ledger_exclusion_add
INSERT INTO exclusions (test_id, worker_id, which, reason, user_id, created) VALUES (:test, :worker, :which, :reason, nullif(:user, 0), :created)

-- name: ledger_exclusion_undo
UPDATE exclusions SET undone = :now, undone_by = nullif(:user, 0) WHERE test_id = :test AND worker_id = :worker AND undone IS NULL

-- Batches whose column `excluded` differs from the exclusions, and their pairs that came in time.
-- name: ledger_exclusion_changes
SELECT count(*) AS batches, coalesce(sum(CASE WHEN counted = 1 THEN length(outcomes) END), 0) AS pairs FROM batches b
WHERE test_id = ?1 AND worker_id = ?2 AND excluded <> EXISTS
    (SELECT 1 FROM exclusions x WHERE x.test_id = ?1 AND x.worker_id = ?2 AND x.undone IS NULL AND (x.which = 'all' OR b.flags <> ''))

-- name: ledger_exclusion_apply
UPDATE batches SET excluded = NOT excluded WHERE test_id = ?1 AND worker_id = ?2 AND excluded <> EXISTS
    (SELECT 1 FROM exclusions x WHERE x.test_id = ?1 AND x.worker_id = ?2 AND x.undone IS NULL
     AND (x.which = 'all' OR batches.flags <> ''))

-- name: ledger_batches_in_time
SELECT id, outcomes, wins, losses, draws, crashes, time_losses, counted, excluded, llr
FROM batches WHERE test_id = ?1 ORDER BY id

-- name: ledger_batch_llr
UPDATE batches SET llr = ?2 WHERE id = ?1

-- ---- games that were replayed

-- name: ledger_replay_add
INSERT INTO replays (batch_id, fault, games, created, left_out) VALUES (:batch, :fault, :games, :created, :left_out) ON CONFLICT DO NOTHING

-- name: ledger_batch_place
SELECT test_id, worker_id, seq, task_id, owner FROM batches WHERE id = ?1

-- The conditions for a record: owner :owner has :batches batches that count, the first of them :age_s seconds before
-- :now or earlier. :replayed of them were replayed without a mismatch, and in the last :clean_s seconds no batch had a
-- mismatch.
-- name: ledger_record_judge
-- types: :age_s real, :clean_s real
INSERT INTO records (owner, since)
SELECT :owner, :now FROM (SELECT count(*) AS batches, min(received) AS first FROM
    (SELECT received FROM batches WHERE owner = :owner AND counted = 1 AND excluded = 0 ORDER BY id LIMIT :batches))
WHERE batches >= :batches AND first <= :now - :age_s
  AND (SELECT count(*) FROM (SELECT 1 FROM batches b JOIN replays r ON r.batch_id = b.id
       WHERE b.owner = :owner AND b.counted = 1 AND b.excluded = 0 AND r.fault = '' AND r.left_out = '' LIMIT :replayed)) >= :replayed
  AND NOT EXISTS (SELECT 1 FROM replays r JOIN batches b ON b.id = r.batch_id
                  WHERE r.fault <> '' AND b.owner = :owner AND r.created > :now - :clean_s)
ON CONFLICT DO NOTHING

-- name: ledger_record_drop
DELETE FROM records WHERE owner = ?1

-- ---- the audit

-- name: ledger_check_tests
SELECT id, state, kind, model, elo0, elo1, alpha, beta, batch_pairs, pairs_max, next_pair, coalesce(result, '') AS result,
       ptnml0, ptnml1, ptnml2, ptnml3, ptnml4, wins, losses, draws, crashes, time_losses, llr, sprt_state,
       EXISTS (SELECT 1 FROM exclusions x WHERE x.test_id = tests.id) AS has_exclusions
FROM tests ORDER BY id

-- name: ledger_check_totals
-- Summed here and not in C, so that a fault of the code that counts is seen as well.
SELECT coalesce(sum(length(outcomes) - length(replace(outcomes, '0', ''))), 0) AS ptnml0,
       coalesce(sum(length(outcomes) - length(replace(outcomes, '1', ''))), 0) AS ptnml1,
       coalesce(sum(length(outcomes) - length(replace(outcomes, '2', ''))), 0) AS ptnml2,
       coalesce(sum(length(outcomes) - length(replace(outcomes, '3', ''))), 0) AS ptnml3,
       coalesce(sum(length(outcomes) - length(replace(outcomes, '4', ''))), 0) AS ptnml4,
       coalesce(sum(wins), 0) AS wins, coalesce(sum(losses), 0) AS losses, coalesce(sum(draws), 0) AS draws,
       coalesce(sum(crashes), 0) AS crashes, coalesce(sum(time_losses), 0) AS time_losses
FROM batches WHERE test_id = ?1 AND counted = 1 AND excluded = 0

-- name: ledger_check_batches
SELECT b.id, k.first_pair, b.seq, b.outcomes, b.wins, b.losses, b.draws, b.crashes, b.time_losses, b.counted, b.llr,
       b.excluded, b.flags, b.busy, coalesce(b.load_delay, -1) AS load_delay, coalesce(b.load_steal, -1) AS load_steal, coalesce(b.load_swap_mib, -1) AS load_swap_mib,
       coalesce(b.load_speed, -1) AS load_speed, coalesce(b.load_speed_before, -1) AS load_speed_before, coalesce(b.limit_busy, -1) AS limit_busy, coalesce(b.limit_slow, -1) AS limit_slow,
       coalesce(b.limit_swap_mib, -1) AS limit_swap_mib,
       EXISTS (SELECT 1 FROM exclusions x WHERE x.test_id = b.test_id AND x.worker_id = b.worker_id AND x.undone IS NULL
               AND (x.which = 'all' OR b.flags <> '')) AS should_be_excluded
FROM batches b JOIN tasks k ON k.id = b.task_id WHERE b.test_id = ?1 ORDER BY b.id

-- name: ledger_check_tasks
SELECT id, first_pair, pair_count, state, next_seq,
       (SELECT count(*) FROM batches b WHERE b.task_id = tasks.id) AS batches FROM tasks WHERE test_id = ?1 ORDER BY id

-- name: ledger_check_returned
SELECT first_pair, pair_count FROM returned_pairs WHERE test_id = ?1
