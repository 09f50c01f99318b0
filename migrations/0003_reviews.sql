-- Up Migration
-- The review of changed texts and hints (V6). What waits for a reviewer is no row that a promotion would have to write: it
-- follows from the active generation and from what was approved, so the two cannot disagree.
set local role genlock_owner;
set local search_path = genlock;

-- One change of one tool: which approval it starts from, and what it leads to. A change that comes again after another
-- approval is another one.
create function review_id(p_server text, p_audience text, p_tool text, p_from text, p_after text) returns text
  language sql immutable as $$
  select left(encode(sha256(convert_to(concat_ws(E'\n', p_server, p_audience, p_tool, p_from, p_after), 'UTF8')), 'hex'), 32)
$$;

-- Tools of active generations that are not as they were last accepted, or first seen under their id. The contract is the
-- same, since another one has another id. Whether such a tool may have effects is for the reader to say: with a new
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
    select r.id, r.scan from review r where r.tenant = a.tenant and r.server = a.server and r.audience = a.audience
      and r.tool_id = t.tool_id and r.state = 'accepted' order by r.n desc limit 1) approved on true
  -- In words that row-level security lets into an index, which a coalesce is not.
  join candidate_tool b on b.tenant = t.tenant and b.name = t.name and b.descriptor <> t.descriptor and b.scan = case
    when approved.scan is not null then approved.scan when t.first_scan is not null then t.first_scan else t.scan end
  cross join lateral (
    select review_id(a.server, a.audience, t.tool_id, coalesce(approved.id, t.first_scan), t.descriptor) as id) k
  left join review d on d.tenant = a.tenant and d.id = k.id
  where a.closed_at is null;

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
    return case when exists (select from review where tenant = p_tenant and id = p->>'id' and state = 'accepted')
      then 'alreadyDecided' else 'superseded' end;
  end if;
  if r.state = p->>'state' then return 'alreadyDecided'; end if;
  insert into review as v (tenant, id, server, audience, generation, scan, name, tool_id, effect_class, before, before_raw,
      after, after_raw, changed, state, reason, decided_by, receipt)
    values (p_tenant, r.id, r.server, r.audience, r.generation, r.scan, r.name, r.tool_id, r.effect_class, r.before,
      r.before_raw, r.after, r.after_raw, r.changed, p->>'state', p->>'reason', p->>'by', p_receipt->>'id')
    on conflict (tenant, id) do update set n = excluded.n, generation = excluded.generation, scan = excluded.scan,
      effect_class = excluded.effect_class, state = excluded.state, reason = excluded.reason, decided_by = excluded.decided_by,
      decided_at = excluded.decided_at, receipt = excluded.receipt;
  update active_pointer set reviews = reviews + 1
    where tenant = p_tenant and server = r.server and audience = r.audience;
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
