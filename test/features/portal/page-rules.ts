/** Invariants of every page of the portal, for the tests of each page. */
import assert from 'node:assert/strict';
import type { Answer } from '../../support/http.ts';
import type { TestServer } from '../../support/server.ts';
import { type Shop, PageClient, readText } from './page-client.ts';

const PAGE_LIMIT_BYTES = 50 * 1024;

/** Asserts a complete page with this status, within the size limit and with `no-store`. */
export function assertPage(answer: Answer, status = 200): void {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.headers['content-type'] ?? '', /^text\/html/);
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.match(answer.text, /<\/html>\s*$/);
  assertButtons(answer.text);
  const sizeBytes = Buffer.byteLength(answer.text);
  assert.ok(sizeBytes < PAGE_LIMIT_BYTES, `${sizeBytes} bytes`);
}

const DESTRUCTIVE = /^(?:Delete|Discard|Revoke|Turn off|Cancel import|Sign out all)\b/;

/** Asserts at most one primary button, and the `danger` class on destructive ones. */
export function assertButtons(page: string): void {
  const buttons = [...page.matchAll(/<(button|a)\b([^>]*)>(.*?)<\/\1>/gs)].map(
    ([, tag = '', attributes = '', content = '']) => ({
      isButton: tag === 'button' || /class="[^"]*\bbutton\b/.test(attributes),
      classes: /class="([^"]*)"/.exec(attributes)?.[1]?.split(' ') ?? [],
      text: readText(content),
    }));
  const primary = buttons.filter(({ classes }) => classes.includes('primary'));
  assert.ok(primary.length <= 1, `Primary: ${primary.map(({ text }) => text).join(', ')}`);
  const plain = buttons.filter(({ isButton, classes, text }) =>
    isButton && DESTRUCTIVE.test(text) && !classes.includes('danger'));
  assert.deepEqual(plain.map(({ text }) => text), []);
}

/** Asserts that positions, which only programs need, appear under Details only. */
export function assertNoPositions(page: string): void {
  const text = readText(page.replaceAll(/<details\b.*?<\/details>/gs, ''));
  assert.doesNotMatch(text, /\bpositions?\b/i);
  assert.doesNotMatch(text, /\bChanges? [0-9]/);
}

/** Asserts that a signed-out client is redirected to the sign-in, with the path to return to. */
export async function assertRequiresSignIn(
  { port }: Pick<TestServer, 'port'>, paths: readonly string[],
): Promise<void> {
  const stranger = new PageClient(port);
  for (const path of paths) {
    const answer = await stranger.get(`/portal${path}`);
    const to = new URLSearchParams({ to: path });
    assert.equal(answer.status, 303, path);
    assert.equal(answer.headers.location, `/portal/sign-in?${to}`, path);
  }
  const token = (await stranger.get('/portal/sign-in'), stranger.valueOf('csrf') ?? '');
  for (const path of paths) {
    const answer = await stranger.post(`/portal${path}`, new URLSearchParams({ csrf: token }));
    if (answer.status !== 405) assert.equal(answer.headers.location, '/portal/sign-in', path);
  }
}

/** Asserts identical responses for another shop's ids and for unknown ids. */
export async function assertHidden(
  { user }: Shop,
  { get, post, foreign, unknown }: {
    /** The ends of the paths, after the id. */
    readonly get: readonly string[];
    readonly post: readonly string[];
    /** Paths up to the id: of another shop's object, and of unknown ones. */
    readonly foreign: string;
    readonly unknown: readonly string[];
  },
): Promise<void> {
  await user.get('/portal');
  const csrf = user.valueOf('csrf') ?? '';
  const fields = { overlap: '24h', position: '0', status: 'disabled', url: 'https://x.example' };
  for (const [method, ends] of [['GET', get], ['POST', post]] as const) {
    for (const end of ends) {
      const ask = (path: string): Promise<Answer> => method === 'GET'
        ? user.get(path + end)
        : user.post(path + end, new URLSearchParams({
          csrf, once: crypto.randomUUID(), ...fields,
        }));
      const answer = await ask(foreign);
      assertPage(answer, 404);
      for (const path of unknown) {
        const other = await ask(path);
        assert.deepEqual([other.status, other.text], [404, answer.text], `${method} ${path}${end}`);
      }
    }
  }
}
