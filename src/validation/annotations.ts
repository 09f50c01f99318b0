/**
 * V5: annotations are hints of an untrusted source. Their types, contradictions and disagreement with the
 * operator's class are recorded; nothing here ever makes a tool more callable.
 */
import type { EffectClass, Finding } from '../domain/descriptor.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import { isJsonObject, member } from '../domain/json.js';
import { quote, Report } from './findings.js';

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** Words that hardly ever stand in the name of what only reads, or changes little. */
const DESTRUCTIVE = new Set(
  'delete remove drop destroy purge erase truncate wipe revoke terminate uninstall overwrite'.split(' '),
);
/** Verbs that a name which only reads does not begin with. */
const CHANGING = new Set(
  'create update write set put post insert add send patch move rename edit modify reset upload execute run pay'.split(
    ' ',
  ),
);
const BETWEEN_WORDS = /[_.-]+|(?<=[a-z0-9])(?=[A-Z])/;

/** V5: what a name says of itself is no class either; it only makes harmless hints doubtful. */
const soundsLike = (name: string): 'destructive' | 'changing' | null => {
  const words = name.split(BETWEEN_WORDS).map((word) => word.toLowerCase());
  if (words.some((word) => DESTRUCTIVE.has(word))) return 'destructive';
  return CHANGING.has(words[0] ?? '') ? 'changing' : null;
};

const checkHints = (annotations: JsonObject, report: Report): void => {
  for (const hint of HINTS) {
    const value = member(annotations, hint);
    if (value !== undefined && typeof value !== 'boolean') {
      report.add('ANNOTATION_TYPE', `/annotations/${hint}`, `${hint} is a boolean; it is ignored`);
    }
  }
  const title = member(annotations, 'title');
  if (title !== undefined && title !== null && typeof title !== 'string') {
    report.add('ANNOTATION_TYPE', '/annotations/title', 'title is a string; it is ignored');
  }
  if (member(annotations, 'readOnlyHint') === true && member(annotations, 'destructiveHint') === true) {
    const message = 'read-only and destructive at once; treated as destructive';
    report.add('CONTRADICTORY_ANNOTATIONS', '/annotations', message);
  }
};

/** V5: types and contradictions, and what the name makes doubtful. */
export const checkAnnotations = (
  annotations: JsonValue | undefined,
  name: string | null,
  report: Report,
): void => {
  if (annotations === undefined) return;
  if (!isJsonObject(annotations)) {
    report.add('ANNOTATION_TYPE', '/annotations', 'annotations are an object; these are ignored');
    return;
  }
  checkHints(annotations, report);
  const sound = name === null ? null : soundsLike(name);
  const readOnly = member(annotations, 'readOnlyHint') === true;
  const harmless = member(annotations, 'destructiveHint') === false;
  if (name !== null && ((sound !== null && readOnly) || (sound === 'destructive' && harmless))) {
    report.add(
      'ANNOTATION_SUSPECT',
      '/annotations',
      `${quote(name)} does not sound as harmless as its hints`,
    );
  }
};

/**
 * V5: where the hints disagree with the effect class of the operator's reviewed classification.
 * @param effectClass UNKNOWN where there is no classification: then there is nothing to disagree with
 */
export const annotationFindings = (
  annotations: JsonValue | undefined,
  effectClass: EffectClass,
): readonly Finding[] => {
  const report = new Report();
  if (!isJsonObject(annotations) || effectClass === 'UNKNOWN') return report.list();
  const readOnly = member(annotations, 'readOnlyHint');
  const destructive = member(annotations, 'destructiveHint');
  const disagree = (hint: string, value: boolean): void => {
    const message = `${hint} is ${value}, and the operator classified the tool as ${effectClass}`;
    report.add('ANNOTATION_DISAGREES', `/annotations/${hint}`, message);
  };
  if (readOnly === true && effectClass !== 'READ') disagree('readOnlyHint', true);
  if (readOnly === false && effectClass === 'READ') disagree('readOnlyHint', false);
  if (destructive === true && effectClass !== 'DESTRUCTIVE') disagree('destructiveHint', true);
  if (destructive === false && effectClass === 'DESTRUCTIVE') disagree('destructiveHint', false);
  return report.list();
};
