-- Queries of merges: what a policy asks, and the queue of each engine.

-- ---- the policy

-- '': the engine has none of its own.
-- name: merge_policy row
-- types: trust text
SELECT e.policy, e.name, (SELECT mode FROM trust) AS trust FROM engines e WHERE e.id = :engine

-- name: merge_policy_set
UPDATE engines SET policy = :policy WHERE id = :engine

-- The accepted tests of what test :test changes: on the same trees.
-- name: merge_accepted rows
-- types: vouched int
SELECT t.id, t.workload, t.parameters, t.pairs_max, n.tc, n.threads,
       (SELECT count(DISTINCT o.owner) FROM owner_totals o WHERE o.test_id = t.id AND o.level = 2) AS vouched
FROM tests t JOIN sides n ON n.test_id = t.id AND n.side = 'new' JOIN sides b ON b.test_id = t.id AND b.side = 'base'
WHERE t.id IN (SELECT :test UNION SELECT a.test_id FROM ideas i JOIN ideas a ON a.engine_id = i.engine_id AND a.base_tree = i.base_tree AND a.tree = i.tree
               WHERE i.test_id = :test)
  AND t.result = 'accepted' AND NOT t.harmful AND n.options = b.options ORDER BY t.id

-- A test of the same trees whose merge was undone; 0: none.
-- name: merge_undone_alike value
-- types: value int
SELECT coalesce(max(t.id), 0) FROM ideas i JOIN ideas a ON a.engine_id = i.engine_id AND a.base_tree = i.base_tree AND a.tree = i.tree
       JOIN tests t ON t.id = a.test_id WHERE i.test_id = :test AND t.undone IS NOT NULL

-- ---- the queue

-- An open row of an engine; 0: none.
-- name: merge_open_of_engine value
-- types: value int
SELECT coalesce((SELECT min(id) FROM merges WHERE engine_id = :engine AND ended IS NULL), 0)

-- name: merge_add
-- types: :turned bool, :baseline text?, :candidate text?, :trial int?
INSERT INTO merges (engine_id, test_id, user_id, turned, state, baseline, candidate, trial_id, created)
VALUES (:engine, :test, :user, :turned, :state, :baseline, :candidate, :trial, :now)

-- A row that waited begins its trial.
-- name: merge_begin
UPDATE merges SET state = 'trial', baseline = :baseline, candidate = :candidate, trial_id = :trial WHERE id = :id

-- Its tree was made for a baseline that has moved since.
-- name: merge_wait_again
UPDATE merges SET state = 'waiting', baseline = NULL, candidate = NULL, trial_id = NULL WHERE id = :id

-- name: merge_end
UPDATE merges SET state = :state, reason = :reason, ended = :now WHERE id = :id

-- The next row after engine :after that can be looked at: the first that waits of an engine without a trial.
-- name: merge_next row
-- types: turned bool, admin bool
SELECT m.id, m.engine_id, m.test_id, m.turned, m.user_id, u.name AS user, u.admin
FROM merges m JOIN users u ON u.id = m.user_id
WHERE m.ended IS NULL AND m.state = 'waiting' AND m.engine_id > :after
  AND NOT EXISTS (SELECT 1 FROM merges w WHERE w.engine_id = m.engine_id AND w.state = 'trial')
ORDER BY m.engine_id, m.id LIMIT 1

-- name: merge_row row
-- types: admin bool, active bool
SELECT m.id, m.test_id, m.state, m.user_id, u.name AS user, u.admin, u.state = 'active' AS active
FROM merges m JOIN users u ON u.id = m.user_id WHERE m.id = :id

-- The open row of test :test, or its newest one.
-- name: merge_of_test row
-- types: ahead int
SELECT m.id, m.state, m.reason, m.trial_id, m.user_id, m.created, u.name AS user,
       (SELECT count(*) FROM merges b WHERE b.engine_id = m.engine_id AND b.ended IS NULL AND b.id < m.id) AS ahead
FROM merges m JOIN users u ON u.id = m.user_id WHERE m.test_id = :test ORDER BY m.id DESC LIMIT 1

-- A trial that has played :pairs pairs, or all that it may, and whose tree has a count.
-- name: merge_trial_played row
-- types: :pairs int
SELECT t.id AS trial, t.units_counted AS units, c.bench
FROM merges m JOIN tests t ON t.id = m.trial_id JOIN known_commits c ON c.engine_id = m.engine_id AND c.sha = m.candidate
WHERE m.ended IS NULL AND m.state = 'trial' AND t.state = 'active' AND c.bench IS NOT NULL AND t.units_counted >= min(:pairs, t.pairs_max)
ORDER BY m.id LIMIT 1

-- It is as long as what was played.
-- name: merge_trial_limit
UPDATE tests SET pairs_max = :pairs WHERE id = :trial

-- A trial that has ended, and what became of it. `crashes`: games that a side did not end.
-- name: merge_trials_ended row
-- types: bench int?, crashes int, turned bool, admin bool, active bool
SELECT m.id, m.engine_id, m.test_id, m.turned, m.baseline, m.candidate, m.trial_id, e.name AS engine, e.branch,
       m.user_id, u.name AS user, u.admin, u.state = 'active' AS active, t.result, t.reason, c.bench,
       (SELECT coalesce(sum(b.crashes), 0) FROM counted_batches b WHERE b.test_id = t.id) AS crashes
FROM merges m JOIN tests t ON t.id = m.trial_id JOIN users u ON u.id = m.user_id JOIN engines e ON e.id = m.engine_id
     JOIN known_commits c ON c.engine_id = m.engine_id AND c.sha = m.candidate
WHERE m.ended IS NULL AND m.state = 'trial' AND t.state = 'finished' ORDER BY m.id LIMIT 1

-- name: merge_trial_mark
UPDATE tests SET trial_of = :test, retest_of = NULL WHERE id = :trial

-- The queue of an engine, for people.
-- name: merge_queue array
-- types: test int, trial int?
SELECT m.id, m.test_id AS test, t.title, m.state, m.trial_id AS trial, u.name AS user, m.created
FROM merges m JOIN tests t ON t.id = m.test_id JOIN users u ON u.id = m.user_id
WHERE m.engine_id = :engine AND m.ended IS NULL ORDER BY m.id

-- ---- merged commits

-- The test that made a commit of the branch; 0: none.
-- name: merge_test_of_commit value
-- types: value int
SELECT coalesce((SELECT max(id) FROM tests WHERE engine_id = :engine AND merged_commit = :commit), 0)

-- name: merge_undone
UPDATE tests SET undone = :now WHERE id = :test

-- Merges of an engine by trials since its branch had a tree that a test accepted, and the commit of that. They count
-- until they are undone.
-- name: merge_untested row
-- types: since text?, count int
WITH steps AS (SELECT t.id, t.merged, t.merged_commit, t.undone,
                      EXISTS (SELECT 1 FROM sides s JOIN tests a ON a.id = s.test_id AND a.result = 'accepted'
                              WHERE s.engine_id = t.engine_id AND s.sha = t.merged_commit AND s.side = 'new')
                      OR NOT EXISTS (SELECT 1 FROM merges m WHERE m.test_id = t.id AND m.state = 'merged' AND m.trial_id IS NOT NULL) AS tested
               FROM tests t WHERE t.engine_id = :engine AND t.merged_commit IS NOT NULL),
     last AS (SELECT merged, merged_commit FROM steps WHERE tested ORDER BY merged DESC LIMIT 1)
SELECT count(*) AS count, coalesce((SELECT merged_commit FROM last),
       (SELECT t.merged_onto FROM tests t WHERE t.engine_id = :engine AND t.merged_commit IS NOT NULL ORDER BY t.merged LIMIT 1)) AS since
FROM steps WHERE NOT tested AND undone IS NULL AND merged > coalesce((SELECT merged FROM last), 0)
