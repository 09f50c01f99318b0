-- Up Migration
-- The review of changed texts and hints (V6). What waits for a reviewer is no row that a promotion would have to write: it
-- follows from the active generation and from what was approved, so the two cannot disagree.
set local role genlock_owner;
set local search_path = genlock;

-- One change of one tool: what it starts from, which is an approval or a descriptor that nobody approved, and what it leads
-- to. A change that comes again after another approval is another one.
create function review_id(p_server text, p_audience text, p_tool text, p_from text, p_after text) returns text
  language sql immutable as $$
  select left(encode(sha256(convert_to(concat_ws(E'\n', p_server, p_audience, p_tool, p_from, p_after), 'UTF8')), 'hex'), 32)
$$;

-- Notes what a promotion makes active under its tool ids. What another audience holds of them may need a review by that, so
-- nobody goes by what was kept of it.
create function note_seen_tools() returns trigger
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
begin
  insert into seen_tool (tenant, tool_id, descriptor, raw_digest, hints_digest, text_digest)
    select t.tenant, t.tool_id, t.descriptor, t.raw_digest, t.hints_digest, t.text_digest from candidate_tool t
      where t.tenant = new.tenant and t.scan = new.scan and t.tool_id is not null and t.descriptor is distinct from (
        select s.descriptor from seen_tool s where s.tenant = t.tenant and s.tool_id = t.tool_id order by s.n desc limit 1)
    on conflict (tenant, tool_id, descriptor) do update set n = excluded.n;
  if found then
    update active_pointer set reviews = reviews + 1
      where tenant = new.tenant and server = new.server and audience <> new.audience;
  end if;
  return null;
end $$;
create trigger seen_after_promotion after update of promoted_at on generation for each row
  when (old.promoted_at is null and new.promoted_at is not null) execute function note_seen_tools();

-- Tools of active generations whose descriptor nobody accepted, though their id has had more than one. The contract is the
-- same under all of them, since another one has another id.
--
-- A policy permits a tool id for every audience, so what counts is the id: the texts of all audiences, and the descriptors
-- that were accepted last, each for its own audience. An acceptance is of that very descriptor, whoever is served it. As long
-- as none was accepted, not even the first one passes once there was another: a server that shows one text to the author of
-- a policy and then goes back to the first one would be past every review.
--
-- A change is shown from what was accepted for its audience, else from what was last accepted for another one, else from
-- the other descriptor that was last active. Whether such a tool may have effects is for the reader to say: with a new
-- classification a change that needed no review needs one.
create view open_review as
  select a.tenant, k.id, a.server, a.audience, a.generation, a.scan, t.name, t.tool_id, t.effect_class,
    b.descriptor as before, b.raw_digest as before_raw, t.descriptor as after, t.raw_digest as after_raw,
    to_jsonb(array_remove(array[
      case when b.text_digest <> t.text_digest then 'text' end,
      case when b.hints_digest <> t.hints_digest then 'hints' end], null)) as changed,
    coalesce(d.state, 'pending') as state, d.reason, d.decided_by, d.decided_at, d.receipt
  from active_pointer a
  join candidate_tool t on t.tenant = a.tenant and t.scan = a.scan
  left join lateral (
    select r.id, r.after from review r where r.tenant = a.tenant and r.server = a.server and r.tool_id = t.tool_id
      and r.state = 'accepted' order by r.audience = a.audience desc, r.n desc limit 1) approved on true
  cross join lateral (
    select s.* from seen_tool s where s.tenant = t.tenant and s.tool_id = t.tool_id and s.descriptor <> t.descriptor
      and (approved.after is null or s.descriptor = approved.after) order by s.n desc limit 1) b
  cross join lateral (
    select review_id(a.server, a.audience, t.tool_id, coalesce(approved.id, b.descriptor), t.descriptor) as id) k
  left join review d on d.tenant = a.tenant and d.id = k.id
  where a.closed_at is null and not exists (
    select from review r where r.tenant = a.tenant and r.server = a.server and r.tool_id = t.tool_id
      and r.state = 'accepted' and r.after = t.descriptor and not exists (
        select from review l where l.tenant = r.tenant and l.server = r.server and l.tool_id = r.tool_id
          and l.audience = r.audience and l.state = 'accepted' and l.n > r.n));

-- Accepts or refuses one open review, by what its reader saw: tool, old and new descriptor. A refused one can be accepted
-- later. The tool can be called from the answer on.
create function decide_review(p_tenant text, p jsonb, p_receipt jsonb) returns text
  language plpgsql volatile security definer set search_path = genlock, pg_temp as $$
declare r open_review;
begin
  perform set_config('genlock.tenant', p_tenant, true);
  perform pg_advisory_xact_lock(lock_key(p_tenant, p->>'server'));
  select * into r from open_review where tenant = p_tenant and server = p->>'server' and audience = p->>'audience'
    and tool_id = p->>'tool' and id = p->>'id' and before = p->>'before' and after = p->>'after'
    and effect_class is distinct from 'READ';
  if not found then
    return case when not exists (select from review where tenant = p_tenant and id = p->>'id' and state = 'accepted')
      then 'superseded' when p->>'state' = 'accepted' then 'alreadyDecided' else 'alreadyAccepted' end;
  end if;
  if r.state = p->>'state' then return 'alreadyDecided'; end if;
  insert into review as v (tenant, id, server, audience, generation, scan, name, tool_id, effect_class, before, before_raw,
      after, after_raw, changed, state, reason, decided_by, receipt)
    values (p_tenant, r.id, r.server, r.audience, r.generation, r.scan, r.name, r.tool_id, r.effect_class, r.before,
      r.before_raw, r.after, r.after_raw, r.changed, p->>'state', p->>'reason', p->>'by', p_receipt->>'id')
    on conflict (tenant, id) do update set n = excluded.n, generation = excluded.generation, scan = excluded.scan,
      effect_class = excluded.effect_class, state = excluded.state, reason = excluded.reason, decided_by = excluded.decided_by,
      decided_at = excluded.decided_at, receipt = excluded.receipt;
  -- An acceptance counts in every audience of the server.
  update active_pointer set reviews = reviews + 1 where tenant = p_tenant and server = r.server;
  perform insert_receipt(p_receipt || jsonb_build_object('tenant', p_tenant));
  perform bump_fence(p_tenant, r.server);
  return p->>'state';
end $$;

-- Who may call what -------------------------------------------------------------------------------------------------
revoke execute on all functions in schema genlock from public;
grant select on open_review to genlock_operator;
grant execute on function review_id(text, text, text, text, text), decide_review(text, jsonb, jsonb) to genlock_operator;

-- The row that records this migration is written by the administrator.
reset role;
