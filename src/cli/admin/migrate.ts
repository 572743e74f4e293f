/** `migrate`: creates or updates the tables of a database. Servers refuse another version. */
import { migrateStore } from '../../store/open-store.ts';
import type { Command } from '../command.ts';

export const migrate: Command = {
  summary: 'Creates or updates the tables of a database, once for all servers.',
  async run({ location }) {
    const { from, to } = await migrateStore(location);
    const what = 'database' in location ? 'The database' : 'The data folder';
    const text = from === to ? `${what} already has schema version ${to}.`
      : from === 0 ? `${what} is ready, with schema version ${to}.`
        : `${what} was updated from schema version ${from} to ${to}.`;
    return { document: { from, to }, text };
  },
};
