/** The public JSON Schema suite, read for publicSuite.test.ts, and what Genlock says of each of its tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonValue } from '../../../src/domain/json.js';
import {
  type ArgumentValidator,
  compileArguments,
  SchemaRefused,
} from '../../../src/validation/compileArguments.js';
import type { Dialect } from '../../../src/validation/dialects.js';

const FOLDERS: Readonly<Record<Dialect, string>> = { '2020-12': 'draft2020-12', 'draft-07': 'draft7' };

interface Group {
  readonly description: string;
  readonly schema: JsonValue;
  readonly tests: readonly {
    readonly description: string;
    readonly data: JsonValue;
    readonly valid: boolean;
  }[];
}

/** How an answer differs. `refused`: the schema, so that its tool is quarantined and no argument passes. */
export type Difference = 'refused' | 'stricter' | 'laxer';

export interface SuiteResult {
  readonly tests: number;
  /** By "file: group", or "file: group: test" where the schema as such is not refused. */
  readonly differences: ReadonlyMap<string, Difference>;
}

/** The suite also has schemas that are no object, which no tool can have: those stand in one that adds nothing. */
const compile = (schema: JsonValue, dialect: Dialect): ArgumentValidator | null => {
  try {
    return compileArguments(typeof schema === 'boolean' ? { allOf: [schema] } : schema, dialect);
  } catch (error) {
    if (error instanceof SchemaRefused) return null;
    throw error;
  }
};

export const runSuite = (dialect: Dialect): SuiteResult => {
  const root = join(import.meta.dirname, '../../vectors/jsonSchemaSuite', FOLDERS[dialect]);
  const differences = new Map<string, Difference>();
  let tests = 0;
  for (const file of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!file.endsWith('.json')) continue;
    const groups = JSON.parse(readFileSync(join(root, file), 'utf8')) as readonly Group[];
    for (const group of groups) {
      const at = `${file.replace('.json', '')}: ${group.description}`;
      tests += group.tests.length;
      const validate = compile(group.schema, dialect);
      if (validate === null) differences.set(at, 'refused');
      else
        for (const { description, data, valid } of group.tests) {
          if (validate(data).ok !== valid)
            differences.set(`${at}: ${description}`, valid ? 'stricter' : 'laxer');
        }
    }
  }
  return { tests, differences };
};
