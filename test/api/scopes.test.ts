/** The scopes that each operation of the API requires, here and in the guide. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { authorize, narrowScopes } from '../../src/api/authenticate.ts';
import { type Caller, type Scope, SCOPES } from '../../src/domain/access/caller.ts';
import { routes } from '../support/routes.ts';
import { startServer } from '../support/server.ts';
import { assertProblem } from './problem.ts';

const GUIDE = new URL('../../src/api/README.md', import.meta.url);

/** Without the beginning of their paths, `/api/v1`. A new operation needs its line here. */
const OPERATIONS: Readonly<Record<Scope, readonly string[]>> = {
  'products:read': [
    'GET /products', 'GET /products/{id}', 'GET /products/sku/{sku}', 'GET /stock',
    'POST /products/lookup',
  ],
  'products:write': [
    'POST /products', 'PATCH /products/{id}', 'DELETE /products/{id}',
    'PUT /products/sku/{sku}', 'PATCH /products/sku/{sku}', 'DELETE /products/sku/{sku}',
    'POST /products/import', 'POST /reverts',
  ],
  'prices:write': [
    'PATCH /products/{id}', 'PATCH /products/sku/{sku}', 'POST /products/import',
  ],
  'stock:write': ['POST /stock'],
  'changes:read': [
    'GET /imports', 'GET /imports/{import_id}', 'GET /stock/movements', 'GET /changes',
  ],
  'webhooks:write': [
    'GET /webhooks', 'POST /webhooks', 'GET /webhooks/{webhook_id}',
    'PATCH /webhooks/{webhook_id}', 'DELETE /webhooks/{webhook_id}',
    'GET /webhooks/{webhook_id}/deliveries', 'GET /webhooks/{webhook_id}/deliveries/{n}',
    'POST /webhooks/{webhook_id}/deliveries/{n}/resend', 'POST /webhooks/{webhook_id}/retry',
    'POST /webhooks/{webhook_id}/test', 'POST /webhooks/{webhook_id}/replay',
    'POST /webhooks/{webhook_id}/rotate-secret',
  ],
};
const OPEN = ['GET /healthz', 'GET /readyz', 'GET /openapi.json'];
/** What `prices:write` alone may import. */
const QUERIES: Readonly<Record<string, string>> = { 'POST /products/import': '?mode=update' };

/** Each operation, with the scopes of which it requires one. */
const existing: ReadonlyMap<string, readonly Scope[] | undefined> = new Map(
  routes.map(({ method, path, scopes }) =>
    [`${method} ${path.replace('/api/v1', '')}`, scopes]));

test('has no operation whose scopes are not listed here', () => {
  for (const [operation, scopes] of existing) {
    const listed = SCOPES.filter((scope) => OPERATIONS[scope].includes(operation));
    assert.deepEqual(scopes ?? [], listed, operation);
    assert.equal(OPEN.includes(operation), scopes === undefined, operation);
  }
  const listed = new Set([...Object.values(OPERATIONS).flat(), ...OPEN]);
  assert.deepEqual([...existing.keys()].toSorted(), [...listed].toSorted());
});

for (const scope of SCOPES) {
  test(`lets a key with ${scope} alone request what is listed for it, and no more`, async (t) => {
    const server = await startServer(t);
    const seller = await server.makeSeller({ scopes: [scope] });
    for (const [operation, scopes] of existing) {
      if (!scopes) continue;
      const [method = '', path = ''] = operation.split(' ');
      const query = QUERIES[operation] ?? '';
      const answer = await seller.send({
        method, path: `/api/v1${path.replaceAll(/\{\w+\}/g, 'none')}${query}`,
      });
      if (scopes.includes(scope)) assert.notEqual(answer.status, 403, operation);
      else {
        const { detail } = assertProblem(answer, 403, 'scope-missing');
        assert.ok(detail.includes(`the scope ${scopes.join(' or ')}.`), detail);
      }
    }
  });

  test(`lists in the guide what a key with ${scope} may request`, () => {
    const row = readFileSync(GUIDE, 'utf8').split('\n')
      .find((line) => line.startsWith(`| \`${scope}\` |`)) ?? '';
    const [, , requests = ''] = row.split(' | ');
    const permitted = [...existing].filter(([, scopes]) => scopes?.includes(scope))
      .map(([operation]) => `\`${operation}\``);
    assert.equal(requests.replace(/ \|$/, ''), permitted.join(', '));
  });
}

test('ends a request whose caller has lost a scope that it began with', () => {
  const scopes = ['products:write', 'prices:write'] as const;
  const callerWith = (...own: Scope[]) => ({ scopes: own }) as unknown as Caller; // reads no more
  for (const [before, after, isAllowed] of [
    ['products:write', 'prices:write', false], ['products:write', 'products:write', true],
    ['prices:write', 'products:write', true], ['prices:write', 'prices:write', true],
    ['prices:write', 'products:read', false],
  ] as const) {
    const reauthorize = () =>
      authorize(callerWith(after), narrowScopes(callerWith(before), scopes));
    if (isAllowed) reauthorize();
    else assert.throws(reauthorize, { code: 'scope_missing' });
  }
});

test('names in the guide the scopes of each request', () => {
  const rows = readFileSync(GUIDE, 'utf8').matchAll(/^\| `([A-Z]+) (\/api\S+)` \| ([^|]*) \|/gm);
  for (const [, method, path = '', cell = ''] of rows) {
    const operation = `${method} ${path.replace('/api/v1', '')}`;
    const scopes = [...cell.matchAll(/`(\w+:\w+)`/g)].map(([, scope]) => scope);
    assert.deepEqual(scopes, existing.get(operation) ?? [], operation);
  }
});
