/** What a person reads on a terminal where something failed: the code, what is wrong, what to do. Never a stack trace. */
import { GenlockProblem, GenlockUnreachable, NotGenlock } from '../client/problem.js';
import { CatalogError, codeRow, nextStep } from '../domain/errors.js';

/** The lines that tell a person what is wrong and what to do. */
export const explain = (error: unknown): string => {
  if (error instanceof GenlockProblem) {
    const id = error.requestId === null ? [] : [`  request: ${error.requestId}`];
    const head = `genlock: ${error.code}/${error.reason}: ${error.detail}`;
    return [head, ...allDetails(error.details), ...id, `Next: ${error.next}`].join('\n');
  }
  if (error instanceof NotGenlock)
    return `genlock: ${error.message}\nNext: See that GENLOCK_URL is the address of Genlock's API.`;
  if (error instanceof GenlockUnreachable)
    return `genlock: ${error.message}\nNext: See that the API runs and listens at this address, then try again.`;
  if (!(error instanceof CatalogError)) {
    const name = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return `genlock: ${name.split('\n')[0] ?? ''}\nThis is a fault of Genlock's own. GENLOCK_LOG_LEVEL=debug shows more.`;
  }
  const row = codeRow(error.code);
  const head = `genlock: ${error.code}/${error.reason}: ${row.reasons[error.reason] ?? row.meaning}`;
  return [head, ...allDetails(error.details), `Next: ${nextStep(error.code, error.reason)}`].join('\n');
};

const allDetails = (details: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(details).flatMap(([name, value]) => detailLines(name, value).map((line) => `  ${line}`));

const detailLines = (name: string, value: unknown): readonly string[] => {
  if (Array.isArray(value))
    return value.map((item) => `${name}: ${typeof item === 'string' ? item : plain(item)}`);
  return [`${name}: ${typeof value === 'string' ? value : plain(value)}`];
};

const plain = (value: unknown): string =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value)
        .map(([name, inner]) => `${name} ${typeof inner === 'string' ? inner : JSON.stringify(inner)}`)
        .join(', ')
    : JSON.stringify(value);
