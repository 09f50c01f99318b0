/**
 * What runs in a thread of argumentThreads.ts: everything about a source's schema that could take long. It has no
 * database, no keys and no environment; when it is ended in the middle of its work, nothing is lost but that work.
 */
import { type JsonObject, type JsonValue, member } from '../domain/json.js';
import {
  type ArgumentValidator,
  type ArgumentVerdict,
  compileArguments,
  type PreparedSchema,
  prepareArguments,
  SchemaRefused,
} from './compileArguments.js';
import type { Dialect } from './dialects.js';

export interface SchemaTask {
  /** Of the schema and its dialect; equal for equal ones only. */
  readonly key: string;
  /** The tool's own text; it went through the strict reader before it was sealed. */
  readonly tool: string;
  readonly part: 'inputSchema' | 'outputSchema';
  readonly dialect: Dialect;
}

export interface JudgeTask extends SchemaTask {
  readonly args: JsonValue;
}

/** Characters of the tools whose validators are kept: code takes memory in proportion, and a heap is bounded. */
const KEPT = 300_000;
const validators = new Map<string, { readonly run: ArgumentValidator; readonly characters: number }>();
let characters = 0;

const schemaOf = ({ tool, part }: SchemaTask): JsonValue => {
  const schema = member(JSON.parse(tool) as JsonObject, part);
  if (schema === undefined) throw new SchemaRefused([]);
  return schema;
};

const orRefused = <T>(act: () => T): T | 'refused' => {
  try {
    return act();
  } catch (error) {
    if (error instanceof SchemaRefused) return 'refused';
    throw error;
  }
};

const validatorOf = (task: SchemaTask): ArgumentValidator => {
  const known = validators.get(task.key);
  const run = known?.run ?? compileArguments(schemaOf(task), task.dialect);
  // Set again, since a Map iterates in the order of insertion: the least recently used is the first.
  validators.delete(task.key);
  validators.set(task.key, { run, characters: task.tool.length });
  characters += task.tool.length - (known?.characters ?? 0);
  for (const [key, dropped] of validators) {
    if (characters <= KEPT) break;
    validators.delete(key);
    characters -= dropped.characters;
  }
  return run;
};

/** @returns `refused` where the schema does not pass the contract checks */
export const prepare = (task: SchemaTask): PreparedSchema | 'refused' =>
  orRefused(() => prepareArguments(schemaOf(task), task.dialect));

/** @returns `refused` where the schema does not pass the contract checks */
export const judge = (task: JudgeTask): ArgumentVerdict | 'refused' =>
  orRefused(() => validatorOf(task)(task.args));
