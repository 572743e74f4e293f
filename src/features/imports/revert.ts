/**
 * Reverts changes, and reports the outcome of each product: the handler, the parser of the body,
 * and the OpenAPI operation with its schemas.
 */
import type { Caller } from '../../domain/access/caller.ts';
import {
  type Product, PRODUCT_FIELDS, skuValidator,
} from '../../domain/catalogue/product-fields.ts';
import {
  formatImportId, formatProductId, type ImportId, type KeyId, parseImportId, parseKeyId,
  type SellerId,
} from '../../domain/id.ts';
import { positionValidator } from '../../domain/revision.ts';
import { capitalize } from '../../domain/text.ts';
import { type BatchReport, formatLine, reportBatches } from '../../api/ingest.ts';
import { dryRun, parseParameters } from '../../api/parameters.ts';
import type { ApiRequest, Services } from '../../api/route.ts';
import { toWriteContext } from '../../api/write.ts';
import type { GuardedStream } from '../../http/response/guarded-stream.ts';
import type { Reply } from '../../http/response/reply.ts';
import {
  REVERT_CONFLICTS, type RevertConflict, type RevertedProduct, type RevertRequest,
  type RevertSelection, type RevertStatus, type RevertStore,
} from '../../store/revert-store.ts';
import type { WriteContext } from '../../store/write.ts';
import type { WrittenBatch } from '../../transfer/batches.ts';
import { NDJSON_TYPE } from '../../api/media-types.ts';
import { importId, product } from '../../api/description/examples.ts';
import type { Operation } from '../../api/description/operation.ts';
import {
  closedObjectOf, count, describeMembers, describeStreamProblem, enumOf, jsonOf, linesOf, nullable,
  objectOf, refer,
} from '../../api/description/schema.ts';
import {
  importIdSchema, positionSchema, productIdSchema,
} from '../../api/stock/stock-operations.ts';
import {
  booleanValidator, invalid, ObjectReader, type Schema, stringValidator,
  type Validator,
} from '../../domain/validation.ts';
import { importTag } from './import.ts';
import { stockSource } from '../../domain/catalogue/stock-sync.ts';
import { AppError } from '../../domain/error.ts';

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
    batchReport: startReport(call.caller, request.isDryRun),
  }));
}

/**
 * Runs a revert to its end, or until its caller stops iterating. The first and the last batch have
 * no rows: the first names the record, and the last has the position.
 * @param guard Stops it when its client is no longer authorized.
 */
export async function* runRevert(
  { store }: { readonly store: RevertStore }, write: WriteContext, request: RevertRequest,
  guard?: Pick<GuardedStream, 'check'>,
): AsyncGenerator<RevertBatch, void, void> {
  using revert = await store.startRevert(write, request);
  const { importId, isReplay } = revert;
  yield { rows: [], written: { importId, isReplay } };
  for (;;) {
    await guard?.check();
    const rows = await revert.next();
    if (rows.length === 0) break;
    yield { rows, written: { importId, isReplay } };
  }
  yield { rows: [], written: { importId, isReplay, position: await revert.finish() } };
}

const WAYS_OUT: Readonly<Record<RevertConflict, string>> = {
  moved: 'With "force", these movements stay.',
  changed: 'With "force", the members that the reverted changes changed go back.',
  deleted: 'With "force", it is created again.',
  sku_taken: 'Rename or delete that one, and revert again.',
  history_pruned: 'Import an older export.',
};

/** Counts the outcomes, and formats their lines and the summary. */
function startReport(
  { sellerId, position: startPosition }: Caller, isDryRun: boolean,
): BatchReport<RevertedProduct, Progress> {
  const counts = { restored: 0, deleted: 0, recreated: 0, unchanged: 0, conflicts: 0 };
  const conflicts = new Map<RevertConflict, number>();
  let position = startPosition;
  let importId: ImportId | undefined;
  return {
    isDryRun,
    add({ rows, written }) {
      importId = written?.importId;
      let lines = '';
      for (const { id, sku = null, status, position: last, conflict, ...states } of rows) {
        counts[status === 'conflict' ? 'conflicts' : status] += 1;
        if (conflict) conflicts.set(conflict, (conflicts.get(conflict) ?? 0) + 1);
        position = Math.max(position, last ?? 0);
        lines += formatLine({
          sku, id: formatProductId(sellerId, id), status, position: last ?? null, conflict,
          detail: conflict && `${capitalize(REVERT_CONFLICTS[conflict])}. ${WAYS_OUT[conflict]}`,
          changes: describeChanges(states),
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

/** For the description: a request is read with those of its generation. */
const plainPosition = positionValidator(undefined);

const REVERT_VALIDATORS = {
  import: {
    ...stringValidator, description: 'The import to revert; or send `after` and `up_to`.',
  },
  after: { ...plainPosition, description: 'Revert the changes after this position, ...' },
  up_to: { ...plainPosition, description: '... up to this one.' },
  key_id: {
    ...stringValidator, description: 'Of these changes, only those that this key made.',
  },
  source: { ...stockSource, description: 'Of these changes, only those from this system.' },
  dry_run: { ...booleanValidator, description: 'Return the outcome without changing anything.' },
  force: {
    ...booleanValidator,
    description: 'Also restore products that something else changed since. Stock goes back by what '
      + 'the reverted changes moved, so later movements stay; members that they did not change '
      + 'keep their current value.',
  },
};

/** @throws AppError `invalid_data`; `not_found` for an id that is not of this seller's imports */
function parseRevertRequest(
  body: unknown, { sellerId, position, generation }: Caller,
): RevertRequest {
  const reader = new ObjectReader(body, { dry_run: false, force: false }, true);
  const revision = positionValidator(generation);
  const members = reader.readAll({
    ...REVERT_VALIDATORS, key_id: ownKeyValidator(sellerId), after: revision, up_to: revision,
  });
  reader.assertValid();
  const options = { isDryRun: members.dry_run === true, isForced: members.force === true };
  if (members.import === undefined) {
    return { selection: parseRange(reader, members, position), ...options };
  }
  for (const member of ['after', 'up_to', 'key_id', 'source'] as const) {
    if (members[member] === undefined) continue;
    reader.addError(member, { code: 'mismatch', detail: 'Does not combine with "import".' });
  }
  reader.assertValid();
  const importId = parseImportId(sellerId, members.import);
  if (importId === undefined) throw new AppError('not_found', 'You have no import with this id.');
  return { selection: { importId }, ...options };
}

function parseRange(
  reader: ObjectReader,
  { after, up_to: upTo, key_id: keyId, source }: {
    readonly after: number | undefined; readonly up_to: number | undefined;
    readonly key_id: KeyId | undefined; readonly source: string | undefined;
  },
  position: number,
): RevertSelection {
  if (after === undefined && upTo === undefined) {
    reader.addError('import', { code: 'required', detail: 'Send this, or "after" and "up_to".' });
  } else if (after === undefined || upTo === undefined) {
    reader.require(after === undefined ? 'after' : 'up_to');
  } else if (upTo < after) {
    reader.addError('up_to', { code: 'range', detail: 'Must not be less than "after".' });
  } else if (upTo > position) {
    const detail = `Must be at most ${position}, the position of the catalogue.`;
    reader.addError('up_to', { code: 'range', detail });
  } else {
    return { after, upTo, keyId, source };
  }
  reader.assertValid();
  throw new TypeError('The range is invalid.'); // assertValid has thrown
}

function ownKeyValidator(sellerId: SellerId): Validator<KeyId> {
  return {
    ...REVERT_VALIDATORS.key_id,
    parse(value) {
      const key = typeof value === 'string' ? parseKeyId(value) : undefined;
      if (key?.sellerId === sellerId) return { value: key.keyId };
      return invalid('format', 'Must be the id of one of your keys.');
    },
  };
}

const revertParameters = {
  dry_run: { ...dryRun, description: 'The same as the member of the body.' },
  force: { ...dryRun, description: 'The same as the member of the body.' },
} as const;

const { sku, id } = product;
const restoredProduct = {
  sku, id, status: 'restored', position: 14,
  changes: { price: { from: 99, to: 12 }, stock: { from: 0, to: 40 } },
};
const summary = {
  restored: 1, deleted: 0, recreated: 0, unchanged: 0, conflicts: 0, position: 14, import: importId,
};

export const revertOperation: Operation = {
  id: 'revertChanges',
  tag: importTag,
  summary: 'Revert an import, or a range of changes',
  description: 'Restores every product that the changes touched to its state before them: products '
    + 'that they created are deleted, and products that they deleted return with their id. A '
    + 'product that something else changed since is left alone, as a conflict, unless `force` is '
    + 'set. The revert is recorded as an import of the kind `revert`, which can be reverted, too. '
    + 'If it stops early, restored products stay restored, and sending the request again does the '
    + 'rest.',
  query: revertParameters,
  requestHeaders: ['IdempotencyKey'],
  request: jsonOf('RevertRequest', { import: importId, dry_run: true }),
  responses: {
    200: {
      description: 'The results of the products.',
      content: { [NDJSON_TYPE]: linesOf('RevertLine', restoredProduct, { summary }) },
    },
  },
  problems: [404, 410],
};

const statusMeanings: Readonly<Record<RevertStatus, string>> = {
  restored: 'the product has its earlier values again',
  deleted: 'the changes had created the product',
  recreated: 'the product had been deleted, and exists again',
  unchanged: 'there was nothing to restore',
  conflict: 'the product was left alone, for the reason in `conflict`',
};

const value = { type: ['string', 'number', 'null'] };

export const revertSchemas: Readonly<Record<string, Schema>> = {
  RevertRequest: {
    ...closedObjectOf(describeMembers(REVERT_VALIDATORS), []),
    description: 'Either `import`, or `after` and `up_to`.',
  },
  RevertLine: {
    oneOf: [
      refer('RevertedProduct'),
      objectOf({ summary: refer('RevertSummary') }),
      objectOf({ problem: refer('RevertProblem') }),
    ],
    description: 'A line for each product, then a summary, or a problem if the revert stopped '
      + 'early.',
  },
  RevertedProduct: objectOf({
    sku: nullable({ ...skuValidator.schema, description: 'After the revert.' }),
    id: productIdSchema,
    status: { type: 'string', ...enumOf(statusMeanings) },
    position: {
      ...nullable(positionSchema),
      description: 'Of the product\'s last change; in a dry run, of its last one until now.',
    },
    conflict: { type: 'string', ...enumOf(REVERT_CONFLICTS) },
    detail: { type: 'string', description: 'For a person: the conflict, and what to do.' },
    changes: {
      type: 'object', additionalProperties: objectOf({ from: value, to: value }),
      description: 'The members of a restored product that change. Absent in a retry.',
    },
  }, ['sku', 'id', 'status', 'position']),
  RevertSummary: objectOf({
    restored: count, deleted: count, recreated: count, unchanged: count,
    conflicts: { ...count, description: 'Products that were left alone.' },
    position: { ...count, description: 'Position of the catalogue after the revert.' },
    import: { ...importIdSchema, description: 'The record of this revert. Absent in a dry run.' },
    advice: { type: 'string', description: 'For a person: what to do about the conflicts.' },
  }, ['restored', 'deleted', 'recreated', 'unchanged', 'conflicts', 'position']),
  RevertProblem: describeStreamProblem('RevertSummary'),
};
