/**
 * Judges what a discovery concluded by what was true: which list the source had at each moment, and what happened since
 * the scan began. It shares no code and no type with the product, so that neither can copy a mistake of the other.
 */
import { causeOf, contradiction } from './causes.js';
import { askedBy, type Fact, newWindow, stampText, type Truth, toolsText, type Window } from './history.js';
import { RunRules } from './runRules.js';
import type { Beside } from './standing.js';

/** Of one scan: hints may come faster than a source can be asked. */
const MOST_TAILS = 3;

/** Scans of a candidate that competes with the run. */
const isRival = (scan: string): boolean => scan.startsWith('rival');

/** @returns what is wrong, each in a sentence; nothing where the history is as it must be */
export const judge = (facts: readonly Fact[]): readonly string[] => {
  const wrong: string[] = [];
  const windows = new Map<string, Window>();
  const open = new Set<Window>();
  const held: Beside['held'][number][] = [];
  const acceptedBy = new Map<string, Truth>();
  const announced = new Set<string>();
  let source: Truth = { stamp: null, identity: '', tools: [] };
  let active: (Truth & { readonly epoch: number; readonly trust: number }) | null = null;
  let [epoch, trust, pointer] = [0, 0, 0];
  let closed = false;
  let run = new RunRules();

  const say = (scan: string, text: string): void => {
    wrong.push(`${scan}: ${text}`);
  };
  const windowOf = (scan: string): Window => {
    const window = windows.get(scan);
    if (window === undefined) throw new Error(`nobody began ${scan}`);
    return window;
  };
  const begin = (scan: string): Window => {
    for (const other of open) other.overtaken = true;
    const window = newWindow({ epoch, trust, pointer, closed }, source);
    windows.set(scan, window);
    open.add(window);
    return window;
  };
  const beside = (window: Window): Beside => ({
    active,
    acceptedBy,
    announced,
    epoch,
    trust,
    pointer,
    closed: window.closed,
    held: held.filter((one) => one.pointer === window.pointer),
  });
  const beginScan = (scan: string): void => {
    begin(scan);
    if (isRival(scan)) return;
    const fault = run.scanBegins();
    if (fault !== null) say(scan, fault);
    run.asked();
  };

  const take = (fact: Fact): void => {
    switch (fact.fact) {
      case 'source':
        source = fact;
        for (const window of open) {
          window.stamps.add(stampText(fact.stamp));
          window.identities.add(fact.identity);
        }
        return;
      case 'step': {
        const { scan, step } = fact;
        if (!windows.has(scan)) beginScan(scan);
        const window = windowOf(scan);
        if (step === 'verifyTail') {
          window.tails++;
          window.hints = 0;
          window.faults = [];
          if (window.tails > MOST_TAILS) say(scan, `D2: more than ${MOST_TAILS} tails`);
          if (!isRival(scan)) run.asked();
        }
        if (step === 'promote' && window.hints > 0 && window.tails < MOST_TAILS)
          say(scan, 'D2: a hint came after the tail, and nobody asked again');
        return;
      }
      case 'claim': {
        // P1: what a scan rests on counts from its first claim.
        const known = windowOf(fact.scan);
        const window =
          known.claims > 0
            ? known
            : Object.assign(known, { epoch, trust, pointer, closed, wasClosed: closed });
        window.claims++;
        window.faults = [];
        window.claim = `${fact.segment}.${fact.attempt}`;
        return;
      }
      case 'page':
      case 'tail': {
        const window = windowOf(fact.scan);
        window.answers.push(fact.page);
        window.answerTo.set(askedBy(fact.claim, fact.page.cursor), fact.page);
        window.faults = [];
        if (fact.fact === 'tail') Object.assign(window, { tail: source, tailPage: fact.page });
        else if (
          fact.claim === window.claim &&
          window.stored.some(({ cursor }) => cursor === fact.page.cursor)
        )
          say(fact.scan, 'D6: a page that was stored is asked for again');
        return;
      }
      case 'fault': {
        const window = windowOf(fact.scan);
        window.faults = [...window.faults, fact.what];
        return;
      }
      case 'stored': {
        const window = windowOf(fact.scan);
        if (fact.claim !== window.claim) say(fact.scan, 'D6: an attempt that lost its claim stored a page');
        const page = window.answerTo.get(askedBy(fact.claim, fact.cursor));
        if (page !== undefined) window.stored.push(page);
        return;
      }
      case 'hint':
        run.hint();
        for (const window of open) window.hints++;
        return;
      case 'policy':
        epoch++;
        return;
      case 'trust':
        trust++;
        return;
      case 'announced':
        trust++;
        announced.add(fact.identity);
        return;
      case 'closed':
      case 'opened':
        closed = fact.fact === 'closed';
        for (const window of open) Object.assign(window, { closed, wasClosed: window.wasClosed || closed });
        return;
      case 'accepted': {
        const { ended, stored, pointer: at } = windowOf(fact.scan);
        const [page] = stored;
        if (ended === null || page === undefined) throw new Error(`${fact.scan} holds nothing to accept`);
        const tools = stored.flatMap((one) => one.tools);
        held.push({ kind: ended, pointer: at, stamp: page.stamp, identity: page.identity, tools });
        return;
      }
      case 'promoted':
      case 'renewed': {
        const window = windowOf(fact.scan);
        for (const text of contradiction(window, fact, beside(window))) say(fact.scan, text);
        window[fact.fact] = true;
        pointer++;
        acceptedBy.set(fact.identity, fact);
        active = { ...fact, epoch: window.epoch, trust: window.trust };
        return;
      }
      case 'scanEnd': {
        const { scan, state, reason } = fact;
        const window = windowOf(scan);
        window.ended = reason;
        open.delete(window);
        if (state === 'ELIGIBLE' && !window.promoted)
          say(scan, 'told as promoted, but the pointer did not move');
        if (state !== 'ELIGIBLE' && window.promoted) say(scan, `promoted, but told as ${reason}`);
        if (reason === 'UNCHANGED' && !window.renewed)
          say(scan, 'told as unchanged, but nothing was renewed');
        const cause = causeOf(reason, window, beside(window), run.restarts);
        if (!cause) say(scan, `${reason} without a cause: this scan had to be accepted`);
        if (isRival(scan)) return;
        const moved = epoch !== window.epoch || trust !== window.trust;
        run.scanEnds(reason, reason !== 'FENCED' || !window.wasClosed ? 'no' : moved ? 'maybe' : 'yes');
        return;
      }
      case 'runBegin':
        run = new RunRules();
        return;
      case 'runEnd':
        for (const text of run.ends(fact.reason)) say(fact.scan, text);
        return;
      case 'serving': {
        const [is, must] = [fact.tools, active?.tools ?? null].map((tools) =>
          tools === null ? null : toolsText(tools),
        );
        if (is !== must) wrong.push(`P1: ${is} is served, and not ${must} that was accepted last`);
      }
    }
  };
  for (const fact of facts) take(fact);
  return wrong;
};
