/** `serve` with a TLS certificate. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { makeCertificate, type TestCertificate } from '../../support/certificate.ts';
import { run, runProcess, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { findFreePort, listenUntilEnd } from '../../support/listening.ts';

const PATH = '/api/v1/products';

interface TlsFiles {
  readonly folder: string;
  readonly certificate: TestCertificate;
  readonly flags: readonly string[];
  write(certificate: TestCertificate): void;
}

/** Certificate files that a test can replace, and the flags that name them. */
function makeFiles(t: TestContext, certificate = makeCertificate()): TlsFiles {
  const folder = makeFolder(t);
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const write = ({ cert, key }: TestCertificate): void => {
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key, { mode: 0o600 });
  };
  write(certificate);
  const data = join(folder, 'data');
  const flags = ['--data', data, '--tls-cert', certFile, '--tls-key', keyFile];
  return { folder, certificate, flags, write };
}

/** The status of a response, and whether its connection had been used before. */
async function ask(
  url: string, { cert }: TestCertificate, agent: Agent | false = false,
): Promise<[status: number | undefined, isReused: boolean]> {
  const outgoing = request(url, { ca: cert, agent }).end();
  const [response] = await once(outgoing, 'response');
  response.resume();
  await once(response, 'end');
  return [response.statusCode, outgoing.reusedSocket];
}

test('serves TLS with an https address and no warnings', async (t) => {
  const { flags, certificate } = makeFiles(t, makeCertificate({
    notAfter: new Date(Date.now() + 90 * 24 * 60 * 60 * 1000),
  }));
  const serving = await startServing(t, [...flags, '--host', '127.0.0.1', '--no-portal']);
  assert.equal(serving.url, `https://127.0.0.1:${serving.port}`);
  assert.deepEqual(await ask(serving.url + PATH, certificate), [401, false]);
  assert.equal(await serving.stop('SIGTERM'), 0);
  assert.doesNotMatch(serving.notes(), /encrypt|certificate/);
});

test('reloads the certificate on SIGHUP, while open connections continue', async (t) => {
  const { flags, certificate, write } = makeFiles(t);
  const serving = await startServing(t, [...flags, '--metrics-port', '0']);
  const [, metrics = ''] = await serving.waitForNote(/^Metrics on (\S+)$/m);
  const expiry = async (): Promise<number> => {
    const text = await (await fetch(metrics)).text();
    return Number(/^tls_certificate_expiry_timestamp_seconds (\d+)$/m.exec(text)?.[1]);
  };
  const endOf = (pem: string): number => new X509Certificate(pem).validToDate.getTime() / 1000;
  const url = serving.url + PATH;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  await ask(url, certificate, agent);
  assert.equal(await expiry(), endOf(certificate.cert));

  const renewed = makeCertificate({ notAfter: new Date(Date.now() + 300 * 24 * 60 * 60 * 1000) });
  write(renewed);
  serving.child.kill('SIGHUP');
  await serving.waitForNote(/Reloaded the certificate: CN=localhost, valid until \d{4}-/);
  assert.deepEqual(await ask(url, certificate, agent), [401, true], 'on the existing connection');
  assert.deepEqual(await ask(url, renewed), [401, false]);
  assert.equal(await expiry(), endOf(renewed.cert));
  await assert.rejects(ask(url, certificate), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
});

test('keeps the current certificate if the new one cannot be used', async (t) => {
  const { flags, certificate, write } = makeFiles(t);
  const serving = await startServing(t, flags);
  write({ cert: makeCertificate().cert, key: certificate.key });
  serving.child.kill('SIGHUP');
  await serving.waitForNote(/does not belong to .*\. The current certificate stays in use\.\n/);
  assert.deepEqual(await ask(serving.url + PATH, certificate), [401, false]);
  write(certificate);
  serving.child.kill('SIGHUP');
  await serving.waitForNote(/Reloaded the certificate/);
  assert.equal(await serving.stop('SIGTERM'), 0);
});

test('serves the portal on this machine over TLS too', async (t) => {
  const { flags, certificate } = makeFiles(t);
  const { url, port } = await startServing(t, flags);
  assert.deepEqual(await ask(`${url}/portal/join`, certificate), [200, false]);
  assert.deepEqual(await ask(`https://localhost:${port}/portal/join`, certificate), [200, false]);
});

test('fails with one clear line if the certificate cannot be used', async (t) => {
  const { folder, flags, write } = makeFiles(t);
  write({ cert: makeCertificate().cert, key: makeCertificate().key });
  const { status, out, notes } = await run(['serve', '--port', '0', ...flags]);
  assert.deepEqual([status, out], [1, '']);
  assert.match(notes, /^The key \S+ does not belong to the certificate \S+\.\n$/);
  assert.equal(existsSync(join(folder, 'data')), false);
});

test('redirects from --redirect-port to the base URL, and rejects keys there', async (t) => {
  const { flags } = makeFiles(t, makeCertificate({ names: ['shop.example'] }));
  const redirectPort = await findFreePort();
  const serving = await startServing(t, [
    ...flags, '--base-url', 'https://shop.example/mugs', '--redirect-port', String(redirectPort),
  ]);
  assert.equal(serving.url, 'https://shop.example/mugs');
  const headers = { host: 'other.example' };
  const { status, headers: { location } } = await send(redirectPort, { path: '/a?b', headers });
  assert.deepEqual([status, location], [308, 'https://shop.example/a?b']);
  const refused = await send(redirectPort, { path: PATH, headers: { 'x-api-key': 'a' } });
  assert.equal(refused.status, 403);
  assert.match(refused.json().detail, /Revoke it/);
  assert.equal(await serving.stop('SIGTERM'), 0);
});

test('fails with one clear line if the port of the redirect is taken', async (t) => {
  const { flags } = makeFiles(t);
  const url = new URL(await listenUntilEnd(t, (_, response) => response.end()));
  const redirect = ['--base-url', 'https://localhost', '--redirect-port', url.port];
  const { status, notes } = await runProcess(['serve', '--port', '0', ...flags, ...redirect]);
  assert.equal(status, 1);
  const said = `Port ${url.port} is taken. Choose another with --redirect-port.\n`;
  assert.ok(notes.endsWith(said), notes);
});

const invalidArguments: readonly [says: RegExp, ...flags: string[]][] = [
  [/^--tls-cert and --tls-key must be given together\./, '--tls-cert', 'a.pem'],
  [/^--tls-cert and --tls-key must be given together\./, '--tls-key', 'a.pem'],
  [/^With --tls-cert, --base-url must begin with https\./,
    '--tls-cert', 'a.pem', '--tls-key', 'b.pem', '--base-url', 'http://shop.example'],
  [/^--redirect-port needs --tls-cert/, '--redirect-port', '80', '--base-url', 'https://a.example'],
  [/^--redirect-port takes /, '--redirect-port', 'http'],
];

for (const [says, ...flags] of invalidArguments) {
  test(`rejects ${flags.join(' ')} with exit status 2`, async (t) => {
    const { status, notes } = await run(['serve', '--data', makeFolder(t), ...flags]);
    assert.match(notes, says);
    assert.equal(status, 2);
  });
}
