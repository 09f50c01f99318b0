-- Up Migration
-- The operations. Each sets its tenant first, so that row-level security holds inside it as well; each that
-- changes what an admission rests on takes the exclusive lock of its scope, bumps the fence, and commits before
-- anything is answered. All are SECURITY DEFINER under a role that row-level security binds too.
set local role genlock_owner;
set local search_path = genlock;

-- Locks and fence -----------------------------------------------------------------------------------------------------
-- Order everywhere: tenant, then server. Admission takes both shared.
-- Whoever takes a lock compares in the next statement, which has to see what was committed before the lock: under any other
-- isolation its snapshot would be older, and a revocation could go unseen. So there is no key, and no lock, under another.
create function lock_key(p_tenant text, p_server text) returns bigint language plpgsql stable as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'this operation runs under READ COMMITTED only' using errcode = 'invalid_transaction_state';
  end if;
  return hashtextextended('genlock:' || p_tenant || '/' || p_server, 0);
end $$;

create function bump_fence(p_tenant text, p_server text) returns bigint language plpgsql volatile as $$
declare v bigint;
begin
  insert into fence as f (tenant, server) values (p_tenant, p_server)
    on conflict (tenant, server) do update set version = f.version + 1
    returning version into v;
  perform pg_notify('genlock_fence', p_tenant || '/' || p_server);
  return v;
end $$;

create function fence_text(p_tenant text, p_server text) returns text language sql stable as
  $$ select incarnation::text || ':' || version from fence where tenant = p_tenant and server = p_server $$;

create function insert_receipt(r jsonb) returns void language sql volatile as $$
  insert into receipt (tenant, id, kind, subject, server, identity, audience, generation, page_root, tool_id, descriptor,
    policy_epoch, fence, decision, code, reason, lease, args_digest, resource, credential, jws)
  select r->>'tenant', r->>'id', r->>'kind', r->>'subject', r->>'server', r->>'identity', r->>'audience',
    (r->>'generation')::int, r->>'page_root', r->>'tool_id', r->>'descriptor', (r->>'policy_epoch')::int, r->>'fence',
    r->>'decision', r->>'code', r->>'reason', r->>'lease', r->>'args_digest', r->>'resource', r->>'credential', r->>'jws'
$$;

-- Pointers -----------------------------------------------------------------------------------------------------------
-- How often the pointer of an audience has moved. A closed one counts: what it was cannot be won a second time.
create function pointer_version(p_tenant text, p_server text, p_audience text) returns bigint language sql stable as
  $$ select coalesce(max(version), 0) from active_pointer
    where tenant = p_tenant and server = p_server and audience = p_audience $$;

-- Who answers for a server (D8): the one identity of all its open pointers, whatever their audience.
create function server_identity(p_tenant text, p_server text) returns text language sql stable as
  $$ select identity from active_pointer where tenant = p_tenant and server = p_server and closed_at is null limit 1 $$;

-- Audiences that another one's promotion has left without a catalog.
create function closed_audiences(p_tenant text, p_server text) returns jsonb language sql stable as
  $$ select coalesce(jsonb_agg(audience order by audience), '[]'::jsonb) from (
    select audience from active_pointer where tenant = p_tenant and server = p_server
      group by audience having bool_and(closed_at is not null)) closed $$;

-- Pages (D6) ----------------------------------------------------------------------------------------------------------
-- Claims a scan for one attempt. No row back: a newer segment or attempt has it. The order (segment, attempt) is
-- Temporal's own; a token that the activity increments would let a waking stale attempt steal the scan.
create function claim_scan(p_tenant text, p jsonb) returns setof scan language plpgsql volatile security definer
  set search_path = genlock, pg_temp as $$
begin
  perform set_config('genlock.tenant', p_tenant, true);
  return query insert into scan as s (tenant, id, server, audience, workflow_id, run_id, round, segment, attempt, worker,
      policy_epoch, trust_version, base_pointer_version, base_identity, credential, deadline)
    select p_tenant, p->>'id', p->>'server', p->>'audience', p->>'workflow_id', p->>'run_id', (p->>'round')::int,
      (p->>'segment')::int, (p->>'attempt')::int, p->>'worker',
      coalesce((select max(epoch) from policy_epoch where tenant = p_tenant), 0), v.trust_version,
      pointer_version(p_tenant, p->>'server', p->>'audience'), server_identity(p_tenant, p->>'server'),
      ua.credential, clock_timestamp() + make_interval(secs => (v.limits->>'scanTime')::float8 / 1000)
    from server v join server_audience ua on ua.tenant = v.tenant and ua.server = v.name and ua.audience = p->>'audience'
    where v.tenant = p_tenant and v.name = p->>'server'
    on conflict (tenant, id) do update
      set segment = excluded.segment, attempt = excluded.attempt, worker = excluded.worker
      where (s.segment, s.attempt) < (excluded.segment, excluded.attempt) and s.ended_at is null
    returning *;
end $$;

-- Stores one page under the claim, in one autocommitted statement with the lock on the claim: without the lock a
-- frozen worker that wakes could add its page during an open takeover. Without bytes it is a page whose bytes are kept
-- already. Answers whether the page was stored.
create function store_page(p_tenant text, p_scan text, p_segment int, p_attempt int, p jsonb, p_raw bytea)
  returns boolean language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
declare stored int;
begin
  perform set_config('genlock.tenant', p_tenant, true);
  with claim as (
    select id from scan where tenant = p_tenant and id = p_scan and segment = p_segment and attempt = p_attempt
      and ended_at is null for no key update),
  text as (
    insert into page_text (tenant, raw_digest, reading, raw, tools)
      select p_tenant, p->>'raw_digest', p->>'reading', p_raw, p->'tools' from claim where p_raw is not null
      on conflict do nothing)
  insert into page (tenant, scan, n, request_cursor, next_cursor, null_cursor, result_digest, raw_digest, reading, bytes,
      tools, revision, identity, worker)
    select p_tenant, id, (p->>'n')::int, p->>'request_cursor', p->>'next_cursor', (p->>'null_cursor')::boolean,
      p->>'result_digest', p->>'raw_digest', p->>'reading', (p->>'bytes')::int, (p->>'count')::int,
      nullif(p->'revision', 'null'::jsonb), p->>'identity', p->>'worker'
    from claim;
  get diagnostics stored = row_count;
  return stored = 1;
end $$;

-- States (D5) ----------------------------------------------------------------------------------------------------------
-- The edges of domain/transitions.ts; a test compares the two. No update of a scan leaves them.
create function has_edge(p_from text, p_to text) returns boolean language sql immutable as $$
  select (p_from, p_to) in (
    ('DISCOVERING', 'VALIDATING'), ('DISCOVERING', 'INCOMPLETE'), ('DISCOVERING', 'QUARANTINED'),
    ('DISCOVERING', 'UNVERSIONED_OBSERVATION'),
    ('VALIDATING', 'SNAPSHOT_PROVEN'), ('VALIDATING', 'INCOMPLETE'), ('VALIDATING', 'QUARANTINED'),
    ('SNAPSHOT_PROVEN', 'ELIGIBLE'), ('SNAPSHOT_PROVEN', 'QUARANTINED'), ('SNAPSHOT_PROVEN', 'INCOMPLETE'),
    ('SNAPSHOT_PROVEN', 'RETIRED'),
    ('ELIGIBLE', 'RETIRED'), ('ELIGIBLE', 'QUARANTINED'))
$$;

create function refuse_missing_edge() returns trigger language plpgsql set search_path = genlock, pg_temp as $$
begin
  if new.state <> old.state and not has_edge(old.state, new.state) then
    raise exception 'no edge from % to %', old.state, new.state using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger scan_edges before update of state on scan for each row execute function refuse_missing_edge();

-- What was sealed or has ended stays as it is, whoever writes: a catalog is read from these rows.
create function refuse_late_tools() returns trigger language plpgsql set search_path = genlock, pg_temp as $$
begin
  if exists (select from changed c join scan s on s.tenant = c.tenant and s.id = c.scan where s.ended_at is not null)
    or exists (select from changed c join generation g on g.tenant = c.tenant and g.scan = c.scan where g.snapshot is not null) then
    raise exception 'the tools of a sealed or ended scan do not change' using errcode = 'check_violation';
  end if;
  return null;
end $$;
create trigger late_tools_in after insert on candidate_tool referencing new table as changed
  for each statement execute function refuse_late_tools();
create trigger late_tools_changed after update on candidate_tool referencing new table as changed
  for each statement execute function refuse_late_tools();

create function refuse_resealing() returns trigger language plpgsql set search_path = genlock, pg_temp as $$
begin
  -- The functions of this file run as the owner: a promotion shortens what its predecessor may serve.
  if old.snapshot is not null and current_user <> 'genlock_owner' then
    raise exception 'a sealed generation does not change' using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger resealing before update on generation for each row execute function refuse_resealing();

-- Who answered the first page, under the claim.
create function note_source(p_tenant text, p_scan text, p_segment int, p_attempt int, p jsonb) returns boolean
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
begin
  perform set_config('genlock.tenant', p_tenant, true);
  update scan set protocol = p->>'protocol', identity = p->>'identity', source_evidence = p->'evidence',
      revision = nullif(p->'revision', 'null'::jsonb), credential_fingerprint = p->>'credential_fingerprint',
      credential_expires = to_timestamp((p->>'credential_expires_ms')::float8 / 1000)
    where tenant = p_tenant and id = p_scan and segment = p_segment and attempt = p_attempt and ended_at is null
      and state = 'DISCOVERING' and not exists (select from page where tenant = p_tenant and scan = p_scan);
  return found;
end $$;

-- The session that the pages are read in, under the claim, for as long as pages are missing.
create function keep_session(p_tenant text, p_scan text, p_segment int, p_attempt int, p_sealed text) returns boolean
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
begin
  perform set_config('genlock.tenant', p_tenant, true);
  with claim as (
    select id from scan where tenant = p_tenant and id = p_scan and segment = p_segment and attempt = p_attempt
      and ended_at is null and content_root is null for no key update)
  insert into scan_session as k (tenant, scan, sealed) select p_tenant, id, p_sealed from claim
    on conflict (tenant, scan) do update set sealed = excluded.sealed;
  return found;
end $$;

-- Whoever ends the pages of a scan, or the scan, ends its session; and so does the next scan of the same list, where one was
-- broken off and never ended.
create function forget_sessions() returns trigger language plpgsql set search_path = genlock, pg_temp as $$
begin
  if tg_op = 'UPDATE' then
    delete from scan_session where tenant = new.tenant and scan = new.id
      and (new.content_root is not null or new.ended_at is not null);
  else
    delete from scan_session k using scan s where k.tenant = new.tenant and s.tenant = k.tenant and s.id = k.scan
      and s.server = new.server and s.audience = new.audience and s.id <> new.id;
  end if;
  return null;
end $$;
create trigger sessions_after_claim after insert on scan for each row execute function forget_sessions();
create trigger sessions_after_pages after update of content_root, ended_at on scan
  for each row execute function forget_sessions();

-- The page chain is whole, under the claim: a versioned scan goes on to VALIDATING. Repeating it is fine.
create function complete_scan(p_tenant text, p_scan text, p_segment int, p_attempt int, p_content_root text, p_tools int)
  returns boolean language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
begin
  perform set_config('genlock.tenant', p_tenant, true);
  update scan set state = case when revision is null then 'DISCOVERING' else 'VALIDATING' end,
      content_root = p_content_root, tools = p_tools
    where tenant = p_tenant and id = p_scan and segment = p_segment and attempt = p_attempt and ended_at is null
      and state in ('DISCOVERING', 'VALIDATING');
  return found;
end $$;

-- The tail still had the revision of the pages. Once more, for a hint, only moves the time on.
create function prove_scan(p_tenant text, p_scan text, p_page_root text, p_tail_at timestamptz) returns boolean
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
begin
  perform set_config('genlock.tenant', p_tenant, true);
  update scan set state = 'SNAPSHOT_PROVEN', page_root = p_page_root,
      tail_at = greatest(tail_at, least(p_tail_at, clock_timestamp()))
    where tenant = p_tenant and id = p_scan and ended_at is null and state in ('VALIDATING', 'SNAPSHOT_PROVEN')
      and (page_root is null or page_root = p_page_root);
  return found;
end $$;

-- An end that is no promotion. A scan that has ended keeps its first end.
create function end_scan(p_tenant text, p_scan text, p_state text, p_reason text, p_evidence jsonb) returns boolean
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
begin
  perform set_config('genlock.tenant', p_tenant, true);
  update scan set state = p_state, reason = p_reason, evidence = p_evidence, ended_at = clock_timestamp()
    where tenant = p_tenant and id = p_scan and ended_at is null and p_state <> 'ELIGIBLE' and has_edge(state, p_state);
  return found;
end $$;

-- Contract versions (S2) -------------------------------------------------------------------------------------------------
-- Issues the version of each tool of a candidate, once. A tool keeps the version of the audience's active tool of that
-- name where the contract is the same; else it takes the one that another audience's active tool of the very same
-- contract has, so that one contract is one id for the policies of a tenant, where that number is higher than any that
-- this audience was ever served; else the next number, never used before.
create function issue_contract_versions(p_tenant text, p_scan text) returns void language plpgsql volatile
  security definer set search_path = genlock, pg_temp as $$
declare s scan; own_scan text;
begin
  perform set_config('genlock.tenant', p_tenant, true);
  select * into strict s from scan where tenant = p_tenant and id = p_scan for update;
  perform pg_advisory_xact_lock(lock_key(p_tenant, s.server || '/versions'));
  -- What this audience was served last, also where another identity has closed its pointer: a new key is no new contract.
  select scan into own_scan from active_pointer where tenant = p_tenant and server = s.server and audience = s.audience
    order by version desc limit 1;
  -- Each lookup stands by itself, so that it is one of a whole primary key whatever the planner knows of the tables:
  -- joined, a candidate of 10,000 tools was compared name by name.
  update candidate_tool c set contract_version = (
      select t.contract_version from candidate_tool t
        where t.tenant = p_tenant and t.scan = own_scan and t.name = c.name and t.contract_digest = c.contract_digest)
    where c.tenant = p_tenant and c.scan = p_scan and c.contract_version is null and own_scan is not null;
  update candidate_tool c set contract_version = (
      select max(t.contract_version) from active_pointer a
        join candidate_tool t on t.tenant = a.tenant and t.scan = a.scan and t.name = c.name
          and t.contract_digest = c.contract_digest
        where a.tenant = p_tenant and a.server = s.server and a.audience <> s.audience and a.closed_at is null
          and t.contract_version > coalesce((
            select max(mine.contract_version) from generation g
              join candidate_tool mine on mine.tenant = g.tenant and mine.scan = g.scan and mine.name = c.name
              where g.tenant = p_tenant and g.server = s.server and g.audience = s.audience
                and g.promoted_at is not null), 0))
    where c.tenant = p_tenant and c.scan = p_scan and c.contract_version is null and exists (
      select from active_pointer a where a.tenant = p_tenant and a.server = s.server and a.audience <> s.audience
        and a.closed_at is null);
  insert into contract_counter as k (tenant, server, name, last)
    select p_tenant, s.server, name, 1 from candidate_tool
      where tenant = p_tenant and scan = p_scan and contract_version is null
    on conflict (tenant, server, name) do update set last = k.last + 1;
  -- The lock above is held, so a counter that stands here is the one just moved.
  update candidate_tool c set contract_version = (
      select k.last from contract_counter k where k.tenant = p_tenant and k.server = s.server and k.name = c.name)
    where c.tenant = p_tenant and c.scan = p_scan and c.contract_version is null;
end $$;

-- Reserves the generation number of a candidate, once per scan (S1). Gaps are allowed.
create function reserve_generation(p_tenant text, p_scan text) returns integer language plpgsql volatile
  security definer set search_path = genlock, pg_temp as $$
declare s scan; n integer;
begin
  perform set_config('genlock.tenant', p_tenant, true);
  select * into strict s from scan where tenant = p_tenant and id = p_scan for update;
  select generation into n from generation where tenant = p_tenant and scan = p_scan;
  if found then return n; end if;
  insert into generation_counter as g (tenant, server, audience, last) values (p_tenant, s.server, s.audience, 1)
    on conflict (tenant, server, audience) do update set last = g.last + 1 returning last into n;
  insert into generation (tenant, server, audience, generation, scan) values (p_tenant, s.server, s.audience, n, p_scan);
  return n;
end $$;

-- Names the acceptances that the checks of a candidate rest on. What was sealed was checked: from then on they stay.
create function rest_on(p_tenant text, p_scan text, p_acceptances text[]) returns boolean
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
begin
  perform set_config('genlock.tenant', p_tenant, true);
  update scan set acceptances = p_acceptances
    where tenant = p_tenant and id = p_scan and ended_at is null and state = 'SNAPSHOT_PROVEN'
      and not exists (select from generation where tenant = p_tenant and scan = p_scan and snapshot is not null);
  return found;
end $$;

-- What was found in a candidate as a whole, before it is sealed.
create function note_catalog_findings(p_tenant text, p_scan text, p_findings jsonb) returns boolean
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
begin
  perform set_config('genlock.tenant', p_tenant, true);
  update scan set findings = p_findings
    where tenant = p_tenant and id = p_scan and ended_at is null and state = 'SNAPSHOT_PROVEN'
      and not exists (select from generation where tenant = p_tenant and scan = p_scan and snapshot is not null);
  return found;
end $$;

-- Promotion (P1, P2) -------------------------------------------------------------------------------------------------------
-- The one compare-and-set. Answers {outcome: promoted | lost | fenced, …}; a retry finds its own candidate.
create function promote(p_tenant text, p_scan text, p_fresh_until timestamptz, p_receipt jsonb) returns jsonb
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
declare
  s scan; g generation; v server; a active_pointer; epoch integer; answering text;
begin
  perform set_config('genlock.tenant', p_tenant, true);
  select * into strict s from scan where tenant = p_tenant and id = p_scan;
  perform pg_advisory_xact_lock_shared(lock_key(p_tenant, ''));
  perform pg_advisory_xact_lock(lock_key(p_tenant, s.server));
  select * into strict s from scan where tenant = p_tenant and id = p_scan;
  select * into strict g from generation where tenant = p_tenant and scan = p_scan;
  if g.promoted_at is not null then
    return jsonb_build_object('outcome', 'promoted', 'generation', g.generation, 'receipt', g.receipt,
      'policyEpoch', s.policy_epoch, 'closedAudiences', closed_audiences(p_tenant, s.server));
  end if;
  if p_fresh_until <= clock_timestamp() then return jsonb_build_object('outcome', 'fenced', 'what', 'tail'); end if;
  select * into v from server where tenant = p_tenant and name = s.server;
  select coalesce(max(pe.epoch), 0) into epoch from policy_epoch pe where tenant = p_tenant;
  if s.ended_at is not null or g.state <> 'SNAPSHOT_PROVEN' or g.snapshot is null or s.state <> 'SNAPSHOT_PROVEN' then
    return jsonb_build_object('outcome', 'fenced', 'what', 'candidate');
  end if;
  if v.name is null or v.trust_version <> s.trust_version then
    return jsonb_build_object('outcome', 'fenced', 'what', 'trust');
  end if;
  if epoch <> s.policy_epoch then return jsonb_build_object('outcome', 'fenced', 'what', 'policyEpoch'); end if;
  if v.closed_reason is not null then return jsonb_build_object('outcome', 'fenced', 'what', 'closed'); end if;

  select * into a from active_pointer
    where tenant = p_tenant and server = s.server and audience = s.audience and closed_at is null for update;
  if pointer_version(p_tenant, s.server, s.audience) <> s.base_pointer_version then
    return jsonb_build_object('outcome', 'lost', 'activeGeneration', a.generation);
  end if;
  -- It was judged beside the identity that answered when its scan began: another one since then has to be its own (P1, D8).
  answering := server_identity(p_tenant, s.server);
  if answering <> s.identity and answering is distinct from s.base_identity then
    return jsonb_build_object('outcome', 'fenced', 'what', 'identity');
  end if;
  -- An acceptance is used once, and only beside the pointer that it was given beside (D5).
  if cardinality(s.acceptances) <> (select count(*) from acceptance where tenant = p_tenant and id = any(s.acceptances)
      and server = s.server and audience = s.audience and pointer_version = s.base_pointer_version and used_by is null) then
    return jsonb_build_object('outcome', 'fenced', 'what', 'acceptance');
  end if;
  update acceptance set used_by = s.id, used_at = clock_timestamp()
    where tenant = p_tenant and id = any(s.acceptances);
  -- D8: one identity answers for a server. What another one proved ends with this transaction, for every audience of it.
  with closed as (
    update active_pointer set closed_at = clock_timestamp()
      where tenant = p_tenant and server = s.server and closed_at is null and identity <> s.identity
      returning audience, scan, fresh_until)
  update generation o set superseded_at = clock_timestamp(), expires = least(o.expires, c.fresh_until)
    from closed c where o.tenant = p_tenant and o.scan = c.scan and c.audience <> s.audience;
  insert into active_pointer as p (tenant, server, identity, audience, version, generation, scan, snapshot, policy_epoch,
      trust_version, revision, content_root, fresh_until)
    values (p_tenant, s.server, s.identity, s.audience, s.base_pointer_version + 1, g.generation, s.id, g.snapshot,
      s.policy_epoch, s.trust_version, s.revision, s.content_root, p_fresh_until)
    on conflict (tenant, server, identity, audience) do update
      set version = excluded.version, generation = excluded.generation, scan = excluded.scan, snapshot = excluded.snapshot,
        policy_epoch = excluded.policy_epoch, trust_version = excluded.trust_version, revision = excluded.revision,
        content_root = excluded.content_root, fresh_until = excluded.fresh_until, closed_at = null;
  -- Nothing verifies a superseded generation again: it serves as long as it was last verified for, and no longer (A1, S7).
  update generation set superseded_by = g.generation, superseded_at = clock_timestamp(), expires = least(expires, a.fresh_until)
    where tenant = p_tenant and server = s.server and audience = s.audience and generation = a.generation;
  update generation set state = 'ELIGIBLE', promoted_at = clock_timestamp(), receipt = p_receipt->>'id'
    where tenant = p_tenant and scan = p_scan;
  insert into freshness (tenant, server, audience, generation, scan, snapshot, revision, verified_at, expires)
    values (p_tenant, s.server, s.audience, g.generation, s.id, g.snapshot, s.revision, s.tail_at, p_fresh_until);
  update scan set state = 'ELIGIBLE', reason = 'PROMOTED', ended_at = clock_timestamp()
    where tenant = p_tenant and id = p_scan;
  perform insert_receipt(p_receipt || jsonb_build_object('tenant', p_tenant));
  perform bump_fence(p_tenant, s.server);
  return jsonb_build_object('outcome', 'promoted', 'generation', g.generation, 'receipt', p_receipt->>'id',
    'policyEpoch', s.policy_epoch, 'closedAudiences', closed_audiences(p_tenant, s.server));
end $$;

-- S7: a verified refresh that found nothing changed renews the freshness of the active generation, and is the end of its scan.
-- No row changes hands, so no fence: a view that is older refuses, and a refusal is decided again on a new view. The
-- pointer's own version goes up all the same, so that no candidate of before can take the revision back.
create function renew_freshness(p_tenant text, p_scan text, p_fresh_until timestamptz) returns jsonb
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
declare s scan; a active_pointer; f freshness;
begin
  perform set_config('genlock.tenant', p_tenant, true);
  select * into strict s from scan where tenant = p_tenant and id = p_scan;
  perform pg_advisory_xact_lock_shared(lock_key(p_tenant, ''));
  perform pg_advisory_xact_lock(lock_key(p_tenant, s.server));
  select * into strict s from scan where tenant = p_tenant and id = p_scan;
  select * into f from freshness where tenant = p_tenant and scan = p_scan;
  if found then
    return jsonb_build_object('outcome', 'renewed', 'generation', f.generation, 'freshUntil', f.expires);
  end if;
  if s.ended_at is not null or s.state <> 'SNAPSHOT_PROVEN' then
    return jsonb_build_object('outcome', 'fenced', 'what', 'candidate');
  end if;
  select * into a from active_pointer where tenant = p_tenant and server = s.server and audience = s.audience
    and identity = s.identity and closed_at is null for update;
  if a.version is null or a.version <> s.base_pointer_version or a.content_root <> s.content_root then
    return jsonb_build_object('outcome', 'lost', 'activeGeneration', a.generation);
  end if;
  if p_fresh_until <= clock_timestamp() then return jsonb_build_object('outcome', 'fenced', 'what', 'tail'); end if;
  if a.policy_epoch <> s.policy_epoch
    or s.policy_epoch <> coalesce((select max(epoch) from policy_epoch where tenant = p_tenant), 0) then
    return jsonb_build_object('outcome', 'fenced', 'what', 'policyEpoch');
  end if;
  if a.trust_version <> s.trust_version
    or s.trust_version is distinct from (select trust_version from server where tenant = p_tenant and name = s.server) then
    return jsonb_build_object('outcome', 'fenced', 'what', 'trust');
  end if;
  insert into freshness (tenant, server, audience, generation, scan, snapshot, revision, verified_at, expires)
    values (p_tenant, s.server, s.audience, a.generation, s.id, a.snapshot, s.revision, s.tail_at, p_fresh_until);
  update active_pointer set fresh_until = greatest(fresh_until, p_fresh_until), revision = s.revision, version = version + 1
    where tenant = p_tenant and server = s.server and audience = s.audience and identity = s.identity;
  update scan set state = 'RETIRED', reason = 'UNCHANGED', ended_at = clock_timestamp(), evidence = jsonb_build_object(
      'generation', a.generation, 'freshUntil', floor(extract(epoch from p_fresh_until) * 1000)::bigint)
    where tenant = p_tenant and id = p_scan;
  return jsonb_build_object('outcome', 'renewed', 'generation', a.generation, 'freshUntil', p_fresh_until);
end $$;

-- Operator acts ---------------------------------------------------------------------------------------------------------------
create function publish_policy(p_tenant text, p_expected integer, p_bundle text, p_digest text, p_by text, p_receipt jsonb)
  returns integer language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
declare current integer;
begin
  perform set_config('genlock.tenant', p_tenant, true);
  perform pg_advisory_xact_lock(lock_key(p_tenant, ''));
  select coalesce(max(epoch), 0) into current from policy_epoch where tenant = p_tenant;
  if current <> p_expected then return null; end if;
  insert into policy_epoch (tenant, epoch, bundle, bundle_digest, published_by, receipt)
    values (p_tenant, current + 1, p_bundle, p_digest, p_by, p_receipt->>'id');
  perform insert_receipt(p_receipt || jsonb_build_object('tenant', p_tenant));
  perform bump_fence(p_tenant, '');
  return current + 1;
end $$;

-- Registers a server, or changes one whose name it is: another source or trust is a new trust version. The receipt
-- speaks of the trust version that its signer saw, 0 for none; where that has moved nothing is changed.
create function register_server(p_tenant text, p jsonb, p_audiences jsonb, p_receipt jsonb, p_expected integer) returns jsonb
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
declare v server; version integer;
begin
  perform set_config('genlock.tenant', p_tenant, true);
  perform pg_advisory_xact_lock_shared(lock_key(p_tenant, ''));
  perform pg_advisory_xact_lock(lock_key(p_tenant, p->>'name'));
  select * into v from server where tenant = p_tenant and name = p->>'name' for update;
  if exists (select from server where tenant = p_tenant and namespace = p->>'namespace' and name <> p->>'name') then
    return jsonb_build_object('outcome', 'namespaceTaken');
  end if;
  if v.name is not null and v.namespace <> p->>'namespace' then return jsonb_build_object('outcome', 'exists'); end if;
  if coalesce(v.trust_version, 0) <> p_expected then return jsonb_build_object('outcome', 'moved'); end if;
  version := case
    when v.name is null then 1
    when v.source = p->'source' and v.trust = p->'trust' and v.contract = p->'contract'
      and p_audiences = (select coalesce(jsonb_object_agg(audience, credential), '{}'::jsonb) from server_audience
        where tenant = p_tenant and server = v.name) then v.trust_version
    else v.trust_version + 1 end;
  insert into fence (tenant, server) values (p_tenant, '') on conflict do nothing;
  insert into server (tenant, name, namespace, source, trust, trust_version, limits, contract, freshness, refresh_seconds)
    values (p_tenant, p->>'name', p->>'namespace', p->'source', p->'trust', version, p->'limits', p->'contract',
      p->'freshness', (p->>'refreshSeconds')::int)
    on conflict (tenant, name) do update set source = excluded.source, trust = excluded.trust,
      trust_version = excluded.trust_version, limits = excluded.limits, contract = excluded.contract,
      freshness = excluded.freshness, refresh_seconds = excluded.refresh_seconds;
  insert into server_audience (tenant, server, audience, credential)
    select p_tenant, p->>'name', key, value from jsonb_each(p_audiences)
    on conflict (tenant, server, audience) do update set credential = excluded.credential;
  perform insert_receipt(p_receipt || jsonb_build_object('tenant', p_tenant));
  perform bump_fence(p_tenant, p->>'name');
  return jsonb_build_object('outcome', case when v.name is null then 'registered' else 'changed' end, 'trustVersion', version);
end $$;

create function set_server_closed(p_tenant text, p_server text, p_reason text, p_receipt jsonb) returns boolean
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
begin
  perform set_config('genlock.tenant', p_tenant, true);
  perform pg_advisory_xact_lock(lock_key(p_tenant, p_server));
  update server set closed_reason = p_reason where tenant = p_tenant and name = p_server;
  if not found then return false; end if;
  perform insert_receipt(p_receipt || jsonb_build_object('tenant', p_tenant));
  perform bump_fence(p_tenant, p_server);
  return true;
end $$;

-- A revocation of a tool or server locks that server; of a subject, the tenant.
create function revoke(p_tenant text, p jsonb, p_receipt jsonb) returns text
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
declare scope text := coalesce(p->>'server', '');
begin
  perform set_config('genlock.tenant', p_tenant, true);
  perform pg_advisory_xact_lock(lock_key(p_tenant, scope));
  if scope <> '' and not exists (select from server where tenant = p_tenant and name = scope) then return 'noSuchServer'; end if;
  insert into revocation (tenant, id, kind, server, target, reason, revoked_by, receipt)
    values (p_tenant, p->>'id', p->>'kind', scope, p->>'target', p->>'reason', p->>'by', p_receipt->>'id');
  perform insert_receipt(p_receipt || jsonb_build_object('tenant', p_tenant));
  perform bump_fence(p_tenant, scope);
  return 'revoked';
end $$;

create function lift_revocation(p_tenant text, p_id text, p_by text, p_receipt jsonb) returns text
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
declare r revocation;
begin
  perform set_config('genlock.tenant', p_tenant, true);
  select * into r from revocation where tenant = p_tenant and id = p_id;
  if not found then return 'noSuchRevocation'; end if;
  perform pg_advisory_xact_lock(lock_key(p_tenant, r.server));
  update revocation set lifted_at = clock_timestamp(), lifted_by = p_by, lift_receipt = p_receipt->>'id'
    where tenant = p_tenant and id = p_id and lifted_at is null;
  if not found then return 'alreadyLifted'; end if;
  perform insert_receipt(p_receipt || jsonb_build_object('tenant', p_tenant));
  perform bump_fence(p_tenant, r.server);
  return 'lifted';
end $$;

-- Accepts one held scan (D5, D9): the newest of its server and audience, beside the pointer that it was judged by. What
-- it binds is copied from the scan, which has ended and stays as it is.
create function accept_held(p_tenant text, p jsonb, p_receipt jsonb) returns text
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
declare s scan;
begin
  perform set_config('genlock.tenant', p_tenant, true);
  select * into s from scan where tenant = p_tenant and id = p->>'discovery';
  if not found then return 'noSuchDiscovery'; end if;
  perform pg_advisory_xact_lock(lock_key(p_tenant, s.server));
  select * into strict s from scan where tenant = p_tenant and id = p->>'discovery';
  -- A handshake that a pin refused has shown no list that could be accepted; the trust configuration has the say there.
  if s.state <> 'QUARANTINED' or s.reason is distinct from p->>'kind' or s.identity is null or s.revision is null
    or s.content_root is null then return 'notAcceptable'; end if;
  if exists (select from acceptance where tenant = p_tenant and discovery = s.id) then return 'alreadyAccepted'; end if;
  if s.base_pointer_version <> pointer_version(p_tenant, s.server, s.audience)
    or exists (select from scan where tenant = p_tenant and server = s.server and audience = s.audience
      and state = 'QUARANTINED' and started_at > s.started_at) then
    return 'superseded';
  end if;
  insert into acceptance (tenant, id, discovery, server, audience, kind, identity, revision, content_root, pointer_version,
      reason, accepted_by, receipt)
    values (p_tenant, p->>'id', s.id, s.server, s.audience, s.reason, s.identity, s.revision, s.content_root,
      s.base_pointer_version, p->>'reason', p->>'by', p_receipt->>'id');
  perform insert_receipt(p_receipt || jsonb_build_object('tenant', p_tenant));
  return 'accepted';
end $$;

-- Admission (A1, L3) ------------------------------------------------------------------------------------------------------------
-- What a decision rests on and can change, in one read and with the fence versions it was read under. The size of the
-- answer depends neither on the size of the catalog nor on its age: of the generations that were active before, those
-- of the newest hundred that expired no longer than a day ago.
create function admission_view(p_tenant text, p_server text, p_audience text) returns jsonb
  language plpgsql stable security definer set search_path = genlock, pg_temp as $$
declare answer jsonb;
begin
  perform set_config('genlock.tenant', p_tenant, true);
  select jsonb_build_object(
    'tenantFence', fence_text(p_tenant, ''),
    'serverFence', fence_text(p_tenant, p_server),
    'policyEpoch', coalesce((select max(epoch) from policy_epoch where tenant = p_tenant), 0),
    'server', (select jsonb_build_object('name', name, 'namespace', namespace, 'closedReason', closed_reason,
        'trustVersion', trust_version)
      from server where tenant = p_tenant and name = p_server),
    'active', (select jsonb_build_object('generation', a.generation, 'identity', a.identity, 'snapshot', a.snapshot,
        'policyEpoch', a.policy_epoch, 'trustVersion', a.trust_version, 'pageRoot', s.page_root, 'credential', s.credential, 'credentialFingerprint', s.credential_fingerprint, 'scan', a.scan,
        'reviews', a.reviews,
        'freshUntil', extract(epoch from least(a.fresh_until, g.expires)) * 1000)
      from active_pointer a
      join scan s on s.tenant = a.tenant and s.id = a.scan
      join generation g on g.tenant = a.tenant and g.scan = a.scan
      where a.tenant = p_tenant and a.server = p_server and a.audience = p_audience and a.closed_at is null),
    'retained', (select coalesce(jsonb_agg(jsonb_build_object('generation', generation, 'state', state,
        'policyEpoch', (select policy_epoch from scan where tenant = g.tenant and id = g.scan),
        'expires', extract(epoch from expires) * 1000) order by generation), '[]'::jsonb)
      from (select * from generation where tenant = p_tenant and server = p_server and audience = p_audience
          and promoted_at is not null and state in ('ELIGIBLE', 'QUARANTINED') order by generation desc limit 100) g
      where g.expires > clock_timestamp() - interval '1 day'),
    'newestGeneration', (select coalesce(max(generation), 0) from generation where tenant = p_tenant and server = p_server
      and audience = p_audience and promoted_at is not null),
    'latestScan', (select jsonb_build_object('state', state, 'reason', reason) from scan where tenant = p_tenant
      and server = p_server and audience = p_audience and ended_at is not null order by started_at desc limit 1),
    'revocations', (select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'target', target)), '[]'::jsonb)
      from revocation where tenant = p_tenant and server in ('', p_server) and lifted_at is null))
  into answer;
  return answer;
end $$;

-- One tool of the active generation (P3), with its source text.
create function active_tool(p_tenant text, p_server text, p_audience text, p_tool text) returns jsonb
  language plpgsql stable security definer set search_path = genlock, pg_temp as $$
begin
  perform set_config('genlock.tenant', p_tenant, true);
  return (select jsonb_build_object('generation', a.generation, 'snapshot', a.snapshot, 'reviews', a.reviews, 'id', t.tool_id, 'name', t.name,
      'descriptor', t.descriptor, 'input', t.input, 'output', t.output, 'effectClass', t.effect_class, 'verdict', t.verdict,
      'review', (select jsonb_build_object('id', r.id, 'state', r.state, 'changed', r.changed) from open_review r
        where r.tenant = a.tenant and r.server = a.server and r.audience = a.audience and r.tool_id = t.tool_id),
      'source', d.source)
    from active_pointer a
    join candidate_tool t on t.tenant = a.tenant and t.scan = a.scan and t.tool_id = p_tool
    join descriptor d on d.tenant = t.tenant and d.raw_digest = t.raw_digest
    where a.tenant = p_tenant and a.server = p_server and a.audience = p_audience and a.closed_at is null);
end $$;

-- The id under which the active generation holds a tool of this name: a changed contract has another number.
create function active_tool_id(p_tenant text, p_server text, p_audience text, p_name text) returns text
  language plpgsql stable security definer set search_path = genlock, pg_temp as $$
begin
  perform set_config('genlock.tenant', p_tenant, true);
  return (select t.tool_id from active_pointer a
    join candidate_tool t on t.tenant = a.tenant and t.scan = a.scan and t.name = p_name
    where a.tenant = p_tenant and a.server = p_server and a.audience = p_audience and a.closed_at is null);
end $$;

-- The active catalog, a slice at a time by tool name (P3).
create function active_catalog(p_tenant text, p_server text, p_audience text, p_after text, p_limit integer) returns jsonb
  language plpgsql stable security definer set search_path = genlock, pg_temp as $$
begin
  perform set_config('genlock.tenant', p_tenant, true);
  return (select jsonb_build_object('generation', a.generation, 'snapshot', a.snapshot, 'identity', a.identity,
      'policyEpoch', a.policy_epoch, 'revision', a.revision, 'contentRoot', a.content_root, 'pageRoot', s.page_root,
      'protocol', s.protocol, 'tools', s.tools,
      'freshUntil', extract(epoch from least(a.fresh_until, g.expires)) * 1000, 'scan', a.scan,
      'fence', fence_text(p_tenant, '') || '/' || fence_text(p_tenant, p_server),
      'page', (select coalesce(jsonb_agg(jsonb_build_object('id', t.tool_id, 'name', t.name, 'descriptor', t.descriptor,
          'input', t.input, 'output', t.output, 'effectClass', t.effect_class, 'verdict', t.verdict,
          'review', (select jsonb_build_object('id', r.id, 'state', r.state, 'changed', r.changed) from open_review r
            where r.tenant = a.tenant and r.server = a.server and r.audience = a.audience and r.tool_id = t.tool_id),
          'source', d.source) order by t.name collate "C"), '[]'::jsonb)
        from (select * from candidate_tool t where t.tenant = p_tenant and t.scan = a.scan and t.name collate "C" > p_after
          order by t.name collate "C" limit p_limit) t
        join descriptor d on d.tenant = t.tenant and d.raw_digest = t.raw_digest))
    from active_pointer a
    join scan s on s.tenant = a.tenant and s.id = a.scan
    join generation g on g.tenant = a.tenant and g.scan = a.scan
    where a.tenant = p_tenant and a.server = p_server and a.audience = p_audience and a.closed_at is null);
end $$;

create function active_servers(p_tenant text, p_audience text) returns jsonb
  language plpgsql stable security definer set search_path = genlock, pg_temp as $$
begin
  perform set_config('genlock.tenant', p_tenant, true);
  return (select coalesce(jsonb_agg(jsonb_build_object('server', a.server, 'namespace', v.namespace, 'generation', a.generation,
      'tools', s.tools, 'contentRoot', a.content_root, 'freshUntil', extract(epoch from least(a.fresh_until, g.expires)) * 1000) order by a.server), '[]'::jsonb)
    from active_pointer a
    join server v on v.tenant = a.tenant and v.name = a.server
    join scan s on s.tenant = a.tenant and s.id = a.scan
    join generation g on g.tenant = a.tenant and g.scan = a.scan
    where a.tenant = p_tenant and a.audience = p_audience and a.closed_at is null);
end $$;

create function policy_bundle(p_tenant text, p_epoch integer) returns jsonb
  language plpgsql stable security definer set search_path = genlock, pg_temp as $$
begin
  perform set_config('genlock.tenant', p_tenant, true);
  return (select jsonb_build_object('epoch', epoch, 'bundle', bundle, 'digest', bundle_digest) from policy_epoch
    where tenant = p_tenant and epoch = coalesce(p_epoch, (select max(epoch) from policy_epoch where tenant = p_tenant)));
end $$;

-- Commits the decisions of one scope: group commit, one round trip. Rows in by ordinal, answers out by ordinal. A row's
-- outcome is COMMITTED, FENCE_MOVED (decided under another fence; nothing written), REPLAYED (its proof was used before;
-- nothing written) or EXPIRED (the lease would be born dead; nothing written).
-- VOLATILE and in plpgsql on purpose: the lock is taken in one statement and the comparison made in the next, whose
-- snapshot is younger than the lock. Autocommitted on purpose: an open transaction of a frozen client would block revocation.
create function admit_batch(p_tenant text, p_server text, p_rows jsonb) returns table (ord integer, outcome text)
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
declare tenant_now text; server_now text;
begin
  perform set_config('genlock.tenant', p_tenant, true);
  perform pg_advisory_xact_lock_shared(lock_key(p_tenant, ''));
  perform pg_advisory_xact_lock_shared(lock_key(p_tenant, p_server));
  select fence_text(p_tenant, ''), fence_text(p_tenant, p_server) into tenant_now, server_now;
  return query
  with r as (
    select e.ordinality::int as ord, e.value as row,
      row_number() over (partition by e.value->'proof'->>'jkt', e.value->'proof'->>'jti' order by e.ordinality) as uses
    from jsonb_array_elements(p_rows) with ordinality e),
  judged as (
    select r.*, case
      when r.row->>'tenant_fence' is distinct from tenant_now or r.row->>'server_fence' is distinct from server_now then 'FENCE_MOVED'
      when r.row->'lease' <> 'null'::jsonb
        and to_timestamp((r.row->'lease'->>'expires_ms')::float8 / 1000) <= clock_timestamp() then 'EXPIRED'
      when r.row->'proof' <> 'null'::jsonb and r.uses > 1 then 'REPLAYED'
      else 'GO' end as verdict
    from r),
  proofs as (
    insert into dpop_proof (tenant, jkt, jti, expires)
      select p_tenant, row->'proof'->>'jkt', row->'proof'->>'jti', to_timestamp((row->'proof'->>'expires_ms')::float8 / 1000)
      from judged where verdict = 'GO' and row->'proof' <> 'null'::jsonb
      order by row->'proof'->>'jkt', row->'proof'->>'jti'
      on conflict do nothing returning jkt, jti),
  final as (
    select j.ord, j.row, case
      when j.verdict <> 'GO' then j.verdict
      when j.row->'proof' <> 'null'::jsonb and not exists (
        select from proofs p where p.jkt = j.row->'proof'->>'jkt' and p.jti = j.row->'proof'->>'jti') then 'REPLAYED'
      else 'COMMITTED' end as outcome
    from judged j),
  leases as (
    insert into lease (tenant, jti, server, audience, subject, tool_id, descriptor, generation, policy_epoch, tenant_fence,
        server_fence, resource, args_digest, effect_class, jkt, expires)
      select p_tenant, l->>'jti', p_server, l->>'audience', l->>'subject', l->>'tool_id', l->>'descriptor',
        (l->>'generation')::int, (l->>'policy_epoch')::int, tenant_now, server_now, l->>'resource', l->>'args_digest',
        l->>'effect_class', l->>'jkt', to_timestamp((l->>'expires_ms')::float8 / 1000)
      from final f cross join lateral (select f.row->'lease' as l) x
      where f.outcome = 'COMMITTED' and f.row->'lease' <> 'null'::jsonb),
  receipts as (
    insert into receipt (tenant, id, kind, subject, server, identity, audience, generation, page_root, tool_id, descriptor,
        policy_epoch, fence, decision, code, reason, lease, args_digest, resource, credential, jws)
      select p_tenant, c->>'id', 'admission', c->>'subject', c->>'server', c->>'identity', c->>'audience', (c->>'generation')::int,
        c->>'page_root', c->>'tool_id', c->>'descriptor', (c->>'policy_epoch')::int, c->>'fence', c->>'decision', c->>'code',
        c->>'reason', c->>'lease', c->>'args_digest', c->>'resource', c->>'credential', c->>'jws'
      from final f cross join lateral (select f.row->'receipt' as c) x
      where f.outcome = 'COMMITTED')
  select f.ord, f.outcome from final f order by f.ord;
end $$;

-- Proofs that no clock window would accept any more.
create function forget_proofs(p_tenant text) returns bigint language plpgsql volatile security definer
  set search_path = genlock, pg_temp as $$
declare n bigint;
begin
  perform set_config('genlock.tenant', p_tenant, true);
  delete from dpop_proof where tenant = p_tenant and expires < clock_timestamp();
  get diagnostics n = row_count;
  return n;
end $$;

create function read_receipts(p_tenant text, p_id text, p_kind text, p_subject text, p_before timestamptz, p_limit integer)
  returns jsonb
  language plpgsql stable security definer set search_path = genlock, pg_temp as $$
begin
  perform set_config('genlock.tenant', p_tenant, true);
  return (select coalesce(jsonb_agg(to_jsonb(x) - 'tenant' order by x.at desc, x.id), '[]'::jsonb) from (
    select * from receipt r where tenant = p_tenant and (p_id is null or r.id = p_id)
      and (p_kind is null or r.kind = p_kind) and (p_subject is null or r.subject = p_subject) and (p_before is null or r.at < p_before)
    order by r.at desc, r.id limit p_limit) x);
end $$;

-- Who may call what ----------------------------------------------------------------------------------------------------------------
revoke execute on all functions in schema genlock from public;
grant execute on function current_tenant() to genlock_api, genlock_worker, genlock_operator;
grant execute on function claim_scan(text, jsonb), store_page(text, text, int, int, jsonb, bytea),
  note_source(text, text, int, int, jsonb), keep_session(text, text, int, int, text), complete_scan(text, text, int, int, text, int),
  prove_scan(text, text, text, timestamptz), end_scan(text, text, text, text, jsonb),
  issue_contract_versions(text, text), reserve_generation(text, text), rest_on(text, text, text[]),
  note_catalog_findings(text, text, jsonb), promote(text, text, timestamptz, jsonb),
  renew_freshness(text, text, timestamptz), policy_bundle(text, integer) to genlock_worker;
grant execute on function admission_view(text, text, text), active_tool(text, text, text, text),
  active_tool_id(text, text, text, text),
  active_catalog(text, text, text, text, integer), active_servers(text, text), policy_bundle(text, integer),
  admit_batch(text, text, jsonb), forget_proofs(text), read_receipts(text, text, text, text, timestamptz, integer) to genlock_api;
grant execute on function publish_policy(text, integer, text, text, text, jsonb), register_server(text, jsonb, jsonb, jsonb, integer),
  set_server_closed(text, text, text, jsonb), revoke(text, jsonb, jsonb), lift_revocation(text, text, text, jsonb),
  accept_held(text, jsonb, jsonb), pointer_version(text, text, text),
  policy_bundle(text, integer), read_receipts(text, text, text, text, timestamptz, integer) to genlock_operator;

-- The row that records this migration is written by the administrator.
reset role;
