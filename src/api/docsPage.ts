/**
 * The API document as a page, rendered here: it loads nothing, runs no script, and so needs no content security
 * exception. Whoever wants to try requests feeds /openapi.json to a tool of their own.
 */
import { createHash } from 'node:crypto';
import type { OpenApiDocument } from './openApi.js';

const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --soft: color-mix(in srgb, currentColor 6%, transparent); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 2rem 1rem 6rem; }
h1 { margin: 0; } h2 { margin: 3rem 0 .5rem; border-bottom: 1px solid var(--line); }
nav ul { columns: 20rem; padding: 0; list-style: none; font-size: .85rem; overflow-wrap: anywhere; } nav a { text-decoration: none; }
section { margin: 1.5rem 0; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; overflow-wrap: anywhere; }
section h3 { margin: 0 0 .5rem; font: 600 1rem ui-monospace, monospace; }
.method { text-transform: uppercase; padding: .1rem .5rem; border-radius: .3rem; background: var(--soft); }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-top: 1px solid var(--line); }
pre { background: var(--soft); padding: .8rem; border-radius: .4rem; overflow: auto; font-size: .85rem; }
summary { cursor: pointer; }
`;

/** For `style-src`: the page's one style, by its digest. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

type Paths = NonNullable<OpenApiDocument['paths']>;
type Operation = NonNullable<Paths[string]['get']>;

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** HTML with everything in it; every text of the document is escaped. */
export const docsPage = (document: OpenApiDocument): string => {
  const entries = operationsOf(document);
  const tags = [...new Set(entries.map(({ operation }) => operation.tags?.[0] ?? 'Other'))];
  const ofTag = (tag: string) => entries.filter(({ operation }) => (operation.tags?.[0] ?? 'Other') === tag);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(document.info.title)} API ${escaped(document.info.version)}</title><style>${STYLE}</style></head>
<body><h1>${escaped(document.info.title)} API <small>${escaped(document.info.version)}</small></h1>
<p>${escaped(document.info.description ?? '')}</p>
<p>The machine-readable document: <a href="openapi.json">openapi.json</a>. Errors are problems of RFC 9457 with <code>code</code>, <code>reason</code> and <code>next</code>.</p>
<nav><ul>${entries.map(navItem).join('')}</ul></nav>
${tags.map((tag) => `<h2>${escaped(tag)}</h2>${ofTag(tag).map(section).join('')}`).join('')}
<h2>Schemas</h2>${Object.entries(document.components?.schemas ?? {})
    .map(
      ([name, schema]) =>
        `<section id="schema-${escaped(name)}"><h3>${escaped(name)}</h3>${pretty(schema)}</section>`,
    )
    .join('')}
</body></html>`;
};

const operationsOf = (document: OpenApiDocument): readonly Entry[] =>
  Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    (['get', 'post'] as const).flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ method, path, operation }];
    }),
  );

const navItem = ({ method, path, operation }: Entry): string =>
  `<li><a href="#${escaped(operation.operationId ?? '')}"><code>${method.toUpperCase()} ${escaped(path)}</code></a></li>`;

const section = ({ method, path, operation }: Entry): string => `
<section id="${escaped(operation.operationId ?? '')}">
<h3><span class="method">${method}</span> ${escaped(path)}</h3>
<p><strong>${escaped(operation.summary ?? '')}</strong></p>
${operation.description === undefined ? '' : `<p>${prose(operation.description)}</p>`}
${parameters(operation)}
${body(operation)}
${Object.entries(operation.responses ?? {})
  .map(([status, answer]) => response(status, answer))
  .join('')}
</section>`;

const parameters = ({ parameters: list = [] }: Operation): string => {
  const rows = list.flatMap((one) =>
    'name' in one
      ? [
          `<tr><td><code>${escaped(one.name)}</code></td><td>${escaped(one.in)}${one.required === true ? ', required' : ''}</td><td>${escaped(one.description ?? '')}</td></tr>`,
        ]
      : [],
  );
  return rows.length === 0 ? '' : `<table><tbody>${rows.join('')}</tbody></table>`;
};

const body = ({ requestBody }: Operation): string =>
  requestBody === undefined || !('content' in requestBody)
    ? ''
    : `<details><summary>Request body</summary>${schemas(requestBody.content)}</details>`;

const response = (status: string, answer: NonNullable<Operation['responses']>[string]): string => {
  const content = 'content' in answer ? schemas(answer.content ?? {}) : '';
  const title = `<code>${escaped(status)}</code> ${prose('description' in answer ? answer.description : '')}`;
  return content === '' ? `<p>${title}</p>` : `<details><summary>${title}</summary>${content}</details>`;
};

const schemas = (content: Readonly<Record<string, { readonly schema?: unknown }>>): string =>
  Object.values(content)
    .map(({ schema }) => pretty(schema))
    .join('');

/** References are links to the schemas below. */
const pretty = (schema: unknown): string =>
  `<pre>${escaped(JSON.stringify(schema, null, 2)).replace(
    /&quot;#\/components\/schemas\/([A-Za-z0-9_]+)&quot;/g,
    '<a href="#schema-$1">$1</a>',
  )}</pre>`;

/** OpenAPI descriptions are Markdown; ours use its code spans and nothing else. */
const prose = (text: string): string => escaped(text).replace(/`([^`]*)`/g, '<code>$1</code>');

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? '');
