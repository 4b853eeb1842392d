-- Queries of nets that were uploaded.

-- name: net_add
INSERT INTO nets (engine_id, sha256, name, note, user_id, created) VALUES (:engine, :sha256, :name, :note, :user, :created) ON CONFLICT DO NOTHING

-- name: net_by_sha object
SELECT n.id, e.name AS engine, n.sha256, n.name, n.note, u.name AS user, b.size, n.created
FROM nets n JOIN engines e ON e.id = n.engine_id JOIN users u ON u.id = n.user_id JOIN blobs b ON b.sha256 = n.sha256
WHERE n.engine_id = :engine AND n.sha256 = :sha256

-- name: net_size value
SELECT b.size FROM nets n JOIN blobs b ON b.sha256 = n.sha256 WHERE n.engine_id = :engine AND n.sha256 = :sha256

-- Bytes that the user has uploaded.
-- name: net_bytes_since value
-- types: value int
SELECT coalesce(sum(b.size), 0) FROM nets n JOIN blobs b ON b.sha256 = n.sha256 WHERE n.user_id = :user AND n.created > :since

-- Nets that builds of the test need and that were not uploaded. The builds are those of its sides, and of the
-- commit with which machines measure their speed.
-- name: net_missing rows
-- types: net text
SELECT DISTINCT c.net
FROM (SELECT engine_id, sha FROM sides WHERE test_id = :test
      UNION ALL SELECT e.id, e.reference_commit FROM tests t JOIN engines e ON e.id = t.engine_id WHERE t.id = :test) b
     JOIN commits c ON c.engine_id = b.engine_id AND c.sha = b.sha
WHERE c.files <> '[]'
  AND NOT EXISTS (SELECT 1 FROM nets n WHERE n.engine_id = c.engine_id AND n.sha256 = c.net)

-- The same for one commit.
-- name: net_missing_of_commit value
SELECT c.net FROM commits c WHERE c.engine_id = :engine AND c.sha = :sha AND c.files <> '[]'
  AND NOT EXISTS (SELECT 1 FROM nets n WHERE n.engine_id = c.engine_id AND n.sha256 = c.net)

-- Tests that may have waited for the net.
-- name: net_waiting rows
SELECT t.id FROM tests t
WHERE t.engine_id = :engine AND t.state = 'pending'
  AND EXISTS (SELECT 1 FROM sides s JOIN commits c ON c.engine_id = s.engine_id AND c.sha = s.sha
              WHERE s.test_id = t.id AND c.net = :sha256)

-- Newest first, before an id. :engine '': of all engines, :sha256 '': all nets.
-- name: page_nets array
-- types: :limit int
SELECT n.id, e.name AS engine, n.engine_id, n.sha256, n.name, n.note, u.name AS user, b.size, n.created
FROM nets n JOIN engines e ON e.id = n.engine_id JOIN users u ON u.id = n.user_id JOIN blobs b ON b.sha256 = n.sha256
WHERE n.id < :before AND (:engine = '' OR e.name = :engine) AND (:sha256 = '' OR n.sha256 = :sha256)
ORDER BY n.id DESC LIMIT :limit

-- The newest tests of which a side was built with the net, and the number of all such tests.
-- name: page_tests_of_net array
WITH used AS (SELECT DISTINCT s.test_id AS id FROM commits c JOIN sides s ON s.engine_id = c.engine_id AND s.sha = c.sha
              WHERE c.engine_id = :engine AND c.net = :sha256)
SELECT t.id, t.title, t.state, t.result, (SELECT count(*) FROM used) AS total
FROM tests t WHERE t.id IN (SELECT id FROM used) ORDER BY t.id DESC LIMIT 5

-- name: page_net_engines array
SELECT id, name, title, net_file, net_path FROM engines WHERE net_file <> '' ORDER BY id
