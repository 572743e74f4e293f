/** What each signal does to a server while it loads, starts, serves and drains. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { makeCertificate } from '../../support/certificate.ts';
import { program, type Serving, spawnCommand, watchServing } from '../../support/command.ts';
import { makeDataFolder, makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { serveShop } from '../shop.ts';
import { beginRequest, PATH } from './unfinished-request.ts';

/** By default each of these would end the process, or open a debugger. */
const HARMLESS = ['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGPIPE'] as const;
const ENDING = ['SIGTERM', 'SIGINT'] as const;
const LAUNCHER = join(import.meta.dirname, '../../../src/seller-api.js');

async function assertServing(serving: Serving): Promise<void> {
  assert.equal((await send(serving.port, { path: PATH })).status, 401);
  assert.doesNotMatch(serving.notes(), /Debugger|inspector/);
}

/** Sends these signals to itself as soon as the launcher loads the command line. */
function killWhileLoading(signals: readonly string[]): NodeJS.ProcessEnv {
  const code = `import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) {
      if (/\\/main\\.[jt]s$/.test(url)) {
        for (const signal of ${JSON.stringify(signals)}) process.kill(process.pid, signal);
      }
      return next(url, context);
    } });`;
  return {
    ...process.env,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
  };
}

/** Starts a server that waits for its certificate, then sends these signals. */
async function killWhileStarting(t: TestContext, signals: readonly NodeJS.Signals[]) {
  const { cert, key } = makeCertificate();
  const folder = makeFolder(t);
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  execFileSync('mkfifo', [certFile]);
  writeFileSync(keyFile, key, { mode: 0o600 });
  const flags = ['--tls-cert', certFile, '--tls-key', keyFile, '--data', makeDataFolder(t)];
  const child = spawn(...program('serve', '--port', '0', '--json', ...flags), {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const serving = watchServing(t, child);
  const pipe = await open(certFile, 'w'); // waits until the server reads
  for (const signal of signals) child.kill(signal);
  await pipe.writeFile(cert);
  await pipe.close();
  return serving;
}

describe('a server that loads its modules', { concurrency: 2 }, () => {
  const flags = (t: TestContext): string[] =>
    [LAUNCHER, 'serve', '--port', '0', '--json', '--data', makeDataFolder(t)];

  test(`continues on ${HARMLESS.join(', ')}`, async (t) => {
    const serving = await watchServing(t, spawn(process.execPath, flags(t), {
      stdio: ['ignore', 'pipe', 'pipe'], env: killWhileLoading(HARMLESS),
    }));
    await assertServing(serving);
    assert.equal(await serving.stop('SIGTERM'), 0);
  });

  for (const signal of ENDING) {
    test(`ends on ${signal}`, async (t) => {
      const child = spawn(process.execPath, flags(t), {
        stdio: 'ignore', env: killWhileLoading([signal]),
      });
      assert.deepEqual(await once(child, 'exit'), [null, signal]);
    });
  }
});

describe('a server that starts', { concurrency: 2 }, () => {
  test(`continues on ${HARMLESS.join(', ')}`, async (t) => {
    const serving = await killWhileStarting(t, HARMLESS);
    assert.equal(serving.child.exitCode, null);
    assert.equal(await serving.stop('SIGTERM'), 0);
  });

  for (const signal of ENDING) {
    test(`stops on ${signal}`, async (t) => {
      const serving = await killWhileStarting(t, [signal]);
      assert.equal(await serving.ended, 0);
      assert.match(serving.notes(), /Stopping: [^\n]+\nStopped\.\n$/);
    });
  }
});

describe('a server that serves', { concurrency: 2 }, () => {
  test(`continues on ${HARMLESS.join(', ')}, also while it drains`, async (t) => {
    const { serving, key } = await serveShop(t);
    for (const signal of HARMLESS) {
      serving.child.kill(signal);
      await assertServing(serving);
    }
    const { answer, finish } = await beginRequest(serving, key);
    serving.child.kill('SIGTERM');
    await serving.waitForNote(/Stopping/);
    for (const signal of [...HARMLESS, 'SIGTERM'] as const) serving.child.kill(signal);
    await wait(50);
    assert.deepEqual([serving.child.exitCode, serving.child.signalCode], [null, null]);
    finish();
    assert.match(await answer, /HTTP\/1\.1 201 Created/);
    assert.equal(await serving.ended, 0);
    assert.match(serving.notes(), /Stopped\.\n$/);
  });

  test('drains on SIGINT, and ends at once on a second one', async (t) => {
    const { serving, key } = await serveShop(t);
    const { answer } = await beginRequest(serving, key);
    serving.child.kill('SIGINT');
    await serving.waitForNote(/Stopping/);
    assert.equal(await serving.stop('SIGINT'), 130);
    assert.equal(await answer, '');
  });

  test('ends at once on SIGQUIT', async (t) => {
    const { serving } = await serveShop(t);
    serving.child.kill('SIGQUIT');
    const [, signal] = await once(serving.child, 'exit');
    assert.equal(signal, 'SIGQUIT');
  });
});

describe('demo leaves no folder behind', { concurrency: 3 }, () => {
  for (const signal of [...ENDING, 'SIGHUP'] as const) {
    test(`on ${signal}, while it starts`, async (t) => {
      const folder = makeFolder(t);
      const child = spawnCommand(['demo', '--port', '0'], { TMPDIR: folder });
      const ended = once(child, 'exit');
      while (readdirSync(folder).length === 0) await wait(1);
      child.kill(signal);
      const [status] = await ended;
      assert.ok(typeof status === 'number', 'the signal ended it');
      assert.deepEqual(readdirSync(folder), []);
    });

    if (signal !== 'SIGTERM') test(`on ${signal}, also twice`, async (t) => {
      const folder = makeFolder(t);
      const child = spawnCommand(['demo', '--port', '0'], { TMPDIR: folder });
      const ended = once(child, 'exit');
      await once(child.stdout, 'data');
      child.kill(signal);
      child.kill(signal);
      const [status] = await ended;
      assert.ok(status === 0 || status === 130, String(status));
      assert.deepEqual(readdirSync(folder), []);
    });
  }
});

/** A server with a controlling terminal; `shell` runs it as the command `serve`. */
async function serveOnTerminal(t: TestContext, shell: string) {
  const folder = makeFolder(t);
  const [out, notes] = [join(folder, 'out'), join(folder, 'notes')];
  const words = program('serve', '--port', '0', '--json', '--data', makeDataFolder(t)).flat();
  const serve = `${words.map((word) => `'${word}'`).join(' ')} </dev/null >${out} 2>${notes}`;
  const script = join(folder, 'run.sh');
  writeFileSync(script, shell.replace('serve', () => serve));
  const terminal = spawn('script', ['-qc', `exec sh ${script}`, '/dev/null'], { stdio: 'pipe' });
  const until = async (path: string, wanted: RegExp): Promise<string> => {
    for (;;) {
      const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
      if (wanted.test(text)) return text;
      await wait(10, undefined, { signal: t.signal }); // until the test times out
    }
  };
  const { pid } = JSON.parse(await until(out, /\n/)) as { readonly pid: number };
  t.after(() => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch { /* it has ended */ }
    terminal.kill('SIGKILL');
  });
  return {
    pid, terminal,
    waitForNote: (wanted: RegExp) => until(notes, wanted),
  };
}

describe('a server whose terminal is closed', {
  skip: spawnSync('script', ['--version']).error ? 'script is not installed' : false,
  timeout: 30_000,
}, () => {
  test('drains', async (t) => {
    const { terminal, pid, waitForNote } = await serveOnTerminal(t, 'exec serve');
    process.kill(pid, 'SIGHUP'); // not yet
    process.kill(pid, 'SIGUSR2');
    await waitForNote(/The log level is now warn/);
    terminal.kill('SIGKILL');
    await waitForNote(/Stopping: [^\n]+\nStopped\.\n$/);
  });

  test('goes on if it was started in the background, also on a later SIGHUP', async (t) => {
    const { terminal, pid, waitForNote } = await serveOnTerminal(t, 'set -m; serve & wait');
    const closed = once(terminal, 'close');
    terminal.kill('SIGKILL');
    await closed;
    // Each note shows that the server had time to see that it has no terminal.
    for (const level of ['warn', 'info', 'debug', 'off']) {
      await wait(300);
      process.kill(pid, 'SIGUSR2');
      await waitForNote(new RegExp(`The log level is now ${level}\\.`));
    }
    process.kill(pid, 'SIGHUP');
    process.kill(pid, 'SIGUSR2');
    await waitForNote(/The log level is now error/);
    process.kill(pid, 'SIGTERM');
    await waitForNote(/Stopping: [^\n]+\nStopped\.\n$/);
  });
});
