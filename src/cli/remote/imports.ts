/** `imports list` and `imports show`: the import records of a running server. */
import type { ImportKind } from '../../client/index.ts';
import { IMPORT_KINDS } from '../../domain/catalogue/import.ts';
import { formatCounts, listResult } from '../format.ts';
import { readNumber } from '../settings.ts';
import { formatMembers } from '../table.ts';
import { LIMIT_FLAG, openClient, remoteCommand, take } from './client.ts';
import { ROWS_SHOWN } from './limits.ts';

export const listImports = remoteCommand({
  summary: 'Lists imports, stock syncs, stocktakes, reverts and bulk edits, newest first.',
  flags: {
    kind: { value: 'KIND', choices: IMPORT_KINDS, help: 'only this kind' },
    limit: LIMIT_FLAG,
  },
  async run(input) {
    const { flags, isJson } = input;
    const most = readNumber(flags, 'limit', ROWS_SHOWN);
    // The cast: these are its choices.
    const kind = flags['kind'] as ImportKind | undefined;
    const records = await take(openClient(input).imports.list({ kind, limit: most }), most);
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
      text: formatMembers({ ...members, ...counts, ...(reverts && { reverts }) }),
    };
  },
});
