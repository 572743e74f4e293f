/** `imports list` and `imports show`: the import records of a running server. */
import { setTimeout as wait } from 'node:timers/promises';
import type { ImportKind, ImportRecord, SellerClient } from '../../client/index.ts';
import { IMPORT_KINDS } from '../../domain/catalogue/import.ts';
import { formatCounts, listResult } from '../format.ts';
import { printable } from '../printable.ts';
import { formatMembers } from '../table.ts';
import { LIMIT_FLAG, openClient, remoteCommand, take, takeRows } from './client.ts';
import { ROWS_SHOWN, STATUS_TIMEOUT_MS, WRITTEN_POLLS } from './limits.ts';

export const listImports = remoteCommand({
  summary: 'Lists imports, stock syncs, stocktakes, reverts and bulk edits, newest first.',
  flags: {
    kind: { value: 'KIND', choices: IMPORT_KINDS, help: 'only this kind' },
    limit: LIMIT_FLAG,
  },
  async run(input) {
    // The cast: these are its choices.
    const kind = input.flags['kind'] as ImportKind | undefined;
    const { imports } = openClient(input);
    const records = await takeRows(input, (limit) => imports.list({ kind, limit }));
    const hint = kind === undefined ? 'There is no import yet.' : `There is no ${kind} import yet.`;
    return listResult('imports', records, hint, ({ counts, ...record }) => ({
      id: record.id, kind: record.kind, started_at: record.started_at, file: record.file_name,
      result: formatCounts(counts), finished: record.finished_at === null ? 'no' : 'yes',
    }));
  },
});

/**
 * Remembers which import is the newest one before a command starts another. The returned function
 * is for an interrupted command: it waits until the server has written what it had received, and
 * says what that was. A record does not tell an interruption, but its counts no longer change.
 */
export function followImport(
  { imports }: SellerClient, isOwn: (record: ImportRecord) => boolean,
  { everyMs, limitMs } = WRITTEN_POLLS,
): () => Promise<string> {
  const list = (limit: number, signal?: AbortSignal) =>
    take(imports.list({ limit, timeoutMs: STATUS_TIMEOUT_MS, signal }), limit);
  const earlier = list(1).catch(() => undefined);
  return async () => {
    const signal = AbortSignal.timeout(limitMs);
    let written: string | undefined;
    let where = 'imports list';
    try {
      const before = await earlier;
      while (before) {
        const records = await list(ROWS_SHOWN, signal);
        const end = before[0] ? records.findIndex(({ id }) => id === before[0]?.id)
          : records.length;
        const [own, another] = records.slice(0, Math.max(0, end)).filter(isOwn);
        if (another) break; // they cannot be told apart
        const counts = own ? `So far: ${formatCounts(own.counts)} (${printable(own.id)}). ` : '';
        if (own && (own.finished_at !== null || counts === written)) return counts;
        if (counts === written) break;
        if (own) where = `imports show ${printable(own.id)}`;
        written = counts;
        await wait(everyMs, undefined, { signal });
      }
    } catch {} // the time is over, or the server does not answer
    return `${written ?? ''}The server may still write what it has received: "${where}" shows it. `;
  };
}

export const showImport = remoteCommand({
  summary: 'Prints what an import did, when, and from where.',
  operands: ['IMPORT_ID'],
  async run(input) {
    const [id = ''] = input.operands;
    const record = await openClient(input).imports.get(id);
    const { counts, reverts, ...members } = record;
    return {
      document: record,
      text: formatMembers({ ...members, ...counts, ...(reverts && { reverts }) }),
    };
  },
});
