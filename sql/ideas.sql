-- Queries of what tests change, for server/submit/ideas.c.

-- name: idea_add
-- types: :patch_id text?, :reverse_id text?, :verbatim_id text?, :verbatim_reverse text?
INSERT INTO ideas (test_id, engine_id, base_tree, tree, patch_id, reverse_id, verbatim_id, verbatim_reverse, missing)
VALUES (:test, :engine, :base_tree, :tree, :patch_id, :reverse_id, :verbatim_id, :verbatim_reverse, :missing)

-- What a test changes and what it asks for.
-- name: idea_of_test row
SELECT i.engine_id, i.base_tree, i.tree, i.patch_id, i.reverse_id, i.verbatim_id, i.verbatim_reverse, i.missing,
       t.workload, t.parameters, t.state, t.units_counted, n.options AS new_options, b.options AS base_options
FROM ideas i JOIN tests t ON t.id = i.test_id JOIN sides n ON n.test_id = t.id AND n.side = 'new'
     JOIN sides b ON b.test_id = t.id AND b.side = 'base'
WHERE i.test_id = :test

-- The tests of an engine, at most :limit, that have the tree :tree, the patch-id :patch_id or its reverse: those at
-- which a maintainer looked, then the others, each newest first. The trial of a merge is none of its own. Of many it reads few, because it runs in the turn. A
-- test that changes nothing is about its options, so it is alike only to those with the same ones.
-- name: ideas_alike array
-- types: :tree text, :base_tree text, :patch_id text?, :reverse_id text?, :verbatim_id text?, :verbatim_reverse text?
-- types: :new_options text, :base_options text, :limit int, white_space bool, other_base bool, harmful bool
WITH alike (id, looked_at) AS (
    SELECT * FROM (SELECT test_id, looked_at FROM ideas WHERE engine_id = :engine AND tree = :tree
                   AND test_id <> :test ORDER BY looked_at DESC, test_id DESC LIMIT :limit)
    UNION
    SELECT * FROM (SELECT test_id, looked_at FROM ideas WHERE engine_id = :engine AND base_tree = :tree
                   AND tree = :base_tree AND test_id <> :test ORDER BY looked_at DESC, test_id DESC LIMIT :limit)
    UNION
    SELECT * FROM (SELECT test_id, looked_at FROM ideas WHERE engine_id = :engine AND patch_id = :patch_id
                   AND test_id <> :test ORDER BY looked_at DESC, test_id DESC LIMIT :limit)
    UNION
    SELECT * FROM (SELECT test_id, looked_at FROM ideas WHERE engine_id = :engine AND patch_id = :reverse_id
                   AND test_id <> :test ORDER BY looked_at DESC, test_id DESC LIMIT :limit)
    UNION
    SELECT * FROM (SELECT test_id, looked_at FROM ideas WHERE engine_id = :engine AND reverse_id = :patch_id
                   AND test_id <> :test ORDER BY looked_at DESC, test_id DESC LIMIT :limit)
    ORDER BY 2 DESC, 1 DESC LIMIT :limit)
SELECT t.id, t.title, u.name AS author, t.state, t.result, t.harmful, t.created, t.finished, t.workload, t.parameters,
       t.counts, t.units_counted,
       CASE WHEN i.tree = :tree THEN 'tree' WHEN i.patch_id = :patch_id THEN 'patch' ELSE 'reverse' END AS alike,
       CASE WHEN i.tree = :tree OR (i.tree = :base_tree AND i.base_tree = :tree) THEN 0
            WHEN i.patch_id = :patch_id THEN i.verbatim_id <> :verbatim_id
            ELSE i.verbatim_id <> :verbatim_reverse END AS white_space,
       i.base_tree <> :base_tree AS other_base
FROM alike a JOIN ideas i ON i.test_id = a.id JOIN tests t ON t.id = a.id JOIN users u ON u.id = t.author_id
     JOIN sides n ON n.test_id = t.id AND n.side = 'new' JOIN sides b ON b.test_id = t.id AND b.side = 'base'
WHERE t.trial_of IS NULL AND (:tree <> :base_tree OR (i.tree = i.base_tree AND n.options = :new_options AND b.options = :base_options))
ORDER BY a.looked_at DESC, t.id DESC
