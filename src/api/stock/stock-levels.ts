/** The stock of all products, now or at an earlier position. */
import { PAGE_SIZE_LIMIT } from '../limits.ts';
import { formatProductId, type ProductId, type SellerId } from '../../domain/id.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { StockLevelAt, StockLevelPage } from '../../store/history-store.ts';
import { formatCsvRow } from '../../transfer/csv-cells.ts';
import { chooseMediaType, exportCollection, replyPage } from '../list.ts';
import { JSON_TYPE } from '../media-types.ts';
import { parseParameters } from '../parameters.ts';
import { type ApiRequest, type Services, STOCK } from '../route.ts';
import { type Moment, stockListParameters } from './stock-operations.ts';

const HEADERS = { 'cache-control': 'no-store' };

/** GET /api/v1/stock: 200, 400, 406, 410 */
export async function listStock(call: ApiRequest, services: Services): Promise<Reply> {
  const { at: moment, limit, format } = parseParameters(
    stockListParameters, call.query, call.caller,
  );
  const mediaType = chooseMediaType(call, format);
  return mediaType === JSON_TYPE
    ? listPage(call, services, moment, limit) : exportStock(call, services, moment, mediaType);
}

/** Without a moment: the current position. */
async function findPosition(
  { caller }: ApiRequest, { store }: Services, moment: Moment | undefined,
): Promise<number> {
  if (!moment) return caller.position;
  return 'at' in moment ? store.findPositionAt(caller.sellerId, moment.at) : moment.position;
}

/** All pages show the position that the first page found. */
async function listPage(
  call: ApiRequest, services: Services, moment: Moment | undefined, limit: number,
): Promise<Reply> {
  const { store, cursors } = services;
  const { sellerId } = call.caller;
  const scope = `stock ${sellerId} ${call.query.get('at') ?? ''}`;
  const anchor = cursors.parse<readonly [position: number, after: ProductId]>(
    scope, call.query.get('cursor'),
  );
  const [position, after] = anchor ?? [await findPosition(call, services, moment)];
  const { levels, hasMore } = await store.listStockAt(sellerId, position, { after, limit });
  const last = hasMore ? levels.at(-1) : undefined;
  const stock = levels.map((level) => formatLevel(sellerId, level)).join(',');
  return replyPage(call, {
    path: STOCK, limit, headers: HEADERS,
    members: `"stock":[${stock}],"position":${position}`,
    nextCursor: cursors.format(scope, last && [position, last.id]),
  });
}

function exportStock(
  call: ApiRequest, services: Services, moment: Moment | undefined, mediaType: string,
): Promise<Reply> {
  const { caller: { sellerId }, openStream } = call;
  return exportCollection<StockLevelAt>({
    openStream, mediaType, headers: HEADERS,
    columns: ['id', 'sku', 'stock', 'position'],
    formatRow: ({ id, sku, stock, position }) =>
      formatCsvRow([formatProductId(sellerId, id), sku, stock, position]),
    formatJson: (level) => formatLevel(sellerId, level),
    async open() {
      const position = await findPosition(call, services, moment);
      const read = (after?: ProductId): Promise<StockLevelPage> =>
        services.store.listStockAt(sellerId, position, { after, limit: PAGE_SIZE_LIMIT });
      // Read the first page now, while an error can still become a problem response.
      return { position, pages: readLevels(await read(), read) };
    },
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
