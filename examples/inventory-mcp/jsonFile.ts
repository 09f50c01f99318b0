/** A JSON file that is whole at any moment: written beside its place, then renamed into it. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export const readJsonFile = <T>(file: string, otherwise: () => T): T => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return otherwise();
  }
  return JSON.parse(text) as T;
};

export const writeJsonFile = (file: string, value: unknown): void => {
  mkdirSync(dirname(file), { recursive: true });
  const beside = `${file}.${process.pid}.new`;
  writeFileSync(beside, `${JSON.stringify(value, null, 2)}\n`);
  renameSync(beside, file);
};
