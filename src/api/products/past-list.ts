/**
 * Lists of products as they were at one position, in creation order: pages whose cursor keeps the
 * position that the first page found, or an export. Neither holds a read snapshot, since the past
 * does not change; only pruning can end a list early.
 */
import type { ProductId } from '../../domain/id.ts';
import { type Revision, toRevision } from '../../domain/revision.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { PageQuery } from '../../store/write.ts';
import { type Export, exportCollection, formatItems, replyPage } from '../list.ts';
import { PAGE_SIZE_LIMIT } from '../limits.ts';
import { JSON_TYPE } from '../media-types.ts';
import type { Moment } from '../parameters.ts';
import type { ApiRequest, Services } from '../route.ts';

interface PastItem {
  readonly id: ProductId;
}

interface PastPage<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

interface PastList<Item> extends Omit<Export<Item>, 'openStream' | 'generation' | 'open'> {
  readonly path: string;
  /** The kind of list, which its cursors are bound to. */
  readonly kind: string;
  /** Undefined for the current position. */
  readonly moment: Moment | undefined;
  /** Of a page. */
  readonly limit: number;
  /** The members of a page before `next_cursor`, from its items as JSON. */
  readonly formatMembers: (items: string, position: number) => string;
  /** Of a page, in addition to `headers`. */
  readonly makeHeaders?: (revision: Revision) => Reply['headers'];
  readonly read: (position: number, query: PageQuery<ProductId>) => Promise<PastPage<Item>>;
}

/** The position of a moment. @throws AppError `history_pruned` */
export async function findPosition(
  { caller }: ApiRequest, { store }: Services, moment: Moment | undefined,
): Promise<number> {
  if (!moment) return caller.position;
  return 'at' in moment ? store.findPositionAt(caller.sellerId, moment.at) : moment.position;
}

/**
 * A page if the media type is JSON, else an export.
 * @throws AppError `invalid_query`, `history_pruned`, `unavailable`
 */
export function replyPastList<Item extends PastItem>(
  call: ApiRequest, services: Services, list: PastList<Item>,
): Promise<Reply> {
  if (list.mediaType === JSON_TYPE) return replyPastPage(call, services, list);
  const { openStream, caller: { generation } } = call;
  return exportCollection<Item>({
    ...list, openStream, generation,
    async open() {
      const position = await findPosition(call, services, list.moment);
      const read = (after?: ProductId): Promise<PastPage<Item>> =>
        list.read(position, { after, limit: PAGE_SIZE_LIMIT });
      // Read the first page now, while an error can still become a problem response.
      return { position, pages: readPages(await read(), read) };
    },
  });
}

async function replyPastPage<Item extends PastItem>(
  call: ApiRequest, services: Services,
  { path, kind, moment, limit, headers, formatJson, formatMembers, makeHeaders, read }:
    PastList<Item>,
): Promise<Reply> {
  const { cursors } = services;
  const scope = `${kind} ${call.caller.sellerId} ${call.query.get('at') ?? ''}`;
  const anchor = cursors.parse<readonly [position: number, after: ProductId]>(
    scope, call.query.get('cursor'),
  );
  const [position, after] = anchor ?? [await findPosition(call, services, moment)];
  const { items, hasMore } = await read(position, { after, limit });
  const { texts, last } = formatItems(items, formatJson, hasMore);
  return replyPage(call, {
    path, limit,
    members: formatMembers(texts.join(','), position),
    nextCursor: cursors.format(scope, last && [position, last.id]),
    headers: { ...headers, ...makeHeaders?.(toRevision(call.caller.generation, position)) },
  });
}

async function* readPages<Item extends PastItem>(
  first: PastPage<Item>, read: (after: ProductId | undefined) => Promise<PastPage<Item>>,
): AsyncGenerator<readonly Item[], void, void> {
  for (let page = first; ; page = await read(page.items.at(-1)?.id)) {
    yield page.items;
    if (!page.hasMore) return;
  }
}
