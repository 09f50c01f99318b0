/** docs/states.md: the machine of D5 as the code has it, a picture and two tables. */
import { END_REASONS, type EndReason } from '../src/domain/endReasons.js';
import { EDGES } from '../src/domain/transitions.js';
import { markdownTable } from './markdownTable.js';

type State = keyof typeof EDGES;

/** What is known in a state; a new state does not compile without a line here. */
const MEANING: Record<State, string> = {
  DISCOVERING: 'Pages are being fetched and stored.',
  VALIDATING: 'The list has ended; page chain, binding, tail and identity are being checked.',
  SNAPSHOT_PROVEN:
    'All pages and the tail are bound to one source revision. Contract checks, then the compare-and-set.',
  ELIGIBLE: 'Accepted: a generation that calls can be admitted on while it is active or compatible.',
  UNVERSIONED_OBSERVATION: 'The source has no revision: a candidate that operators see and nobody can call.',
  INCOMPLETE: 'The scan did not complete. What was active stays as it was.',
  QUARANTINED: 'Held for an operator. Nothing leaves this state; an acceptance counts for the next scan.',
  RETIRED: 'Superseded and drained, or a candidate that was not needed.',
};

const END_STATES = ['ELIGIBLE', 'UNVERSIONED_OBSERVATION', 'INCOMPLETE', 'QUARANTINED', 'RETIRED'] as const;

export const renderStates = (): string => {
  const states = Object.keys(EDGES) as State[];
  const edges = states.flatMap((from) => EDGES[from].map((to) => [from, to] as const));
  const ends = states.filter((state) => EDGES[state].length === 0);
  const reasons = Object.entries(END_REASONS) as [EndReason, (typeof END_REASONS)[EndReason]][];
  return `# States of a discovery

Generated from \`src/domain/transitions.ts\` and \`src/domain/endReasons.ts\` by \`npm run docs\`.
These edges exist and no others; a step that the table lacks is refused by name and changes nothing.

\`\`\`mermaid
stateDiagram-v2
    [*] --> DISCOVERING
${edges.map(([from, to]) => `    ${from} --> ${to}`).join('\n')}
${ends.map((state) => `    ${state} --> [*]`).join('\n')}
\`\`\`

${markdownTable(
  ['State', 'Meaning', 'Followed by'],
  states.map((state) => [
    `\`${state}\``,
    MEANING[state],
    EDGES[state].map((to) => `\`${to}\``).join(', ') || '–',
  ]),
)}

## Why a discovery ended

Every end carries one of these reasons and its evidence, in the API and in Temporal's UI.

${END_STATES.map(
  (state) => `### ${state}

${markdownTable(
  ['Reason', 'Meaning', 'What to do'],
  reasons
    .filter(([, row]) => row.state === state)
    .map(([reason, row]) => [`\`${reason}\``, row.meaning, row.next]),
)}
`,
).join('\n')}`;
};
