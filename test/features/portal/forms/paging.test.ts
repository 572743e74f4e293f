/** Paging of lists: forward, backward, and totals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../../../support/http.ts';
import { type Catalogue, openCatalogue } from '../products/catalogue.ts';
import { type PageClient, readText } from '../page-client.ts';
import { assertPage } from '../page-rules.ts';

interface ShownPage {
  /** Markup of the rows, which contains exact times. */
  readonly rows: readonly string[];
  readonly count: string;
}

function show(page: Answer): ShownPage {
  assertPage(page);
  const body = /<tbody>(.*)<\/tbody>/s.exec(page.text)?.[1] ?? '';
  const [, count = ''] = /<nav class="pager"[^>]*>\s*<p class="quiet">(.*?)<\/p>/s
    .exec(page.text) ?? [];
  return { rows: body.split('</tr>').slice(0, -1), count };
}

function findLink({ text }: Answer, rel: string): string | undefined {
  return new RegExp(`href="([^"]*)" rel="${rel}"`).exec(text)?.[1]
    ?.replaceAll('&amp;', '&').replace(/#.*/, '');
}

/** Pages to the last page and back to the first, and returns the pages. */
async function walk(user: PageClient, path: string): Promise<ShownPage[]> {
  const pages: ShownPage[] = [];
  let page = await user.get(path);
  assert.equal(findLink(page, 'prev'), undefined);
  for (;;) {
    pages.push(show(page));
    const next = findLink(page, 'next');
    if (next === undefined) break;
    page = await user.get(next);
  }
  for (const expected of pages.slice(0, -1).toReversed()) {
    page = await user.get(findLink(page, 'prev') ?? assert.fail('no previous page'));
    assert.deepEqual(show(page), expected);
  }
  assert.equal(findLink(page, 'first'), undefined);
  return pages;
}

async function fill({ server, create, sync, patch, sellerId, clock }: Catalogue): Promise<void> {
  for (let n = 0; n < 110; n += 1) {
    clock.now += 1_000;
    await create({ name: `Product ${n % 40}`, sku: `P-${n}`, price: n % 7, stock: n % 5 });
  }
  const mug = await create({ name: 'Mug', sku: 'MUG', stock: 100 });
  for (let n = 0; n < 60; n += 1) {
    clock.now += 1_000;
    await sync([{ sku: 'MUG', adjust: -1 }], { source: 'till' });
  }
  await patch(mug, { price: 99 });
  for (let n = 0; n < 110; n += 1) {
    await server.store.noteAuditEvent({
      sellerId, type: 'sign_in_refused', address: '192.0.2.1', subject: `try ${n}`,
    });
  }
}

test('every list pages forward and backward, and shows its total', async (t) => {
  const catalogue = await openCatalogue(t);
  await fill(catalogue);
  const { user } = catalogue;
  const { path } = JSON.parse((await catalogue.send({ path: '/api/v1/products/sku/MUG' })).text,
    (name, value) => (name === '' ? { path: `/portal/products/${value.id}` } : value));
  const lists: readonly [path: string, counts: readonly string[]][] = [
    ['/portal/products', ['1–50 of 111', '51–100 of 111', '101–111 of 111']],
    ['/portal/products?sort=-price', ['1–50 of 111', '51–100 of 111', '101–111 of 111']],
    ['/portal/products?q=product&sort=name', ['1–50 of 110', '51–100 of 110', '101–110 of 110']],
    ['/portal/products?stock=out', ['1–22 of 22']],
    ['/portal/changes', Array.from({ length: 7 }, () => '172')],
    ['/portal/changes?type=stock', ['1–25 of 60', '26–50 of 60', '51–60 of 60']],
    ['/portal/imports?kind=stock', ['1–25 of 60', '26–50 of 60', '51–60 of 60']],
    ['/portal/activity?type=sign_in_refused', ['1–50 of 110', '51–100 of 110', '101–110 of 110']],
    [path, ['1–25 of 61', '26–50 of 61', '51–61 of 61']],
  ];
  for (const [list, counts] of lists) {
    const pages = await walk(user, list);
    assert.deepEqual(pages.map(({ count }) => count.replace(/ \w+$/, '')), counts, list);
    const rows = pages.flatMap((page) => page.rows);
    assert.equal(new Set(rows).size, rows.length, list);
  }
});

test('goes to the first page if less than a page of rows precedes', async (t) => {
  const { user, create, send } = await openCatalogue(t);
  const created = [];
  for (let n = 0; n < 60; n += 1) created.push(await create({ name: `Product ${n}` }));
  const second = await user.get(findLink(await user.get('/portal/products'), 'next') ?? '');
  assert.equal(show(second).rows.length, 10);
  for (const { id } of created.slice(0, 20)) {
    await send({ method: 'DELETE', path: `/api/v1/products/${id}` });
  }
  const back = await user.get(findLink(second, 'prev') ?? '');
  assert.equal(show(back).rows.length, 40);
  assert.equal(show(back).count, '1–40 of 40 products');
  const again = await user.get(findLink(second, 'first') ?? '');
  assert.deepEqual(show(again), show(back));
});

test('rejects cursors of other lists, and invalid ones', async (t) => {
  const catalogue = await openCatalogue(t);
  await fill(catalogue);
  const { user } = catalogue;
  const next = findLink(await user.get('/portal/changes?type=stock'), 'next') ?? '';
  const cursor = new URL(next, 'http://x').searchParams.get('cursor') ?? '';
  for (const list of ['products', 'changes', 'changes?type=created', 'imports', 'activity']) {
    for (const one of [cursor, 'x']) {
      const mark = list.includes('?') ? '&' : '?';
      const page = await user.get(`/portal/${list}${mark}cursor=${one}`);
      assertPage(page, 400);
      assert.match(readText(page.text), /This page link is no longer valid/);
      assert.equal(findLink(page, 'prev'), undefined);
    }
  }
});
