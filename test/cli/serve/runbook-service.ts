/**
 * A server as the runbook has it: `systemctl` starts and stops it, `journalctl` shows its log, and
 * the fenced blocks of the runbook are what tests execute, and what they expect to see.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { program } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { type Answer, send } from '../../support/http.ts';
import { findFreePort } from '../../support/listening.ts';
import { apiClient } from '../api-client.ts';

const RUNBOOK = readFileSync(
  new URL('../../../src/cli/serve/RUNBOOK.md', import.meta.url), 'utf8',
);

export function findBlock(kind: 'seen' | 'steps', name: string): string {
  const [, block] = new RegExp(`<!-- ${kind}: ${name} -->\n\`\`\`\\w*\n(.*?)\`\`\``, 's')
    .exec(RUNBOOK) ?? [];
  return block ?? assert.fail(`The runbook has no ${kind} of ${name}.`);
}

/** Asserts that each line of what the runbook shows is in one of the texts. */
export function assertSeen(name: string, ...texts: readonly string[]): void {
  for (const line of findBlock('seen', name).trim().split('\n')) {
    assert.ok(texts.some((seen) => seen.includes(line)), `not seen: ${line}\n${texts.join('\n')}`);
  }
}

/** Executes a script as a shell of the user `as` does; fails with its output if it fails. */
export async function executeScript(
  script: string, env: NodeJS.ProcessEnv, as: { uid?: number; gid?: number } = {},
): Promise<string> {
  const shell = spawn('bash', ['-ec', script], {
    env, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'], ...as,
  });
  const closed = once(shell, 'close');
  const [out, notes] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  await closed;
  assert.equal(shell.exitCode, 0, out + notes);
  return out + notes;
}

/** A folder for `startService`, whose server is killed after the test. */
export function makeServiceFolder(t: TestContext): string {
  // Before the folder: cleanups run in the order in which they are registered.
  t.after(() => spawnSync('bash', ['-c', `kill -9 $(cat '${folder}/pid')`]));
  const folder = makeFolder(t);
  return folder;
}

interface ServiceOptions {
  /** Of `makeServiceFolder`, for its log and the programs that the runbook calls. */
  readonly folder: string;
  /** Of `serve`. */
  readonly flags: readonly string[];
  /** Of the server and of the shell. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Starts the executable. */
  readonly command?: readonly string[];
  /** More programs for the shell: bash scripts by their names. */
  readonly programs?: Readonly<Record<string, string>>;
}

export type Service = Awaited<ReturnType<typeof startService>>;

export async function startService({
  folder, flags, environment = {}, command = program().flat(), programs = {},
}: ServiceOptions) {
  const port = await findFreePort();
  const [bin, log, pid] = ['bin', 'log', 'pid'].map((name) => join(folder, name));
  mkdirSync(bin ?? '', { recursive: true });
  const quote = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ');
  const serve = quote([...command, 'serve', '--port', String(port), ...flags]);
  const scripts = {
    'seller-api': `exec ${quote(command)} "$@"`,
    journalctl: `cat '${log}'`,
    systemctl: `cd '${folder}'
      case $1 in stop|restart) kill $(cat pid); while kill -0 $(cat pid) 2>&-; do sleep 0.05; done;;
        reload) lines=$(wc -l <log); kill -HUP $(cat pid)
          until [ $(wc -l <log) -gt $lines ]; do kill -0 $(cat pid) || exit 1; sleep 0.05; done;;
        kill) kill -s "\${2#--signal=SIG}" $(cat pid);;
      esac
      case $1 in start|restart)
        : >'${log}'
        ${serve} >>'${log}' 2>&1 & echo $! >pid
        until grep -q Listening '${log}'; do kill -0 $! || exit 1; sleep 0.05; done;;
      esac`,
    ...programs,
  };
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(bin ?? '', name), `#!/bin/bash\n${script}\n`, { mode: 0o755 });
  }
  const env = {
    ...process.env, URL: `http://127.0.0.1:${port}`, ...environment,
    PATH: `${bin}:${dirname(process.execPath)}:${environment['PATH'] ?? process.env['PATH']}`,
  };
  const execute = (script: string, more: NodeJS.ProcessEnv = {}): Promise<string> =>
    executeScript(script, { ...env, ...more });
  await execute('systemctl start seller-api');
  return {
    url: env.URL, execute,
    runSteps: (name: string, more?: NodeJS.ProcessEnv) => execute(findBlock('steps', name), more),
    log: () => readFileSync(log ?? '', 'utf8'),
    pid: () => Number(readFileSync(pid ?? '', 'utf8')),
    ready: () => send(port, { path: '/readyz' }),
    /** Sends a request with an API key. */
    call: (key: string, ...request: Parameters<ReturnType<typeof apiClient>>) =>
      apiClient(port, key)(...request),
  };
}

/** Creates a product with this SKU. */
export function createProduct(
  { call }: Service, key: string, sku: string, headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const product = { name: 'A', category: 'B', sku, price: 1, stock: 1 };
  return call(key, 'POST', 'products', product, headers);
}

/** The status of a request for the product with this SKU. */
export async function findProduct({ call }: Service, key: string, sku: string): Promise<number> {
  return (await call(key, 'GET', `products/sku/${sku}`)).status;
}
