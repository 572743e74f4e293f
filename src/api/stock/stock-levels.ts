/** The stock of all products, as it is or as it once stood. */
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_LIMIT } from '../limits.ts';
import { formatProductId, type ProductId, type SellerId } from '../../domain/id.ts';
import type { ParseResult } from '../../domain/validation.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { StockLevelAt, StockLevelPage } from '../../store/history-store.ts';
import { formatCsvRow } from '../../transfer/csv-cells.ts';
import { exportCollection } from '../export.ts';
import { JSON_TYPE, LIST_FORMATS, MEDIA_TYPE_OF } from '../media-types.ts';
import {
  formatNextLink, parseChoice, parseInstant, parsePosition, QueryReader, rejectPagingParameters,
} from '../query-reader.ts';
import { type ApiRequest, type Services, STOCK } from '../route.ts';

const COLUMNS = ['id', 'sku', 'stock', 'position'];

/** A position, or a time in milliseconds since 1970. */
type Moment = { readonly position: number } | { readonly at: number };

/** GET /api/v1/stock: 200, 400, 406, 410 */
export async function listStock(call: ApiRequest, services: Services): Promise<Reply> {
  const { query } = call;
  const reader = new QueryReader(query);
  const moment = reader.read('at', parseMoment);
  const limit = reader.readInteger('limit', 1, PAGE_SIZE_LIMIT) ?? PAGE_SIZE_DEFAULT;
  const format = reader.read('format', (text) => parseChoice(text, LIST_FORMATS));
  reader.assertValid();
  const mediaType = format ? MEDIA_TYPE_OF[format] : call.mediaType;
  return mediaType === JSON_TYPE
    ? listPage(call, services, moment, limit) : exportStock(call, services, moment, mediaType);
}

function parseMoment(text: string): ParseResult<Moment> {
  if (/^\d+$/.test(text)) {
    const parsed = parsePosition(text);
    return 'value' in parsed ? { value: { position: parsed.value } } : parsed;
  }
  const parsed = parseInstant(text);
  if ('value' in parsed) return { value: { at: parsed.value } };
  const detail = 'Must be a position, or a time of RFC 3339 such as 2026-01-31T12:00:00Z.';
  return { error: { code: 'format', detail } };
}

/** Without a moment, it is now. */
async function findPosition(
  { caller }: ApiRequest, { store }: Services, moment: Moment | undefined,
): Promise<number> {
  if (!moment) return caller.position;
  return 'at' in moment ? store.findPositionAt(caller.sellerId, moment.at) : moment.position;
}

/** All pages are of the position that the first one found. */
async function listPage(
  call: ApiRequest, services: Services, moment: Moment | undefined, limit: number,
): Promise<Reply> {
  const { store, cursors, prefix } = services;
  const { sellerId } = call.caller;
  const scope = `stock ${sellerId} ${call.query.get('at') ?? ''}`;
  const anchor = cursors.parse<readonly [position: number, after: ProductId]>(
    scope, call.query.get('cursor'),
  );
  const [position, after] = anchor ?? [await findPosition(call, services, moment)];
  const page = await store.listStockAt(sellerId, position, { after, limit });
  const last = page.hasMore ? page.levels.at(-1) : undefined;
  const next = cursors.format(scope, last && [position, last.id]);
  const levels = page.levels.map((level) => formatLevel(sellerId, level)).join(',');
  const nextCursor = JSON.stringify(next ?? null);
  return {
    status: 200,
    headers: {
      'content-type': JSON_TYPE, 'cache-control': 'no-store',
      ...formatNextLink(`${prefix}${STOCK}`, call.query, limit, next),
    },
    body: `{"stock":[${levels}],"position":${position},"next_cursor":${nextCursor}}`,
  };
}

async function exportStock(
  call: ApiRequest, services: Services, moment: Moment | undefined, mediaType: string,
): Promise<Reply> {
  rejectPagingParameters(call.query);
  const { caller: { sellerId }, openStream } = call;
  const format = {
    columns: COLUMNS,
    formatRow: (level: StockLevelAt) => formatRow(sellerId, level),
    formatJson: (level: StockLevelAt) => formatLevel(sellerId, level),
  };
  const headers = { 'cache-control': 'no-store' };
  return exportCollection({ openStream, mediaType, format, headers }, async () => {
    const position = await findPosition(call, services, moment);
    const read = (after?: ProductId): Promise<StockLevelPage> =>
      services.store.listStockAt(sellerId, position, { after, limit: PAGE_SIZE_LIMIT });
    // Reads the first page while the response to a missing position can still be a problem.
    return { position, pages: readLevels(await read(), read) };
  });
}

async function* readLevels(
  first: StockLevelPage, read: (after: ProductId | undefined) => Promise<StockLevelPage>,
): AsyncGenerator<readonly StockLevelAt[], void, void> {
  for (let page = first; ; page = await read(page.levels.at(-1)?.id)) {
    yield page.levels;
    if (!page.hasMore) return;
  }
}

function formatLevel(sellerId: SellerId, { id, sku, stock, position }: StockLevelAt): string {
  return `{"id":"${formatProductId(sellerId, id)}","sku":${JSON.stringify(sku)}`
    + `,"stock":${stock},"position":${position}}`;
}

function formatRow(sellerId: SellerId, { id, sku, stock, position }: StockLevelAt): string {
  return formatCsvRow([formatProductId(sellerId, id), sku, stock, position]);
}
