/** Finds webhooks for the search of the portal, by URL, description and id: for owners only. */
import { parseWebhookId } from '../../../domain/id.ts';
import type { Webhook } from '../../../domain/webhooks/webhook.ts';
import { shorten } from '../html/html.ts';
import type { Finder, PageRequest, Portal, SearchResult } from '../route.ts';
import { cut, matcherOf } from '../search/find-matches.ts';
import { listWebhooks, nameOf, pathOf, WEBHOOK_TEXT_BYTES } from './webhooks.ts';

export const webhookFinder: Finder = {
  id: 'webhooks',
  title: 'Webhooks',
  async find(request, portal, q, limit) {
    const isMatch = matcherOf(q);
    const all = await listForOwner(request, portal);
    return cut(all.filter(({ url, description }) => isMatch(`${url}\n${description}`))
      .map(toResult), limit);
  },
  async findNamed(request, portal, q) {
    const id = parseWebhookId(request.account.sellerId, q);
    if (id === undefined) return undefined;
    const found = (await listForOwner(request, portal)).find((webhook) => webhook.id === id);
    return found && toResult(found);
  },
};

/** None if webhooks are disabled. */
async function listForOwner(request: PageRequest, portal: Portal): Promise<readonly Webhook[]> {
  return request.may('owner') ? await listWebhooks(request, portal) ?? [] : [];
}

function toResult(webhook: Webhook): SearchResult {
  const { url, description } = webhook;
  return [pathOf(webhook), nameOf(webhook),
    description === '' ? undefined : shorten(url, WEBHOOK_TEXT_BYTES)];
}
