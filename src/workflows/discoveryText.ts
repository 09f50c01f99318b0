/** What an operator reads of a run in Temporal's UI, in plain words and Markdown. */
import { endRow } from '../domain/endReasons.js';
import type { Candidate } from '../domain/generation.js';
import { endReasonOf } from '../domain/generation.js';

const facts = (candidate: Candidate): readonly (readonly [string, string])[] => {
  switch (candidate.state) {
    case 'DISCOVERING':
      return [];
    case 'VALIDATING':
    case 'SNAPSHOT_PROVEN':
      return [
        ['Pages', String(candidate.pages)],
        ['Tools', String(candidate.tools)],
        ['Bound by', candidate.revision.binding],
        ...(candidate.state === 'SNAPSHOT_PROVEN' ? [['Page root', code(candidate.pageRoot)] as const] : []),
      ];
    case 'ELIGIBLE':
      return [
        ['Generation', String(candidate.generation)],
        ['Policy epoch', String(candidate.policyEpoch)],
        ['Receipt', code(candidate.receipt)],
      ];
    case 'UNVERSIONED_OBSERVATION':
      return [
        ['Pages', String(candidate.pages)],
        ['Tools', String(candidate.tools)],
        ['Observed', code(candidate.observed)],
      ];
    case 'RETIRED':
      return candidate.successor === null ? [] : [['Serving generation', String(candidate.successor)]];
    case 'INCOMPLETE':
    case 'QUARANTINED':
      return Object.entries(candidate.evidence).map(([name, value]) => [name, code(short(value))] as const);
  }
};

/** Evidence can quote a hostile source: it is shown as code, so that none of it is read as Markdown. */
const code = (text: string): string => `\`${text.replaceAll('`', "'").replaceAll(/[\r\n|]/g, ' ')}\``;

const short = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
};

const isEnded = (candidate: Candidate): boolean =>
  candidate.state !== 'DISCOVERING' &&
  candidate.state !== 'VALIDATING' &&
  candidate.state !== 'SNAPSHOT_PROVEN';

/** The current details of a run: where it stands, and for an end why and what to do next. */
export const describeCandidate = (candidate: Candidate, note?: string): string => {
  const lines = [`### ${candidate.state}`];
  if (isEnded(candidate)) {
    const reason = endReasonOf(candidate as Parameters<typeof endReasonOf>[0]);
    const row = endRow(reason);
    lines.push(`**${reason}**: ${row.meaning}`, `**Next:** ${row.next}`);
  }
  if (note !== undefined) lines.push(note);
  const table = facts(candidate);
  if (table.length > 0) {
    lines.push(['| | |', '|---|---|', ...table.map(([name, value]) => `| ${name} | ${value} |`)].join('\n'));
  }
  lines.push(`Scan \`${candidate.scan}\``);
  return lines.join('\n\n');
};

export const failureMessage = (candidate: {
  readonly state: string;
  readonly reason: Parameters<typeof endRow>[0];
}): string => {
  const row = endRow(candidate.reason);
  return `${candidate.state}/${candidate.reason}: ${row.meaning} Next: ${row.next}`;
};
