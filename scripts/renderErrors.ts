/** docs/errors.md: every code and reason that a caller can meet, as the code has it. */
import { CODES, type Code, codeRow, type Fault } from '../src/domain/errors.js';
import { markdownTable } from './markdownTable.js';

const FAULT: Record<Fault, string> = {
  caller: 'the caller',
  operator: 'the operator',
  source: 'the tool source',
  genlock: 'Genlock',
};

export const renderErrors = (): string => {
  const codes = Object.keys(CODES) as Code[];
  return `# Errors

Generated from \`src/domain/errorTable.ts\` by \`npm run docs\`. The table is closed: a caller meets no other code or reason.
The API answers with an RFC 9457 problem that carries \`code\` and \`reason\`; programs print both and what to do.

${markdownTable(
  ['Code', 'HTTP', 'Whose turn it is', 'Retry as it is', 'Meaning'],
  codes.map((code) => {
    const row = codeRow(code);
    const link = `[\`${code}\`](#${code.toLowerCase()})`;
    return [link, String(row.status), FAULT[row.fault], row.retry ? 'yes' : 'no', row.meaning];
  }),
)}

${codes
  .map((code) => {
    const row = codeRow(code);
    return `## ${code}

${row.meaning} ${row.next}

${markdownTable(
  ['Reason', 'Meaning'],
  Object.entries(row.reasons).map(([reason, meaning]) => {
    const own = row.nextOf?.[reason];
    return [`\`${reason}\``, own === undefined ? meaning : `${meaning} ${own}`];
  }),
)}
`;
  })
  .join('\n')}`;
};
