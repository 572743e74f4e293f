/**
 * Every page of the portal, in light and dark, on phones and desktops: accessible, without console
 * messages, small, and with nothing from another host.
 */
import { after, test } from 'node:test';
import { openBrowser } from './browser.ts';
import { inspect, signIn } from './portal.ts';
import { openSampleShop } from './sample-shop.ts';

const { server, shop, ids } = await openSampleShop({ after });
const browser = await openBrowser({ after });
const url = `http://127.0.0.1:${server.port}/portal`;

/** Pages before sign-in, which have no navigation. */
const OPEN_PAGES = { 'sign-in': '/sign-in', join: '/join', 'not-found': '/nothing' };

const PAGES = {
  overview: '/',
  products: '/products',
  'products-found': '/products?q=mug&stock=low&sort=-price',
  'products-faults': '/products?price_min=much&sort=price',
  'page-not-found': '/nothing',
  'products-none': '/products?q=nothing+like+it',
  product: `/products/${ids.product}`,
  'product-new': '/products/new',
  'product-delete': `/products/${ids.product}/delete`,
  import: '/import',
  'import-preview': `/import/${ids.import}`,
  changes: '/changes',
  movements: '/movements?reason=sold',
  reports: '/reports',
  'reports-year': '/reports?days=365',
  'changes-import': `/changes?import=${ids.record}`,
  imports: '/imports',
  'import-record': `/imports/${ids.record}`,
  'changes-found': '/changes?type=stock&product=MUG-350-BLUE',
  'changes-faults': '/changes?type=none&up_to=x',
  keys: '/keys',
  key: `/keys/${ids.key}`,
  'key-new': '/keys/new',
  'key-revoke': `/keys/${ids.key}/revoke`,
  webhooks: '/webhooks',
  webhook: `/webhooks/${ids.webhook}`,
  'webhook-new': '/webhooks/new',
  'webhook-edit': `/webhooks/${ids.webhook}/edit`,
  'webhook-delete': `/webhooks/${ids.webhook}/delete`,
  api: '/api',
  'api-operation': '/api/syncStock',
  'api-problems': '/api/problems',
  start: '/start',
  activity: '/activity',
  'activity-found': '/activity?type=key_created',
  account: '/account',
  'account-email': '/account/email',
  'account-password': '/account/password',
  'account-second-step': '/account/two-factor',
  'account-sessions': '/account/sessions',
};

for (const [name, path] of Object.entries(OPEN_PAGES)) {
  test(`the page ${name} is accessible and small in every view`, async () => {
    await browser.open(url + path);
    await inspect(browser, name, { hasNavigation: false });
  });
}

test('signs in', async () => {
  await browser.open(`${url}/sign-in`);
  await signIn(browser, shop);
});

for (const [name, path] of Object.entries(PAGES)) {
  test(`the page ${name} is accessible and small in every view`, async () => {
    await browser.open(url + path);
    await inspect(browser, name);
  });
}
