/** V4: the bounds on a descriptor and on the arguments of a call. Configuration values of a registration. */
import type { DurationMs } from '../domain/ids.js';
import { durationMs } from '../domain/ids.js';

export interface ContractLimits {
  /** UTF-8 bytes of one tool object, written without white space. */
  readonly descriptorBytes: number;
  /** Levels of JSON nesting of one tool object. */
  readonly depth: number;
  /** JSON values of one tool object. */
  readonly nodes: number;
  /** Members of one `enum`. */
  readonly enumSize: number;
  /** Subschemas that one value can be checked against, paths through combinators and references multiplied. */
  readonly combinatorProduct: number;
  /** The same, multiplied on along properties and items. */
  readonly evaluationPaths: number;
  /** Instructions of one translated pattern. */
  readonly patternSize: number;
  /** What compiling the different patterns of one schema takes; about a microsecond each. */
  readonly patternWork: number;
  /** Subschemas of one schema that code is written for. */
  readonly subschemas: number;
  /** The same, with those that nothing refers to. */
  readonly definitions: number;
  /** Blocks of that code inside one another: each property stands in the one before it, and a branch is three. */
  readonly blocks: number;
}

export const DEFAULT_CONTRACT_LIMITS: ContractLimits = {
  descriptorBytes: 256 * 1024,
  depth: 64,
  nodes: 20_000,
  enumSize: 5_000,
  combinatorProduct: 2_000,
  evaluationPaths: 100_000,
  patternSize: 5_000,
  patternWork: 20_000,
  subschemas: 2_500,
  definitions: 5_000,
  blocks: 1_000,
};

export interface ArgumentLimits {
  /** Bytes of the arguments in UTF-8, written without white space. */
  readonly bytes: number;
  /** Levels of nesting. */
  readonly depth: number;
  /** JSON values. */
  readonly nodes: number;
  /** Items of an array that a schema wants to be unique. */
  readonly uniqueItemsLength: number;
  /** How long one check against a schema may run. */
  readonly deadline: DurationMs;
}

export const DEFAULT_ARGUMENT_LIMITS: ArgumentLimits = {
  bytes: 256 * 1024,
  depth: 32,
  nodes: 20_000,
  uniqueItemsLength: 10_000,
  deadline: durationMs(1_000),
};
