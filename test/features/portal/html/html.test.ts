/** The `html` template tag, which escapes every value. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Content, html, shorten } from '../../../../src/features/portal/html/html.ts';

test('escapes every special character of text and quoted attributes', () => {
  const evil = `<script>"'&</script>`;
  const escaped = '&lt;script&gt;&quot;&#39;&amp;&lt;/script&gt;';
  assert.equal(html`<p title="${evil}">${evil}</p>`.text,
    `<p title="${escaped}">${escaped}</p>`);
});

test('escapes text that is already escaped', () => {
  assert.equal(html`${'&amp;'}`.text, '&amp;amp;');
});

test('inserts markup unescaped only if the template made it', () => {
  assert.equal(html`<ul>${html`<li>${'<'}</li>`}</ul>`.text, '<ul><li>&lt;</li></ul>');
  const forged = { text: '<b>' } as unknown as string;
  assert.throws(() => html`${forged}`);
});

test('concatenates the items of lists, and renders nothing for missing values', () => {
  const items: Content = ['a', 1, undefined, false, [html`<b>`, '<'], ''];
  assert.equal(html`[${items}]`.text, '[a1<b>&lt;]');
  assert.equal(html`[${undefined}${false}${''}${0}]`.text, '[0]');
});

const sizeOf = (text: string): number => Buffer.byteLength(html`${text}`.text);

test('leaves a short text unchanged', () => {
  for (const text of ['', 'mug', 'x'.repeat(40), '"'.repeat(6), '😀'.repeat(10), '<&>']) {
    assert.equal(shorten(text, 40), text);
  }
});

test('cuts a text to its size in a page, between characters', () => {
  assert.equal(shorten('x'.repeat(41), 40), `${'x'.repeat(37)}…`);
  assert.equal(shorten('"'.repeat(7), 40), `${'"'.repeat(6)}…`);
  for (const text of ['😀'.repeat(11), 'é'.repeat(30), '<&>"\''.repeat(9), '漢'.repeat(14)]) {
    const short = shorten(text, 40);
    assert.ok(short.endsWith('…') && sizeOf(short) <= 40, short);
    assert.ok(short.isWellFormed() && text.startsWith(short.slice(0, -1)), short);
    assert.ok(sizeOf(short) > 33, short);
  }
});
