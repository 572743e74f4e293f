/** Reverts changes, and reports the outcome of each product. */
import type { Caller } from '../../domain/access/caller.ts';
import { type Product, PRODUCT_FIELDS } from '../../domain/catalogue/product-fields.ts';
import { formatImportId, formatProductId, type ImportId } from '../../domain/id.ts';
import { type BatchReport, formatLine, reportBatches } from '../../api/ingest.ts';
import { parseParameters } from '../../api/parameters.ts';
import type { ApiRequest, Services } from '../../api/route.ts';
import { toWriteContext } from '../../api/write.ts';
import type { GuardedStream } from '../../http/response/guarded-stream.ts';
import type { Reply } from '../../http/response/reply.ts';
import type {
  RevertConflict, RevertedProduct, RevertRequest,
} from '../../store/revert-store.ts';
import type { WriteContext } from '../../store/write.ts';
import type { WrittenBatch } from '../../transfer/batches.ts';
import { revertParameters } from './revert-operation.ts';
import { parseRevertRequest } from './revert-request.ts';

export const REVERTS = '/api/v1/reverts';

/** The state of a revert after a batch. */
interface Progress {
  readonly importId: ImportId | undefined;
  readonly isReplay: boolean;
  /** Of the catalogue, at the end. */
  readonly position?: number;
}

type RevertBatch = WrittenBatch<RevertedProduct, Progress>;

/** POST /api/v1/reverts: 200, 400, 404, 410, 422 */
export async function revertChanges(call: ApiRequest, services: Services): Promise<Reply> {
  const query = parseParameters(revertParameters, call.query, call.caller);
  const body = parseRevertRequest(await call.readJson(), call.caller);
  const request = {
    ...body, isDryRun: body.isDryRun || query.dry_run, isForced: body.isForced || query.force,
  };
  return reportBatches(call.openStream, services, (guard) => ({
    batches: runRevert(services, toWriteContext(call), request, guard),
    batchReport: startReport(call.caller),
  }));
}

async function* runRevert(
  { store }: Services, write: WriteContext, request: RevertRequest, guard: GuardedStream,
): AsyncGenerator<RevertBatch, void, void> {
  const revert = await store.startRevert(write, request);
  const { importId, isReplay } = revert;
  try {
    yield { rows: [], written: { importId, isReplay } };
    for (;;) {
      await guard.check();
      const rows = await revert.next();
      if (rows.length === 0) break;
      yield { rows, written: { importId, isReplay } };
    }
    yield { rows: [], written: { importId, isReplay, position: await revert.finish() } };
  } finally {
    revert.close();
  }
}

const CONFLICTS: Readonly<Record<RevertConflict, string>> = {
  moved: 'Only its stock has moved since, as by sales. With "force", these movements stay.',
  changed: 'Something else has changed it since. With "force", the members that the reverted '
    + 'changes changed go back.',
  deleted: 'It was deleted since. With "force", it is created again.',
  sku_taken: 'Another product has its SKU. Rename or delete that one, and revert again.',
  history_pruned: 'Its earlier state was removed with the old history. Import an older export.',
};

/** Counts the outcomes, and formats their lines and the summary. */
function startReport(
  { sellerId, position: startPosition }: Caller,
): BatchReport<RevertedProduct, Progress> {
  const counts = { restored: 0, deleted: 0, recreated: 0, unchanged: 0, conflicts: 0 };
  const conflicts = new Map<RevertConflict, number>();
  let position = startPosition;
  let importId: ImportId | undefined;
  return {
    add({ rows, written }) {
      importId = written?.importId;
      let lines = '';
      for (const { id, sku = null, status, position: last, conflict, ...states } of rows) {
        counts[status === 'conflict' ? 'conflicts' : status] += 1;
        if (conflict) conflicts.set(conflict, (conflicts.get(conflict) ?? 0) + 1);
        position = Math.max(position, last ?? 0);
        lines += formatLine({
          sku, id: formatProductId(sellerId, id), status, position: last ?? null, conflict,
          detail: conflict && CONFLICTS[conflict], changes: describeChanges(states),
        });
      }
      position = written?.position ?? position;
      return lines;
    },
    summarise: () => ({
      ...counts, position, import: importId && formatImportId(sellerId, importId),
      advice: advise(conflicts),
    }),
  };
}

/** The members that changed: before and after. */
function describeChanges({ before, after }: Pick<RevertedProduct, 'before' | 'after'>) {
  if (!before || !after) return undefined;
  const restored: Product = { ...before, ...after };
  return Object.fromEntries(PRODUCT_FIELDS.flatMap(({ name, read }) => {
    const [from, to] = [read(before), read(restored)];
    return from === to ? [] : [[name, { from, to }]];
  }));
}

function advise(conflicts: ReadonlyMap<RevertConflict, number>): string | undefined {
  const moved = conflicts.get('moved') ?? 0;
  const changed = (conflicts.get('changed') ?? 0) + (conflicts.get('deleted') ?? 0);
  if (moved + changed === 0) return undefined;
  const causes = [
    ...(moved > 0 ? [`${moved} had only stock movements since, such as sales`] : []),
    ...(changed > 0 ? [`${changed} had other changes`] : []),
  ];
  return `Of the products left alone, ${causes.join(', and ')}. To restore them, too, revert again `
    + 'with "force": stock then goes back by what the reverted changes moved, so that later '
    + 'movements stay.';
}
