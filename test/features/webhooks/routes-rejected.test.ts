/** Rejected webhook requests: invalid bodies, targets and keys, and disabled webhooks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../../support/server.ts';
import { assertProblem, faultsOf } from '../../api/problem.ts';
import { ask, createWebhook, LOCAL, WEBHOOKS } from './routes.ts';

const URL_ONE = 'http://127.0.0.1:9/one';

const invalid: readonly [body: unknown, errors: readonly string[]][] = [
  [{}, ['/url required']],
  [[], [' type']],
  [{ url: 1, description: 2, types: 3 }, ['/url type', '/description type', '/types type']],
  [{ url: '', types: [] }, ['/url format', '/types format']],
  [{ url: 'shop.example', types: ['sold'] }, ['/url format', '/types format']],
  [{ url: URL_ONE, types: ['created', 'sold'] }, ['/types format']],
  [{ url: URL_ONE, types: ['created', 1] }, ['/types format']],
  [{ url: URL_ONE, description: 'a\nb' }, ['/description characters']],
  [{ url: URL_ONE, description: 'é'.repeat(201) }, ['/description length']],
  [{ url: URL_ONE, description: null }, ['/description type']],
  [{ url: `${URL_ONE}/${'a'.repeat(2_048)}` }, ['/url length']],
  [{ url: `${URL_ONE}/${'ä'.repeat(1_000)}` }, ['/url length']],
  [{ url: URL_ONE, status: 'active' }, ['/status unknown']],
  [{ url: URL_ONE, secret: 'whsec_AAAA' }, ['/secret unknown']],
  [{ url: 'ftp://127.0.0.1/', types: [] , more: 1 },
    ['/types format', '/url target', '/more unknown']],
  [{ url: 'http://me:pw@127.0.0.1/' }, ['/url target']],
];

test('reports every error of a body at once', async (t) => {
  const server = await startServer(t, { webhooks: LOCAL });
  const seller = await server.makeSeller();
  for (const [body, errors] of invalid) {
    const answer = await ask(seller, 'POST', '', body);
    assertProblem(answer, 400, 'invalid-data');
    assert.deepEqual(faultsOf(answer), errors, answer.text);
  }
  const { id } = await createWebhook(seller, URL_ONE);
  for (const [path, method, body, errors] of [
    ['', 'PATCH', { url: null, status: 'off', types: 1 },
      ['/url type', '/types type', '/status format']],
    ['', 'PATCH', { url: 'ftp://a.example/', id: 1 }, ['/url target', '/id unknown']],
    ['/replay', 'POST', {}, ['/position required']],
    ['/replay', 'POST', { position: '0' }, ['/position type']],
    ['/replay', 'POST', { position: -1 }, ['/position range']],
    ['/replay', 'POST', { position: 0.5 }, ['/position range']],
    ['/replay', 'POST', { position: 1 }, ['/position range']],
    ['/rotate-secret', 'POST', { overlap: 'soon' }, ['/overlap format']],
    ['/rotate-secret', 'POST', { overlap: 24, more: 1 }, ['/overlap type', '/more unknown']],
  ] as const) {
    const answer = await ask(seller, method, `/${id}${path}`, body);
    assertProblem(answer, 400, 'invalid-data');
    assert.deepEqual(faultsOf(answer), errors, answer.text);
  }
});

test('rejects addresses of this machine and its network unless allowed', async (t) => {
  const lookup = async (name: string) => {
    if (name === 'none.example') throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
    const address = name === 'intranet.example' ? '10.0.0.1' : '93.184.215.14';
    return [{ address, family: 4 }];
  };
  const server = await startServer(t, { webhooks: { lookup } });
  const seller = await server.makeSeller();
  const { id } = await createWebhook(seller, 'https://shop.example/hook');
  for (const [url, why] of [
    [URL_ONE, /not https/], ['https://127.0.0.1/', /not public/],
    ['https://0x7f.1/', /not public/], ['https://[::1]/', /not public/],
    ['https://intranet.example/', /not public/], ['https://none.example/', /not found/],
    ['https://shop.example:22/', /port/], ['https://shop.example/#a', /fragment/],
  ] as const) {
    for (const answer of [
      await ask(seller, 'POST', '', { url }), await ask(seller, 'PATCH', `/${id}`, { url }),
    ]) {
      assertProblem(answer, 400, 'invalid-data');
      assert.deepEqual(faultsOf(answer), ['/url target']);
      assert.match(answer.json().errors[0].detail, why);
    }
  }
  assert.equal((await ask(seller, 'GET')).json().webhooks.length, 1);
});

test('requires a key with the scope', async (t) => {
  const server = await startServer(t, { webhooks: LOCAL });
  const { id } = await createWebhook(await server.makeSeller(), URL_ONE);
  const scopes = ['products:read', 'products:write', 'stock:write', 'changes:read'];
  const stranger = await server.makeSeller({ scopes });
  for (const [method, path] of [
    ['GET', ''], ['POST', ''], ['GET', `/${id}`], ['PATCH', `/${id}`], ['DELETE', `/${id}`],
    ['GET', `/${id}/deliveries`], ['POST', `/${id}/test`], ['POST', `/${id}/replay`],
    ['POST', `/${id}/rotate-secret`],
  ] as const) {
    const rejected = await server.send({ method, path: `${WEBHOOKS}${path}` });
    assertProblem(rejected, 401, 'key-missing');
    assertProblem(await ask(stranger, method, path), 403, 'scope-missing');
  }
});

test('answers 404 on every route if webhooks are disabled', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const id = 'whk_1k7s94cm9001k7s94bi600';
  for (const [method, path, body] of [
    ['GET', '', undefined], ['POST', '', { url: URL_ONE }], ['GET', `/${id}`, undefined],
    ['PATCH', `/${id}`, {}], ['DELETE', `/${id}`, undefined],
    ['GET', `/${id}/deliveries`, undefined], ['POST', `/${id}/test`, undefined],
    ['POST', `/${id}/replay`, { position: 0 }], ['POST', `/${id}/rotate-secret`, undefined],
  ] as const) {
    const { detail } = assertProblem(await ask(seller, method, path, body), 404, 'not-found');
    assert.match(detail, /are disabled/);
  }
});
