/** The SSRF guard, for every notation of a non-public address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveTarget, type TargetPolicy } from '../../../src/features/webhooks/ssrf-guard.ts';

const STRICT: TargetPolicy = { allowPrivate: false, allowHttp: false };
const PUBLIC = [{ address: '93.184.215.14', family: 4 }];

/** Resolves the target, with a resolver that returns these addresses for every name. */
function find(url: string, policy = STRICT, addresses: readonly string[] = ['93.184.215.14']) {
  return resolveTarget(new URL(url), policy, async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
}

const rejectedHosts = [
  // IPv4, in every notation that the URL parser accepts.
  '127.0.0.1', '127.1', '127.255.255.255', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1',
  '017700000001', '127.0.0.1.', '0', '0.0.0.0', '10.0.0.1', '0xa.0.0.1', '100.64.0.1',
  '100.127.255.255', '169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376',
  '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.0.1',
  '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255',
  '240.0.0.1', '255.255.255.255', '１２７.０.０.１', '127。0。0。1',
  // IPv6 outside global unicast, and addresses that embed IPv4.
  '[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]',
  '[::ffff:93.184.215.14]', '[::127.0.0.1]', '[::93.184.215.14]', '[64:ff9b::7f00:1]',
  '[64:ff9b::93.184.215.14]', '[64:ff9b:1::1]', '[100::1]', '[fc00::1]', '[fd12:3456::1]',
  '[fe80::1]', '[fec0::1]', '[ff02::1]', '[2001::1]', '[2001:0:4136:e378::1]', '[2001:1ff::1]',
  '[2001:db8::1]', '[2002:7f00:1::1]', '[2002:5db8:d70e::1]', '[3fff::1]', '[5f00::1]',
];

for (const host of rejectedHosts) {
  test(`sends nothing to ${host}`, async () => {
    const target = await find(`https://${host}/hook`);
    assert.match('error' in target ? target.error : '', /not public/);
    assert.ok('addresses' in await find(`https://${host}/`, { ...STRICT, allowPrivate: true }));
  });
}

test('sends to public addresses', async () => {
  for (const host of ['93.184.215.14', '1.1.1.1', '172.32.0.1', '100.128.0.1', '198.20.0.1',
    '[2606:4700:4700::1111]', '[2001:200::1]', '[2a00:1450::1]', '[3ffe::1]']) {
    const target = await find(`https://${host}/`);
    assert.deepEqual('addresses' in target && target.addresses.map(({ address }) => address),
      [host.replace(/[[\]]/g, '')], host);
  }
  assert.deepEqual(await find('https://shop.example/'), { addresses: PUBLIC });
});

test('sends nothing to a name with any non-public address', async () => {
  for (const addresses of [
    ['127.0.0.1'], ['::1'], ['93.184.215.14', '10.0.0.1'], ['::ffff:10.0.0.1'], ['fe80::1%eth0'],
    ['2606:4700::1', 'fd00::1'], ['not an address'], [],
  ]) {
    for (const name of ['localhost', 'a.localhost', 'metadata.internal', 'shop.example']) {
      assert.ok('error' in await find(`https://${name}/`, STRICT, addresses), addresses.join());
    }
  }
});

test('does not reveal the address of a name', async () => {
  const target = await find('https://intranet.example/', STRICT, ['10.1.2.3']);
  assert.doesNotMatch(JSON.stringify(target), /10\.1/);
});

const rejectedUrls: readonly [url: string, why: RegExp][] = [
  ['http://shop.example/', /not https/], ['ftp://shop.example/', /not https/],
  ['file:///etc/passwd', /not https/], ['data:text/plain,x', /not https/],
  ['https://me@shop.example/', /password/], ['https://me:secret@shop.example/', /password/],
  ['https://:secret@shop.example/', /password/], ['https://shop.example/#a', /fragment/],
  ['https://shop.example/#', /fragment/], ['https://shop.example:22/', /port/],
  ['https://shop.example:80/', /port/], ['https://shop.example:6379/', /port/],
];

for (const [url, why] of rejectedUrls) {
  test(`sends nothing to ${url}`, async () => {
    const target = await find(url);
    assert.match('error' in target ? target.error : '', why);
  });
}

test('accepts web ports, and http and other ports if allowed', async () => {
  const http = { ...STRICT, allowHttp: true };
  const all = { allowPrivate: true, allowHttp: true };
  for (const [url, policy, isAllowed] of [
    ['https://shop.example:443/', STRICT, true], ['https://shop.example:8443/', STRICT, true],
    ['http://shop.example/', http, true], ['http://shop.example:8080/', http, true],
    ['http://shop.example:22/', http, false], ['https://shop.example:8080/', http, false],
    ['http://10.0.0.1/', http, false], ['http://10.0.0.1:3000/', all, true],
    ['ftp://10.0.0.1/', all, false], ['http://me:pw@10.0.0.1/', all, false],
    ['https://10.0.0.1:22/', { ...STRICT, allowPrivate: true }, true],
    ['http://10.0.0.1/', { ...STRICT, allowPrivate: true }, false],
  ] as const) assert.equal('addresses' in await find(url, policy), isAllowed, url);
});

test('looks up a name once, and an address or a rejected URL never', async () => {
  const asked: string[] = [];
  const resolve = async (name: string) => {
    asked.push(name);
    return asked.length > 1 ? [{ address: '127.0.0.1', family: 4 }] : PUBLIC;
  };
  const target = await resolveTarget(new URL('https://Shop.Example/'), STRICT, resolve);
  assert.deepEqual(target, { addresses: PUBLIC });
  await resolveTarget(new URL('https://1.1.1.1/'), STRICT, resolve);
  await resolveTarget(new URL('https://other.example:22/'), STRICT, resolve);
  assert.deepEqual(asked, ['shop.example']);
});
