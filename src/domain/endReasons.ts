/**
 * Why a discovery ended where it did: a closed table, one reason for each end that D5 allows. An operator
 * reads it in the API, in Temporal's UI and in docs/states.md, which is generated from it.
 */
export type EndState = 'ELIGIBLE' | 'UNVERSIONED_OBSERVATION' | 'INCOMPLETE' | 'QUARANTINED' | 'RETIRED';

interface EndRow {
  readonly state: EndState;
  readonly meaning: string;
  readonly next: string;
}

const SOURCE_OPERATOR = "Look at the evidence, ask the server's operator, then trigger a discovery again.";
const RETRY = 'Nothing: the next scheduled refresh scans again. Trigger one by hand to see it sooner.';
const RAISE =
  "If the list is really that large, raise the limit in the server's registration and scan again.";

export const END_REASONS = {
  PROMOTED: { state: 'ELIGIBLE', meaning: 'The generation is the active one.', next: 'Nothing.' },
  NO_REVISION: {
    state: 'UNVERSIONED_OBSERVATION',
    meaning: 'The source binds its pages to no revision, so completeness cannot be proven (D4).',
    next: "Ask the server's author to stamp pages with a catalog revision, or publish a reviewed manifest.",
  },

  UNREACHABLE: {
    state: 'INCOMPLETE',
    meaning: 'No connection to the endpoint could be made.',
    next: SOURCE_OPERATOR,
  },
  PROCESS_FAILED: {
    state: 'INCOMPLETE',
    meaning: 'The stdio server could not be started, or it ended before it had answered.',
    next: "Start the command by hand on the worker's machine and read what it says.",
  },
  ADDRESS_REFUSED: {
    state: 'INCOMPLETE',
    meaning: "The endpoint resolves to an address that the server's trust configuration does not allow.",
    next: 'If this address is meant, allow it in the trust configuration of the server.',
  },
  REDIRECT_REFUSED: {
    state: 'INCOMPLETE',
    meaning: 'The endpoint answered with a redirect, which is never followed.',
    next: 'Register the final address.',
  },
  TLS_FAILED: {
    state: 'INCOMPLETE',
    meaning: 'The TLS handshake or the certificate check failed.',
    next: SOURCE_OPERATOR,
  },
  AUTH_REFUSED: {
    state: 'INCOMPLETE',
    meaning: 'The server refused the credential of this audience.',
    next: "Check the credential reference of this audience in the worker's environment.",
  },
  CREDENTIAL_UNRESOLVED: {
    state: 'INCOMPLETE',
    meaning: 'The credential reference of this audience does not resolve in the worker.',
    next: 'Set the variable or file that the reference names for the worker, then scan again.',
  },
  CREDENTIAL_EXPIRED: {
    state: 'INCOMPLETE',
    meaning:
      'The credential of this audience is past the end that it states itself, so nothing was asked with it.',
    next: 'Renew the credential that the reference of this audience names, then scan again.',
  },
  STDIO_REFUSED: {
    state: 'INCOMPLETE',
    meaning:
      'The worker starts no stdio servers for this tenant, or the command is a launcher that fetches what it then runs (D8). Nothing was started.',
    next: "The evidence says which. Have the administrator name the tenant in the worker's GENLOCK_STDIO_TENANTS; or install the package and register its own program.",
  },
  NOT_MCP: {
    state: 'INCOMPLETE',
    meaning: 'What answers at the endpoint does not speak MCP.',
    next: 'Check the address and path of the endpoint.',
  },
  PROTOCOL_UNSUPPORTED: {
    state: 'INCOMPLETE',
    meaning: 'The server speaks MCP, but no revision of it that Genlock reads.',
    next: 'The evidence names both. Upgrade the server.',
  },
  UPSTREAM_ERROR: {
    state: 'INCOMPLETE',
    meaning: 'The server answered with an error.',
    next: SOURCE_OPERATOR,
  },
  PAGE_MALFORMED: {
    state: 'INCOMPLETE',
    meaning: 'A page is not the strict JSON of a tools/list result.',
    next: "The evidence names the position. The server's author must mend it.",
  },
  DUPLICATE_KEY: {
    state: 'INCOMPLETE',
    meaning: 'A page has an object with the same key twice, which two readers can read in two ways.',
    next: "The evidence names the position. The server's author must mend it.",
  },
  PAGE_TOO_LARGE: {
    state: 'INCOMPLETE',
    meaning: 'A page is larger than the limit on bytes of one page.',
    next: RAISE,
  },
  PAGE_TIMEOUT: {
    state: 'INCOMPLETE',
    meaning: 'A page did not arrive within its time limit.',
    next: SOURCE_OPERATOR,
  },
  PAGE_BUDGET_EXCEEDED: {
    state: 'INCOMPLETE',
    meaning: 'The list goes on after the highest number of pages.',
    next: RAISE,
  },
  TOOL_BUDGET_EXCEEDED: {
    state: 'INCOMPLETE',
    meaning: 'The list has more tools than the limit.',
    next: RAISE,
  },
  BYTE_BUDGET_EXCEEDED: {
    state: 'INCOMPLETE',
    meaning: 'The pages together are larger than the limit.',
    next: RAISE,
  },
  DEADLINE_EXCEEDED: {
    state: 'INCOMPLETE',
    meaning: 'The scan as a whole took longer than its limit.',
    next: RAISE,
  },
  CURSOR_REPEATED: {
    state: 'INCOMPLETE',
    meaning: 'A page names its own request cursor as the next one, so the list cannot move on (D1).',
    next: "The server's author must mend its paging.",
  },
  CURSOR_CYCLE: {
    state: 'INCOMPLETE',
    meaning: 'A page names a cursor that was followed before, so the list runs in a circle (D1).',
    next: "The server's author must mend its paging.",
  },
  NO_PROGRESS: {
    state: 'INCOMPLETE',
    meaning: 'A page that is not empty holds only tools that were listed before (D1).',
    next: "The server's author must mend its paging.",
  },
  CURSOR_EXPIRED: {
    state: 'INCOMPLETE',
    meaning: 'The server refused a cursor that it had given out; all pages were discarded.',
    next: RETRY,
  },
  SESSION_LOST: {
    state: 'INCOMPLETE',
    meaning: 'The session or process that the cursors belong to is gone; all pages were discarded (D6).',
    next: RETRY,
  },
  REVISION_CHANGED: {
    state: 'INCOMPLETE',
    meaning: 'The source revision moved during the scan (D3).',
    next: RETRY,
  },
  REVISION_UNSTABLE: {
    state: 'INCOMPLETE',
    meaning: 'The source revision moved in each of five rounds (D3).',
    next: 'The list changes faster than it can be read. Ask for larger pages, or for fewer changes.',
  },
  REVISION_MISSING: {
    state: 'INCOMPLETE',
    meaning: 'Some pages carry a revision and others none, so that they cannot be bound to one (D3).',
    next: "The server's author must stamp every page.",
  },
  TAIL_UNVERIFIED: {
    state: 'INCOMPLETE',
    meaning: 'The source could not be asked again after the last page (D3).',
    next: RETRY,
  },
  CHANGED_DURING_SCAN: {
    state: 'INCOMPLETE',
    meaning: 'The trust configuration, or the credential, changed after the scan had begun (P1, S6).',
    next: RETRY,
  },
  CANCELLED: { state: 'INCOMPLETE', meaning: 'Somebody cancelled the discovery.', next: RETRY },
  SERVER_GONE: {
    state: 'INCOMPLETE',
    meaning: 'The server is no longer registered.',
    next: 'Register it again if it is meant.',
  },
  INTERNAL: {
    state: 'INCOMPLETE',
    meaning: "A fault of Genlock's own ended the run.",
    next: "The worker's log has it under this run id. Nothing that was active was touched.",
  },

  DUPLICATE_NAME: {
    state: 'QUARANTINED',
    meaning: 'One tool name stands for two descriptors (V1).',
    next: "The server's author must give each tool a name of its own.",
  },
  IDENTITY_CHANGED: {
    state: 'QUARANTINED',
    meaning:
      "Endpoint, certificate key or artifact is not the server's accepted one, and the trust configuration does not list it (D8).",
    next: 'If the change is meant, list the new identity or key in the trust configuration and scan again; or accept this discovery (POST /v1/acceptances), where no pin refused it.',
  },
  IDENTITY_TORN: {
    state: 'QUARANTINED',
    meaning:
      'Two answers of one scan came from two identities, or a program changed while it was started (D8).',
    next: 'Look at what stands between Genlock and the server.',
  },
  ROLLBACK: {
    state: 'QUARANTINED',
    meaning: 'The revision is lower than one that was already accepted (D9).',
    next: 'If the server was restored on purpose, accept this discovery (POST /v1/acceptances).',
  },
  EQUIVOCATION: {
    state: 'QUARANTINED',
    meaning: 'The same revision was accepted before with other content (D9).',
    next: "The server's author must move the revision with every change.",
  },
  FAST_FORWARD: {
    state: 'QUARANTINED',
    meaning: 'The revision jumps absurdly far ahead, after which nothing could follow (D9).',
    next: 'If the jump is meant, accept this discovery (POST /v1/acceptances).',
  },
  NEW_INCARNATION: {
    state: 'QUARANTINED',
    meaning: 'The revision has another incarnation, or another kind of binding, than the accepted one (D9).',
    next: 'If the server was set up anew on purpose, accept this discovery (POST /v1/acceptances).',
  },
  SHRUNK: {
    state: 'QUARANTINED',
    meaning: 'The candidate loses more of the active tools than the configured share.',
    next: 'If the removal is meant, accept this discovery (POST /v1/acceptances).',
  },
  ALL_TOOLS_QUARANTINED: {
    state: 'QUARANTINED',
    meaning: 'Every tool of the candidate failed its contract checks.',
    next: "The findings of the candidate say what the server's author must mend.",
  },
  TOOL_FAULT: {
    state: 'QUARANTINED',
    meaning:
      'A tool failed its contract checks, and the registration says that this stops the whole catalog.',
    next: 'Mend the tool, or register the server with onToolFault: quarantine-tool.',
  },

  UNCHANGED: {
    state: 'RETIRED',
    meaning: 'The content is that of the active generation, whose freshness was renewed (S7).',
    next: 'Nothing.',
  },
  LOST: {
    state: 'RETIRED',
    meaning: 'Another candidate was promoted meanwhile.',
    next: 'Nothing: the winner is active.',
  },
  FENCED: {
    state: 'RETIRED',
    meaning:
      'Policy epoch or trust changed before the compare-and-set, the server was closed, or the tail is too old; the evidence says which.',
    next: RETRY,
  },
  SUPERSEDED: {
    state: 'RETIRED',
    meaning: 'A newer generation is active and this one has drained.',
    next: 'Nothing.',
  },
} as const satisfies Record<string, EndRow>;

export type EndReason = keyof typeof END_REASONS;
export type ReasonFor<S extends EndState> = {
  [R in EndReason]: (typeof END_REASONS)[R]['state'] extends S ? R : never;
}[EndReason];

export const endRow = (reason: EndReason): EndRow => END_REASONS[reason];
