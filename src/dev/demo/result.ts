/** What the demo came to, as it really came out: the table, and the JSON object that scripts read. */
export interface DemoResult {
  readonly versioned: {
    readonly state: string;
    readonly generation: number | null;
    readonly tools: number;
    readonly pages: number;
  };
  readonly unversioned: { readonly state: string; readonly tools: number };
  readonly admitted: { readonly lease: string; readonly receipt: string; readonly verified: boolean };
  readonly revoked: { readonly code: string };
  readonly stale: { readonly code: string; readonly activeGeneration: number | null };
  readonly killed: {
    readonly state: string;
    readonly pagesByWorker: readonly [number, number];
    readonly fetchedTwice: number;
  };
  readonly seconds: number;
}

const generation = (n: number | null): string => (n === null ? '' : `, generation ${n}`);

export const resultRows = (result: DemoResult): readonly (readonly [string, string])[] => {
  const { versioned, unversioned, admitted, revoked, stale, killed } = result;
  const [byKilled, byFinisher] = killed.pagesByWorker;
  return [
    ['what', 'came out'],
    [
      'inventory-mcp over HTTP, versioned',
      `${versioned.state}${generation(versioned.generation)}, ${versioned.tools} tools in ${versioned.pages} pages`,
    ],
    [
      'server-everything over stdio',
      `${unversioned.state}, ${unversioned.tools} tools: shown, never callable`,
    ],
    [
      'inventory.reserve@1 admitted',
      `lease ${admitted.lease}, receipt ${admitted.receipt}, ${admitted.verified ? 'verified by a second process' : 'NOT VERIFIED'}`,
    ],
    ['the same call after a revocation', revoked.code],
    [
      'the old plan after a schema change',
      `${stale.code}${stale.activeGeneration === null ? '' : `, generation ${stale.activeGeneration} is active`}`,
    ],
    [
      'a worker killed in mid-page',
      `${killed.state}, pages ${byKilled} + ${byFinisher}, ${killed.fetchedTwice} committed pages fetched twice`,
    ],
  ];
};

/** Whether every part came out as Genlock promises; the demo's exit code. */
export const isAsPromised = ({
  versioned,
  unversioned,
  admitted,
  revoked,
  stale,
  killed,
}: DemoResult): boolean =>
  versioned.state === 'ELIGIBLE' &&
  unversioned.state === 'UNVERSIONED_OBSERVATION' &&
  admitted.verified &&
  revoked.code === 'POLICY_REVOKED' &&
  stale.code === 'STALE_CATALOG' &&
  killed.state === 'ELIGIBLE' &&
  killed.fetchedTwice === 0;
