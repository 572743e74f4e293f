/** XML: what is read, and what is rejected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  WORKBOOK_NESTING_LIMIT, WORKBOOK_TOKEN_LIMIT_CHARACTERS,
} from '../../../src/transfer/workbook/limits.ts';
import { parseXml, readAttribute } from '../../../src/transfer/workbook/xml.ts';
import { chunksOf } from '../read.ts';

/** What a handler sees: `t` elements for their text, and nothing in `skip` elements. */
async function eventsOf(content: string | Uint8Array, sizeBytes?: number): Promise<string[]> {
  const events: string[] = [];
  const handler = {
    open(name: string, parent: string, attributes: string) {
      const pairs = [...attributes.matchAll(/[^\s=]+(?==)/g)].map(([key]) =>
        ` ${key}=${readAttribute(attributes, key)}`);
      events.push(`${parent}/${name}${pairs.join('')}`);
      return name === 'skip' ? 'skip' : undefined;
    },
    close(name: string, parent: string, text: string) {
      events.push(`${parent}/${name}:${text}`);
    },
  };
  for await (const _ of parseXml(chunksOf(content, sizeBytes), handler)) { /* to the end */ }
  return events;
}

const textOf = async (content: string): Promise<string> =>
  (await eventsOf(`<t>${content}</t>`))[1]?.slice('/t:'.length) ?? '';

async function assertRejected(content: string | Uint8Array): Promise<void> {
  await assert.rejects(eventsOf(content), {
    name: 'AppError', message: /damaged: a part of it is not XML in UTF-8.*save it as \.xlsx/,
  }, content.slice(0, 100).toString());
}

test('reads elements, attributes and text', async () => {
  const document = '\ufeff<?xml version="1.0"?>\r\n<!-- <a> -->\n<a\n x = "1"\ty=\'"2"\' >'
    + ' <b/>\n<t>one</t ><t z="">two</t><t /><c ><t>  </t></c> </a>\n<!-- end -->\n';
  const expected = ['/a x=1 y="2"', 'a/b', 'a/b:', 'a/t', 'a/t:one', 'a/t z=', 'a/t:two', 'a/t',
    'a/t:', 'a/c', 'c/t', 'c/t:  ', 'a/c:', '/a:'];
  for (let sizeBytes = 1; sizeBytes < 40; sizeBytes += 1) {
    assert.deepEqual(await eventsOf(document, sizeBytes), expected, String(sizeBytes));
  }
});

test('reads references, CDATA, comments in text, and line breaks', async () => {
  assert.equal(await textOf('a&amp;b &lt;&gt;&quot;&apos;&#65;&#x1F944;&#xe9;'), 'a&b <>"\'A🥄é');
  assert.equal(await textOf('a<![CDATA[<b>&amp;]]>c<!-- no -->d<?no no?>e'), 'a<b>&amp;cde');
  assert.equal(await textOf('<![CDATA[]]]]><![CDATA[>]]>'), ']]>');
  assert.equal(await textOf('a\r\nb\rc\nd&#13;e'), 'a\nb\nc\nd\re');
  assert.equal((await eventsOf('<a x="1 &gt; 0 > \'&#39;"/>'))[0], "/a x=1 > 0 > ''");
  assert.equal((await eventsOf("<a x='a=b' y=\"c='d'\"/>"))[0], "/a x=a=b y=c='d'");
  assert.equal((await eventsOf('<a x="1 z=" y="2" z="3"/>'))[0], '/a x=1 z= y=2 z=3');
});

test('reads UTF-16 with a byte order mark', async () => {
  const bytes = Buffer.from('\ufeff<t>é🥄</t>', 'utf16le');
  assert.deepEqual(await eventsOf(bytes, 3), ['/t', '/t:é🥄']);
  assert.deepEqual(await eventsOf(Buffer.from(bytes).swap16(), 3), ['/t', '/t:é🥄']);
});

test('names elements without the prefix of the root, and others with theirs', async () => {
  const names = (events: string[]): string[] => events.filter((event) => !event.includes(':') ||
    !event.endsWith(':'));
  assert.deepEqual(names(await eventsOf('<x:a xmlns:x="m"><x:b x:c="1"/></x:a>')),
    ['/a xmlns:x=m', 'a/b x:c=1']);
  assert.equal((await eventsOf('<a><x14:c/></a>'))[1], 'a/x14:c');
  assert.equal((await eventsOf('<x:a><c/></x:a>'))[1], 'a/:c');
});

test('skips the children of an element', async () => {
  const document = `<a><skip><b>${'<c/>'.repeat(50)}</b></skip ><d/></a>`;
  for (let sizeBytes = 1; sizeBytes < 40; sizeBytes += 1) {
    assert.deepEqual(await eventsOf(document, sizeBytes),
      ['/a', 'a/skip', 'a/skip:', 'a/d', 'a/d:', '/a:']);
  }
  assert.deepEqual(await eventsOf('<skip/>'), ['/skip', '/skip:']);
  await assertRejected('<a><skip><skipped></skipped></skip></a>');
  await assertRejected('<a><skip></a>');
});

test('rejects a document type, and so entities', async () => {
  await assertRejected('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>');
  await assertRejected('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>');
  await assertRejected('<t>&b;</t>');
});

test('rejects what is not well-formed', async () => {
  for (const document of [
    '', ' ', 'text', '<', '<a', '<a>', '<a></b>', '<a></A>', '<a><b></a></b>', '</a>', '<a/><b/>',
    '<a/></a>', '<a x=1/>', '<a x/>', '<a x="1/>', '<a x="1"y="2"/>', '<a x="<"/>', '< a/>',
    '<a></a x="1">', '<a></a/>', '<a/><!-- ', '<a/><!-', '<a><![CDATA[</a>',
    '<t><b/></t>', '<a/><', '<t>a<b></t>',
  ]) await assertRejected(document);
  for (const reference of ['&', '&amp', '&nbsp;', '&#0;', '&#xD800;', '&#x110000;', '&#;', '&#x;',
    '&constructor;', '&AMP;']) await assertRejected(`<t>${reference}</t>`);
});

test('rejects bytes that are not UTF-8', async () => {
  await assertRejected(Buffer.from('<t>\xe9</t>', 'latin1'));
  await assertRejected(Buffer.from('<t>a</t>\xe2\x82', 'latin1'));
  await assertRejected(Buffer.from('<t>é</t>', 'utf16le'));
});

test('rejects too many nested elements, and text without an end', async () => {
  const nested = (depth: number): string => '<a>'.repeat(depth) + '</a>'.repeat(depth);
  assert.equal((await eventsOf(nested(WORKBOOK_NESTING_LIMIT))).length, 2 * WORKBOOK_NESTING_LIMIT);
  await assertRejected(nested(WORKBOOK_NESTING_LIMIT + 1));
  // One chunk may arrive before the limit is checked.
  const long = 'x'.repeat(WORKBOOK_TOKEN_LIMIT_CHARACTERS + 64 * 1024);
  for (const document of [
    `<a x="${long}"/>`, `<a><!--${long}--></a>`, `<a>${long}</a>`, `<${long}>`,
    `<t>${'some text<!-- -->'.repeat(WORKBOOK_TOKEN_LIMIT_CHARACTERS / 8)}</t>`,
    `<a${' x="1"'.repeat(long.length / 6)}/>`,
  ]) await assertRejected(document);
  const text = long.slice(64 * 1024);
  assert.equal(await textOf(text), text);
  const attributes = Array.from({ length: 5_000 }, (_, index) => ` x${index}="1"`).join('');
  assert.equal((await eventsOf(`<a${attributes}/>`)).length, 2);
});
