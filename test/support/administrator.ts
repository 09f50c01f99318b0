/** The administrator's connection, for making and dropping databases. */
import pg from 'pg';

/** Opens a connection for one piece of work and closes it. */
export const asAdmin = async <T>(adminUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: adminUrl, application_name: 'genlock tests' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};
