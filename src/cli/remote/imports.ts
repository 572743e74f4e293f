/** `imports list` and `imports show`: the import records of a running server. */
import { PAGE_SIZE_LIMIT } from '../../api/limits.ts';
import type { ImportKind, ImportRecord } from '../../client/index.ts';
import { IMPORT_KINDS } from '../../domain/catalogue/import.ts';
import { formatCounts, formatMembers, listResult } from '../format.ts';
import { readNumber } from '../settings.ts';
import { openClient, remoteCommand } from './client.ts';

const SHOWN = 20;

export const listImports = remoteCommand({
  summary: 'Lists imports, stock syncs, stocktakes, reverts and bulk edits, newest first.',
  flags: {
    kind: { value: 'KIND', help: `only this kind: ${IMPORT_KINDS.join(', ')}` },
    limit: { value: 'N', help: `at most this many (default: ${SHOWN})` },
  },
  async run(input) {
    const { flags, isJson } = input;
    const most = Math.max(1, readNumber(flags, 'limit', SHOWN, PAGE_SIZE_LIMIT));
    // The cast: the server checks it.
    const kind = flags['kind'] as ImportKind | undefined;
    const list = openClient(input).imports.list({ kind, limit: most });
    const records: ImportRecord[] = [];
    for await (const record of list) {
      records.push(record);
      if (records.length === most) break; // before the list requests another page
    }
    const hint = kind === undefined ? 'There is no import yet.' : `There is no ${kind} import yet.`;
    if (isJson) return listResult('imports', records, hint);
    return listResult('imports', records.map(({ counts, ...record }) => ({
      id: record.id, kind: record.kind, started_at: record.started_at, file: record.file_name,
      result: formatCounts(counts), finished: record.finished_at === null ? 'no' : 'yes',
    })), hint);
  },
});

export const showImport = remoteCommand({
  summary: 'Prints what an import did, when, and from where.',
  operands: ['IMPORT_ID'],
  async run(input) {
    const [id = ''] = input.operands;
    const record = await openClient(input).imports.get(id);
    const { counts, reverts, ...members } = record;
    return {
      document: record,
      text: formatMembers({
        ...members, ...counts, ...(reverts && { reverts: JSON.stringify(reverts) }),
      }),
    };
  },
});
