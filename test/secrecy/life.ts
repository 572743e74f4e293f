/**
 * A scenario in which a seller does everything that creates, shows or sends a secret, against a
 * server process. The secrets that the server shows on purpose become the canaries.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { generateApiKey } from '../../src/domain/access/api-key.ts';
import { showCode } from '../features/portal/sign-in/authenticator.ts';
import { HEADER } from '../features/portal/imports/setup.ts';
import { PageClient } from '../features/portal/page-client.ts';
import { run, type Serving } from '../support/command.ts';
import { type Answer, type Request, send } from '../support/http.ts';
import { listenUntilEnd } from '../support/listening.ts';

const EMAIL = 'anna@shop.example';
const FIRST = 'canary of the first password';
const SECOND = 'canary of the second password';
const WRONG = 'canary of a wrong password';
const JSON_BODY = { 'content-type': 'application/json' };

export interface Scenario {
  /** The secrets, by description. */
  readonly canaries: ReadonlyMap<string, string>;
  /** One-time passwords, whose six digits are only recognizable as a separate word. */
  readonly codes: readonly string[];
  readonly visitor: PageClient;
  readonly key: string;
  /** All responses that must not contain a secret, each with its request. */
  readonly answers: readonly (readonly [context: string, answer: Answer])[];
  /** All URLs that the browser requested: they end up in histories, logs and `Referer`. */
  readonly addresses: readonly string[];
  /** All messages sent to the webhook. */
  readonly deliveries: readonly string[];
}

/** A browser that records its requests, and the pages that must not show a secret. */
class RecordingClient extends PageClient {
  readonly addresses: string[] = [];
  readonly answers: (readonly [string, Answer])[] = [];

  override async request(request: Request): Promise<Answer> {
    this.addresses.push(request.path);
    const answer = await super.request(request);
    this.addresses.push(answer.headers.location ?? '');
    if (answer.status >= 300) this.answers.push([`${request.method} ${request.path}`, answer]);
    return answer;
  }
}

/** Runs it. The server must run with `--webhook-allow-private` and `--webhook-allow-http`. */
export async function live(t: TestContext, serving: Serving, folder: string): Promise<Scenario> {
  const visitor = new RecordingClient(serving.port);
  const canaries = new Map<string, string>();
  const codes: string[] = [];
  const keep = (name: string, secret: string): string => {
    assert.ok(secret.length >= 12, `${name}: ${secret}`);
    canaries.set(name, secret);
    return secret;
  };
  const keepCookies = (when: string): void => {
    for (const [name, value] of visitor.cookies) keep(`${name} ${when}`, value);
  };
  for (const [name, text] of Object.entries({ FIRST, SECOND, WRONG })) keep(name, text);

  const invited = await run(['seller', 'invite', '--json', '--data', folder]);
  const invitation = keep('invitation', JSON.parse(invited.out).code);
  await visitor.get('/portal/join');
  keep('CSRF token of a stranger', visitor.valueOf('csrf') ?? '');
  await visitor.submit({ code: invitation, name: 'Mugs', email: EMAIL, password: FIRST });
  assert.equal(visitor.page?.status, 200);
  const key = keep('first key', readCopies(visitor, 'key')[0] ?? '');
  keepCookies('of joining');

  await visitor.get('/portal/account/two-factor');
  keep('CSRF token', visitor.valueOf('csrf') ?? '');
  const totp = keep('TOTP secret', readCopies(visitor, 'secret')[0] ?? '');
  codes.push(showCode(totp, Date.now()));
  await visitor.submit({ code: codes.at(-1), current_password: FIRST });
  const recovery = readCopies(visitor, 'codes');
  for (const [n, code] of recovery.entries()) keep(`recovery code ${n}`, code);
  await visitor.get('/portal/account/password');
  await visitor.submit({ current_password: FIRST, new_password: SECOND });
  assert.equal(visitor.page.status, 303);
  keepCookies('of the new password');

  await visitor.get('/portal');
  await visitor.submit({}, { action: '/portal/sign-out' });
  await visitor.follow();
  await visitor.submit({ email: EMAIL, password: WRONG });
  assert.equal(visitor.page.status, 422);
  await visitor.submit({ email: EMAIL, password: SECOND });
  keepCookies('between the steps');
  await visitor.follow();
  await visitor.submit({ code: '000000' });
  await visitor.submit({ code: recovery[0] });
  assert.equal(visitor.page.headers.location, '/portal');
  keepCookies('of signing in');

  await makeKeys(visitor, keep, folder);
  const deliveries = await useWebhooks(t, serving.port, key, keep);
  await takeFiles(visitor, serving.port, key);
  return {
    canaries, codes, visitor, key, answers: visitor.answers, addresses: visitor.addresses,
    deliveries,
  };
}

type Keep = (name: string, secret: string) => string;

async function makeKeys(visitor: PageClient, keep: Keep, folder: string): Promise<void> {
  await visitor.get('/portal/keys/new');
  await visitor.submit({ name: 'Another', scopes: 'products:read' });
  keep('key of the portal', readCopies(visitor, 'key')[0] ?? '');
  const { text } = await visitor.get('/portal/keys');
  const [path = ''] = /\/portal\/keys\/key_\w+/.exec(text) ?? [];
  await visitor.get(path);
  await visitor.submit({ overlap: '24h' }, { action: `${path}/rotate` });
  keep('rotated key', readCopies(visitor, 'key')[0] ?? '');
  const made = await run(['key', 'create', '--name', 'cli', '--data', folder]);
  keep('key of the command line', made.out.trim());
  // A known key, an unknown one, and a mistyped one: a canary without its last character.
  const stranger = keep('pasted unknown key', generateApiKey());
  for (const pasted of [made.out.trim(), stranger, `x-api-key: ${stranger.slice(0, -1)}`]) {
    for (const page of ['/portal/keys', '/portal/leaked']) {
      await visitor.get(page);
      const action = page === '/portal/keys' ? `${page}/find` : page;
      const { status } = await visitor.submit({ key: pasted }, { action });
      assert.equal(status, pasted === made.out.trim() ? 303 : 422);
    }
  }
}

/** Returns all webhook messages, which are signed with the secrets and must not contain them. */
async function useWebhooks(
  t: TestContext, port: number, key: string, keep: Keep,
): Promise<readonly string[]> {
  const deliveries: string[] = [];
  const url = await listenUntilEnd(t, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
      deliveries.push(JSON.stringify(request.headers) + Buffer.concat(chunks).toString());
      response.end();
    });
  });
  const ask = (path: string, body?: unknown) => send(port, {
    method: 'POST', path: `/api/v1/webhooks${path}`, headers: { 'x-api-key': key, ...JSON_BODY },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const made = (await ask('', { url: `${url}/hook` })).json();
  keep('webhook secret', made.secret);
  assert.equal((await ask(`/${made.id}/test`)).status, 200);
  keep('rotated webhook secret', (await ask(`/${made.id}/rotate-secret`, {})).json().secret);
  assert.equal((await ask(`/${made.id}/test`)).status, 200);
  assert.ok(deliveries.length >= 2);
  return deliveries;
}

async function takeFiles(visitor: PageClient, port: number, key: string): Promise<void> {
  const rows = `${HEADER}a,b,sku-1,1,2\nc,d,sku-2,x,y\n`;
  const taken = await send(port, {
    method: 'POST', path: '/api/v1/products/import', body: rows,
    headers: { 'x-api-key': key, 'content-type': 'text/csv' },
  });
  assert.equal(taken.status, 200);
  await visitor.get('/portal/import');
  await visitor.submit({ file: new File([rows], 'a.csv') });
  assert.equal(visitor.page?.status, 303);
  await visitor.follow();
}

/** The lines of a copyable block on the page. */
function readCopies(visitor: PageClient, name: string): string[] {
  const [, text = ''] = new RegExp(`<pre id="copy-${name}"[^>]*>([^<]+)<`)
    .exec(visitor.page?.text ?? '') ?? [];
  assert.notEqual(text, '', `${name}: ${visitor.page?.text}`);
  return text.split('\n');
}
