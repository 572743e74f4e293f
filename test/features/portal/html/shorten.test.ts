/** Texts that are cut where a page has no room for all of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { html } from '../../../../src/features/portal/html/html.ts';
import { shorten } from '../../../../src/features/portal/html/shorten.ts';

const sizeOf = (text: string): number => Buffer.byteLength(html`${text}`.text);

test('leaves a text as it is that has room', () => {
  for (const text of ['', 'mug', 'x'.repeat(40), '"'.repeat(6), '😀'.repeat(10), '<&>']) {
    assert.equal(shorten(text, 40), text);
  }
});

test('cuts a text to what it takes in a page, between characters', () => {
  assert.equal(shorten('x'.repeat(41), 40), `${'x'.repeat(37)}…`);
  assert.equal(shorten('"'.repeat(7), 40), `${'"'.repeat(6)}…`);
  for (const text of ['😀'.repeat(11), 'é'.repeat(30), '<&>"\''.repeat(9), '漢'.repeat(14)]) {
    const short = shorten(text, 40);
    assert.ok(short.endsWith('…') && sizeOf(short) <= 40, short);
    assert.ok(short.isWellFormed() && text.startsWith(short.slice(0, -1)), short);
    assert.ok(sizeOf(short) > 33, short);
  }
});
