/**
 * The recipes of src/embed/RECIPES.md with the real frameworks and the real package, each as a
 * program of its own; that of Next.js with its `NextRequest`, but neither compiler nor server. One
 * installation serves all; without a registry the tests are skipped.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { isSystemError } from '../../src/runtime/system-error.ts';
import { assertProblem } from '../api/problem.ts';
import { copyClone, pack, ROOT } from '../package/clone.ts';
import { installPackages } from '../support/install-packages.ts';
import { send } from '../support/http.ts';
import { makeProduct } from '../support/server.ts';
import {
  countLines, listRecipes, readRecipe, type Recipe, type Running, startRecipe,
} from './frameworks/recipes.ts';

const PACKAGES = [
  'express@5.3.0', 'express4@npm:express@4.22.3', 'connect@3.7.0', 'koa@3.3.0', 'fastify@5.12.8',
  '@nestjs/core@12.5.1', '@nestjs/common@12.5.1', '@nestjs/platform-express@12.5.1',
  'reflect-metadata@0.2.2', 'rxjs@7.8.2', 'hono@4.13.19', '@hono/node-server@2.1.8', 'next@16.4.6',
  '@types/node@26.6.6', '@types/express@5.0.6', '@types/express4@npm:@types/express@4.17.25',
  '@types/connect@3.4.38', '@types/koa@3.0.3',
];

/** The parser comes first, and keeps the bytes. */
const NEST_PARSERS_FIRST = `create<import('@nestjs/platform-express').NestExpressApplication>(
  AppModule, { rawBody: true });
app.useBodyParser('json');`;

const RECIPES: Readonly<Record<string, Recipe>> = {
  'Express 5': { example: 'express', prefix: '/shop' },
  'Express 4': { example: 'express', replace: ["'express'", "'express4'"], prefix: '/shop' },
  'Express 5, after parsers': { example: 'express-after-parsers', prefix: '/shop' },
  'Express 4, after parsers': {
    example: 'express-after-parsers', replace: ["'express'", "'express4'"], prefix: '/shop',
  },
  'Express 5, own sign-in': { example: 'express-sign-in', prefix: '/shop' },
  Connect: { example: 'connect', prefix: '/shop' },
  Koa: { example: 'koa', prefix: '' },
  Fastify: { example: 'fastify', prefix: '' },
  NestJS: { example: 'nestjs', prefix: '/shop' },
  'NestJS, after parsers': {
    example: 'nestjs', replace: ['create(AppModule);', NEST_PARSERS_FIRST], prefix: '/shop',
  },
  Hono: { example: 'hono', prefix: '' },
  'Next.js': { example: 'next', main: 'next-server.ts', prefix: '' },
};

const NEST = '@nestjs/common';
/** The root module of NestJS, with a route; Node strips types, but does not compile decorators. */
const APP_MODULE = `import { Controller, Module, Post, Req } from '${NEST}';
class Hello { hello(request) { return { hello: request.body }; } }
Req()(Hello.prototype, 'hello', 0);
Post('hello')(Hello.prototype, 'hello', Object.getOwnPropertyDescriptor(Hello.prototype, 'hello'));
Controller()(Hello);
export class AppModule {}
Module({ controllers: [Hello] })(AppModule);
`;

/** Koa logs clients that disconnect. */
const KOA_DISCONNECT = /\n {2}Error: (?:read|write) (?:ECONNRESET|EPIPE)\n(?: {6}at .*\n)+\n/g;

/** The rows of a large import, which the recipes after parsers cannot accept. */
const ROWS = 20_000;

const project = mkdtempSync(join(tmpdir(), 'seller-api-frameworks-'));
let isSkipped = false;

before(async () => {
  const archive = await pack(copyClone(join(project, 'clone')));
  // No optional package: those of Next.js are compilers and image libraries of 100 MB.
  writeFileSync(join(project, '.npmrc'), 'omit=optional\n');
  const skip = (reason?: string): void => {
    isSkipped = true;
    console.error(`SKIPPED: ${reason}`);
  };
  await installPackages({ skip }, project, [archive, ...PACKAGES]);
});
after(() => rmSync(project, { recursive: true, force: true }));

test('runs every recipe', () => {
  const others = 'reload-'; // reloading.packages.ts
  assert.deepEqual(new Set(listRecipes().filter((name) => !name.startsWith(others))),
    new Set(Object.values(RECIPES).map(({ example }) => example)));
});

describe('with the real framework', { concurrency: 2 }, () => {
  for (const [name, recipe] of Object.entries(RECIPES)) {
    test(`${name}: the recipe works`, { timeout: 120_000 }, async (t) => {
      if (isSkipped) return t.skip('needs a package registry');
      const folder = toFileName(name);
      if (recipe.example === 'nestjs') {
        mkdirSync(join(project, folder));
        writeFileSync(join(project, folder, 'app.module.js'), APP_MODULE);
      }
      const running = await startRecipe(t, project, folder, recipe);
      await checkRecipe(t, recipe, running);
      assert.equal(running.notes().replaceAll(KOA_DISCONNECT, ''), '');
      t.diagnostic(`| ${name} | works | ${countLines(recipe)} lines |`);
    });
  }
});

test('every recipe has no type error in a strict project', { timeout: 60_000 }, (t) => {
  if (isSkipped) return t.skip('needs a package registry');
  const folder = join(project, 'types');
  mkdirSync(folder);
  const recipes = Object.entries(RECIPES);
  for (const [name, recipe] of recipes) {
    writeFileSync(join(folder, `${toFileName(name)}.ts`), readRecipe(recipe));
  }
  writeFileSync(join(folder, 'app.module.d.ts'), 'export declare class AppModule {}\n');
  writeFileSync(join(folder, 'handler.ts'), `import type { NextRequest } from 'next/server.js';
import { DELETE, GET, HEAD, PATCH, POST, PUT } from './Next-js.js';
export const handlers: readonly ((request: NextRequest) => Promise<Response>)[] =
  [DELETE, GET, HEAD, PATCH, POST, PUT];\n`);
  const { status, stdout } = spawnSync(process.execPath, [
    join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '--strict', '--skipLibCheck',
    '--module', 'nodenext', '--target', 'esnext', '--types', 'node',
    ...readdirSync(folder),
  ], { cwd: folder, encoding: 'utf8' });
  assert.deepEqual([stdout, status], ['', 0]);
});

async function checkRecipe(
  t: TestContext, { example, prefix }: Recipe, { port, key }: Running,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const api = `${prefix}/api/v1`;
  const signIn = example === 'express-sign-in' ? { cookie: 'session=example' }
    : { 'x-api-key': key };
  const ask = (path: string, headers = {}, method = 'GET', body?: string | Buffer) =>
    send(port, { path, method, headers: { ...signIn, ...headers }, agent, ...(body && { body }) });
  const post = (path: string, type: string, body: string | Buffer, encoding?: string) =>
    ask(path, { 'content-type': type, ...(encoding && { 'content-encoding': encoding }) },
      'POST', body);

  const created = await post(`${api}/products`, 'application/json', rowOf('A'));
  assert.equal(created.status, 201, created.text);
  const { location = '' } = created.headers;
  assert.ok(location.startsWith(`${api}/products/prd_`), location);
  assert.equal((await ask(location)).text, created.text);
  assertProblem(await post(`${api}/products`, 'application/json', '{"sku":"B","sku":"C"}'),
    400, 'invalid-json');

  const file = gzipSync(Array.from({ length: ROWS }, (_, n) => `${rowOf(`R-${n}`)}\n`).join(''));
  const imported = await post(`${api}/products/import`, 'application/x-ndjson', file, 'gzip');
  assert.equal(imported.json().summary.created, ROWS, imported.text);
  const list = await ask(`${api}/products?limit=1`);
  assert.equal(list.json().products.length, 1);
  const { link = '' } = list.headers;
  assert.ok(String(link).startsWith(`<${api}/products?`), String(link));
  const head = await ask(`${api}/products?limit=1`, {}, 'HEAD');
  assert.deepEqual([head.status, head.text, head.headers['link']], [200, '', link]);
  const large = await post(`${api}/products`, 'application/json', ' '.repeat(1_000_000));
  assert.equal(large.status, 413);
  // The framework has routes of its own, and parses their bodies. On a busy machine, Hono alone
  // closes the connection of an early response: it allows the rest of that request's body 500 ms.
  const hello = () => post('/hello', 'application/json', '{"a":1}');
  const own = await hello().catch((error) => {
    if (example !== 'hono' || !isSystemError(error, 'ECONNRESET', 'EPIPE')) throw error;
    return hello();
  });
  const hasRoute = !['express-sign-in', 'next'].includes(example);
  assert.deepEqual([own.status < 300, /hello/.test(own.text)], [hasRoute, true], own.text);
  // A key may have 50 streams: the server must detect that each of these readers has disconnected.
  // Last, because Node closes the agent's connection once it has been idle for five seconds.
  for (let count = 0; count < 60; count += 1) {
    assert.match(await readFirstEvent(port, `${api}/changes?after=0`, signIn), /^id: 1$/m);
  }
}

function toFileName(name: string): string {
  return name.replaceAll(/\W+/g, '-');
}

function rowOf(sku: string): string {
  return JSON.stringify({ ...makeProduct(), sku });
}

/** Reads a live feed until its first event, and disconnects. */
function readFirstEvent(port: number, path: string, signIn: Record<string, string>) {
  return new Promise<string>((resolve, reject) => {
    const headers = { ...signIn, accept: 'text/event-stream' };
    const outgoing = request({ host: '127.0.0.1', port, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (!text.includes('data:') && response.statusCode === 200) return;
        outgoing.destroy();
        resolve(text);
      });
    });
    outgoing.on('error', reject).end();
  });
}
