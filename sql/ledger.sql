-- The ledger's queries: states of tests, tasks, batches. Only server/ledger uses them.

-- ---- states of a test

-- name: ledger_test_state value
SELECT state FROM tests WHERE id = :test

-- name: ledger_test_workload value
SELECT workload FROM tests WHERE id = :test

-- The state of a test that may be resumed: 'paused' or 'failed'.
-- name: ledger_test_resumable value
-- types: value text
SELECT CASE WHEN result = 'failed' AND NOT harmful THEN 'failed' ELSE state END FROM tests WHERE id = :test

-- The first approval gives the test its seed.
-- name: ledger_test_activate
-- types: :seed int
UPDATE tests SET state = 'active', approved_hash = :hash, approved_by = nullif(:user, 0), seed = coalesce(seed, :seed)
WHERE id = :test

-- name: ledger_test_withdraw
UPDATE tests SET state = 'pending', approved_hash = NULL, approved_by = NULL, reason = '' WHERE id = :test

-- The approval covers the test as it is now. With :before, only if it covered the test as it was then: what has changed
-- since beside the test, such as the recipe of its engine, needs a person.
-- name: ledger_test_approved_as
-- types: :before text
UPDATE tests SET approved_hash = :hash WHERE id = :test AND :before IN ('', approved_hash)

-- name: ledger_test_set_state
UPDATE tests SET state = :state WHERE id = :test

-- name: ledger_test_suspend
UPDATE tests SET state = 'paused', reason = :reason WHERE id = :test

-- name: ledger_test_resumed
UPDATE tests SET resumed = :now, reason = '', state = 'active', result = NULL, finished = NULL WHERE id = :test

-- Bench counts of a test's trees that are not established.
-- name: ledger_benches_forget
DELETE FROM benches WHERE (engine_id, snapshot) IN
    (SELECT c.engine_id, c.snapshot FROM sides s JOIN known_commits c ON c.engine_id = s.engine_id AND c.sha = s.sha
     WHERE s.test_id = :test AND c.bench IS NULL)

-- name: ledger_test_finish
UPDATE tests SET state = 'finished', result = :result, reason = :reason, finished = :now,
    unsettled = EXISTS (SELECT 1 FROM batches b INDEXED BY batches_waiting WHERE b.test_id = :test AND b.waits = 1)
WHERE id = :test

-- :reruns: those that play batches again as well.
-- name: ledger_tasks_stop
-- types: :reruns bool
UPDATE tasks SET state = 'stopped', finished = :now WHERE test_id = :test AND state = 'open' AND (:reruns OR rerun_of IS NULL)

-- name: ledger_returned_clear
DELETE FROM returned_pairs WHERE test_id = :test

-- An open task of a test.
-- name: ledger_test_task value
SELECT id FROM tasks WHERE test_id = :test AND state = 'open' LIMIT 1

-- ---- tasks

-- name: ledger_task row
-- types: barred bool
SELECT k.test_id, k.worker_id, k.state, k.phase, k.first_pair, k.pair_count, k.plies, k.next_seq, k.started_pairs,
       k.lease_until, k.lease_s, k.batch_s, k.batch_until, k.expected_s, k.due, k.side, k.against, k.owner, k.network, k.level, k.rerun_of,
       s.barred <> '' AS barred, t.state AS test_state, t.batch_pairs, t.workload
FROM tasks k JOIN tests t ON t.id = k.test_id JOIN standings s ON s.id = k.worker_id
WHERE k.id = :task

-- What the workload of a test needs to count a batch of a task (0: none), and what it told that task's machine.
-- name: ledger_count row
-- types: :task int, told text
SELECT state, workload, parameters, batch_pairs, pairs_max, units_counted, counts, positions, author_id,
       units_recorded, units_unproven, units_author, coalesce((SELECT told FROM tasks WHERE id = :task), '{}') AS told
FROM tests WHERE id = :test

-- name: ledger_task_heartbeat
UPDATE tasks SET phase = :phase, plies = :plies, started_pairs = :started_pairs, lease_until = :lease_until WHERE id = :task

-- name: ledger_task_end
UPDATE tasks SET state = :state, started_pairs = :started_pairs, finished = :now WHERE id = :task

-- At most :most, for which the caller has room.
-- name: ledger_tasks_expired rows
SELECT id FROM tasks WHERE state = 'open' AND lease_until < :now ORDER BY lease_until LIMIT :most

-- name: ledger_leases_shift
-- types: :seconds real
UPDATE tasks SET lease_until = lease_until + :seconds, batch_until = batch_until + :seconds, due = due + :seconds WHERE state = 'open'

-- name: ledger_waiting_shift
-- types: :seconds real
UPDATE batches SET due = due + :seconds WHERE waits = 1

-- name: ledger_starts_shift
-- types: :seconds real
UPDATE tasks SET created = created + :seconds WHERE state = 'open'

-- name: ledger_worker_open_tasks rows
SELECT id FROM tasks INDEXED BY tasks_open_worker WHERE worker_id = :worker AND state = 'open'

-- One of them.
-- name: ledger_worker_open_task value
SELECT id FROM tasks INDEXED BY tasks_open_worker WHERE worker_id = :worker AND state = 'open' LIMIT 1

-- name: ledger_worker_offer
-- types: :cores int
UPDATE workers SET cores = min(:cores, coalesce(json_extract(host, '$.logical_cores'), :cores)), last_seen = :now WHERE id = :worker

-- Seconds for which a machine must still wait for a task.
-- name: ledger_worker_rest value
-- types: :now real, value real
SELECT max(0.0, rest_until - :now) FROM workers WHERE id = :worker

-- One more task of machine :worker ended without a result. After more than :free in a row it must wait: :first_s
-- seconds, then twice as long with each further one, :most_s at most.
-- name: ledger_worker_fruitless
-- types: :now real, :most_s int, :first_s int
UPDATE workers SET fruitless = fruitless + 1,
       rest_until = CASE WHEN fruitless < :free THEN 0.0 ELSE :now + min(:most_s, :first_s << min(fruitless - :free, 10)) END
WHERE id = :worker

-- name: ledger_worker_seen
UPDATE workers SET last_seen = :now WHERE id = :worker

-- ---- ranges of pairs that returned

-- The first range from pair :from on that the owner :not_of did not start; '': any range.
-- name: ledger_returned_first row
-- types: :not_of text, :from int
SELECT first_pair, pair_count, owner FROM returned_pairs
WHERE test_id = :test AND first_pair >= :from AND (:not_of = '' OR owner <> :not_of)
ORDER BY first_pair LIMIT 1

-- The last range before :pair.
-- name: ledger_returned_before row
SELECT first_pair, pair_count, owner FROM returned_pairs WHERE test_id = :test AND first_pair < :pair ORDER BY first_pair DESC LIMIT 1

-- name: ledger_returned_remove
DELETE FROM returned_pairs WHERE test_id = :test AND first_pair = :first_pair

-- name: ledger_returned_count value
SELECT pair_count FROM returned_pairs WHERE test_id = :test AND first_pair = :first_pair AND owner = :owner

-- name: ledger_returned_add
INSERT INTO returned_pairs (test_id, first_pair, pair_count, owner) VALUES (:test, :first_pair, :pair_count, :owner)

-- ---- claims

-- Tests that deal pairs, and those with a verdict of which batches wait to be played again: those deal no new ones.
-- `state <> 'finished'` lets SQLite use the index of open tests.
-- text dealing: SELECT id FROM tests WHERE state = 'active' AND state <> 'finished'
-- text dealing: UNION SELECT r.test_id FROM reruns r JOIN tests t ON t.id = r.test_id
-- text dealing: WHERE r.state IN ('due', 'third') AND r.created > :rerun_since AND t.result IN ('accepted', 'rejected', 'undecided', 'completed')
-- name: ledger_any_dealing value
-- types: value bool, :rerun_since real
SELECT EXISTS (@dealing)

-- The machine that claims: its owner with its level, the cores that count, whether a batch of it has counted, and the
-- tasks that it holds. Also the cores of the largest machine of another owner, and of another vouched owner, active since
-- :since, and whether trust is private.
-- name: ledger_claimant row
-- types: owner text, level int, own_level int, voucher int?, has_counted bool, open_tasks int, largest_other int
-- types: largest_vouched int, private bool
WITH others AS (SELECT o.cores, l.level FROM workers o JOIN levels l ON l.worker_id = o.id JOIN workers me ON me.id = :worker
                WHERE o.last_seen >= :since AND o.blocked = 0 AND o.owner <> me.owner)
SELECT w.owner, w.network, w.cores, EXISTS (SELECT 1 FROM counted_batches b WHERE b.worker_id = w.id)
           AS has_counted, l.level, l.own AS own_level, l.voucher,
       (SELECT count(*) FROM tasks k INDEXED BY tasks_open_worker WHERE k.worker_id = w.id AND k.state = 'open') AS open_tasks,
       (SELECT coalesce(max(cores), 0) FROM others) AS largest_other,
       (SELECT coalesce(max(cores), 0) FROM others WHERE level = 2) AS largest_vouched,
       (SELECT mode FROM trust) = 'private' AS private
FROM workers w JOIN levels l ON l.worker_id = w.id WHERE w.id = :worker

-- The tests that a worker (:worker) may play, with the values that the scheduler needs. :cores: its cores, :owner: its
-- owner. :retry_s: seconds after which it may try again a test that it failed for a reason that may pass.
-- name: ledger_candidates rows
-- types: :owner text, :now real, :rerun_since real, :retry_s real, pairs_left int, counted_cores int, has_failed bool
-- types: is_misfit bool, was_last bool, open_pairs int, own_pairs int, own_waiting int, held_recorded int, held_unproven int, new_files_bytes int, base_files_bytes int
-- types: :cores int, base_options text, base_tc text, base_threads int, two_sides bool, repeats bool, returned_pairs int, is_excluded bool, has_ended bool
WITH held AS (SELECT k.test_id, k.owner, k.level, k.pair_count - k.next_seq * t.batch_pairs AS pairs, 0 AS waits, k.counted_cores
              FROM tasks k JOIN tests t ON t.id = k.test_id WHERE k.state = 'open' AND k.rerun_of IS NULL
              UNION ALL SELECT b.test_id, b.owner, b.level, b.units, 1, 0
              FROM tests t CROSS JOIN batches b INDEXED BY batches_waiting ON b.test_id = t.id AND b.waits = 1
              WHERE t.state = 'active' AND t.state <> 'finished'),
     dealing AS (@dealing),
     sums AS (SELECT test_id, sum(pairs) AS pairs, sum(iif(waits, 0, pairs)) AS open, sum(counted_cores) AS counted_cores,
                     sum(iif(owner = :owner AND NOT waits, pairs, 0)) AS own, sum(iif(owner = :owner AND waits, pairs, 0)) AS own_waiting,
                     sum(iif(level = 1, pairs, 0)) AS recorded, sum(iif(level = 0, pairs, 0)) AS unproven
              FROM held GROUP BY test_id),
     -- The bytes of the files that are placed before the build: those of the engine and those of each commit.
     placed AS (SELECT c.engine_id, c.sha, (SELECT coalesce(sum(b.size), 0) FROM
                    (SELECT value FROM json_each(e.build, '$.files') UNION ALL SELECT value FROM json_each(c.files)) f
                    JOIN blobs b ON b.sha256 = json_extract(f.value, '$.blob')) AS bytes
                FROM commits c JOIN engines e ON e.id = c.engine_id)
SELECT t.id, t.workload, t.priority, t.batch_pairs, t.state <> 'active' AS has_ended,
       iif(t.state = 'active', t.pairs_max - t.units_counted - coalesce(h.pairs, 0), 0) AS pairs_left, t.units_counted, t.promise,
       t.next_pair, l.openings, EXISTS (SELECT 1 FROM repeating_tests g WHERE g.id = t.id) AS repeats,
       (SELECT coalesce(sum(p.pair_count), 0) FROM returned_pairs p
        WHERE p.test_id = t.id) AS returned_pairs,
       coalesce(h.counted_cores, 0) AS counted_cores, t.author_id, n.tc AS new_tc, n.threads AS new_threads,
       n.options AS new_options, o.side IS NOT NULL AS two_sides, coalesce(o.tc, n.tc) AS base_tc,
       coalesce(o.threads, n.threads) AS base_threads, coalesce(o.options, n.options) AS base_options,
       EXISTS (SELECT 1 FROM failures f WHERE f.test_id = t.id AND f.worker_id = :worker AND f.created > coalesce(t.resumed, 0)
               AND (f.kind NOT IN ('sandbox', 'machine') OR f.created > :now - :retry_s)) AS has_failed,
       EXISTS (SELECT 1 FROM shut_out x WHERE x.test_id = t.id AND x.worker_id = :worker)
           AS is_excluded,
       EXISTS (SELECT 1 FROM misfits m WHERE m.test_id = t.id AND m.worker_id = :worker AND m.readmitted IS NULL) AS is_misfit,
       t.id IS (SELECT p.test_id FROM tasks p WHERE p.worker_id = :worker ORDER BY p.id DESC LIMIT 1) AS was_last,
       e.name, e.reference_speed, e.scale_min, e.scale_max, coalesce(h.open, 0) AS open_pairs,
       coalesce(h.own, 0) AS own_pairs, coalesce(h.own_waiting, 0) AS own_waiting, t.units_recorded, t.units_unproven, t.units_author,
       coalesce(h.recorded, 0) AS held_recorded, coalesce(h.unproven, 0) AS held_unproven,
       coalesce((SELECT bytes FROM placed p WHERE p.engine_id = n.engine_id AND p.sha = n.sha), 0) AS new_files_bytes,
       coalesce((SELECT bytes FROM placed p WHERE p.engine_id = o.engine_id AND p.sha = o.sha), 0) AS base_files_bytes
FROM dealing d CROSS JOIN tests t ON t.id = d.id JOIN engines e ON e.id = t.engine_id JOIN books l ON l.id = t.book_id JOIN sides n ON n.test_id = t.id AND n.side = 'new'
     LEFT JOIN sides o ON o.test_id = t.id AND o.side = 'base' LEFT JOIN sums h ON h.test_id = t.id
WHERE max(n.threads, coalesce(o.threads, 1)) <= :cores ORDER BY t.priority DESC, t.id

-- How far a test is in its book.
-- name: ledger_book_use row
-- types: repeats bool, has_open bool, has_returned bool, has_waiting bool
SELECT b.openings, t.batch_pairs, t.next_pair, EXISTS (SELECT 1 FROM repeating_tests r WHERE r.id = t.id) AS repeats,
       EXISTS (SELECT 1 FROM tasks k WHERE k.test_id = t.id AND k.state = 'open' AND k.rerun_of IS NULL) AS has_open,
       EXISTS (SELECT 1 FROM returned_pairs p WHERE p.test_id = t.id) AS has_returned,
       EXISTS (SELECT 1 FROM batches w INDEXED BY batches_waiting WHERE w.test_id = t.id AND w.waits = 1) AS has_waiting
FROM tests t JOIN books b ON b.id = t.book_id WHERE t.id = :test

-- name: ledger_next_pair value
-- types: :pairs int, value int
UPDATE tests SET next_pair = next_pair + :pairs WHERE id = :test RETURNING next_pair - :pairs

-- name: ledger_test_start
UPDATE tests SET started = :now WHERE id = :test AND started IS NULL

-- name: ledger_task_add
-- types: :against text?
INSERT INTO tasks (test_id, worker_id, owner, network, level, first_pair, pair_count, side, against, told, cores, lease_until, lease_s, created, counted_cores, batch_s, batch_until,
                   expected_s, due, rerun_of, reference_commit, reference_speed)
VALUES (:test, :worker, :owner, :network, :level, :first_pair, :pair_count, :side, :against, :told, :cores, :lease_until, :lease_s, :now, :counted_cores,
        :batch_s, :batch_until, :expected_s, :now + :expected_s, nullif(:rerun_of, 0),
        (SELECT e.reference_commit FROM tests t JOIN engines e ON e.id = t.engine_id WHERE t.id = :test),
        (SELECT e.reference_speed FROM tests t JOIN engines e ON e.id = t.engine_id WHERE t.id = :test))

-- name: ledger_worker_speed
UPDATE workers SET speed = :speed WHERE id = :worker

-- ---- batches

-- name: ledger_batch_stored row
-- types: counts bool, waits bool, excluded bool
SELECT result, tc, speed, busy, thought, games_sha256, counted AND NOT excluded AS counts, waits, excluded,
       load_delay, load_steal, load_swap_mib, load_speed, load_rest_new, load_rest_base, load_speed_before
FROM log WHERE task_id = :task AND seq = :seq

-- What a batch of task :task must be signed for, and the id of the key with which its machine may sign; 0: that is no key of
-- the machine.
-- name: ledger_signer row
-- types: key int
SELECT i.name AS installation, k.test_id AS test,
       coalesce((SELECT w.id FROM worker_keys w WHERE w.worker_id = k.worker_id AND w.public_key = :public_key), 0) AS key
FROM tasks k, installation i WHERE k.id = :task AND k.worker_id = :worker

-- name: ledger_batch_add
-- types: :key int, :signature text?
INSERT INTO batches (test_id, task_id, worker_id, seq, units, result, tc, speed, busy, thought, games_sha256, received, due,
                     waits, owner, level, load_delay, load_steal, load_swap_mib, load_rest_new, load_rest_base, load_speed,
                     load_speed_before, limit_busy, limit_slow, limit_swap_mib, flags, key_id, signature)
VALUES (:test, :task, :worker, :seq, :units, :result, :tc, :speed, :busy, :thought, :games_sha256, :now, :due, :waits,
        :owner, :level, :load_delay, :load_steal, :load_swap_mib, :load_rest_new, :load_rest_base, :load_speed,
        :load_speed_before, :limit_busy, :limit_slow, :limit_swap_mib, :flags, nullif(:key, 0), :signature)

-- name: ledger_said_add
-- types: :task int, :seq int, :side text, :moves int, :illegal_pv int, :other_move int, :false_mate int, :no_score int
INSERT INTO said (batch_id, side, moves, illegal_pv, other_move, false_mate, no_score)
SELECT id, :side, :moves, :illegal_pv, :other_move, :false_mate, :no_score FROM batches WHERE task_id = :task AND seq = :seq

-- name: ledger_said row
SELECT s.moves, s.illegal_pv, s.other_move, s.false_mate, s.no_score
FROM batches b JOIN said s ON s.batch_id = b.id AND s.side = :side WHERE b.task_id = :task AND b.seq = :seq

-- The clocks that task :task was dealt, what scales them, the speed that its first batch reported, and how long its batches
-- say that engines thought.
-- name: ledger_task_clock row
-- types: base_tc text?, reference_speed real, speed real?, slots int, thought int
SELECT n.tc AS new_tc, o.tc AS base_tc, coalesce(k.reference_speed, e.reference_speed) AS reference_speed, e.scale_min, e.scale_max,
       (SELECT b.speed FROM batches b WHERE b.task_id = k.id AND b.seq = 0) AS speed,
       max(1, k.cores / max(n.threads, coalesce(o.threads, 1))) AS slots, k.created,
       (SELECT coalesce(sum(b.thought), 0) FROM batches b WHERE b.task_id = k.id) AS thought
FROM tasks k JOIN tests t ON t.id = k.test_id JOIN engines e ON e.id = t.engine_id
     JOIN sides n ON n.test_id = k.test_id AND n.side = k.side
     LEFT JOIN sides o ON o.test_id = k.test_id AND o.side = k.against
WHERE k.id = :task

-- The conditions under which batch :seq of task :task was to be played.
-- name: ledger_replay_conditions row
-- types: :seq int, chess960 bool, seed int, first_pair int, base_tc text?, base_margin int, reference_speed real, print_seed int
SELECT t.variant = 'chess960' AS chess960, coalesce(t.seed, 0) AS seed, o.blob AS book, t.adjudication, n.tc AS new_tc, a.tc AS base_tc,
       n.margin_ms AS new_margin, coalesce(a.margin_ms, 0) AS base_margin,
       coalesce(k.reference_speed, e.reference_speed) AS reference_speed, e.scale_min, e.scale_max,
       k.first_pair + :seq * t.batch_pairs AS first_pair, (SELECT s.seed FROM print_seed s) AS print_seed
FROM tasks k JOIN tests t ON t.id = k.test_id JOIN engines e ON e.id = t.engine_id JOIN books o ON o.id = t.book_id
     JOIN sides n ON n.test_id = t.id AND n.side = k.side LEFT JOIN sides a ON a.test_id = t.id AND a.side = k.against
WHERE k.id = :task

-- name: ledger_print row
SELECT task_id, seq, game FROM prints WHERE print = :print

-- name: ledger_print_add
INSERT OR IGNORE INTO prints (test_id, print, task_id, seq, game) VALUES (:test, :print, :task, :seq, :game)

-- Some marks of a test that has ended, in which no batch counts any more. The tests with marks are few.
-- name: ledger_prints_forget
WITH RECURSIVE marked (id) AS (SELECT min(test_id) FROM prints UNION ALL
    SELECT (SELECT min(p.test_id) FROM prints p WHERE p.test_id > marked.id) FROM marked WHERE marked.id IS NOT NULL)
DELETE FROM prints WHERE print IN
    (SELECT p.print FROM prints p
     WHERE p.test_id = (SELECT m.id FROM marked m JOIN tests t ON t.id = m.id WHERE t.state = 'finished' LIMIT 1) LIMIT 500)

-- The games that a machine, or all machines of its user, have played.
-- name: ledger_credit row
-- types: user text, games int
SELECT coalesce(u.name, '') AS user,
       CASE WHEN u.id IS NULL THEN w.games ELSE (SELECT sum(o.games) FROM workers o WHERE o.user_id = u.id) END AS games
FROM workers w LEFT JOIN users u ON u.id = w.user_id WHERE w.id = :worker

-- ---- fault reports

-- name: ledger_fault_report_sha value
SELECT sha256 FROM fault_reports WHERE task_id = :task AND seq = :seq

-- The number and bytes of fault reports that a test keeps: of all owners, and of the owner :owner.
-- name: ledger_fault_report_kept row
-- types: :owner text, count int, bytes int, own_count int, own_bytes int
SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes, coalesce(sum(own), 0) AS own_count,
       coalesce(sum(own * size), 0) AS own_bytes
FROM (SELECT length(e.content) AS size, e.owner = :owner AS own
      FROM fault_reports e WHERE e.test_id = :test AND e.content IS NOT NULL)

-- For batch :seq of task :task (pairs :first to below :end): how many games ended as :ending, according to its counts, and
-- how many fault reports of these exist. All endings but 'time' and 'ponder' are counted as crashes.
-- name: ledger_fault_report_founded row
-- types: :ending text, counted int?, reported int
SELECT CASE :ending WHEN 'time' THEN b.time_losses WHEN 'ponder' THEN b.ponders + b.ponders_against ELSE b.crashes END AS counted,
       (SELECT count(*) FROM fault_reports e
        WHERE e.task_id = :task AND e.pair >= :first AND e.pair < :end
          AND CASE WHEN :ending IN ('time', 'ponder') THEN e.ending = :ending ELSE e.ending NOT IN ('time', 'ponder') END) AS reported
FROM batches b WHERE b.task_id = :task AND b.seq = :seq

-- name: ledger_fault_report_add
-- types: :overloaded bool
INSERT INTO fault_reports (test_id, task_id, worker_id, owner, seq, sha256, pair, game, side, ending, reason, overloaded, content, received)
VALUES (:test, :task, :worker, :owner, :seq, :sha256, :pair, :game, :side, :ending, :reason, :overloaded, :content, :now)

-- ---- games that were played on

-- Where game :game of task :task stands. `seq` NULL: its batch has not arrived. `stored`: the body that it came with.
-- name: ledger_ending_place row
-- types: seq int?, games_sha256 text?, counts bool, first_pair int, chess960 bool, stored text?
SELECT t.id AS test, t.engine_id AS engine, t.seed, t.variant = 'chess960' AS chess960, b.seq, b.games_sha256,
       b.position IS NOT NULL AS counts, k.first_pair + coalesce(b.seq, 0) * t.batch_pairs AS first_pair, t.batch_pairs,
       (SELECT sha256 FROM endings WHERE task_id = k.id AND game = :game) AS stored
FROM tasks k JOIN tests t ON t.id = k.test_id LEFT JOIN batches b ON b.task_id = k.id AND b.seq = :game / 2 / t.batch_pairs
WHERE k.id = :task

-- name: ledger_ending_add
-- types: :counts bool
INSERT INTO endings (task_id, game, test_id, engine_id, worker_id, owner, seq, sha256, ruled, judgement, thought_ms, rest_ms, counts, moves, result, received)
VALUES (:task, :game, :test, :engine, :worker, :owner, :seq, :sha256, :ruled, :judgement, :thought_ms, :rest_ms, :counts, :moves, :result, :now)

-- name: ledger_task_stored
-- types: :started_pairs int, :lease_until real
UPDATE tasks SET next_seq = :next_seq, started_pairs = max(started_pairs, :started_pairs), phase = 'play', lease_until = max(lease_until, :lease_until),
       batch_until = :batch_until, due = :due
WHERE id = :task

-- name: ledger_test_counted
UPDATE tests SET units_counted = :units, counts = :counts, points = :points, promise = :promise, positions = :positions,
    units_recorded = :recorded, units_unproven = :unproven, units_author = :author
WHERE id = :test

-- name: ledger_owner_total value
SELECT state FROM owner_totals WHERE test_id = :test AND owner = :owner AND level = :level

-- name: ledger_owner_total_put
INSERT INTO owner_totals (test_id, owner, level, units, state) VALUES (:test, :owner, :level, :units, :state)
ON CONFLICT (test_id, owner, level) DO UPDATE SET units = units + excluded.units, state = excluded.state

-- name: ledger_owner_totals_drop
DELETE FROM owner_totals WHERE test_id = :test

-- name: ledger_owner_largest value
SELECT owner FROM owner_totals WHERE test_id = :test GROUP BY owner ORDER BY sum(units) DESC, owner LIMIT 1

-- name: ledger_owner_totals rows
SELECT owner, level, units, state FROM owner_totals WHERE test_id = :test

-- The batch of test :test that counts next: of those that wait, the one that is due first, if no batch under way is due
-- before it. Where two are due at one time, the task that was dealt first comes first.
-- name: ledger_next_batch row
-- types: excluded bool
SELECT b.id, b.task_id, b.seq, b.units, b.result, b.excluded, b.owner, b.level, k.told
FROM (SELECT * FROM log WHERE test_id = :test AND waits = 1 ORDER BY due, task_id, seq LIMIT 1) b JOIN tasks k ON k.id = b.task_id
WHERE NOT EXISTS (SELECT 1 FROM tasks o WHERE o.test_id = :test AND o.state = 'open' AND o.rerun_of IS NULL
                  AND (o.due, o.id) < (b.due, b.task_id))

-- name: ledger_batch_counts
UPDATE batches SET waits = 0, position = :position WHERE id = :batch

-- A place of the test is free: batches that wait for it may count.
-- name: ledger_test_unsettle
UPDATE tests SET unsettled = 1 WHERE id = :test AND EXISTS (SELECT 1 FROM batches b INDEXED BY batches_waiting WHERE b.test_id = :test AND b.waits = 1)

-- name: ledger_test_settled
-- types: :more bool
UPDATE tests SET unsettled = :more WHERE id = :test AND unsettled <> :more

-- Open tests of which batches may count: at most :most, for which the caller has room.
-- name: ledger_tests_unsettled rows
SELECT id FROM tests WHERE unsettled = 1 AND state IN ('active', 'paused') LIMIT :most

-- A batch that came in time and is excluded has a position, too.
-- name: ledger_test_positions
UPDATE tests SET positions = :positions WHERE id = :test

-- name: ledger_worker_credit
-- types: :games int
UPDATE workers SET games = games + :games, last_seen = :now, fruitless = 0 WHERE id = :worker

-- name: ledger_games_put
INSERT INTO games (task_id, seq, sha256, received) VALUES (:task, :seq, :sha256, :now)

-- name: ledger_games value
SELECT sha256 FROM games WHERE task_id = :task AND seq = :seq

-- ---- failures and benches. An owner is a user, or the network of machines without one. What a machine says is said for
-- the owner to which its task was dealt. Machines that are barred, and accounts that are blocked, say nothing.

-- name: ledger_failure_add
INSERT INTO failures (test_id, task_id, worker_id, owner, network, level, kind, side, message, log, bench, created)
VALUES (:test, :task, :worker, :owner, :network, :level, :kind, :side, :message, :log, nullif(:bench, 0), :now)

-- name: ledger_has_failure value
-- types: value bool
SELECT EXISTS (SELECT 1 FROM failures WHERE task_id = :task)

-- Why a batch of the task was refused after its games were replayed.
-- name: ledger_refusal value
-- types: value text?
SELECT message FROM failures WHERE task_id = :task AND kind = 'games'

-- The reports of owners, one row for each owner, network and level, about the failure :kind of :side in test :test: whether
-- the owner reports it, has sent results, and has a machine that is active since :since and could try. The level is that
-- of the task, and for what a machine could do the present one. A level counts no more in a test of who vouched for it.
-- `first`: the owner of the first task in this test of the machines that said so. The most important rows come first; at
-- most :most, for which the caller has room.
-- name: ledger_failure_voices rows
-- types: owner text, network text, level int, first text, failing bool, played bool, could bool
WITH this AS (SELECT id, author_id, (SELECT max(threads) FROM sides WHERE test_id = :test) AS threads, coalesce(resumed, 0) AS resumed
              FROM tests WHERE id = :test),
     firsts AS (SELECT worker_id, owner, min(id) FROM tasks WHERE test_id = :test GROUP BY worker_id),
     failed AS (SELECT f.worker_id, f.owner, f.network, f.level, f.kind = :kind AND f.side = :side AS so FROM failures f, this
                WHERE f.test_id = this.id AND f.created > this.resumed),
     words AS (SELECT worker_id, owner, network, level, so AS failing, 0 AS played, 0 AS could FROM failed
               UNION ALL SELECT worker_id, owner, network, level, 0, 1, 0 FROM tasks WHERE test_id = :test AND next_seq > 0
               UNION ALL SELECT o.id, o.owner, o.network, iif(l.voucher = this.author_id, l.own, l.level), 0, 0, 1
                         FROM workers o JOIN levels l ON l.worker_id = o.id, this
                         WHERE o.last_seen >= :since AND o.cores >= this.threads AND o.id NOT IN (SELECT worker_id FROM failed)),
     said AS (SELECT w.owner, w.network, w.level, coalesce(f.owner, w.owner) AS first, max(w.failing) AS failing, max(w.played) AS played,
                     max(w.could) AS could
              FROM words w JOIN standings s ON s.id = w.worker_id AND s.barred = '' LEFT JOIN firsts f ON f.worker_id = w.worker_id
              WHERE NOT EXISTS (SELECT 1 FROM silent_owners x WHERE x.owner = w.owner) GROUP BY 1, 2, 3, 4)
SELECT owner, network, level, first, failing, played, could FROM said ORDER BY level DESC, failing DESC, played DESC LIMIT :most

-- The owners whose machines play test :test, or could: how many of their games show that :side computes in its opponent's
-- time, and how many they played, since the test was resumed.
-- name: ledger_ponder_voices rows
-- types: owner text, network text, level int, first text, shown int, games int, could bool
WITH this AS (SELECT id, author_id, batch_pairs, (SELECT max(threads) FROM sides WHERE test_id = :test) AS threads, coalesce(resumed, 0) AS resumed
              FROM tests WHERE id = :test),
     firsts AS (SELECT worker_id, owner, min(id) FROM tasks WHERE test_id = :test GROUP BY worker_id),
     words AS (SELECT k.worker_id, k.owner, k.network, k.level, CASE WHEN k.side = :side THEN b.ponders ELSE b.ponders_against END AS shown,
                      0 AS games, 0 AS could
               FROM counted_batches b JOIN tasks k ON k.id = b.task_id, this
               WHERE b.test_id = :test AND b.ponders + b.ponders_against > 0
                 AND b.received > this.resumed
               UNION ALL SELECT k.worker_id, k.owner, k.network, k.level, 0, k.next_seq * 2 * this.batch_pairs, 0 FROM tasks k, this
                         WHERE k.test_id = :test AND k.created > this.resumed
               UNION ALL SELECT o.id, o.owner, o.network, iif(l.voucher = this.author_id, l.own, l.level), 0, 0, 1
                         FROM workers o JOIN levels l ON l.worker_id = o.id, this WHERE o.last_seen >= :since AND o.cores >= this.threads),
     said AS (SELECT w.owner, w.network, w.level, coalesce(f.owner, w.owner) AS first, sum(w.shown) AS shown, sum(w.games) AS games,
                     max(w.could) AS could
              FROM words w JOIN standings s ON s.id = w.worker_id AND s.barred = '' LEFT JOIN firsts f ON f.worker_id = w.worker_id
              WHERE NOT EXISTS (SELECT 1 FROM silent_owners x WHERE x.owner = w.owner) GROUP BY 1, 2, 3, 4)
SELECT owner, network, level, first, shown, games, could FROM said ORDER BY level DESC, shown DESC, games DESC LIMIT :most

-- name: ledger_side row
-- types: bench int?, is_open bool
SELECT s.engine_id, s.sha, c.snapshot, coalesce(c.bench, s.bench_declared) AS bench, c.bench IS NULL AS is_open
FROM sides s JOIN known_commits c ON c.engine_id = s.engine_id AND c.sha = s.sha WHERE s.test_id = :test AND s.side = :side

-- A machine that has measured for one owner does not vote for another.
-- name: ledger_bench_add
INSERT INTO benches (engine_id, snapshot, worker_id, owner, network, level, nodes, created)
VALUES (:engine, :snapshot, :worker, :owner, :network, :level, :nodes, :now)
ON CONFLICT (engine_id, snapshot, worker_id) DO UPDATE SET nodes = excluded.nodes, created = excluded.created WHERE owner = excluded.owner

-- The counts that machines measured for a tree, oldest first; those of higher levels come before all others.
-- name: ledger_bench_votes rows
SELECT b.nodes, b.worker_id, b.owner, w.name, b.network, b.level
FROM benches b JOIN workers w ON w.id = b.worker_id JOIN standings s ON s.id = w.id AND s.barred = ''
WHERE b.engine_id = :engine AND b.snapshot = :snapshot AND NOT EXISTS (SELECT 1 FROM silent_owners x WHERE x.owner = b.owner)
ORDER BY b.level DESC, b.created, b.worker_id

-- Whether an owner is active since :since that has not measured tree :snapshot of engine :engine and has a machine that
-- could measure it for test :test: one in another network, one that is proven, and one that is vouched for.
-- name: ledger_bench_scene row
-- types: others bool, proven_others bool, vouched_others bool
WITH this AS (SELECT id, author_id, (SELECT max(threads) FROM sides WHERE test_id = :test) AS threads, coalesce(resumed, 0) AS resumed
              FROM tests WHERE id = :test),
     voted AS (SELECT worker_id, owner, network FROM benches WHERE engine_id = :engine AND snapshot = :snapshot),
     others AS (SELECT iif(l.voucher = this.author_id, l.own, l.level) AS level, o.network
                FROM workers o JOIN standings s ON s.id = o.id AND s.barred = '' JOIN levels l ON l.worker_id = o.id, this
                WHERE o.last_seen >= :since AND o.cores >= this.threads AND o.owner NOT IN (SELECT owner FROM voted)
                  AND o.id NOT IN (SELECT worker_id FROM voted)
                  AND o.id NOT IN (SELECT f.worker_id FROM failures f WHERE f.test_id = this.id AND f.created > this.resumed))
SELECT EXISTS (SELECT 1 FROM others WHERE network NOT IN (SELECT network FROM voted WHERE network <> '')) AS others,
       EXISTS (SELECT 1 FROM others WHERE level > 0) AS proven_others,
       EXISTS (SELECT 1 FROM others WHERE level = 2) AS vouched_others

-- Sides of active tests whose bench was measured and is not established yet: at most :most, for which the caller has room.
-- name: ledger_benches_open rows
SELECT t.id, s.side FROM tests t JOIN sides s ON s.test_id = t.id JOIN known_commits c ON c.engine_id = s.engine_id AND c.sha = s.sha
WHERE t.state = 'active' AND c.bench IS NULL
  AND EXISTS (SELECT 1 FROM benches b WHERE b.engine_id = c.engine_id AND b.snapshot = c.snapshot) LIMIT :most

-- The last task of machine :worker in test :test about which it has reported no failure.
-- name: ledger_task_of_outvoted value
SELECT id FROM tasks k WHERE test_id = :test AND worker_id = :worker
  AND NOT EXISTS (SELECT 1 FROM failures f WHERE f.task_id = k.id) ORDER BY id DESC LIMIT 1

-- The commits with the tree of commit :sha.
-- text same_tree: SELECT o.sha FROM commits c JOIN commits o ON o.engine_id = c.engine_id AND o.snapshot = c.snapshot
-- text same_tree: WHERE c.engine_id = :engine AND c.sha = :sha
-- The trees of the sides of a test.
-- text trees_of_test: SELECT c.engine_id, c.snapshot FROM sides s JOIN commits c ON c.engine_id = s.engine_id AND c.sha = s.sha
-- text trees_of_test: WHERE s.test_id = :test

-- For a maintainer who corrects the bench count of a commit's tree: measurements of it are deleted, and machines may try its
-- tests again.
-- name: ledger_bench_known value
-- types: value int
SELECT coalesce(bench, 0) FROM known_commits WHERE engine_id = :engine AND sha = :sha

-- name: ledger_benches_drop
DELETE FROM benches WHERE engine_id = :engine AND snapshot = (SELECT snapshot FROM commits WHERE engine_id = :engine AND sha = :sha)

-- name: ledger_bench_of_sides
UPDATE sides SET bench_declared = NULL WHERE engine_id = :engine AND sha IN (@same_tree)
  AND EXISTS (SELECT 1 FROM tests t WHERE t.id = test_id AND (t.state <> 'finished' OR t.result = 'failed'))

-- name: ledger_bench_of_tests
UPDATE tests SET resumed = :now
WHERE state <> 'finished' AND id IN (SELECT test_id FROM sides WHERE engine_id = :engine AND sha IN (@same_tree))

-- name: ledger_bench_establish
-- types: :nodes int
INSERT INTO trees (engine_id, snapshot, bench) SELECT engine_id, snapshot, :nodes FROM commits WHERE engine_id = :engine AND sha = :sha
ON CONFLICT DO UPDATE SET bench = excluded.bench

-- ---- the options of engines

-- Whether machine :worker may add its list to those of tree :snapshot: there are fewer than :most.
-- name: ledger_option_list_has_room value
-- types: value bool, :most int
SELECT (SELECT count(*) FROM option_lists WHERE engine_id = :engine AND snapshot = :snapshot AND worker_id <> :worker) < :most

-- name: ledger_option_list_add
INSERT INTO option_lists (engine_id, snapshot, worker_id, owner, network, level, list, created)
VALUES (:engine, :snapshot, :worker, :owner, :network, :level, :list, :now)
ON CONFLICT (engine_id, snapshot, worker_id) DO UPDATE SET list = excluded.list, created = excluded.created WHERE owner = excluded.owner

-- The lists that machines read for a tree, oldest first; those of higher levels come before all others.
-- name: ledger_option_lists rows
SELECT l.list, l.worker_id, l.owner, l.network, l.level
FROM option_lists l JOIN standings s ON s.id = l.worker_id AND s.barred = ''
WHERE l.engine_id = :engine AND l.snapshot = :snapshot AND NOT EXISTS (SELECT 1 FROM silent_owners x WHERE x.owner = l.owner)
ORDER BY l.level DESC, l.created, l.worker_id LIMIT :most

-- Whether a vouched owner is active since :since that has not sent the list of tree :snapshot.
-- name: ledger_options_scene value
-- types: value bool
SELECT EXISTS (SELECT 1 FROM workers o JOIN standings s ON s.id = o.id AND s.barred = '' JOIN levels l ON l.worker_id = o.id
               WHERE o.last_seen >= :since
                 AND iif(l.voucher = (SELECT author_id FROM tests WHERE id = :test), l.own, l.level) = 2
                 AND o.owner NOT IN (SELECT owner FROM option_lists WHERE engine_id = :engine AND snapshot = :snapshot)
                 AND o.id NOT IN (SELECT worker_id FROM option_lists WHERE engine_id = :engine AND snapshot = :snapshot))

-- name: ledger_options_establish
-- types: :list text?
INSERT INTO trees (engine_id, snapshot, options) VALUES (:engine, :snapshot, :list) ON CONFLICT DO UPDATE SET options = excluded.options

-- A side with the list of its tree.
-- name: ledger_side_options row
SELECT s.options, s.threads, t.variant, c.options AS list FROM sides s JOIN tests t ON t.id = s.test_id
JOIN known_commits c ON c.engine_id = s.engine_id AND c.sha = s.sha WHERE s.test_id = :test AND s.side = :side

-- Forgets the lists of a test's trees, so that machines read them again.
-- name: ledger_option_lists_forget
DELETE FROM option_lists WHERE (engine_id, snapshot) IN (@trees_of_test)

-- name: ledger_options_forget
UPDATE trees SET options = NULL WHERE (engine_id, snapshot) IN (@trees_of_test)

-- ---- exclusions and blocked machines

-- name: ledger_worker_there value
-- types: value bool
SELECT EXISTS (SELECT 1 FROM workers WHERE id = :worker)

-- name: ledger_worker_blocked value
SELECT blocked FROM workers WHERE id = :worker

-- name: ledger_worker_block
-- types: :blocked bool, :now real
UPDATE workers SET blocked = :blocked, released = iif(:blocked, released, :now) WHERE id = :worker

-- Machine :worker: its owner, and whether a maintainer vouches for that owner.
-- name: ledger_vouch_state row
-- types: owner text, vouched bool
SELECT w.owner, EXISTS (SELECT 1 FROM vouches v WHERE v.owner = w.owner AND v.undone IS NULL) AS vouched
FROM workers w WHERE w.id = :worker

-- name: ledger_vouch_add
INSERT INTO vouches (owner, user_id, reason, created) VALUES (:owner, :user, :reason, :now)

-- name: ledger_vouch_undo
UPDATE vouches SET undone = :now, undone_by = :user WHERE owner = :owner AND undone IS NULL

-- Whether a batch of machine :worker counts in test :test.
-- Whether an exclusion would cover batches that wait to be counted.
-- name: ledger_would_wait value
-- types: value bool, :kind text, :which text, :task int, :worker int, :owner text?, :since real?, :until real?
WITH x AS (SELECT :kind AS kind, :which AS which, :task AS task_id, :worker AS worker_id, :owner AS owner, :since AS since, :until AS until)
SELECT EXISTS (SELECT 1 FROM x CROSS JOIN batches b INDEXED BY batches_waiting WHERE b.test_id = :test AND b.waits = 1 AND @covers)

-- Whether batches of a machine count, or wait to be counted.
-- name: ledger_counts value
-- types: value bool
SELECT EXISTS (SELECT 1 FROM log WHERE test_id = :test AND worker_id = :worker AND (position IS NOT NULL OR waits = 1) AND NOT excluded)

-- name: ledger_positions value
SELECT positions FROM tests WHERE id = :test

-- The owner for whom machine :worker played test :test last.
-- name: ledger_owner_in_test value
SELECT owner FROM tasks WHERE test_id = :test AND worker_id = :worker ORDER BY id DESC LIMIT 1

-- name: ledger_task_of_test value
-- types: value bool
SELECT EXISTS (SELECT 1 FROM tasks WHERE id = :task AND test_id = :test)

-- name: ledger_exclusion_add
-- types: :task int, :worker int
INSERT INTO exclusions (test_id, kind, task_id, worker_id, owner, since, until, which, reason, user_id, created)
VALUES (:test, :kind, nullif(:task, 0), nullif(:worker, 0), :owner, :since, :until, :which, :reason, nullif(:user, 0), :now)

-- name: ledger_outvoted_add
INSERT INTO outvoted (test_id, worker_id) VALUES (:test, :worker) ON CONFLICT DO NOTHING

-- The first machine that waits to be excluded.
-- name: ledger_outvoted row
SELECT id, test_id, worker_id FROM outvoted ORDER BY id LIMIT 1

-- name: ledger_outvoted_drop
DELETE FROM outvoted WHERE id = :id

-- name: ledger_has_outvoted value
-- types: value bool
SELECT EXISTS (SELECT 1 FROM outvoted WHERE test_id = :test)

-- name: ledger_exclusion_undo
UPDATE exclusions SET undone = :now, undone_by = nullif(:user, 0) WHERE id = :exclusion

-- An exclusion of test :test that is not undone; 0: the latest.
-- text what_is_excluded: CASE x.kind WHEN 'task' THEN 'of task ' || x.task_id WHEN 'machine' THEN 'of machine ' || w.name
-- text what_is_excluded: WHEN 'owner' THEN 'of ' || coalesce((SELECT name FROM users WHERE x.owner = 'user ' || id), 'the owner of machine ' || w.name)
-- text what_is_excluded: ELSE strftime('that arrived from %Y-%m-%d %H:%M:%S', x.since, 'unixepoch')
-- text what_is_excluded: || strftime(' to before %Y-%m-%d %H:%M:%S UTC', x.until, 'unixepoch') END
-- name: ledger_exclusion row
-- types: what text
SELECT x.worker_id, @what_is_excluded AS what FROM exclusions x LEFT JOIN workers w ON w.id = x.worker_id
WHERE x.test_id = :test AND x.undone IS NULL AND (x.id = :exclusion OR :exclusion = 0) ORDER BY x.id DESC LIMIT 1

-- Both only grow: while they are the same, the exclusions of a test are.
-- name: ledger_exclusions_state row
-- types: made int, undone int
SELECT count(*) AS made, count(undone) AS undone FROM exclusions WHERE test_id = :test

-- The batches after position :after, in the order of counting: whether they are excluded, and whether they would be with
-- another exclusion (:kind '': none) and without exclusion :without.
-- name: ledger_batches_in_time rows
-- types: :kind text, :which text, :task int, :worker int, :owner text?, :since real?, :until real?, was_excluded bool, excluded bool
WITH then_live AS MATERIALIZED (
    SELECT kind, which, task_id, worker_id, owner, since, until FROM exclusions
    WHERE test_id = :test AND undone IS NULL AND id <> :without
    UNION ALL SELECT :kind, :which, :task, :worker, :owner, :since, :until WHERE :kind <> '')
SELECT b.units, b.result, b.owner, b.level, b.position, k.told, b.excluded AS was_excluded,
       EXISTS (SELECT 1 FROM then_live x WHERE @covers) AS excluded
FROM log b JOIN tasks k ON k.id = b.task_id WHERE b.test_id = :test AND b.position > :after ORDER BY b.position LIMIT :most

-- ---- what people did to a verdict

-- The verdict of a test: the result of its counts. NULL: it has none.
-- name: ledger_verdict value
-- types: value text
SELECT result FROM tests WHERE id = :test AND result IN ('accepted', 'rejected', 'undecided', 'completed')

-- name: ledger_has_exclusions value
-- types: value bool
SELECT EXISTS (SELECT 1 FROM exclusions WHERE test_id = :test)

-- Counted pairs of a finished test: excluded when the verdict came, excluded since, and excluded then but not now. An
-- exclusion that the server made is one of the first only if the verdict came with it or with its end.
-- name: ledger_verdict_touched row
-- types: before int, after int, again int
WITH touching AS MATERIALIZED (
    SELECT x.kind, x.which, x.task_id, x.worker_id, x.owner, x.since, x.until,
           x.created <= t.finished AND coalesce(x.undone, t.finished) >= t.finished
               AND (x.user_id IS NOT NULL OR x.created = t.finished OR x.undone = t.finished) AS before,
           x.created > t.finished AND x.undone IS NULL AS after,
           x.created <= t.finished AND x.undone > t.finished AS again
    FROM exclusions x JOIN tests t ON t.id = x.test_id WHERE x.test_id = :test)
SELECT coalesce(sum(b.units * EXISTS (SELECT 1 FROM touching x WHERE x.before AND @covers)), 0) AS before,
       coalesce(sum(b.units * EXISTS (SELECT 1 FROM touching x WHERE x.after AND @covers)), 0) AS after,
       coalesce(sum(b.units * EXISTS (SELECT 1 FROM touching x WHERE x.again AND @covers)), 0) AS again
FROM batches b WHERE b.test_id = :test AND b.position IS NOT NULL

-- Finished tests of which batches were excluded or included after the verdict, since :since.
-- name: ledger_verdicts_touched rows
-- types: result text, merged bool
SELECT DISTINCT t.id, t.title, t.result, t.merged_commit IS NOT NULL AS merged
FROM exclusions x JOIN tests t ON t.id = x.test_id
WHERE x.id IN (SELECT id FROM exclusions WHERE created > :since UNION SELECT id FROM exclusions WHERE undone > :since)
      AND (x.created > t.finished OR x.undone > t.finished) AND t.result IN ('accepted', 'rejected', 'undecided', 'completed')
ORDER BY t.id DESC LIMIT 20

-- The last time that a test was reopened, and how many times it was.
-- name: ledger_reopening row
-- types: times int
SELECT r.reason, r.created, r.result, r.verdict, u.name AS user, (SELECT count(*) FROM reopenings o WHERE o.test_id = r.test_id) AS times
FROM reopenings r JOIN users u ON u.id = r.user_id WHERE r.test_id = :test ORDER BY r.id DESC LIMIT 1

-- name: ledger_reopening_add
-- types: :user int, :reason text, :now real
INSERT INTO reopenings (test_id, user_id, reason, created, result, verdict)
SELECT id, :user, :reason, :now, result, reason FROM tests WHERE id = :test

-- name: ledger_test_reopened
UPDATE tests SET state = 'active', result = NULL, finished = NULL, reason = '' WHERE id = :test

-- The tasks that the end of a test stopped.
-- name: ledger_tasks_of_end rows
SELECT k.id FROM tasks k JOIN tests t ON t.id = k.test_id WHERE t.id = :test AND k.state = 'stopped' AND k.finished = t.finished AND k.rerun_of IS NULL ORDER BY k.id

-- The first test after :after whose results another version of its workload counted; 0: there is none.
-- name: ledger_test_outdated value
-- types: :version int, value int
SELECT coalesce(min(id), 0) FROM tests
WHERE id > :after AND workload = :workload AND counts <> '{}' AND counts ->> '$.v' IS NOT :version

-- ---- the history of a test

-- name: ledger_history_add
INSERT INTO history (test_id, position, units, state) VALUES (:test, :position, :units, :state)

-- name: ledger_history_thin
-- types: :step int
DELETE FROM history WHERE test_id = :test AND position % :step <> 0

-- name: ledger_history_drop
DELETE FROM history WHERE test_id = :test

-- ---- speed in play

-- What the batches of a machine say about its speed in play, for each of its tasks of a test that have ended, newest
-- first; of tasks after it was readmitted alone. Only tests with a clock have any. A batch of which every game was lost
-- by a fault can have no figure.
-- name: ledger_plays rows
-- types: games int, play real, speed real
SELECT k.id, max(b.speed) AS speed, sum(2 * b.units) AS games, sum(2 * b.units * coalesce(b.load_speed, 0.0)) AS play
FROM tasks k CROSS JOIN batches b ON b.task_id = k.id
WHERE k.worker_id = :worker AND k.test_id = :test AND k.finished IS NOT NULL
  AND k.id >= (SELECT min(f.id) FROM tasks f WHERE f.test_id = :test)
  AND k.id > coalesce((SELECT max(m.last_task) FROM misfits m WHERE m.test_id = :test AND m.worker_id = :worker), 0)
  AND EXISTS (SELECT 1 FROM sides s WHERE s.test_id = :test AND s.tc NOT GLOB 'nodes=*' AND s.tc NOT GLOB 'depth=*')
  AND (coalesce(b.load_speed, 0.0) > 0 OR b.crashes + b.time_losses + b.ponders + b.ponders_against < 2 * b.units)
GROUP BY k.id ORDER BY k.id DESC

-- name: ledger_play_speed_put
INSERT INTO play_speeds (test_id, worker_id, games, ratio) VALUES (:test, :worker, :games, :ratio)
ON CONFLICT (test_id, worker_id) DO UPDATE SET games = excluded.games, ratio = excluded.ratio

-- name: ledger_play_speed_drop
DELETE FROM play_speeds WHERE test_id = :test AND worker_id = :worker

-- The machines of a test with :games games, at most :most, those that registered first. No machine that is barred or
-- excluded from the test.
-- name: ledger_play_speeds rows
SELECT p.worker_id, p.ratio, k.owner, k.level
FROM (SELECT p.worker_id, p.ratio,
             (SELECT max(k.id) FROM tasks k WHERE k.test_id = p.test_id AND k.worker_id = p.worker_id) AS task
      FROM play_speeds p JOIN standings s ON s.id = p.worker_id AND s.barred = ''
      WHERE p.test_id = :test AND p.games >= :games
        AND NOT EXISTS (SELECT 1 FROM shut_out x WHERE x.test_id = p.test_id AND x.worker_id = p.worker_id)
      ORDER BY p.worker_id LIMIT :most) p JOIN tasks k ON k.id = p.task
ORDER BY k.owner, p.ratio

-- The machines whose tasks the end of a test stopped at :now.
-- name: ledger_stopped_workers rows
SELECT DISTINCT worker_id FROM tasks WHERE test_id = :test AND state = 'stopped' AND finished = :now AND next_seq > 0

-- name: ledger_is_misfit value
-- types: value bool
SELECT EXISTS (SELECT 1 FROM misfits WHERE test_id = :test AND worker_id = :worker AND readmitted IS NULL)

-- name: ledger_misfit_add
INSERT INTO misfits (test_id, worker_id, games, ratio, low, high, reason, created)
VALUES (:test, :worker, :games, :ratio, :low, :high, :reason, :now)

-- name: ledger_misfit_readmit
UPDATE misfits SET readmitted = :now, readmitted_by = nullif(:user, 0), last_task = (SELECT coalesce(max(id), 0) FROM tasks)
WHERE test_id = :test AND worker_id = :worker AND readmitted IS NULL

-- ---- records

-- The conditions for a record: owner :owner is an account and has :batches batches that count, the first of them :age_s
-- seconds before :now or earlier, and in the last :clean_s seconds no batch of it was refused after a replay.
-- name: trust_record_judge
-- types: :age_s real, :clean_s real
INSERT INTO records (owner, since)
SELECT :owner, :now FROM (SELECT count(*) AS batches, min(received) AS first FROM
    (SELECT received FROM counted_batches WHERE owner = :owner ORDER BY id LIMIT :batches))
WHERE :owner LIKE 'user %' AND batches >= :batches AND first <= :now - :age_s
  AND NOT EXISTS (SELECT 1 FROM failures f
                  WHERE f.kind = 'games' AND f.owner = :owner AND f.created > :now - :clean_s)
  AND NOT EXISTS (SELECT 1 FROM droppers d WHERE d.owner = :owner AND d.since > :now - :clean_s)
ON CONFLICT DO NOTHING

-- name: trust_record_drop
DELETE FROM records WHERE owner = :owner

-- ---- batches that were begun and not reported

-- name: begun_day
INSERT INTO owner_days (owner, day, level, reported, dropped) VALUES (:owner, :day, :level, :reported, :dropped)
ON CONFLICT DO UPDATE SET reported = reported + excluded.reported, dropped = dropped + excluded.dropped

-- name: begun_drop
-- types: :now real, :first_pair int, :units int
INSERT INTO dropped (task_id, first_pair, test_id, units, worker_id, owner, created)
SELECT id, :first_pair, test_id, :units, worker_id, owner, :now FROM tasks WHERE id = :task

-- name: begun_is_dropped value
-- types: value bool, :task int, :first_pair int
SELECT EXISTS (SELECT 1 FROM dropped WHERE task_id = :task AND first_pair = :first_pair)

-- What an owner began and dropped after a day.
-- name: begun_sums row
-- types: begun int, dropped int, :owner text, :after int
SELECT coalesce(sum(reported + dropped), 0) AS begun, coalesce(sum(dropped), 0) AS dropped FROM owner_days WHERE owner = :owner AND day > :after

-- The median share that the other owners that were vouched for dropped.
-- name: begun_median value
-- types: value real, :owner text, :after int, :least int
WITH fleet AS (SELECT 1.0 * sum(dropped) / sum(reported + dropped) AS share FROM owner_days
               WHERE level = 2 AND day > :after AND owner <> :owner GROUP BY owner HAVING sum(reported + dropped) >= :least),
     ranked AS (SELECT share, row_number() OVER (ORDER BY share) AS place, count(*) OVER () AS owners FROM fleet)
SELECT coalesce(avg(share), 0.0) FROM ranked WHERE place IN ((owners + 1) / 2, (owners + 2) / 2)

-- name: begun_mark
-- types: :now real, :clean_s real, :median real
INSERT INTO droppers (owner, since, dropped, begun, median) VALUES (:owner, :now, :dropped, :begun, :median)
ON CONFLICT DO UPDATE SET since = excluded.since, dropped = excluded.dropped, begun = excluded.begun, median = excluded.median
WHERE since <= :now - :clean_s

-- The owner of a machine that dropped too much, as it was then, and in tests in which others have played the pairs that it
-- dropped since :since, their score and its own.
-- name: begun_dropper row
-- types: dropped int, begun int, median real, pairs int, theirs real?, own real?, :since real
WITH again AS MATERIALIZED (SELECT a.* FROM workers w CROSS JOIN dropped_again a ON a.owner = w.owner AND a.created > :since WHERE w.id = :worker)
SELECT o.dropped, o.begun, o.median, (SELECT coalesce(sum(pairs), 0) FROM again) AS pairs, (SELECT sum(points) / sum(games) FROM again) AS theirs,
       (SELECT sum(b.wins + 0.5 * b.draws) / sum(b.wins + b.losses + b.draws) FROM counted_batches b
        WHERE b.owner = o.owner AND b.test_id IN (SELECT test_id FROM again)) AS own
FROM workers w JOIN droppers o ON o.owner = w.owner WHERE w.id = :worker

-- One of the latest tasks of a machine that it gave back after :since, and since it was unblocked, with no game begun and a batch
-- to play, and which is not noted yet.
-- name: begun_returned row
-- types: :since real, :worker int
SELECT k.id, k.test_id, k.owner, k.level, k.first_pair, k.next_seq, t.batch_pairs
FROM (SELECT * FROM tasks WHERE worker_id = :worker ORDER BY id DESC LIMIT 16) k JOIN tests t ON t.id = k.test_id AND t.state = 'active'
WHERE k.state = 'released' AND k.finished > max(:since, (SELECT released FROM workers WHERE id = :worker)) AND k.next_seq * t.batch_pairs < k.pair_count
  AND NOT EXISTS (SELECT 1 FROM dropped d WHERE d.task_id = k.id)
LIMIT 1

-- ---- what machines show

-- name: ledger_conduct_add
INSERT INTO conduct (test_id, worker_id, since, batches, games, crashes, time_losses, ponders, moves, wrong, flagged, last)
SELECT s.test_id, s.worker_id, w.released, 1, s.games, s.crashes, s.time_losses, s.ponders, s.moves, s.wrong, s.flagged, s.received
FROM batches b JOIN shown s ON s.batch_id = b.id JOIN workers w ON w.id = b.worker_id WHERE b.task_id = :task AND b.seq = :seq
ON CONFLICT (test_id, worker_id, since) DO UPDATE SET batches = batches + 1, games = games + excluded.games,
    crashes = crashes + excluded.crashes, time_losses = time_losses + excluded.time_losses, ponders = ponders + excluded.ponders,
    moves = moves + excluded.moves, wrong = wrong + excluded.wrong, flagged = flagged + excluded.flagged,
    last = max(last, excluded.last)

-- name: ledger_test_conduct_add
INSERT INTO test_conduct (test_id, batches, games, crashes, time_losses, ponders, moves, wrong, flagged)
SELECT s.test_id, 1, s.games, s.crashes, s.time_losses, s.ponders, s.moves, s.wrong, s.flagged
FROM batches b JOIN shown s ON s.batch_id = b.id WHERE b.task_id = :task AND b.seq = :seq
ON CONFLICT (test_id) DO UPDATE SET batches = batches + 1, games = games + excluded.games,
    crashes = crashes + excluded.crashes, time_losses = time_losses + excluded.time_losses, ponders = ponders + excluded.ponders,
    moves = moves + excluded.moves, wrong = wrong + excluded.wrong, flagged = flagged + excluded.flagged

-- The games of a task, of its batch :seq, and of its test that ended by a fault.
-- name: ledger_faults row
-- types: :seq int, task_games int, task_crashes int, task_time_losses int, task_ponders int, crashes int, time_losses int, ponders int
SELECT sum(s.games) AS task_games, sum(s.crashes) AS task_crashes, sum(s.time_losses) AS task_time_losses,
       sum(s.ponders) AS task_ponders, sum(iif(s.seq = :seq, s.crashes, 0)) AS crashes,
       sum(iif(s.seq = :seq, s.time_losses, 0)) AS time_losses, sum(iif(s.seq = :seq, s.ponders, 0)) AS ponders,
       t.games AS test_games, t.crashes AS test_crashes, t.time_losses AS test_time_losses, t.ponders AS test_ponders
FROM batches b JOIN shown s ON s.batch_id = b.id JOIN test_conduct t ON t.test_id = b.test_id WHERE b.task_id = :task

-- name: ledger_fault_alarm
INSERT INTO fault_alarms (test_id, ending, created) VALUES (:test, :ending, :now) ON CONFLICT DO NOTHING

-- What the machines that played since :since, or one of them (:worker), are suspected of, the worst machine first. Each
-- count is compared with its expectation: in each test, the count of all machines times the part that this machine has of
-- the games (of the moves, of the batches), and its variance if each of them was equally likely to be struck. Counts
-- that are above half as many again, and by more than :score standard deviations, are named.
-- name: ledger_suspects rows
-- types: :since real, :worker int, :score real, :limit int, kind text, count int, of int, expected real, name text, user text?, blocked bool
WITH recent AS (SELECT * FROM conduct WHERE :worker = 0 AND last > :since
                UNION ALL SELECT * FROM conduct WHERE worker_id = :worker AND last > :since),
     parts AS (SELECT c.*, t.crashes AS all_crashes, t.time_losses AS all_time, t.ponders AS all_ponders, t.wrong AS all_wrong,
                      t.flagged AS all_flagged, 1.0 * c.games / max(t.games, 1) AS p, 1.0 * c.moves / max(t.moves, 1) AS m,
                      1.0 * c.batches / t.batches AS b
               FROM recent c JOIN test_conduct t ON t.test_id = c.test_id JOIN workers w ON w.id = c.worker_id AND w.released = c.since),
     sums AS (SELECT worker_id, sum(games) AS games, sum(moves) AS moves, sum(batches) AS batches, sum(crashes) AS crashes,
                     sum(time_losses) AS time, sum(ponders) AS ponders, sum(wrong) AS wrong, sum(flagged) AS flagged,
                     sum(all_crashes * p) AS crashes_e, sum(all_crashes * p * (1 - p)) AS crashes_v, sum(all_time * p) AS time_e,
                     sum(all_time * p * (1 - p)) AS time_v, sum(all_ponders * p) AS ponders_e, sum(all_ponders * p * (1 - p)) AS ponders_v,
                     sum(all_wrong * m) AS wrong_e, sum(all_wrong * m * (1 - m)) AS wrong_v, sum(all_flagged * b) AS flagged_e,
                     sum(all_flagged * b * (1 - b)) AS flagged_v
              FROM parts GROUP BY worker_id),
     counts AS (SELECT worker_id, 'crash' AS kind, crashes AS count, games AS of, crashes_e AS expected, crashes_v AS variance FROM sums
                UNION ALL SELECT worker_id, 'time', time, games, time_e, time_v FROM sums
                UNION ALL SELECT worker_id, 'ponder', ponders, games, ponders_e, ponders_v FROM sums
                UNION ALL SELECT worker_id, 'said', wrong, moves, wrong_e, wrong_v FROM sums
                UNION ALL SELECT worker_id, 'load', flagged, batches, flagged_e, flagged_v FROM sums),
     -- What no honest machine does, or what the server decided when it happened, comes before all counts.
     facts AS (SELECT worker_id, 'games' AS kind, created FROM failures WHERE kind = 'games' AND created > :since
               UNION ALL SELECT worker_id, 'misfit', created FROM misfits WHERE readmitted IS NULL AND created > :since
               UNION ALL SELECT d.worker_id, 'dropped', d.created FROM droppers o CROSS JOIN dropped d ON d.owner = o.owner
                         WHERE o.since > :since AND d.created > :since
               UNION ALL SELECT worker_id, 'rerun', settled FROM reruns WHERE state = 'first' AND settled > :since
               UNION ALL SELECT b.worker_id, 'rerun', r.settled FROM reruns r CROSS JOIN batches b ON b.id = r.second_batch
                         WHERE r.state = 'second' AND r.settled > :since),
     found AS (SELECT worker_id, kind, count, of, expected, (count - expected - 0.5) / sqrt(variance + 1) AS score FROM counts
               WHERE count > 1.5 * expected AND (count - expected - 0.5) / sqrt(variance + 1) > :score
               UNION ALL SELECT f.worker_id, f.kind, count(*), 0, 0.0, CASE WHEN f.kind IN ('misfit', 'dropped') THEN 1e6 ELSE 2e6 END + count(*)
               FROM facts f JOIN workers w ON w.id = f.worker_id AND f.created > w.released
               WHERE :worker IN (0, f.worker_id) GROUP BY f.worker_id, f.kind),
     ranked AS (SELECT *, max(score) OVER (PARTITION BY worker_id) AS worst FROM found)
SELECT r.worker_id, w.name, u.name AS user, w.blocked, r.kind, r.count, r.of, r.expected
FROM ranked r CROSS JOIN workers w ON w.id = r.worker_id LEFT JOIN users u ON u.id = w.user_id
ORDER BY r.worst DESC, r.worker_id, r.score DESC LIMIT :limit

-- ---- reruns

-- How often the owner of a batch was checked, and how many of its batches wait for it. No row: the games of the test do not
-- repeat.
-- name: rerun_order_scene row
-- types: batches int, good int, waiting int, :test int, :owner text, :since real
SELECT coalesce(r.batches, 0) AS batches, coalesce(r.good, 0) AS good,
       (SELECT count(*) FROM reruns d WHERE d.owner = :owner AND d.state = 'due' AND d.created > :since) AS waiting
FROM repeating_tests g LEFT JOIN rerun_runs r ON r.owner = :owner WHERE g.id = :test

-- name: rerun_order
-- types: :class text, :now real
INSERT INTO reruns (batch_id, test_id, first_pair, worker_id, owner, level, class, created)
SELECT b.id, b.test_id, k.first_pair + b.seq * b.units, b.worker_id, b.owner, b.level, :class, :now
FROM batches b JOIN tasks k ON k.id = b.task_id WHERE b.task_id = :task AND b.seq = :seq

-- :good: to add; below 0: a bad one, after which an owner begins anew.
-- name: rerun_run_note
-- types: :batches int, :good int
INSERT INTO rerun_runs (owner, batches, good) VALUES (:owner, max(:batches, 0), max(:good, 0))
ON CONFLICT (owner) DO UPDATE SET batches = iif(:good < 0, 0, batches + :batches), good = iif(:good < 0, 0, good + :good)

-- A maintainer asked for it: the owner of machine :worker begins anew.
-- name: rerun_anew
INSERT INTO rerun_runs (owner, batches, good, asked) SELECT owner, 0, 0, 1 FROM workers WHERE id = :worker
ON CONFLICT (owner) DO UPDATE SET batches = 0, good = 0, asked = 1

-- name: rerun_machine row
-- types: arch text?, isa text?, cpu text?, compiler text?
SELECT host ->> '$.arch' AS arch, host ->> '$.isa' AS isa, host ->> '$.cpu' AS cpu, host ->> '$.compilers[0]' AS compiler
FROM workers WHERE id = :worker

-- A batch of a test that the machine :worker may play again: those first about which two machines differ, then those of
-- owners that are re-tested. Other machines of its owner may check it only if no other owner is active (:alone).
-- name: rerun_find row
-- types: :alone bool, :level int, :class text, :owner text, :since real
SELECT r.batch_id, r.first_pair FROM reruns r
WHERE r.test_id = :test AND r.state IN ('due', 'third') AND r.created > :since AND r.worker_id <> :worker AND r.level <= :level
  AND (:alone OR r.owner <> :owner) AND (r.state = 'due' OR r.class = :class)
  AND NOT EXISTS (SELECT 1 FROM tasks k WHERE k.rerun_of = r.batch_id
                  AND (k.state = 'open' OR k.worker_id = :worker OR (NOT :alone AND k.owner = :owner)))
ORDER BY r.state DESC, (SELECT q.asked FROM rerun_runs q WHERE q.owner = r.owner) DESC, r.batch_id LIMIT 1

-- name: rerun_end
UPDATE reruns SET state = 'ended' WHERE test_id = :test AND state IN ('due', 'third')

-- name: rerun_tasks_stop
-- types: :now real
UPDATE tasks SET state = 'stopped', finished = :now WHERE test_id = :test AND state = 'open' AND rerun_of IS NOT NULL

-- The games with which the batch of task :task is compared: those of the first machine and of the second.
-- name: rerun_games row
-- types: first text?, second text?
SELECT b.games_sha256 AS first, s.games_sha256 AS second
FROM tasks k JOIN reruns r ON r.batch_id = k.rerun_of JOIN batches b ON b.id = r.batch_id
     LEFT JOIN batches s ON s.id = r.second_batch
WHERE k.id = :task

-- name: rerun_state row
-- types: second_worker int?, second_owner text?
SELECT r.batch_id, r.test_id, r.first_pair, r.worker_id, r.owner, r.class, r.state, r.second_class, r.difference,
       s.worker_id AS second_worker, s.owner AS second_owner
FROM tasks k JOIN reruns r ON r.batch_id = k.rerun_of LEFT JOIN batches s ON s.id = r.second_batch WHERE k.id = :task

-- name: rerun_second
-- types: :class text, :now real
UPDATE reruns SET state = :state, second_class = :class, difference = :difference, settled = iif(:state = 'same', :now, NULL),
       second_batch = (SELECT id FROM batches WHERE task_id = :task AND seq = 0)
WHERE batch_id = :batch

-- name: rerun_settle
UPDATE reruns SET state = :state, settled = :now WHERE batch_id = :batch

-- ---- the audit

-- Whether the sums of what machines show in a test are those of its batches.
-- name: ledger_check_conduct value
-- types: value bool, :test int
WITH sums AS (SELECT worker_id, count(*) AS batches, sum(games) AS games, sum(crashes) AS crashes, sum(time_losses) AS time_losses,
                     sum(ponders) AS ponders, sum(moves) AS moves, sum(wrong) AS wrong, sum(flagged) AS flagged
              FROM shown WHERE test_id = :test GROUP BY worker_id),
     kept AS (SELECT worker_id, sum(batches) AS batches, sum(games), sum(crashes), sum(time_losses), sum(ponders), sum(moves),
                     sum(wrong), sum(flagged) FROM conduct WHERE test_id = :test GROUP BY worker_id),
     whole AS (SELECT sum(batches), sum(games), sum(crashes), sum(time_losses), sum(ponders), sum(moves), sum(wrong), sum(flagged)
               FROM sums HAVING count(*) > 0)
SELECT NOT EXISTS (SELECT * FROM sums EXCEPT SELECT * FROM kept) AND NOT EXISTS (SELECT * FROM kept EXCEPT SELECT * FROM sums)
   AND NOT EXISTS (SELECT * FROM whole EXCEPT SELECT batches, games, crashes, time_losses, ponders, moves, wrong, flagged
                   FROM test_conduct WHERE test_id = :test)

-- Whether the sums of what owners reported and dropped are those of batches and tasks.
-- name: ledger_check_begun value
-- types: value bool
WITH seen AS (SELECT b.owner, CAST(b.received / 86400 AS INTEGER) AS day, b.level, 1 AS reported, 0 AS dropped
              FROM batches b JOIN tasks k ON k.id = b.task_id
              WHERE NOT EXISTS (SELECT 1 FROM dropped d WHERE d.task_id = k.id AND d.first_pair = k.first_pair + b.seq * b.units)
              UNION ALL SELECT k.owner, CAST(d.created / 86400 AS INTEGER), k.level, 0, 1
              FROM dropped d JOIN tasks k ON k.id = d.task_id),
     sums AS (SELECT owner, day, level, sum(reported), sum(dropped) FROM seen GROUP BY owner, day, level)
SELECT NOT EXISTS (SELECT * FROM sums EXCEPT SELECT * FROM owner_days) AND NOT EXISTS (SELECT * FROM owner_days EXCEPT SELECT * FROM sums)

-- name: ledger_check_tests rows
-- types: result text, has_exclusions bool, repeats bool
SELECT id, state, workload, parameters, batch_pairs, pairs_max, next_pair, coalesce(result, '') AS result,
       units_counted, counts, points, promise, positions, unsettled, author_id, units_recorded, units_unproven, units_author,
       EXISTS (SELECT 1 FROM exclusions x WHERE x.test_id = tests.id)
           OR EXISTS (SELECT 1 FROM outvoted o WHERE o.test_id = tests.id) AS has_exclusions,
       (SELECT b.openings FROM books b WHERE b.id = tests.book_id) AS openings,
       EXISTS (SELECT 1 FROM repeating_tests g WHERE g.id = tests.id) AS repeats
FROM tests ORDER BY id

-- Summed here and not in C, so that a fault of the code that counts is seen as well.
-- name: ledger_check_totals row
-- types: ptnml0 int, ptnml1 int, ptnml2 int, ptnml3 int, ptnml4 int
-- types: units int, recorded int, unproven int, author int, wins int, losses int, draws int, crashes int, time_losses int, ponders int, ponders_against int
SELECT coalesce(sum(length(outcomes) - length(replace(outcomes, '0', ''))), 0) AS ptnml0,
       coalesce(sum(length(outcomes) - length(replace(outcomes, '1', ''))), 0) AS ptnml1,
       coalesce(sum(length(outcomes) - length(replace(outcomes, '2', ''))), 0) AS ptnml2,
       coalesce(sum(length(outcomes) - length(replace(outcomes, '3', ''))), 0) AS ptnml3,
       coalesce(sum(length(outcomes) - length(replace(outcomes, '4', ''))), 0) AS ptnml4,
       coalesce(sum(units), 0) AS units, coalesce(sum(iif(level = 1, units, 0)), 0) AS recorded,
       coalesce(sum(iif(level = 0, units, 0)), 0) AS unproven,
       coalesce(sum(iif(owner = (SELECT 'user ' || author_id FROM tests WHERE id = :test), units, 0)), 0) AS author,
       coalesce(sum(wins), 0) AS wins, coalesce(sum(losses), 0) AS losses, coalesce(sum(draws), 0) AS draws,
       coalesce(sum(crashes), 0) AS crashes, coalesce(sum(time_losses), 0) AS time_losses,
       coalesce(sum(ponders), 0) AS ponders, coalesce(sum(ponders_against), 0) AS ponders_against
FROM counted_batches WHERE test_id = :test

-- Those that came in time stand in the order of counting, after all others.
-- name: ledger_check_batches rows
-- types: waits bool, excluded bool
SELECT b.id, k.first_pair, k.told, b.seq, b.units, b.result, b.waits, b.position, b.owner, b.level,
       b.excluded, b.flags, b.busy, b.load_delay, b.load_steal, b.load_swap_mib, b.load_speed,
       b.load_speed_before, b.limit_busy, b.limit_slow, b.limit_swap_mib
FROM log b JOIN tasks k ON k.id = b.task_id WHERE b.test_id = :test ORDER BY b.position, b.id

-- name: ledger_check_history row
SELECT units, state FROM history WHERE test_id = :test AND position = :position

-- name: ledger_check_history_rows value
-- types: value int
SELECT count(*) FROM history WHERE test_id = :test

-- name: ledger_check_tasks rows
-- types: batches int
SELECT id, first_pair, pair_count, state, next_seq,
       (SELECT count(*) FROM batches b WHERE b.task_id = tasks.id) AS batches FROM tasks WHERE test_id = :test AND rerun_of IS NULL
ORDER BY id

-- name: ledger_check_returned rows
SELECT first_pair, pair_count FROM returned_pairs WHERE test_id = :test
