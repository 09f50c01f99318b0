/** docs/openapi.json, from the schemas that validate requests. */
import { readFile } from 'node:fs/promises';
import { openApiDocument } from '../src/api/openApi.js';

export const renderOpenApi = async (): Promise<string> => {
  const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return `${JSON.stringify(openApiDocument(manifest.version), null, 2)}\n`;
};
