/** `changes tail`: follows the change feed of a running server. */
import { styleText } from 'node:util';
import { type Change, type ChangeType, ConnectionError } from '../../client/index.ts';
import { CHANGE_TYPES } from '../../domain/catalogue/change.ts';
import type { CommandIo } from '../command.ts';
import { printable } from '../printable.ts';
import { interrupted, outputDrained } from '../progress.ts';
import { readPosition, splitList } from '../settings.ts';
import { findPosition, openClient, remoteCommand } from './client.ts';

const COLORS = { created: 'green', updated: 'yellow', deleted: 'red', stock: 'cyan' } as const;
const TYPE_COLUMNS = Math.max(...CHANGE_TYPES.map((type) => type.length));

export const tailChanges = remoteCommand({
  summary: 'Prints each change of the catalogue as it happens, until Ctrl-C.',
  flags: {
    after: { value: 'POSITION', help: 'start after this position (default: new changes only)' },
    types: {
      value: 'LIST', choices: CHANGE_TYPES, isList: true, help: 'only these types of changes',
    },
  },
  isStream: true,
  async run(input) {
    const { flags, io, isJson, out, note } = input;
    const signal = interrupted(io);
    // The cast: these are its choices.
    const types = flags['types'] && splitList(flags['types']) as ChangeType[];
    const start = flags['after'] === undefined ? await findPosition(openClient(input))
      : readPosition(flags, 'after');
    let after = start;
    const print = async (live: boolean): Promise<void> => {
      const client = openClient(input, live ? { retries: Infinity } : {});
      const changes = client.changes({
        after, live, signal, ...(types && { types }),
        onPosition: (position) => { after = position; },
      });
      for await (const change of changes) {
        after = change.position;
        out(isJson ? JSON.stringify(change) : formatChange(change, io.stdout));
        await outputDrained(io, signal);
      }
    };
    if (!isJson) note(`Waiting for changes after position ${after}. Ctrl-C stops.`);
    try {
      // A server that cannot be reached at the start is an error. Later, wait until it is back.
      await print(false).catch((error: unknown) => {
        if (after === start || !(error instanceof ConnectionError)) throw error;
      });
      await print(true);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    note(`Stopped. To continue: changes tail --after ${after}`);
  },
});

/** One line. The type is coloured on a terminal. */
export function formatChange(change: Change, stream: CommandIo['stdout']): string {
  const { position, at, type, sku } = change;
  const color = Object.hasOwn(COLORS, type) ? COLORS[type] : 'reset'; // a newer server has more
  const label = styleText(color, printable(type).padEnd(TYPE_COLUMNS), { stream });
  const rest = printable(`${sku}  ${formatData(change)}`);
  return `${printable(`${position}  ${at}`)}  ${label}  ${rest}`;
}

function formatData(change: Change): string {
  if (change.type !== 'stock') {
    const { name, price, currency, stock } = change.data;
    return `${name}, ${price} ${currency}, stock ${stock}`;
  }
  const { before, after, reason, source } = change.data;
  const origin = [reason, source].filter((text) => text !== null).join(', ');
  return `${before} -> ${after}${origin && ` (${origin})`}`;
}
