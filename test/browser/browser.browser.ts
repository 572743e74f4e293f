/** The browser toolkit: pages, keys, settings, cookies, logs, measurements, shutdown. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../support/folder.ts';
import { openBrowser } from './browser.ts';
import { servePages } from './page-server.ts';

const ICON = '<link rel="icon" href="data:,">';

test('opens pages, goes back and reads what they show', async (t) => {
  const browser = await openBrowser(t);
  const site = await servePages(t, {
    'GET /': `${ICON}<title>First</title><p>Shown</p><p hidden>Hidden</p><a href="/2">on</a>`,
    'GET /2': `${ICON}<title>Second</title>`,
  });
  await browser.open(site);
  assert.equal(await browser.title(), 'First');
  assert.equal(await browser.text(), 'Shown\n\non');
  await (await browser.findByRole('link', 'on')).follow();
  assert.equal(await browser.title(), 'Second');
  assert.equal(await browser.url(), `${site}/2`);
  await browser.back();
  assert.equal(await browser.title(), 'First');
});

test('sends keys to the focused element', async (t) => {
  const browser = await openBrowser(t);
  const site = await servePages(t, { 'GET /': `${ICON}<input id="a"><input id="b" value="x">` });
  await browser.open(site);
  const focused = () => browser.run(() => document.activeElement?.id);
  await browser.press('Tab');
  await browser.press('Tab');
  assert.equal(await focused(), 'b');
  await browser.press('Control+a');
  await browser.press('Delete');
  assert.equal(await (await browser.find('#b')).value(), '');
  await browser.press('Shift+Tab');
  assert.equal(await focused(), 'a');
  for (let pressed = 0; pressed < 3; pressed += 1) await browser.press('Tab');
  await browser.open(site);
  assert.equal(await browser.run(() => document.hasFocus()), true);
  await assert.rejects(browser.press('Tabulator'), /No key is named Tabulator/);
});

test('waits until a page has focused the element it names', async (t) => {
  const browser = await openBrowser(t);
  const page = `${ICON}
    <form><p id="error" tabindex="-1" autofocus>Wrong</p><button>Send</button></form>`;
  const site = await servePages(t, { 'GET /': page, 'GET /?': page });
  const focused = () => browser.run(() => document.activeElement?.id);
  for (let opened = 0; opened < 8; opened += 1) {
    await browser.open(site);
    assert.equal(await focused(), 'error', `opened ${opened}`);
    await (await browser.findByRole('button', 'Send')).follow();
    assert.equal(await focused(), 'error', `followed ${opened}`);
    await browser.reload();
    assert.equal(await focused(), 'error', `reloaded ${opened}`);
  }
});

test('switches scripts off and on', async (t) => {
  const browser = await openBrowser(t);
  const script = '<script>document.querySelector("p").textContent = "On"</script>';
  const site = await servePages(t, {
    'GET /': `${ICON}<p>Off</p>${script}<form method="post"><button>Send</button></form>`,
    'POST /': { status: 303, headers: { location: '/sent' } },
    'GET /sent': `${ICON}<p>Sent</p>${script}`,
  });
  await browser.setScripts(false);
  await browser.open(site);
  assert.match(await browser.text(), /^Off/);
  await (await browser.findByRole('button', 'Send')).follow();
  assert.equal(await browser.text(), 'Sent');
  assert.equal(await browser.url(), `${site}/sent`);
  await browser.setScripts(true);
  await browser.reload();
  assert.equal(await browser.text(), 'On');
});

test('sets the color scheme and the viewport', async (t) => {
  const browser = await openBrowser(t);
  const site = await servePages(t, { 'GET /': `${ICON}<p style="height: 3000px">Long</p>` });
  await browser.open(site);
  const look = () => browser.run(() => ({
    dark: matchMedia('(prefers-color-scheme: dark)').matches,
    width: document.documentElement.clientWidth,
    height: innerHeight,
  }));
  assert.deepEqual(await look(), { dark: false, width: 1280, height: 800 });
  await browser.setDark(true);
  await browser.setViewport(320, 640);
  assert.deepEqual(await look(), { dark: true, width: 320, height: 640 });
  await browser.reload();
  assert.deepEqual(await look(), { dark: true, width: 320, height: 640 });
});

test('takes screenshots of whole pages', async (t) => {
  const browser = await openBrowser(t);
  const site = await servePages(t, {
    'GET /': `${ICON}<body style="margin: 0"><p style="height: 1500px; margin: 0">Long`,
  });
  await browser.open(site);
  await browser.setViewport(400, 300);
  const path = join(import.meta.dirname, '../../screenshots/whole-page.png');
  rmSync(path, { force: true });
  await browser.screenshot('whole-page');
  const picture = readFileSync(path);
  // The size is in the first chunk (PNG, section 11.2.1).
  assert.equal(picture.toString('latin1', 1, 4), 'PNG');
  assert.deepEqual([picture.readUInt32BE(16), picture.readUInt32BE(20)], [400, 1500]);
});

test('keeps cookies per browser, including HttpOnly cookies', async (t) => {
  const [browser, other] = await Promise.all([openBrowser(t), openBrowser(t)]);
  const site = await servePages(t, {
    'GET /': { body: ICON, headers: { 'set-cookie': 'session=s1; HttpOnly; SameSite=Strict' } },
    'GET /echo': (_, request) => `${ICON}${request.headers.cookie ?? 'none'}`,
  });
  await browser.open(site);
  const [cookie] = await browser.cookies();
  assert.deepEqual([cookie?.name, cookie?.httpOnly, cookie?.sameSite], ['session', true, 'Strict']);
  await browser.setCookie('more', 'm1');
  await browser.open(`${site}/echo`);
  assert.equal(await browser.text(), 'session=s1; more=m1');
  await browser.deleteCookies();
  await browser.reload();
  assert.equal(await browser.text(), 'none');
  await other.open(`${site}/echo`);
  assert.equal(await other.text(), 'none');
});

test('opens with an empty profile and the usual settings after another test', async (t) => {
  const site = await servePages(t, {
    'GET /': { body: `${ICON}<script>document.title = localStorage.kept ?? "none"</script>` },
    'GET /loud': `${ICON}<script>throw Error('Oops')</script>`,
  });
  await t.test('the earlier test', async (inner) => {
    const browser = await openBrowser(inner);
    await browser.open(site);
    await browser.run(() => { localStorage['kept'] = 'kept'; open('/'); });
    await browser.setCookie('session', 's1');
    await browser.open(`${site}/loud`);
    await browser.setScripts(false);
    await browser.setDark(true);
    await browser.setViewport(320, 640);
  });
  const browser = await openBrowser(t);
  await browser.open(site);
  assert.equal(await browser.title(), 'none');
  assert.deepEqual(await browser.cookies(), []);
  assert.deepEqual(await browser.consoleErrors(), []);
  assert.deepEqual(await browser.requestedHosts(), [new URL(site).host]);
  assert.deepEqual(await browser.run(() => [
    matchMedia('(prefers-color-scheme: dark)').matches, innerWidth, history.length,
  ]), [false, 1280, 2]);
});

test('reports script errors, missing files and policy violations', async (t) => {
  const browser = await openBrowser(t);
  const site = await servePages(t, {
    'GET /quiet': `${ICON}<p>Quiet</p>`,
    'GET /missing': { status: 404, body: `${ICON}<p>Not here</p>` },
    'GET /loud': `${ICON}<script src="/none.js"></script><script>throw Error('Oops')</script>`,
    'GET /strict': {
      headers: { 'content-security-policy': "default-src 'none'" },
      body: '<link rel="icon" href="data:,"><p style="color: red">Red?</p>',
    },
  });
  await browser.open(`${site}/quiet`);
  await browser.open(`${site}/missing`);
  assert.deepEqual(await browser.consoleErrors(), []);
  await browser.open(`${site}/loud`);
  const errors = await browser.waitFor('both errors', async () => {
    const logged = await browser.consoleErrors();
    return logged.length >= 2 && logged;
  });
  assert.equal(errors.length, 2);
  assert.match(errors.join('\n'), /none\.js - .* 404/);
  assert.match(errors.join('\n'), /Uncaught Error: Oops/);
  assert.deepEqual(await browser.policyViolations(), []);
  await browser.open(`${site}/strict`);
  await browser.waitFor('the violation', async () =>
    /inline style violates/.test((await browser.policyViolations()).join('\n')));
});

test('reports every requested host, and reaches none but the server', async (t) => {
  const browser = await openBrowser(t);
  const elsewhere = 'http://elsewhere.example';
  const site = await servePages(t, {
    'GET /': `${ICON}<p>Plain</p>`,
    'GET /leak': `${ICON}<img src="${elsewhere}/a.png"><img src="http://127.0.0.2/b.png">`,
    'GET /away': { status: 303, headers: { location: 'http://redirected.example/' } },
  });
  const own = new URL(site).host;
  await browser.open(site);
  assert.deepEqual(await browser.requestedHosts(), [own]);
  await browser.open(`${site}/leak`);
  assert.deepEqual(await browser.requestedHosts(), [own, '127.0.0.2', 'elsewhere.example'].sort());
  await assert.rejects(browser.open(`${site}/away`), /ERR_NAME_NOT_RESOLVED/);
  assert.ok((await browser.requestedHosts()).includes('redirected.example'));
});

test('measures the size of a page', async (t) => {
  const browser = await openBrowser(t);
  const body = `${ICON}${'x'.repeat(5000)}`;
  await browser.open(await servePages(t, { 'GET /': body }));
  const load = await browser.measure();
  assert.equal(load.decodedBytes, body.length);
  assert.equal(load.encodedBytes, body.length);
  assert.ok(load.transferredBytes > body.length);
  assert.ok(load.firstByteMs > 0);
});

test('uploads and downloads files', async (t) => {
  const browser = await openBrowser(t);
  const path = join(makeFolder(t), 'stock.csv');
  writeFileSync(path, 'sku,stock\nA-1,5\n');
  const site = await servePages(t, {
    'GET /': `${ICON}<form method="post" enctype="multipart/form-data"><label>File
      <input type="file" name="file"></label><button>Send</button></form>`,
    'POST /': (body) => ({
      headers: {
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment; filename="echo.txt"',
      },
      body,
    }),
  });
  await browser.open(site);
  await (await browser.findByLabel('File')).upload(path);
  await (await browser.findByRole('button', 'Send')).click();
  const echo = (await browser.download('echo.txt')).toString();
  assert.match(echo, /filename="stock\.csv"[^]*sku,stock\nA-1,5\n/);
});
