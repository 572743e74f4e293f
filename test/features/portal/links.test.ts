/** Links and forms of pages: each leads to a page that there is, with any selection of features. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROOT } from '../../../src/features/portal/route.ts';
import { routes } from '../../../src/features/portal/routes.ts';
import { Router } from '../../../src/http/router.ts';
import { startServer } from '../../support/server.ts';
import { openShop, type PageClient } from './page-client.ts';

const LINK = / (href|action)="(\/portal(?!\/assets\/)[^"#]*)/g;
const PAGES_MIN = 10;
const router = new Router(routes);

test('links only to pages and forms that there are, in a new shop and in one with products',
  async (t) => {
    const server = await startServer(t, { portal: true });
    const { user, send } = await openShop(server);
    assert.deepEqual(await listDeadLinks(user), []);
    const post = (path: string, body: object) => send({
      method: 'POST', path: `/api/v1/${path}`, headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const mug = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 12, stock: 40 };
    assert.equal((await post('products', mug)).status, 201);
    assert.equal((await post('stock', { changes: [{ sku: 'MUG-1', set: 7 }] })).status, 200);
    assert.deepEqual(await listDeadLinks(user), []);
  });

/** Follows links from the overview; `PAGE: LINK` for each that leads nowhere. */
async function listDeadLinks(user: PageClient): Promise<string[]> {
  const pages = ['/portal'];
  const dead: string[] = [];
  for (const page of pages) {
    const { text, headers } = await user.get(page);
    if (!headers['content-type']?.startsWith('text/html')) continue;
    for (const [, attribute = '', link = ''] of text.matchAll(LINK)) {
      const isForm = attribute === 'action';
      const methods = router.findMethods(link.slice(ROOT.length).split('?')[0] || '/');
      if (!(isForm ? methods.length > 0 : methods.includes('GET'))) dead.push(`${page}: ${link}`);
      else if (!isForm && !pages.some((other) => shapeOf(other) === shapeOf(link))) {
        pages.push(link.replaceAll('&amp;', '&'));
      }
    }
  }
  assert.ok(pages.length >= PAGES_MIN, pages.join(' '));
  return dead;
}

/** Pages that differ in their query or in an id alone have the same links. */
function shapeOf(link: string): string {
  return (link.split('?')[0] ?? '').replaceAll(/\/[a-z]+_[^/]+/g, '/{id}');
}
