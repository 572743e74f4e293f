/** `imports list` and `imports show`: the import records of a running server. */
import type { ImportKind, ImportRecord, SellerClient } from '../../client/index.ts';
import { IMPORT_KINDS } from '../../domain/catalogue/import.ts';
import { formatCounts, listResult } from '../format.ts';
import { printable } from '../printable.ts';
import { formatMembers } from '../table.ts';
import { LIMIT_FLAG, openClient, remoteCommand, take, takeRows } from './client.ts';
import { ROWS_SHOWN, STATUS_TIMEOUT_MS } from './limits.ts';

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
 * Remembers the newest import before a command starts its own. The returned function says what that
 * has written so far; it returns nothing if it cannot distinguish it from the imports of others.
 */
export function followImport(
  { imports }: SellerClient, isOwn: (record: ImportRecord) => boolean,
): () => Promise<string> {
  const list = (limit: number) =>
    take(imports.list({ limit, timeoutMs: STATUS_TIMEOUT_MS }), limit).catch(() => undefined);
  const earlier = list(1);
  return async () => {
    const before = await earlier;
    if (!before) return '';
    const [last] = before;
    const records = await list(ROWS_SHOWN) ?? [];
    const end = last === undefined ? records.length : records.findIndex(({ id }) => id === last.id);
    const [own, another] = records.slice(0, Math.max(0, end)).filter((record) =>
      record.finished_at === null && isOwn(record));
    if (!own || another) return '';
    return `So far: ${formatCounts(own.counts)} (${printable(own.id)}). `;
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
