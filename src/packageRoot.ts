/** Where the package stands on disk, the same from its sources and from dist: migrations and bundles are found from here. */
import { fileURLToPath } from 'node:url';

/** Absolute path of the folder that holds package.json. */
export const packageRoot = (): string => {
  const here = fileURLToPath(import.meta.url);
  const compiled = here.lastIndexOf('/dist/src/');
  return compiled >= 0 ? here.slice(0, compiled) : here.slice(0, here.lastIndexOf('/src/'));
};
