/** The container image: `make image`, run by podman as the guide says. */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { copyClone, make, ROOT } from '../package/clone.ts';
import { findFreePort } from '../support/listening.ts';

const GUIDE = readFileSync(join(ROOT, 'src/cli/serve/README.md'), 'utf8');
const NAME = `seller-api-test-${process.pid}`;
const VOLUME = `${NAME}-data`;
const PRODUCT = { name: 'Blue mug', category: 'Kitchen', sku: 'MUG-1', price: 12, stock: 40 };
/** The runtime crun does not run on machines with both versions of cgroups; runc does. */
const RUNTIME = spawnSync('runc', ['--version']).error ? [] : ['--runtime', 'runc'];
/** Errors of the engine on a machine that forbids containers. */
const FORBIDDEN = /not permitted|permission denied|cgroup|netavark|cni plugin|iptables/i;
/** Where a machine lets root raise no limit, podman's own are too high. */
const LIMITS = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024'];
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const missing = major < 26 || (major === 26 && minor < 10) ? 'Node 26.10'
  : spawnSync('podman', ['--version']).error ? 'podman' : undefined;

describe('the container image', { skip: missing && `needs ${missing}`, timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'seller-api-image-'));
  const clone = join(folder, 'clone');

  before(async () => {
    await make(copyClone(clone), `image IMAGE=${NAME}`);
  });
  after(async () => {
    await podman('rm', '--force', '--volumes', NAME);
    await podman('volume', 'rm', '--force', VOLUME);
    await podman('rmi', '--force', NAME);
    rmSync(folder, { recursive: true, force: true });
  });

  test('has the executable, what it links to and two empty folders', async () => {
    const archive = join(folder, 'image.tar');
    await podman('save', '--quiet', '--output', archive, NAME);
    const files = run('tar', '-tf', archive).split('\n').filter((name) => /^\w+\.tar$/.test(name))
      .flatMap((layer) => {
        run('tar', '-xf', archive, '-C', folder, layer);
        return run('tar', '-tf', join(folder, layer)).trim().split('\n');
      }).map((name) => `/${name}`);
    const linked = run('ldd', join(clone, 'seller-api')).match(/\/\S+/g) ?? [];
    assert.ok(linked.length >= 5);
    const expected = ['/data/', '/seller-api', '/tmp/', ...linked].sort();
    const folders = ['/lib/', '/lib64/', '/usr/', '/usr/lib/', '/usr/lib64/'];
    assert.deepEqual(files.filter((name) =>
      !folders.some((one) => name.startsWith(one) && name.endsWith('/'))).sort(), expected);
  });

  test('is the same image when it is built again', async () => {
    const again = `${NAME}-again`;
    await make(clone, `image IMAGE=${again}`, '077');
    const [first, second] = await Promise.all([NAME, again].map((name) =>
      podman('image', 'inspect', name, '--format', '{{.Id}}')));
    await podman('rmi', again); // its other name remains
    assert.equal(second, first);
  });

  test('serves as the guide says, and loses nothing in a restart', async (t) => {
    const [, line = ''] = /<!-- example: container -->\n```sh\n(.*?)```/s.exec(GUIDE) ?? [];
    const [, flags = ''] = /^podman run ([^]*?) seller-api serve /m.exec(line)
      ?? assert.fail('no example');
    const port = await findFreePort();
    const words = run('sh', '-c', `printf '%s\\n' ${flags}`).trim().split('\n');
    const shown = words.map((flag) =>
      flag.replace('shop-data', VOLUME).replace('127.0.0.1:8080:', `127.0.0.1:${port}:`));
    const own = shown.flatMap((flag, index) =>
      flag === '--name' || shown[index - 1] === '--name' ? [] : [flag]);
    const baseUrl = `http://127.0.0.1:${port}`;
    const serve = [NAME, 'serve', '--base-url', baseUrl];
    try {
      await podman('run', '--name', NAME, ...LIMITS, ...own, ...serve);
    } catch (error) {
      if (!FORBIDDEN.test(String(error))) throw error;
      return t.skip(`needs a machine that lets podman run containers: ${error}`);
    }
    await waitUntilReady(baseUrl);
    await podman('exec', NAME, '/seller-api', 'seller', 'create', 'My shop');
    const key = await podman('exec', NAME, '/seller-api', 'key', 'create', '--name', 'test');
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const products = `${baseUrl}/api/v1/products`;
    const created = await fetch(products, {
      method: 'POST', headers, body: JSON.stringify(PRODUCT),
    });
    assert.equal(created.status, 201);
    const product = await created.text();
    assert.match(await podman('exec', NAME, '/seller-api', 'doctor'), /No problems found\./);
    await podman('healthcheck', 'run', NAME);
    const unreachable = ['status', '--url', 'http://127.0.0.1:1'];
    await assert.rejects(podman('exec', NAME, '/seller-api', ...unreachable), /server: /);

    await podman('stop', '--time', '20', NAME); // sends the image's STOPSIGNAL, then SIGKILL
    assert.equal(await podman('inspect', NAME, '--format', '{{.State.ExitCode}}'), '0');
    await podman('rm', NAME);
    await podman('run', '--name', NAME, ...LIMITS, ...own, ...serve); // on the same volume
    await waitUntilReady(baseUrl);
    const { id } = JSON.parse(product);
    assert.equal(await (await fetch(`${products}/${id}`, { headers })).text(), product);
    await assert.rejects(podman('exec', NAME, '/bin/sh'), /no such file/);
  });
});

async function waitUntilReady(url: string): Promise<void> {
  for (let n = 0; n < 200; n += 1) {
    const isReady = await fetch(`${url}/readyz`).then(({ ok }) => ok, () => false);
    if (isReady) return;
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
  assert.fail(`not ready: ${spawnSync('podman', ['logs', NAME], { encoding: 'utf8' }).stderr}`);
}

async function podman(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('podman', [...RUNTIME, ...args])).stdout.trim();
}

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8' });
}
