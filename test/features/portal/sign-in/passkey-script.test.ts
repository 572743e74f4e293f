/** `passkey.js` in a simulated browser: its requests, renewals and messages. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mock, test, type TestContext } from 'node:test';
import { createContext, runInContext } from 'node:vm';

const SCRIPT = readFileSync(
  new URL('../../../../src/features/portal/assets/passkey.js', import.meta.url), 'utf8');
const LIFE_MS = 60_000;
const OPTIONS = {
  challenge: 'AAAA', encrypted: 'x', rpId: 'localhost', allowed: [], lifeMs: LIFE_MS,
};

class FakeElement {
  hidden = true;
  disabled = false;
  textContent = '';
  dataset: Record<string, string> = {};
  form: unknown;
  listeners: (() => void)[] = [];
  addEventListener(_: string, listener: () => void): void {
    this.listeners.push(listener);
  }
}

interface Asked {
  readonly mediation?: string;
  readonly signal?: AbortSignal;
}

/** Runs the script on a page with one button, and records its requests. */
function open(t: TestContext, dataset: Record<string, string>, respond: () => Response) {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const [button, message] = [new FakeElement(), new FakeElement()];
  button.dataset = { passkey: 'get', options: '/options', ...dataset };
  button.form = { querySelector: () => message, append() {}, submit() {} };
  const asked: Asked[] = [];
  let fetched = 0;
  const globals = {
    AbortController, Error, setTimeout, clearTimeout, Uint8Array, atob, btoa,
    HTMLElement: FakeElement, HTMLButtonElement: FakeElement,
    PublicKeyCredential: { isConditionalMediationAvailable: async () => true },
    document: { querySelectorAll: () => [button] },
    navigator: {
      credentials: {
        async get(how: Asked) {
          asked.push(how);
          const { promise, reject } = Promise.withResolvers<never>();
          const cancelled = new DOMException('', 'NotAllowedError');
          if (how.mediation === undefined) throw cancelled;
          how.signal?.addEventListener('abort', () => reject(cancelled));
          return promise;
        },
      },
    },
    async fetch() {
      fetched += 1;
      return respond();
    },
  };
  runInContext(SCRIPT, createContext(globals));
  const settle = () => new Promise<void>((resolve) => { setImmediate(resolve); });
  const click = async (): Promise<string> => {
    for (const listener of button.listeners) listener();
    await settle();
    return message.textContent;
  };
  return { asked, settle, click, countFetched: () => fetched };
}

test("requests a new challenge before the autofill's challenge expires", async (t) => {
  const page = open(t, { conditional: '' }, () => Response.json(OPTIONS));
  await page.settle();
  assert.equal(page.countFetched(), 1);
  for (const renewals of [1, 2]) {
    mock.timers.tick(LIFE_MS - 1);
    await page.settle();
    assert.equal(page.countFetched(), 1 + renewals);
    assert.deepEqual(page.asked.map(({ signal }) => signal?.aborted),
      [...Array<boolean>(renewals).fill(true), false]);
  }
});

test('offers the autofill again after the button was cancelled', async (t) => {
  const page = open(t, { conditional: '' }, () => Response.json(OPTIONS));
  await page.settle();
  assert.match(await page.click(), /Cancelled/);
  await page.settle();
  assert.deepEqual(page.asked.map(({ mediation }) => mediation),
    ['conditional', undefined, 'conditional']);
  assert.deepEqual([page.asked[0]?.signal?.aborted, page.asked[2]?.signal?.aborted],
    [true, false]);
  mock.timers.tick(LIFE_MS - 1);
  await page.settle();
  assert.equal(page.asked.length, 4); // one renewal, not one per offer
});

test('says what to do if the server sends no challenge', async (t) => {
  const redirected = Object.defineProperty(
    new Response('<p>', { headers: { 'content-type': 'text/html' } }),
    'redirected', { value: true });
  for (const [response, says] of [
    [redirected, /session has ended\. Reload/],
    [new Response('', { status: 429, headers: { 'retry-after': '7' } }), /Try again in 7 s/],
    [new Response('', { status: 500 }), /rejected the request\. Reload/],
    [undefined, /cannot be reached/],
  ] as const) {
    const page = open(t, {}, () => response ?? assert.fail('no connection'));
    assert.match(await page.click(), says);
    mock.timers.reset();
  }
});
