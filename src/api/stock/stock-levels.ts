/** The stock of all products, now or at an earlier position. */
import { formatProductId, type SellerId } from '../../domain/id.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { StockLevelAt } from '../../store/history-store.ts';
import { formatCsvRow } from '../../transfer/csv-cells.ts';
import { chooseMediaType } from '../list.ts';
import { parseParameters } from '../parameters.ts';
import { replyPastList } from '../products/past-list.ts';
import { type ApiRequest, type Services, STOCK } from '../route.ts';
import { stockListParameters } from './stock-operations.ts';

/** GET /api/v1/stock: 200, 400, 406, 410 */
export async function listStock(call: ApiRequest, services: Services): Promise<Reply> {
  const { at: moment, limit, format } = parseParameters(
    stockListParameters, call.query, call.caller,
  );
  const { sellerId } = call.caller;
  return replyPastList<StockLevelAt>(call, services, {
    path: STOCK, kind: 'stock', moment, limit,
    mediaType: chooseMediaType(call, format),
    headers: { 'cache-control': 'no-store' },
    columns: ['id', 'sku', 'stock', 'position'],
    formatRow: ({ id, sku, stock, position }) =>
      formatCsvRow([formatProductId(sellerId, id), sku, stock, position]),
    formatJson: (level) => formatLevel(sellerId, level),
    formatMembers: (levels, position) => `"stock":[${levels}],"position":${position}`,
    async read(position, query) {
      const { levels, hasMore } = await services.store.listStockAt(sellerId, position, query);
      return { items: levels, hasMore };
    },
  });
}

function formatLevel(sellerId: SellerId, { id, sku, stock, position }: StockLevelAt): string {
  return `{"id":"${formatProductId(sellerId, id)}","sku":${JSON.stringify(sku)}`
    + `,"stock":${stock},"position":${position}}`;
}
