/**
 * What an operator reads of a run in Temporal's UI, in plain words and Markdown: whose list it is, where the run
 * stands, and for an end why, and what to do next.
 */
import { DISCOVERY_STEPS, STEP_NAMES, type StepName } from '../domain/discoverySteps.js';
import { type EndReason, type EndState, endRow } from '../domain/endReasons.js';
import type { Candidate, DiscoveryKey, EndedCandidate } from '../domain/generation.js';
import { endReasonOf } from '../domain/generation.js';
import { visibleText } from '../domain/visibleText.js';

/** What is known beside the candidate. */
export interface RunView {
  readonly pages: number | null;
  readonly tools: number | null;
  /** The step that is under way, while one is. */
  readonly step?: StepName | undefined;
  readonly note?: string | undefined;
}

/** Text of a source or an operator is shown as code, so that none of it is read as Markdown, and all of it is seen (V7). */
const code = (text: string): string =>
  text === '' ? '(empty)' : `\`${visibleText(text.replaceAll('`', "'").replaceAll(/[\r\n]/g, ' '))}\``;

const short = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
};

/** Counts from 0 look like counts from 1 where nothing says so. */
const EVIDENCE_NAMES: Readonly<Record<string, string>> = {
  page: 'page (the first is 0)',
  tool: 'tool of that page (the first is 0)',
};

type Fact = readonly [string, string];

const counted = ({ pages, tools }: RunView): readonly Fact[] => [
  ...(pages === null ? [] : [['Pages', String(pages)] as const]),
  ...(tools === null ? [] : [['Tools', String(tools)] as const]),
];

const factsOf = (candidate: Candidate, view: RunView): readonly Fact[] => {
  switch (candidate.state) {
    case 'DISCOVERING':
      return counted(view);
    case 'VALIDATING':
      return [...counted(view), ['Pages bound by', candidate.revision.binding]];
    case 'SNAPSHOT_PROVEN':
      return [
        ...counted(view),
        ['Pages bound by', candidate.revision.binding],
        ['Page root', code(candidate.pageRoot)],
      ];
    case 'ELIGIBLE':
      return [
        ['Active generation', String(candidate.generation)],
        ...counted(view),
        ['Policy epoch', String(candidate.policyEpoch)],
        ['Receipt', code(candidate.receipt)],
      ];
    case 'UNVERSIONED_OBSERVATION':
      return [...counted(view), ['Observed content', code(candidate.observed)]];
    case 'RETIRED':
      return [
        ...(candidate.successor === null
          ? []
          : [['Active generation', String(candidate.successor)] as const]),
        ...counted(view),
      ];
    case 'INCOMPLETE':
    case 'QUARANTINED':
      return [];
  }
};

const whose = ({ tenant, server, audience }: DiscoveryKey): readonly Fact[] => [
  ['Server', code(server)],
  ['Tenant', code(tenant)],
  ['Audience', code(audience)],
];

const list = (facts: readonly Fact[]): string =>
  facts.map(([name, value]) => `- ${name}: ${value}`).join('\n');

const asEnded = (candidate: Candidate): EndedCandidate | null =>
  candidate.state === 'DISCOVERING' ||
  candidate.state === 'VALIDATING' ||
  candidate.state === 'SNAPSHOT_PROVEN'
    ? null
    : candidate;

const evidenceLines = (ended: EndedCandidate): readonly string[] => {
  const evidence = 'evidence' in ended ? Object.entries(ended.evidence) : [];
  if (evidence.length === 0) return [];
  return [
    '**Evidence:**',
    list(evidence.map(([name, value]) => [EVIDENCE_NAMES[name] ?? name, code(short(value))])),
  ];
};

/** A run that did not promote has touched nothing, which is the first thing that an operator wants to know. */
const untouched = ({ state }: EndedCandidate): readonly string[] =>
  state === 'INCOMPLETE' || state === 'QUARANTINED' || state === 'UNVERSIONED_OBSERVATION'
    ? ['**Meanwhile:** a generation that was active before is untouched by this run.']
    : [];

const endLines = (ended: EndedCandidate): readonly string[] => {
  const reason = endReasonOf(ended);
  const { meaning, next } = endRow(reason);
  return [
    `### ${ended.state}: ${reason}`,
    meaning,
    `**Next:** ${next}`,
    ...evidenceLines(ended),
    ...untouched(ended),
  ];
};

const stepLines = (state: string, { step, note }: RunView): readonly string[] => [
  `### ${state}`,
  ...(note === undefined ? [] : [note]),
  ...(step === undefined
    ? []
    : [
        `**Step ${STEP_NAMES.indexOf(step) + 1} of ${STEP_NAMES.length}**, ${code(step)}: ${DISCOVERY_STEPS[step]}.`,
      ]),
  // The workflow learns of pages by the segment only; what the worker heartbeats is newer.
  ...(step === 'scanPages'
    ? ['How far it is: tab **Pending Activities**, heartbeat details (pages, tools, worker).']
    : []),
];

/** The current details of a run. @param view what is known beside the candidate */
export const describeCandidate = (candidate: Candidate, view: RunView): string => {
  const ended = asEnded(candidate);
  return [
    ...(ended === null ? stepLines(candidate.state, view) : endLines(ended)),
    list([...whose(candidate.key), ...factsOf(candidate, view), ['Scan', code(candidate.scan)]]),
  ].join('\n\n');
};

/** The message of the failure that ends an INCOMPLETE or QUARANTINED run; the evidence is in its details. */
export const failureMessage = ({
  state,
  reason,
}: {
  readonly state: EndState;
  readonly reason: EndReason;
}): string => {
  const row = endRow(reason);
  return `${state}/${reason}: ${row.meaning} Next: ${row.next}`;
};
