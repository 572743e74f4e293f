/** Helpers to use a shop's import pages. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Answer } from '../../../support/http.ts';
import { startServer, type TestServer } from '../../../support/server.ts';
import { assertPage } from '../page-rules.ts';
import {
  type Fields, openShop, readText, type Shop, type PageClient,
} from '../page-client.ts';

export async function open(t: TestContext): Promise<Shop & { readonly server: TestServer }> {
  const server = await startServer(t, { portal: true });
  return { ...await openShop(server), server };
}

/** Uploads a file and follows the redirect. */
export async function upload(user: PageClient, text: string, name = 'products.csv') {
  await user.get('/portal/import');
  const answer = await user.submit({ file: new File([text], name) });
  assert.equal(answer.status, 303, answer.text);
  assert.match(answer.headers.location ?? '', /^\/portal\/import\/[\w-]{36}$/);
  return readPage(await user.follow());
}

/** Sends a form of the page and follows a redirect; to the end of a job that it starts. */
export async function act(user: PageClient, what: string, fields = {}) {
  const answer = await send(user, what, fields);
  return answer.status === 303 ? readPage(await user.follow()) : readPage(answer);
}

/** Sends a form of the page that starts a job, and returns the page that shows its progress. */
export async function startJob(user: PageClient, what: string) {
  assert.equal((await send(user, what, {})).status, 303);
  return readPage(await user.followOnce());
}

function send(user: PageClient, what: string, fields: Fields): Promise<Answer> {
  const action = /action="([^"]*\/imports?\/[^"]*)"/g;
  const found = [...user.page?.text.matchAll(action) ?? []].map(([, path = '']) => path)
    .find((path) => what === '' ? /\/[\w-]{36}$/.test(path) : path.endsWith(`/${what}`));
  assert.ok(found, `no form for ${what}: ${user.page?.text}`);
  return user.submit(fields, { action: found });
}

export function readPage(answer: Answer) {
  assertPage(answer, answer.status);
  return { status: answer.status, text: readText(answer.text) };
}
