/**
 * The OpenAPI document with third-party tools: linters accept it, and the clients that generators
 * create from it work as in the examples of its guide, without a cast.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { makeFolder } from '../support/folder.ts';
import { installPackages } from '../support/install-packages.ts';
import { startServer, type TestServer } from '../support/server.ts';

const GUIDE = join(import.meta.dirname, '../../src/features/openapi/README.md');
const LINTERS = ['@stoplight/spectral-cli@6.16.3', '@redocly/cli@2.77.0'];
const GENERATORS = [
  'openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', '@hey-api/openapi-ts@0.99.0',
  'typescript@5.9.3', '@types/node@26.6.6',
];
const COMPILER_OPTIONS = {
  target: 'es2024', module: 'nodenext', moduleResolution: 'nodenext', strict: true,
  noUncheckedIndexedAccess: true, skipLibCheck: false, types: ['node'], outDir: 'out',
};

/** All accepted findings of the linters, each with a reason. */
const JUSTIFIED = [
  {
    rule: 'oas3-operation-security-defined', at: /^paths\..*\.security\.\d\.apiKey\.0$/,
    reason: 'OpenAPI 3.1 (section 4.8.30) allows the names of roles for every scheme; the rule '
      + 'knows only scopes of OAuth 2.',
  },
  {
    rule: 'no-unused-components',
    at: /^#\/components\/schemas\/(?:PartialProductPage|PartialLookedUpProducts|StockLine)$/,
    reason: 'They are used in x-alternative-content, where Redocly does not look.',
  },
  {
    rule: 'info-contact', at: /^info$/,
    reason: 'A server whose operator names no contact must not invent one.',
  },
];

interface Finding {
  readonly rule: string;
  readonly at: string;
  readonly message: string;
}

test('linters report only justified findings', async (t) => {
  const folder = makeFolder(t);
  if (!await installPackages(t, folder, LINTERS)) return;
  const bare = await lint(folder, await startServer(t));
  const configured = await lint(folder, await startServer(t, {
    baseUrl: 'https://shop.example', contact: 'api@shop.example',
  }));
  const isJustified = ({ rule, at }: Finding): boolean =>
    JUSTIFIED.some((one) => one.rule === rule && one.at.test(at));
  const all = [...bare, ...configured];
  assert.deepEqual(all.filter((finding) => !isJustified(finding)), []);
  assert.deepEqual(configured.filter(({ rule }) => rule === 'info-contact'), []);
  for (const { rule, reason } of JUSTIFIED) {
    assert.ok(all.some((finding) => finding.rule === rule), `no longer found: ${rule}: ${reason}`);
  }
  const { info: _, ...invalid } = await readDocument(await startServer(t));
  invalid.paths['/api/v1/products'].get.operationId = 'createProduct';
  const found = (await lintDocument(folder, invalid)).map(({ rule }) => rule);
  assert.ok(found.includes('operation-operationId-unique') && found.includes('struct'));
});

test('generated clients create, list, sync, follow and import without a cast', async (t) => {
  const folder = makeFolder(t);
  if (!await installPackages(t, folder, GENERATORS)) return;
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({
    compilerOptions: COMPILER_OPTIONS, include: ['*.ts'],
  }));
  const server = await startServer(t);
  const url = `http://127.0.0.1:${server.port}`;
  const document = `${url}/api/v1/openapi.json`;
  await runTool(folder, 'openapi-typescript', document, '-o', 'shop.d.ts');
  await runTool(folder, 'openapi-ts', '-i', document, '-o', 'shop', '--no-log-file');
  for (const name of ['openapi-fetch', 'hey-api']) {
    writeFileSync(join(folder, `${name}.ts`), readExample(name));
  }
  await runTool(folder, 'tsc');
  for (const name of ['openapi-fetch', 'hey-api']) {
    const { key } = await server.makeSeller();
    const { stdout } = await promisify(execFile)(process.execPath, [`out/${name}.js`], {
      cwd: folder, env: { ...process.env, SHOP_URL: url, SELLER_API_KEY: key },
    });
    assert.deepEqual(stdout.split('\n'), [
      'MUG-1 480', 'MUG-1 40', 'MUG-1 ok', 'created Blue mug', 'stock -2', '2 /stock', '',
    ], name);
  }
  // Strict types: what the document forbids does not compile.
  writeFileSync(join(folder, 'wrong.ts'), readExample('openapi-fetch').replace('-2', '"-2"'));
  await assert.rejects(runTool(folder, 'tsc'),
    /wrong\.ts.*'string' is not assignable to type 'number'/s);
});

const ORVAL_PROGRAM = `
import { createProduct, listProducts, patchProductBySku } from './shop.js';

const headers = { 'x-api-key': process.env['SELLER_API_KEY'] ?? '' };
const mug = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 12, stock: 40 };
const created = await createProduct(mug, { headers });
if (created.status === 201) console.log(created.data.sku, created.data.stock);
const again = await createProduct(mug, { headers });
if (again.status === 409) console.log(again.data.title);
const listed = await listProducts({ stock_max: 50, fields: ['sku', 'price'] }, { headers });
if (listed.status === 200) console.log(listed.data.products.length);
const patched = await patchProductBySku('MUG-1', { price: 13 }, { headers });
if (patched.status === 200) console.log(patched.data.price);
`;

test('a client that Orval generates creates, lists and changes without a cast', async (t) => {
  const folder = makeFolder(t);
  const packages = ['orval@8.38.0', 'typescript@5.9.3', '@types/node@26.6.6'];
  if (!await installPackages(t, folder, packages)) return;
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({
    compilerOptions: COMPILER_OPTIONS, include: ['*.ts'],
  }));
  const server = await startServer(t);
  const url = `http://127.0.0.1:${server.port}`;
  writeFileSync(join(folder, 'document.json'), JSON.stringify(await readDocument(server)));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'orval.config.mjs'), `export default { shop: {
    input: './document.json',
    output: { target: './shop.ts', client: 'fetch', baseUrl: '${url}' },
  } };`);
  writeFileSync(join(folder, 'program.ts'), ORVAL_PROGRAM);
  await runTool(folder, 'orval', '--config', 'orval.config.mjs');
  await runTool(folder, 'tsc');
  const { key } = await server.makeSeller();
  const { stdout } = await promisify(execFile)(process.execPath, ['out/program.js'], {
    cwd: folder, env: { ...process.env, SELLER_API_KEY: key },
  });
  assert.deepEqual(stdout.split('\n'), [
    'MUG-1 40', 'The SKU is already in use', '1', '13', '',
  ]);
});

/** An example of the guide, which has neither a cast nor a suppressed error. */
function readExample(name: string): string {
  const pattern = new RegExp(`<!-- example: ${name} -->\\n\`\`\`ts\\n(.*?)\`\`\``, 's');
  const [, text = ''] = pattern.exec(readFileSync(GUIDE, 'utf8')) ?? [];
  assert.ok(text.length > 1_000, name);
  assert.doesNotMatch(text, /\bas\b|\bany\b|@ts-|!\.|<unknown>/, name);
  return text;
}

async function readDocument(server: TestServer): Promise<any> {
  return (await server.send({ path: '/api/v1/openapi.json' })).json();
}

async function lint(folder: string, server: TestServer): Promise<readonly Finding[]> {
  return lintDocument(folder, await readDocument(server));
}

async function lintDocument(folder: string, document: unknown): Promise<readonly Finding[]> {
  writeFileSync(join(folder, 'document.json'), JSON.stringify(document));
  writeFileSync(join(folder, 'ruleset.json'), '{ "extends": "spectral:oas" }');
  const [spectral, redocly] = await Promise.all([
    runLinter(folder, 'spectral', 'lint', 'document.json', '-r', 'ruleset.json', '-f', 'json'),
    runLinter(folder, 'redocly', 'lint', 'document.json', '--extends=recommended', '--format=json',
      '--max-problems=1000'),
  ]);
  return [
    ...spectral.map(({ code, path, message }: any) =>
      ({ rule: code, at: path.join('.'), message })),
    ...redocly.problems.map(({ ruleId, location, message }: any) =>
      ({ rule: ruleId, at: location[0].pointer, message })),
  ];
}

/** What a linter reports as JSON. Its exit status says whether there is anything. */
async function runLinter(folder: string, name: string, ...args: readonly string[]): Promise<any> {
  const stdout = await runTool(folder, name, ...args).catch((error) => error.stdout);
  return JSON.parse(stdout);
}

/** Rejects with what the tool has written if it fails. */
async function runTool(folder: string, name: string, ...args: readonly string[]): Promise<string> {
  const file = join(folder, 'node_modules/.bin', name);
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const options = { cwd: folder, env, maxBuffer: 50_000_000 };
  try {
    return (await promisify(execFile)(process.execPath, [file, ...args], options)).stdout;
  } catch (error) {
    // The cast: `execFile` rejects with what the program has written.
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw Object.assign(new Error(`${name}: ${stderr}${stdout}`), { stdout });
  }
}
