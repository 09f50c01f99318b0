/** `genlock review`: lists, shows and decides reviews over the API, as the operator whose token the environment holds (V6). */
import { createClient, type GenlockClient, type Review } from '../client/client.js';
import { clientConfig, type Environment } from '../config.js';
import { CatalogError } from '../domain/errors.js';
import { REVIEW_STATES } from '../domain/review.js';
import { visibleText } from '../domain/visibleText.js';
import { reviewTable, reviewText } from './reviewText.js';

export interface Output {
  readonly json?: boolean;
}

export interface ReviewCommands {
  list(options: Output & { readonly server?: string; readonly state: string }): Promise<number>;
  show(id: string, options: Output): Promise<number>;
  decide(
    decision: 'accept' | 'refuse',
    id: string,
    options: Output & { readonly reason: string },
  ): Promise<number>;
}

const MOST_AT_ONCE = 500;

/**
 * Each answers the exit code.
 * @param env holds GENLOCK_URL and GENLOCK_TOKEN
 * @throws CatalogError CONFIG_INVALID; GenlockProblem, GenlockUnreachable
 */
export const reviewCommands = (env: Environment, write: (text: string) => void): ReviewCommands => {
  const { url, token } = clientConfig(env);
  const client = createClient({ baseUrl: url, token: token.reveal() });
  const print = (json: boolean | undefined, value: unknown, text: () => string): number => {
    write(json === true ? `${JSON.stringify(value)}\n` : text());
    return 0;
  };
  return {
    list: async ({ json, server, state }) => {
      const reviews = await everyReview(client, server, stateOf(state));
      return print(json, { reviews }, () => reviewTable(reviews));
    },
    show: async (id, { json }) => {
      const review = await client.review(id);
      return print(json, review, () => reviewText(review));
    },
    decide: async (decision, id, { json, reason }) => {
      const { tool, server } = await client.review(id);
      const decided = await client.decideReview(id, decision, reason);
      return print(
        json,
        decided,
        () => `${visibleText(tool)} of ${server}: ${decided.state}\nreceipt ${decided.receipt}\n`,
      );
    },
  };
};

const stateOf = (text: string): Review['state'] | undefined => {
  if (text === 'all') return undefined;
  const state = REVIEW_STATES.find((one) => one === text);
  if (state === undefined)
    throw new CatalogError('BAD_REQUEST', 'INVALID_QUERY', { state: `${REVIEW_STATES.join(', ')} or all` });
  return state;
};

const everyReview = async (
  client: GenlockClient,
  server: string | undefined,
  state: Review['state'] | undefined,
): Promise<readonly Review[]> => {
  const all: Review[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const { reviews, next } = await client.reviews({
      ...(server !== undefined && { server }),
      ...(state !== undefined && { state }),
      ...(after !== undefined && { after }),
      limit: MOST_AT_ONCE,
    });
    all.push(...reviews);
    after = next;
  }
  return all;
};
