/** What a run says of itself from its start in Temporal's UI. Where it stands is told by the workflow itself. */
import { DISCOVERY_STEPS, STEP_NAMES } from '../domain/discoverySteps.js';
import type { DiscoveryKey } from '../domain/generation.js';

/** The one line of a run. */
export const runSummary = ({ tenant, server, audience }: DiscoveryKey): string =>
  `Tool list of ${server}, for audience ${audience} of tenant ${tenant}`;

/** What such a run does, in Markdown. */
export const runDetails = ({ server }: DiscoveryKey): string =>
  [
    `Proves that the tool list of \`${server}\` is complete and of one revision, and makes it the active generation.`,
    STEP_NAMES.map((name, index) => `${index + 1}. \`${name}\` ${DISCOVERY_STEPS[name]}`).join('\n'),
    'A run that ends INCOMPLETE or QUARANTINED shows as **Failed**: the current details say why and what to do next.',
  ].join('\n\n');
