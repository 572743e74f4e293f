/** Exports a whole collection as a stream of CSV or NDJSON, page by page. */
import { yieldToEventLoop } from '../runtime/event-loop.ts';
import type { Reply } from '../http/response/reply.ts';
import { formatCsvHeader } from '../transfer/csv-cells.ts';
import { CSV_TYPE } from './media-types.ts';
import type { OpenStream } from './streams.ts';

/** A collection at one catalogue position. */
interface Collection<Item> {
  readonly position: number;
  /** May hold a read snapshot until it is read to the end or returned. */
  readonly pages: AsyncGenerator<readonly Item[], void, void>;
}

/** How the items of a collection are rendered. */
interface ItemFormat<Item> {
  readonly columns: readonly string[];
  formatRow(item: Item): string;
  /** As JSON, without the line feed. */
  formatJson(item: Item): string;
}

interface ExportOptions<Item> {
  readonly openStream: OpenStream;
  /** Either CSV or NDJSON. */
  readonly mediaType: string;
  readonly format: ItemFormat<Item>;
  readonly headers: Reply['headers'];
}

/** @param open Reads the store, once the stream has its slot. @throws AppError `unavailable` */
export function exportCollection<Item>(
  { openStream, mediaType, format, headers }: ExportOptions<Item>,
  open: () => Promise<Collection<Item>>,
): Promise<Reply> {
  const isCsv = mediaType === CSV_TYPE;
  return openStream('export', async () => {
    const { position, pages } = await open();
    return {
      status: 200,
      headers: {
        ...headers,
        'content-type': isCsv ? `${mediaType}; charset=utf-8` : mediaType,
        'seller-position': String(position),
      },
      body: isCsv
        ? renderPages(pages, formatCsvHeader(format.columns), (item) => format.formatRow(item))
        : renderPages(pages, '', (item) => `${format.formatJson(item)}\n`),
      close: () => pages.return(),
    };
  });
}

async function* renderPages<Item>(
  pages: AsyncGenerator<readonly Item[], void, void>, head: string, format: (item: Item) => string,
): AsyncGenerator<string, void, void> {
  if (head !== '') yield head;
  for await (const page of pages) {
    yield page.map(format).join('');
    await yieldToEventLoop(); // one fast reader must not starve other requests
  }
}
