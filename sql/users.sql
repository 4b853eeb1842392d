-- Queries of accounts: users, sessions, tokens, roles, wrong passwords.

-- name: user_add
INSERT INTO users (name, email, password, state, admin, created) VALUES (:name, :email, :password, :state, :admin, :created)

-- name: user_by_name
SELECT id, name, email, password, state, admin, created FROM users WHERE name = ?1

-- name: user_by_id
SELECT id, name, email, password, state, admin, created FROM users WHERE id = ?1

-- name: user_set_password
UPDATE users SET password = ?2 WHERE id = ?1

-- Stores a new hash of the same password.
-- name: user_rehash
UPDATE users SET password = ?3 WHERE id = ?1 AND password = ?2

-- name: user_set_state
UPDATE users SET state = ?2 WHERE id = ?1

-- name: user_set_admin
UPDATE users SET admin = ?2 WHERE id = ?1

-- name: users_all
SELECT id, name, email, state, admin, created,
       (SELECT coalesce(json_group_array(json_object('engine', engines.name, 'role', roles.role)), '[]')
        FROM roles JOIN engines ON engines.id = roles.engine_id
        WHERE roles.user_id = users.id) AS roles_json
FROM users ORDER BY name

-- name: session_add
INSERT INTO sessions (token_hash, user_id, csrf, address, created, expires)
VALUES (:token_hash, :user_id, :csrf, :address, :created, :expires)

-- name: session_viewer
SELECT users.id, users.name, users.admin, sessions.csrf
FROM sessions JOIN users ON users.id = sessions.user_id
WHERE sessions.token_hash = ?1 AND sessions.expires > ?2 AND users.state = 'active'

-- name: session_remove
DELETE FROM sessions WHERE token_hash = ?1

-- name: sessions_remove_others
DELETE FROM sessions WHERE user_id = ?1 AND token_hash <> ?2

-- name: token_add
INSERT INTO api_tokens (user_id, token_hash, scope, name, created) VALUES (:user_id, :token_hash, :scope, :name, :created)

-- name: token_viewer
SELECT users.id, users.name, users.admin, api_tokens.id AS token_id, api_tokens.scope,
       coalesce(api_tokens.last_used, 0.0) AS last_used
FROM api_tokens JOIN users ON users.id = api_tokens.user_id
WHERE api_tokens.token_hash = ?1 AND users.state = 'active'

-- name: token_used
UPDATE api_tokens SET last_used = ?2 WHERE id = ?1

-- name: token_remove
DELETE FROM api_tokens WHERE id = ?1 AND user_id = ?2

-- name: tokens_remove_all
DELETE FROM api_tokens WHERE user_id = ?1

-- name: tokens_of_user
SELECT id, scope, name, created, last_used FROM api_tokens WHERE user_id = ?1 ORDER BY id

-- name: worker_viewer
SELECT w.id, w.name, w.user_id, w.owner, s.barred FROM workers w JOIN standings s ON s.id = w.id WHERE w.token_hash = ?1

-- For engine ?2; 0: for any engine.
-- name: role_develops
SELECT 1 WHERE EXISTS (SELECT 1 FROM users WHERE id = ?1 AND admin = 1)
    OR EXISTS (SELECT 1 FROM roles WHERE user_id = ?1 AND (?2 = 0 OR engine_id = ?2));

-- For engine ?2; 0: for any engine.
-- name: role_has
SELECT 1 WHERE EXISTS (SELECT 1 FROM roles WHERE user_id = ?1 AND (?2 = 0 OR engine_id = ?2) AND role = ?3)

-- name: role_add
INSERT INTO roles (user_id, engine_id, role) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING

-- name: role_remove
DELETE FROM roles WHERE user_id = ?1 AND engine_id = ?2 AND role = ?3

-- name: role_engine_by_name
SELECT id FROM engines WHERE name = ?1

-- name: roles_of_user
SELECT engines.name AS engine, roles.role FROM roles JOIN engines ON engines.id = roles.engine_id
WHERE roles.user_id = ?1 ORDER BY engines.name, roles.role

-- name: login_failures_of
SELECT count, last FROM login_failures WHERE subject = ?1

-- Counts anew if the last failure is more than :forget_s seconds ago.
-- name: login_failure_add
-- types: :forget_s real
INSERT INTO login_failures (subject, count, last) VALUES (:subject, 1, :now)
ON CONFLICT (subject) DO UPDATE SET count = CASE WHEN last < :now - :forget_s THEN 1 ELSE count + 1 END, last = :now

-- name: login_failures_clear
DELETE FROM login_failures WHERE subject = ?1

-- For account ?1, from all networks.
-- name: login_failures_forget
DELETE FROM login_failures WHERE subject = ?1 OR (subject > ?1 || ' ' AND subject < ?1 || '!')

-- name: known_network
SELECT 1 FROM known_networks WHERE user_id = ?1 AND network = ?2

-- name: known_network_add
INSERT INTO known_networks (user_id, network, last) VALUES (?1, ?2, ?3)
ON CONFLICT (user_id, network) DO UPDATE SET last = excluded.last

-- Keeps the last ?2 networks, or (?3) browsers.
-- name: known_networks_trim
DELETE FROM known_networks WHERE user_id = ?1 AND (network GLOB 'device *') = ?3
    AND network NOT IN (SELECT network FROM known_networks WHERE user_id = ?1 AND (network GLOB 'device *') = ?3 ORDER BY last DESC LIMIT ?2)
