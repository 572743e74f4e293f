/**
 * A retry under the same Idempotency-Key is recognized however its body is written: in any order of
 * members or columns, with any white space, with numbers and strings in any notation. Takes every
 * route with a key from the route table, in each of its formats.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { forRandomAsync, type Random } from './domain/random.ts';
import { assertProblem } from './api/problem.ts';
import { HELD_MS } from './support/held-timers.ts';
import { routes } from './support/routes.ts';
import type { TestSeller } from './support/server.ts';
import { shareServer } from './support/shared-server.ts';

const WORKBOOK = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const MUG = {
  sku: 'MUG', name: 'Müg "big"', category: 'Kitchen', price: 19.5, stock: 100, barcode: '96385074',
  description: 'One\nTwo', metadata: { b: '2', a: '1', 10: 'x' }, low_stock: 3,
};
const CHANGES = [
  { sku: 'A', adjust: -1, expect: 100, sequence: 1, reason: 'sold' },
  { sku: 'B', adjust: -2, sequence: 2 }, { reason: 'count', set: 7, sku: 'C' },
  { sku: 'B', adjust: 0.5, reason: 'invalid' }, { sku: 'UNKNOWN', set: 1 },
];

type Row = Readonly<Record<string, unknown>>;

interface Sample {
  /** A JSON document, or the rows of a file. */
  readonly body?: Row | readonly Row[];
  readonly query?: string;
  /** The same with null for absent members, where that is the same. */
  readonly same?: Row | readonly Row[];
  /** Another body under the same key. */
  readonly other?: Row | readonly Row[];
}

/** The body of each route, by method and path; for files, by their media type, too. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  'POST /api/v1/products': {
    body: MUG, same: { ...MUG, archived: null }, other: { ...MUG, stock: 101 },
  },
  'PUT /api/v1/products/sku/{sku}': {
    body: MUG, same: { ...MUG, archived: null }, other: { ...MUG, low_stock: null },
  },
  'PATCH /api/v1/products/sku/{sku}': {
    body: { stock: 5, metadata: { b: null, a: '2' }, description: null, price: 1 },
    other: { stock: 5, metadata: { b: null, a: '2' }, price: 1 },
  },
  'PATCH /api/v1/products/{id}': { body: { stock: 5, price: 2.5 }, other: { stock: 5 } },
  'DELETE /api/v1/products/{id}': {},
  'DELETE /api/v1/products/sku/{sku}': {},
  'POST /api/v1/stock': {
    body: {
      changes: CHANGES, atomic: false, source: 'till', reason: 'sales', complete: true,
      zero_limit: 100,
    },
    same: {
      changes: CHANGES.map((row) => ({ reason: null, ...row })), source: 'till', reason: 'sales',
      complete: true, zero_limit: 100,
    },
    other: { changes: CHANGES, source: 'till', reason: null, complete: true, zero_limit: 100 },
  },
  'POST /api/v1/stock application/x-ndjson': {
    body: CHANGES, query: 'source=till', same: CHANGES.map((row) => ({ reason: null, ...row })),
    other: CHANGES.slice(1),
  },
  'POST /api/v1/stock text/csv': {
    body: [{ sku: 'A', adjust: -1, sequence: 1, reason: 'sold, "twice"' },
      { sku: 'B', adjust: -2, sequence: 2, reason: 'x' }],
    query: 'source=till', other: [{ sku: 'A', adjust: -1 }],
  },
  'POST /api/v1/products/import application/x-ndjson': {
    body: [MUG, { sku: 'A', stock: 5 }, { sku: 'B', description: null, price: 3.5 }],
    other: [MUG, { sku: 'A', stock: 5 }],
  },
  'POST /api/v1/products/import text/csv': {
    body: [{ sku: 'MUG', name: 'Mug, "big"', category: 'K', price: 19.5, stock: 1 },
      { sku: 'A', name: 'A', category: 'K', price: 3, stock: 2 }],
    other: [{ sku: 'MUG', name: 'Mug', category: 'K', price: 19.5, stock: 1 }],
  },
  'POST /api/v1/reverts': {
    body: { after: 3, up_to: 4, source: 'till', force: true }, other: { after: 3, up_to: 4 },
  },
  'POST /api/v1/webhooks': {
    body: { url: 'http://127.0.0.1:9/', description: 'Till', types: ['stock', 'created'] },
    other: { url: 'http://127.0.0.1:9/' },
  },
  'PATCH /api/v1/webhooks/{webhook_id}': {
    body: { types: null, description: 'Desk', status: 'active' }, other: { status: 'active' },
  },
  'DELETE /api/v1/webhooks/{webhook_id}': {},
  'POST /api/v1/webhooks/{webhook_id}/retry': {},
  'POST /api/v1/webhooks/{webhook_id}/replay': { body: { position: 1 }, other: { position: 2 } },
  'POST /api/v1/webhooks/{webhook_id}/rotate-secret': {
    body: { overlap: '1h' }, other: { overlap: '2h' },
  },
};

/** The other media types of these routes have the same parser. */
const TYPES = ['application/json', 'application/x-ndjson', 'text/csv'];

const targets = routes.flatMap(({ method, path, operation }) => {
  if (!operation.requestHeaders?.includes('IdempotencyKey')) return [];
  const types = Object.keys(operation.request ?? {});
  const known = types.filter((type) => TYPES.includes(type));
  assert.ok(types.every((type) => TYPES.includes(type) || type === WORKBOOK
    || type === 'application/merge-patch+json'), types.join());
  return (types.length === 0 ? [''] : known).map((type) => ({ method, path, type }));
});

function shuffle<Value>(values: readonly Value[], random: Random): Value[] {
  return values.map((value) => [random.below(2 ** 30), value] as const)
    .sort(([one], [other]) => one - other).map(([, value]) => value);
}

/** The same JSON value in another notation; `space` in the places where white space may be. */
function writeJson(value: unknown, random: Random, spaces: readonly string[]): string {
  const space = (): string => random.pick(spaces);
  const write = (inner: unknown): string =>
    `${space()}${writeJson(inner, random, spaces)}${space()}`;
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = shuffle(Object.entries(value), random);
    return `{${members.map(([name, member]) => `${write(name)}:${write(member)}`).join(',')}}`;
  }
  if (typeof value === 'number') {
    const whole = Number.isInteger(value) ? [`${value}.0`, `${value}e0`] : [`${value}0`];
    return random.pick([`${value}`, `${value * 10}e-1`, ...whole]);
  }
  const text = JSON.stringify(value);
  return random.below(2) === 0 ? text
    : text.replace(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function writeCsv(rows: readonly Row[], random: Random): string {
  const names = shuffle(Object.keys(rows[0] ?? {}), random);
  const lineEnd = random.pick(['\n', '\r\n']);
  const writeCell = (cell: unknown): string => {
    const text = String(cell ?? '');
    const quoted = `"${text.replaceAll('"', '""')}"`;
    return /[",]/.test(text) ? quoted : random.pick([text, quoted, ` ${text}  `]);
  };
  return [names, ...rows.map((row) => names.map((name) => row[name]))]
    .map((cells) => `${cells.map(writeCell).join(',')}${lineEnd}`).join('');
}

function write(type: string, body: Sample['body'], random: Random): string {
  if (type === 'application/json') return writeJson(body, random, ['', ' ', '\n\t', '\r\n   ']);
  const rows = body as readonly Row[];
  if (type === 'text/csv') return writeCsv(rows, random);
  const blank = (): string => random.pick(['', '', '\n', ' \n']);
  return rows.map((row) => `${blank()}${writeJson(row, random, ['', ' ', '\t'])}\n`).join('');
}

/** Blank lines move the others. */
function withoutLines(text: string): string {
  return text.replaceAll(/"line":\d+,/g, '');
}

describe('a retry of', () => {
  const getServer = shareServer({
    webhooks: { allowPrivate: true, allowHttp: true, timeoutMs: HELD_MS },
  });
  let seller: TestSeller;
  before(async () => {
    seller = await getServer().makeSeller();
    for (const sku of ['A', 'B', 'C', 'D']) await seller.create({ sku, stock: 100 });
  });

  /** The path of something that the route changes. */
  async function fillPath(path: string): Promise<string> {
    const { id, sku } = (await seller.create({ stock: 100 })).json();
    const filled = path.replace('{id}', id).replace('{sku}', sku);
    if (!path.includes('{webhook_id}')) return filled;
    const { text } = await seller.send({
      method: 'POST', path: '/api/v1/webhooks', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ url: 'http://127.0.0.1:9/' }),
    });
    return filled.replace('{webhook_id}', JSON.parse(text).id);
  }

  for (const { method, path, type } of targets) {
    const name = `${method} ${path}`;
    test(`${name} ${type}`, async () => {
      const sample = SAMPLES[`${name} ${type}`] ?? SAMPLES[name];
      assert.ok(sample, `Add a sample of ${name} ${type}.`);
      await forRandomAsync(3, async (random) => {
        const filled = await fillPath(path);
        const key = `${name} ${type} ${random.below(2 ** 30)}`.replaceAll(/[ {},"]/g, '-');
        const sku = /sku\/(.+)$/.exec(filled)?.[1] ?? `MUG-${random.below(2 ** 30)}`;
        const send = (body: Sample['body']) => seller.send({
          method, path: `${filled}${sample.query ? `?${sample.query}` : ''}`,
          headers: { 'idempotency-key': key, ...(body && { 'content-type': type }) },
          ...(body && { body: write(type, body, random).replaceAll('MUG', sku) }),
        });
        const first = await send(sample.body);
        assert.ok(first.status < 300, first.text);
        for (const body of [sample.body, sample.body, sample.body, sample.same ?? sample.body]) {
          const again = await send(body);
          assert.equal(again.headers['idempotent-replay'] ?? again.text, 'true');
          assert.equal(withoutLines(again.text), withoutLines(first.text));
        }
        if (!sample.other) return;
        assertProblem(await send(sample.other), 422, 'idempotency-mismatch');
      });
    });
  }
});
