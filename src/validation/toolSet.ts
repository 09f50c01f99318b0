/** V1: names are unique within a server. A repeat of the very same descriptor is no anomaly, another one is. */
import type { Digest } from '../domain/ids.js';

export interface NamedDescriptor {
  readonly name: string;
  /** Descriptor digest (S5). */
  readonly digest: Digest;
}

export interface ToolSetCheck {
  /** Names that stand for more than one descriptor: DUPLICATE_NAME, which stops the candidate. */
  readonly duplicates: readonly { readonly name: string; readonly digests: readonly Digest[] }[];
  /** Names that came more than once, with the same descriptor each time. */
  readonly repeats: readonly string[];
  /** Each name once, in the order of its first appearance. */
  readonly unique: readonly NamedDescriptor[];
}

/** V1: looks for names with several descriptors among the tools of one scan. */
export const checkToolSet = (tools: readonly NamedDescriptor[]): ToolSetCheck => {
  const seen = new Map<string, { first: NamedDescriptor; digests: Set<Digest>; times: number }>();
  for (const tool of tools) {
    const known = seen.get(tool.name);
    if (known === undefined) seen.set(tool.name, { first: tool, digests: new Set([tool.digest]), times: 1 });
    else {
      known.times += 1;
      known.digests.add(tool.digest);
    }
  }
  const entries = [...seen.entries()];
  return {
    duplicates: entries
      .filter(([, { digests }]) => digests.size > 1)
      .map(([name, { digests }]) => ({ name, digests: [...digests] })),
    repeats: entries
      .filter(([, { digests, times }]) => digests.size === 1 && times > 1)
      .map(([name]) => name),
    unique: entries.map(([, { first }]) => first),
  };
};
