/** Waits for the n-th discovery of a server to end, telling pages and tools on the way. */
import type { Discovery, GenlockClient } from '../../client/client.js';
import { waitFor } from '../waitFor.js';

/** @param count how many discoveries of the server there must be, the newest of them ended */
export const endOf = (
  operator: GenlockClient,
  server: string,
  count: number,
  tell: (text: string) => void,
): Promise<Discovery> =>
  waitFor(`discovery ${count} of ${server}`, async () => {
    const discoveries = await operator.discoveries({ server });
    const newest = discoveries[0];
    if (newest === undefined || discoveries.length < count) return undefined;
    if (newest.endedAt !== null) return newest;
    tell(`${server}: ${newest.pages} pages, ${newest.tools} tools`);
    return undefined;
  });
