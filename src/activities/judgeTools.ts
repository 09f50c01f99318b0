/**
 * Judges every tool of a candidate, a page at a time, and reads a page's bytes only where a verdict is not known yet.
 * What a tool can cost is bounded (V4); between tools the event loop gets its turns, and verdicts are kept as they come,
 * so that a catalog of the dearest tools takes long without holding anybody up, and a repeat goes on where it was.
 */
import type { Digest } from '../domain/ids.js';
import { isJsonObject, type JsonObject, type JsonValue, member } from '../domain/json.js';
import type { RegisteredServer } from '../domain/server.js';
import type { SchemaReference } from '../domain/snapshot.js';
import { contractDigest, hintsDigest, textDigest } from '../proof/contract.js';
import { digestJson, sha256Bytes } from '../proof/digest.js';
import { type InexactNumber, readStrict } from '../proof/strictJson.js';
import type {
  CandidateToolRow,
  DescriptorResult,
  PageRecord,
  PageTool,
  ScanRecord,
} from '../store/scanStore.js';
import { type ContractPolicy, checkDescriptor } from '../validation/checkDescriptor.js';
import type { Dialect, ResolvedDialect } from '../validation/dialects.js';
import { DEFAULT_CONTRACT_LIMITS } from '../validation/limits.js';
import type { ActivityDeps } from './deps.js';
import { turnsUntil } from './turns.js';

/** Goes up whenever a check changes its mind about some descriptor, so that no verdict of older rules is reused. */
export const RULES = 3;
/** The page was read strictly when it was fetched; this only bounds the same reader again. */
const PAGE_DEPTH = 256;
/** Work, about a microsecond each, after which verdicts are stored. */
const WORK_PER_SAVE = 100_000;
/** Digests of its parts, in characters of a tool for a microsecond. */
const CHARACTERS_PER_WORK = 5;

const contractPolicy = ({ contract }: RegisteredServer): ContractPolicy => ({
  dialects: ['2020-12', ...contract.dialects] satisfies Dialect[],
  limits: { ...DEFAULT_CONTRACT_LIMITS, descriptorBytes: contract.descriptorBytes },
  outputRoot: 'object',
  paramHeaders: 'ignored',
});

export interface Judging {
  readonly record: ScanRecord;
  readonly server: RegisteredServer;
  readonly pages: readonly PageRecord[];
  readonly progress: { judged: number };
  readonly signal: AbortSignal;
}

/** Stores a row for each distinct tool of the scan. A repeat of the activity stores the same rows again, once. */
export const judgeTools = async (
  deps: ActivityDeps,
  { record, server, pages, progress, signal }: Judging,
): Promise<void> => {
  const turns = turnsUntil(signal);
  const policy = contractPolicy(server);
  const ruleset = digestJson({ rules: RULES, policy: policy as unknown as JsonValue });
  const seen = new Set<string>();
  let position = 0;
  for (const page of pages) {
    const tools = page.tools.filter(([name]) => !seen.has(name) && seen.add(name));
    if (tools.length === 0) continue;
    const { store } = deps;
    const known = new Map(
      await store.knownChecks(
        record.tenant,
        ruleset,
        tools.map(([, , raw]) => raw),
      ),
    );
    const sources = await store.knownSources(
      record.tenant,
      tools.map(([, , raw]) => raw),
    );
    const missing = tools.filter(([, , raw]) => !known.has(raw) || !sources.has(raw));
    if (missing.length > 0) {
      const found = await readTools(deps, record, page, new Set(missing.map(([, , raw]) => raw)));
      await store.saveDescriptors(
        record.tenant,
        [...found].map(([raw, { text }]) => ({ raw, source: text })),
      );
      let unsaved = new Map<Digest, DescriptorResult>();
      let work = 0;
      const save = async (): Promise<void> => {
        if (unsaved.size > 0) await store.saveChecks(record.tenant, ruleset, unsaved);
        unsaved = new Map();
        work = 0;
      };
      for (const [raw, tool] of found) {
        if (known.has(raw)) continue;
        const judged = judge(tool, policy);
        known.set(raw, judged.result);
        unsaved.set(raw, judged.result);
        progress.judged += 1;
        work += judged.work;
        if (work >= WORK_PER_SAVE) await save();
        await turns(judged.work);
      }
      await save();
    }
    await store.saveCandidateTools(
      record.tenant,
      record.id,
      tools.map((tool, index) => row(tool, known, position + index)),
    );
    position += tools.length;
    progress.judged = position;
  }
};

const row = (
  [name, descriptor, raw]: PageTool,
  known: ReadonlyMap<Digest, DescriptorResult>,
  position: number,
): CandidateToolRow => {
  const result = known.get(raw);
  if (result === undefined) throw new Error(`no verdict for the text ${raw}`);
  return { ...result, name, position, descriptor, raw };
};

interface SourceTool {
  readonly text: string;
  readonly value: JsonObject;
  /** With pointers into the tool. */
  readonly inexact: readonly InexactNumber[];
}

/** The wanted tools of a stored page, by the digest of their text. */
const readTools = async (
  { store }: ActivityDeps,
  record: ScanRecord,
  page: PageRecord,
  wanted: ReadonlySet<Digest>,
): Promise<ReadonlyMap<Digest, SourceTool>> => {
  const bytes = await store.pageBytes(record.tenant, record.id, page.n);
  if (sha256Bytes(bytes) !== page.rawDigest)
    throw new Error(`page ${page.n} of ${record.id} is not what was stored`);
  const document = readStrict(bytes, { maxDepth: PAGE_DEPTH }, { elementsOf: '/result/tools' });
  const result = isJsonObject(document.value) ? member(document.value, 'result') : undefined;
  const values = isJsonObject(result) ? (member(result, 'tools') as readonly JsonValue[]) : [];
  const found = new Map<Digest, SourceTool>();
  const inexact = inexactByTool(document.inexactNumbers);
  for (const [index, { start, end }] of document.elements.entries()) {
    const text = document.text.slice(start, end);
    const raw = sha256Bytes(text);
    const value = values[index];
    if (wanted.has(raw) && isJsonObject(value)) {
      found.set(raw, { text, value, inexact: inexact.get(index) ?? [] });
    }
  }
  return found;
};

const IN_TOOL = /^\/result\/tools\/(\d+)(.*)$/s;

/** V7: the numbers of each tool that no double holds, with pointers into it. */
const inexactByTool = (numbers: readonly InexactNumber[]): ReadonlyMap<number, readonly InexactNumber[]> => {
  const byTool = new Map<number, InexactNumber[]>();
  for (const { pointer, text } of numbers) {
    const [, index, inner = ''] = IN_TOOL.exec(pointer) ?? [];
    if (index === undefined) continue;
    const known = byTool.get(Number(index));
    if (known === undefined) byTool.set(Number(index), [{ pointer: inner, text }]);
    else known.push({ pointer: inner, text });
  }
  return byTool;
};

const judge = (
  { text, value: tool, inexact }: SourceTool,
  policy: ContractPolicy,
): { readonly result: DescriptorResult; readonly work: number } => {
  const check = checkDescriptor(tool, policy, inexact);
  const result = {
    contract: contractDigest(tool, { input: check.input, output: check.output }),
    hints: hintsDigest(tool),
    text: textDigest(tool),
    input: reference(member(tool, 'inputSchema'), check.input),
    output: reference(member(tool, 'outputSchema'), check.output),
    verdict: { status: check.status, findings: check.findings },
  };
  return { result, work: check.work + text.length / CHARACTERS_PER_WORK };
};

const reference = (schema: JsonValue | undefined, dialect: ResolvedDialect | null): SchemaReference | null =>
  schema === undefined || dialect === null
    ? null
    : { digest: digestJson(schema), dialect: dialect.dialect, vocabularies: dialect.vocabularies };
