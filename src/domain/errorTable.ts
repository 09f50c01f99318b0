/**
 * The rows of the closed table of codes: what each means, whose turn it is and what to do. errors.ts gives them their types
 * and the error that carries them.
 */

/** Whose turn it is: the caller, the operator of Genlock, the tool source, or Genlock itself. */
export type Fault = 'caller' | 'operator' | 'source' | 'genlock';

export interface CodeRow {
  readonly status: number;
  readonly fault: Fault;
  /** Whether the very same request can succeed later without anybody changing anything. */
  readonly retry: boolean;
  readonly meaning: string;
  /** What the caller does next. */
  readonly next: string;
  readonly reasons: Readonly<Record<string, string>>;
  /** What the caller does next where one reason asks for something else. */
  readonly nextOf?: Readonly<Record<string, string>>;
}

export const CODES = {
  STALE_CATALOG: {
    status: 409,
    fault: 'caller',
    retry: false,
    meaning: 'The plan was made on a catalog that is no longer the accepted one for this tool.',
    next: 'Read the active catalog again, make a new plan with its bindings, and admit that.',
    reasons: {
      DESCRIPTOR_CHANGED: 'The active generation holds another descriptor for this tool.',
      TOOL_REMOVED: 'The active generation no longer holds this tool id.',
      GENERATION_RETIRED: 'The generation that the plan names is no longer retained.',
      GENERATION_EXPIRED: 'The generation is past its expiry and no refresh has verified it since.',
      GENERATION_UNKNOWN: 'No generation of that number was ever accepted for this audience.',
      EPOCH_REBINDING: 'A new policy epoch is in force and the active content is not yet bound to it.',
      TRUST_REBINDING:
        'The registration of the server changed, and no scan under it has been accepted yet; effectful tools wait for one.',
    },
  },
  INCOMPLETE_DISCOVERY: {
    status: 409,
    fault: 'source',
    retry: true,
    meaning: 'This server has no active generation, and its latest scan did not complete.',
    next: "Ask the operator to look at the server's latest discovery; it names the reason. Try again after a complete scan.",
    reasons: {
      NO_ACTIVE_GENERATION: 'No generation was ever accepted for this server and audience.',
      LATEST_SCAN_INCOMPLETE: 'The latest scan ended INCOMPLETE and nothing was active before it.',
      LATEST_SCAN_QUARANTINED: 'The latest scan is held for an operator and nothing was active before it.',
    },
  },
  UNVERSIONED_SOURCE: {
    status: 409,
    fault: 'operator',
    retry: false,
    meaning: 'The source binds its list to no revision, so that no list of it can be proven.',
    next: 'Ask the operator to publish a reviewed manifest for this server, or its owner to serve a catalog revision.',
    reasons: { NO_REVISION: 'The latest scan is an UNVERSIONED_OBSERVATION.' },
  },
  POLICY_REVOKED: {
    status: 403,
    fault: 'operator',
    retry: false,
    meaning: 'What was allowed when the plan was bound was withdrawn since.',
    next: 'Drop this step and plan again from the active catalog; an operator can lift a revocation.',
    reasons: {
      REVOKED_TOOL: 'The tool, or its name on this server, was revoked.',
      REVOKED_SERVER: 'The server was revoked.',
      REVOKED_SUBJECT: 'This subject was revoked.',
      PERMIT_WITHDRAWN: 'The policy epoch that the plan is bound to permitted it, the current one does not.',
    },
  },
  POLICY_DENIED: {
    status: 403,
    fault: 'caller',
    retry: false,
    meaning: 'No policy permits this call.',
    next: 'Choose another tool, or ask the operator for a permit that names this tool id.',
    reasons: {
      NO_PERMIT: 'No policy of the current epoch permits this tool id to this subject.',
      NO_AUDIENCE: "No audience rule maps the token's claims to an audience class of this server.",
      NO_POLICY: 'No policy epoch is published for this tenant.',
      ROLE_MISSING: 'This operation needs a role that the token does not carry.',
      UNCLASSIFIED_EFFECT: 'The tool has no reviewed effect class, so it is treated as destructive.',
      NO_RESOURCE_RULE: 'The classification of this effectful tool has no rule that computes its resource.',
    },
    nextOf: { ROLE_MISSING: 'Use a token that has the role that `details` names.' },
  },
  CONFIRMATION_REQUIRED: {
    status: 403,
    fault: 'caller',
    retry: false,
    meaning: 'A person has to confirm this very call before it is admitted.',
    next: 'Ask the operator for a permit that covers autonomous calls of this tool id, or choose another tool.',
    reasons: { NOT_CONFIRMED: 'There is no confirmation of this call by a person other than the requester.' },
  },
  TOOL_QUARANTINED: {
    status: 409,
    fault: 'source',
    retry: false,
    meaning: 'The tool is in the catalog but failed its contract checks, and is not callable.',
    next: "Use another tool. The catalog names the finding; the server's author can mend it.",
    reasons: { CONTRACT_CHECK_FAILED: 'At least one contract check of this tool failed.' },
  },
  REVIEW_REQUIRED: {
    status: 409,
    fault: 'operator',
    retry: false,
    meaning: 'The tool may have effects, and its text or hints are not as they were last approved.',
    next: 'Use another tool, or ask an operator to review the change that `details` names.',
    reasons: {
      TEXT_CHANGED: 'Title, description or icons changed, and nobody has reviewed that yet.',
      HINTS_CHANGED: 'The annotations changed, and nobody has reviewed that yet.',
      REVIEW_REFUSED: 'A reviewer refused the change.',
    },
  },
  SERVER_CLOSED: {
    status: 409,
    fault: 'operator',
    retry: false,
    meaning: 'The server is closed: nothing is admitted on it.',
    next: 'Ask the operator whether and when it opens again.',
    reasons: { CLOSED_BY_OPERATOR: 'An operator closed it.' },
  },
  PARAMS_INVALID: {
    status: 422,
    fault: 'caller',
    retry: false,
    meaning: 'The arguments do not satisfy the frozen input schema.',
    next: 'Correct the arguments that `details` points at and admit again.',
    reasons: {
      SCHEMA_MISMATCH: 'The input schema refuses the arguments.',
      NOT_AN_OBJECT: 'Arguments are a JSON object, or left out.',
      UNSAFE_NUMBER: 'A number cannot be represented exactly and would be sent rounded.',
      TOO_COSTLY: 'The arguments go beyond the limits on size or depth.',
      VALIDATION_DEADLINE:
        'The check of the arguments was stopped: it went beyond its bound on time or memory.',
      RESOURCE_UNRESOLVED: 'The resource rule points at an argument that is missing or not a plain value.',
    },
  },
  PROOF_INVALID: {
    status: 401,
    fault: 'caller',
    retry: false,
    meaning: "The proof of possession of the holder's key does not hold.",
    next: 'Make a new DPoP proof for this very request (RFC 9449) and send it in the DPoP header.',
    reasons: {
      MISSING: 'There is no DPoP header.',
      MALFORMED: 'The proof is not a well-formed dpop+jwt with an asymmetric algorithm and a public key.',
      SIGNATURE: 'The signature does not verify under the key in the proof.',
      WRONG_TARGET: 'htm or htu is not this request.',
      WRONG_TOKEN: 'ath is not the digest of this access token.',
      STALE: 'iat is outside the accepted window.',
      REPLAYED: 'This proof was used before.',
      KEY_MISMATCH: 'The key is not the one that the token is bound to.',
      UNBOUND_TOKEN: "An effectful tool needs a token that is bound to the holder's key (cnf.jkt).",
    },
  },
  LEASE_EXPIRED: {
    status: 401,
    fault: 'caller',
    retry: false,
    meaning: 'The lease is past its expiry.',
    next: 'Admit the call again.',
    reasons: { PAST_EXPIRY: 'exp is in the past.' },
  },
  LEASE_MISMATCH: {
    status: 401,
    fault: 'caller',
    retry: false,
    meaning: 'The lease is not one that this Genlock issued for this use.',
    next: 'Use the lease as it was issued, or admit the call again.',
    reasons: {
      LEASE_MALFORMED: 'It is not a well-formed genlock-lease+jwt with all its claims.',
      LEASE_SIGNATURE: 'The signature does not verify under the published keys.',
      LEASE_ISSUER: 'iss is not this Genlock.',
      LEASE_AUDIENCE: 'aud is another enforcement point.',
    },
  },
  RECEIPT_INVALID: {
    status: 422,
    fault: 'caller',
    retry: false,
    meaning: 'The receipt is not one that this Genlock signed.',
    next: 'Fetch the receipt again, and the key set over a connection that you trust; if it still fails, it was altered.',
    reasons: {
      RECEIPT_MALFORMED: 'It is not a well-formed genlock-receipt+jws.',
      RECEIPT_SIGNATURE: 'The signature does not verify under the published keys.',
    },
  },
  UNAUTHENTICATED: {
    status: 401,
    fault: 'caller',
    retry: false,
    meaning: "The caller's token is missing or does not verify.",
    next: 'Get a token from the configured issuer for this audience and send it in the Authorization header.',
    reasons: {
      NO_TOKEN: 'There is no Authorization header with a token.',
      MALFORMED: 'The token is not a well-formed JWT with an asymmetric algorithm.',
      BAD_SIGNATURE: "The signature does not verify under the issuer's keys.",
      WRONG_ISSUER: 'The issuer is not the configured one.',
      WRONG_AUDIENCE: 'The token is for another service.',
      EXPIRED: 'The token is expired or not yet valid.',
      BAD_CLAIMS: 'A claim that Genlock needs is missing or malformed.',
    },
  },
  NOT_FOUND: {
    status: 404,
    fault: 'caller',
    retry: false,
    meaning: 'There is no such thing in this tenant.',
    next: 'Check the name. Things of other tenants do not exist here.',
    reasons: {
      NO_SUCH_ROUTE: 'The API has no such path.',
      NO_SUCH_SERVER: 'No server of that name is registered.',
      NO_SUCH_DISCOVERY: 'No discovery of that id exists.',
      NO_SUCH_RECEIPT: 'No receipt of that id exists.',
      NO_SUCH_GENERATION: 'No generation of that number exists.',
      NO_SUCH_TOOL: 'The active generation holds no such tool.',
      NO_SUCH_REVOCATION: 'No revocation of that id exists.',
      NO_SUCH_REVIEW: 'No review of that id waits or was decided.',
      NO_ACTIVE_CATALOG: 'This server has no active generation for this audience.',
    },
  },
  BAD_REQUEST: {
    status: 400,
    fault: 'caller',
    retry: false,
    meaning: 'The request is not of the form that the API document describes.',
    next: 'Correct the request; `details` names the member.',
    reasons: {
      INVALID_BODY: 'The body does not match the schema of this operation.',
      INVALID_JSON: 'The body is not strict JSON (well-formed, UTF-8, no duplicate keys, bounded depth).',
      INVALID_NAME: 'An identifier does not have the form that its rule gives.',
      INVALID_QUERY: 'A query or path parameter does not match its schema.',
      WRONG_CONTENT_TYPE: 'The body is not application/json.',
      TOO_LARGE: 'The body is larger than this operation accepts.',
      INVALID_BUNDLE: 'The policy bundle has an error.',
      CREDENTIAL_VALUE: 'A credential is given by reference (env:NAME or file:PATH), never by value.',
      CREDENTIAL_SPACE: 'A reference names only what the administrator made for this very tenant.',
    },
  },
  CONFLICT: {
    status: 409,
    fault: 'caller',
    retry: false,
    meaning: 'The request contradicts what is stored.',
    next: 'Read the current state and decide again.',
    reasons: {
      SERVER_EXISTS: 'A server of that name is registered with other settings.',
      NAMESPACE_TAKEN: 'Another server of this tenant has that namespace.',
      EPOCH_EXISTS: 'Another bundle was published meanwhile.',
      CHANGED_MEANWHILE: 'Somebody else changed the trust of this server meanwhile.',
      ALREADY_LIFTED: 'The revocation was lifted before.',
      NOT_ACCEPTABLE: 'This discovery is not held for a reason that an operator can accept.',
      ALREADY_ACCEPTED: 'The discovery was accepted before.',
      ALREADY_REVIEWED: 'The change was decided so before.',
      REVIEW_ACCEPTED: 'The change was accepted before, which no later refusal takes back.',
      REVIEW_SUPERSEDED: 'The tool is no longer what this review shows, or no longer needs one.',
      HELD_SUPERSEDED:
        'A newer discovery is held, or the active catalog has moved since this one was judged beside it.',
    },
    nextOf: {
      REVIEW_ACCEPTED: 'To withdraw the tool, revoke its id: POST /v1/revocations with what `details` names.',
      REVIEW_SUPERSEDED:
        'Look at the review that `details` names as the newest; where it names none, nothing of this tool waits.',
      HELD_SUPERSEDED:
        'Look at the discovery that `details` names as the newest; where it is held, decide about that one.',
    },
  },
  BUSY: {
    status: 503,
    fault: 'genlock',
    retry: true,
    meaning: 'Policy or catalog changed under this admission three times in a row.',
    next: 'Try again after a moment with a new proof.',
    reasons: { FENCE_MOVED: 'The fence moved at each of three tries.' },
  },
  OVERLOADED: {
    status: 503,
    fault: 'genlock',
    retry: true,
    meaning: 'A limit on waiting work was reached.',
    next: 'Back off and try again.',
    reasons: {
      POOL_EXHAUSTED: 'No database connection became free in time.',
      QUEUE_FULL: 'Too many decisions about this server wait to be committed.',
      VALIDATION_QUEUE: "Too many of the tenant's calls wait for a check of their arguments.",
      REVIEW_READS: "Too many of the tenant's requests read reviews or compare generations at this moment.",
    },
  },
  UNAVAILABLE: {
    status: 503,
    fault: 'genlock',
    retry: true,
    meaning: 'A part that Genlock needs does not answer, so nothing can be decided.',
    next: 'Try again later; the reason names the part.',
    reasons: {
      DATABASE: 'Postgres does not answer.',
      TEMPORAL: 'Temporal does not answer.',
      ISSUER_KEYS: "The issuer's key set cannot be read, so no token can be verified.",
      SCHEMA_TOO_OLD: 'The database schema is older than this program.',
      SCHEMA_TOO_NEW: 'The database schema is newer than this program.',
      INTERNAL: "A fault of Genlock's own; the request id finds it in the log.",
    },
  },
  CONFIG_INVALID: {
    status: 500,
    fault: 'operator',
    retry: false,
    meaning: 'A configuration value is missing or wrong.',
    next: 'Correct the value that `details` names and start again.',
    reasons: {
      MISSING_VARIABLE: 'A required environment variable is not set.',
      INVALID_VARIABLE: 'An environment variable has a value of the wrong form.',
      DATABASE_UNREACHABLE: 'Postgres cannot be reached at the configured address.',
      DATABASE_AUTH: 'Postgres refused the configured user or password.',
      ROLE_TOO_POWERFUL: 'The database role could bypass row-level security.',
      TEMPORAL_UNREACHABLE: 'Temporal cannot be reached at the configured address.',
      PORT_IN_USE: 'The configured port is taken.',
      NO_TEMPORAL_BINARY: "No way of finding or bringing Temporal's server worked.",
      EMBEDDED_POSTGRES: 'The embedded Postgres did not start.',
      EMBEDDED_TEMPORAL: 'The embedded Temporal server did not start.',
      STATE_FOLDER: 'The state folder cannot be created, locked or used.',
      STACK_RUNNING: 'Another stack uses this state folder.',
      PROGRAM_FAILED: 'A program of the embedded stack ended before it was ready.',
    },
  },
} as const satisfies Record<string, CodeRow>;
