/**
 * What happens in a seller's own catalogue, for the pages that they have open: the stream of the
 * API, for those who are signed in, for as long as they are.
 */
import { openChangeStream } from '../../changes/change-stream.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { LIVE_CATCH_UP_LIMIT } from '../limits.ts';
import type { Portal, PageRequest } from '../route.ts';
import { findWholeNumber } from '../forms/typed-values.ts';

/** GET /portal/live: 200, 410, 503 */
export async function followLive(request: PageRequest, portal: Portal): Promise<Reply> {
  const { account: { sellerId }, position } = request;
  const asked = String(request.headers['last-event-id'] || request.query.get('after'));
  const after = findWholeNumber(asked) ?? Infinity;
  const isNear = after <= position && position - after <= LIVE_CATCH_UP_LIMIT;
  return openChangeStream({
    sellerId, types: undefined,
    after: isNear ? after : position,
    // A page that is behind by more than it can show is told so, rather than all of that.
    ...(!isNear && { preface: `event: missed\nid: ${position}\ndata: {}\n\n` }),
    openStream: request.openStream,
    disconnectSignal: request.disconnectSignal,
  }, portal);
}
