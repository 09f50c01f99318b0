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

/** What the example servers serve: another number means that a page was lost or served twice. */
const VERSIONED = { state: 'ELIGIBLE', generation: 1, tools: 120, pages: 5 } as const;
const UNVERSIONED = { state: 'UNVERSIONED_OBSERVATION', tools: 13 } as const;

/** Whether every part came out as the README promises; the demo's exit code. */
export const isAsPromised = ({
  versioned,
  unversioned,
  admitted,
  revoked,
  stale,
  killed,
}: DemoResult): boolean => {
  const [byKilled, byFinisher] = killed.pagesByWorker;
  return (
    versioned.state === VERSIONED.state &&
    versioned.generation === VERSIONED.generation &&
    versioned.tools === VERSIONED.tools &&
    versioned.pages === VERSIONED.pages &&
    unversioned.state === UNVERSIONED.state &&
    unversioned.tools === UNVERSIONED.tools &&
    admitted.verified &&
    revoked.code === 'POLICY_REVOKED' &&
    stale.code === 'STALE_CATALOG' &&
    stale.activeGeneration === VERSIONED.generation + 1 &&
    killed.state === VERSIONED.state &&
    // Both workers took part, and together they fetched each page once.
    byKilled > 0 &&
    byFinisher > 0 &&
    byKilled + byFinisher === VERSIONED.pages &&
    killed.fetchedTwice === 0
  );
};
