/** A shop whose seller is signed in to the portal, with helpers that use its API key. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Answer } from '../../../support/http.ts';
import { type Clock, makeClock } from '../../../support/clock.ts';
import { makeProduct, startServer, type TestServer } from '../../../support/server.ts';
import { type Fields, openShop, readText, type Shop } from '../page-client.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

export interface Catalogue
  extends Pick<Shop, 'user' | 'sellerId' | 'send' | 'email' | 'password'> {
  readonly server: TestServer;
  readonly clock: Clock;
  /** Creates a product by the API. */
  create(members?: object): Promise<Created>;
  patch(product: Pick<Created, 'id'>, members: object): Promise<void>;
  sync(changes: readonly object[], members?: object): Promise<void>;
  /** The product in the API; undefined if it does not exist. */
  read(product: Pick<Created, 'id'>): Promise<Record<string, unknown> | undefined>;
}

export interface Created {
  readonly id: string;
  readonly sku: string;
  /** The path of the product's page. */
  readonly path: string;
}

/** Product names that try to break out of their HTML context. */
export const HOSTILE_NAMES: readonly string[] = [
  '<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)",
  '</title><h1>&lt;', '\u202egnihton', '👩‍👩‍👧‍👦'.repeat(20), 'ǹ́'.repeat(60), '${1+1} {{7*7}}',
  '"'.repeat(200), '😀'.repeat(200), 'é'.repeat(200),
];

export async function openCatalogue(t: TestContext, fields: Fields = {}): Promise<Catalogue> {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  return { server, clock, ...await openOther(server, fields) };
}

/** Another shop on the server. */
export async function openOther(server: TestServer, fields: Fields = {}) {
  const shop = await openShop(server, fields);
  const { send } = shop;
  const call = async (method: string, path: string, body: object, status: number) => {
    const answer = await send({ method, path, headers: JSON_TYPE, body: JSON.stringify(body) });
    assert.equal(answer.status, status, answer.text);
    return answer.json();
  };
  return {
    ...shop,
    async create(members: object = {}): Promise<Created> {
      const product = { ...makeProduct(), ...members };
      const { id, sku } = await call('POST', '/api/v1/products', product, 201);
      return { id, sku, path: `/portal/products/${id}` };
    },
    async patch({ id }: Pick<Created, 'id'>, members: object): Promise<void> {
      await call('PATCH', `/api/v1/products/${id}`, members, 200);
    },
    async sync(changes: readonly object[], members: object = {}): Promise<void> {
      const { failed } = await call('POST', '/api/v1/stock', { changes, ...members }, 200);
      assert.equal(failed, 0);
    },
    async read({ id }: Pick<Created, 'id'>) {
      const answer = await send({ path: `/api/v1/products/${id}` });
      return answer.status === 404 ? undefined : answer.json();
    },
  };
}

/** The error messages at fields, by field name. */
export function readFieldErrors({ text }: Answer): Record<string, string> {
  const errors = [...text.matchAll(/id="field-(\w+)-fault">(.*?)<\/p>/gs)];
  return Object.fromEntries(errors.map(([, name = '', error = '']) => [name, readText(error)]));
}

/** The cell texts of the first table, row by row. */
export function readRows({ text }: Answer): string[][] {
  const [, body = ''] = /<tbody>(.*?)<\/tbody>/s.exec(text) ?? [];
  return [...body.matchAll(/<tr\b.*?<\/tr>/gs)].map(([row]) =>
    [...row.matchAll(/<t[hd]\b[^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => readText(cell)));
}
