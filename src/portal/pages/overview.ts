/** The overview: the first page of a seller who is signed in. */
import type { Reply } from '../../http/reply.ts';
import { html } from '../html.ts';
import { renderPage } from '../page.ts';
import type { Portal, Visit } from '../route.ts';

/** GET /portal: 200 */
export async function showOverview(visit: Visit, portal: Portal): Promise<Reply> {
  return renderPage(visit, portal, {
    title: 'Overview',
    content: html`<p>Your catalogue stands at position ${visit.format.number(visit.position)}.</p>`,
  });
}
