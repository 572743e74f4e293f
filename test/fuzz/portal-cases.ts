/**
 * Portal requests, generated from the route table and from the links and forms of the pages seen so
 * far, so new pages are covered as soon as something links to them.
 */
import { Router } from '../../src/http/router.ts';
import type { PageRoute } from '../../src/features/portal/route.ts';
import { routes } from '../../src/features/portal/routes.ts';
import type { Random } from '../domain/random.ts';
import { encode } from './api-cases.ts';
import { type Case, formatRequest, pickAddress } from './case.ts';
import { makeCsv, makeProductLines } from './files.ts';
import { pickText, mutateBytes, mutateText, TEXTS } from './values.ts';
import type { World } from './world.ts';

const ROOT = '/portal';
const QUERY_NAMES = ['to', 'q', 'cursor', 'after', 'before', 'type', 'sort', 'page', 'late', 'done',
  'position', 'format', 'sku', 'category', 'stock', 'since', 'until', 'source', 'reason', 'code'];
/** Pages that hash a password, which is slow, are requested less often. */
const SLOW = /^\/(?:join|sign-in|account\/(?:email|password|two-factor.*))$/;

type Field = readonly [name: string, value: string];

const router = new Router(routes);

export function makePortalCase(random: Random, world: World): Case {
  let route = random.pick(routes);
  while (route.method === 'POST' && SLOW.test(route.path) && random.below(6) > 0) {
    route = random.pick(routes);
  }
  return route.method === 'GET' ? makeGet(random, world, route) : makePost(random, world, route);
}

function makeGet(random: Random, world: World, route: PageRoute): Case {
  const links = world.pool.list('link');
  const isLink = random.below(3) === 0 && links.length > 0;
  const link = isLink ? random.pick(links) : fillPath(random, world, route.path);
  const mutated = random.below(10) === 0 ? mutateText(random, link) : link;
  const query = random.below(3) > 0 ? '' : Array.from({ length: 1 + random.below(3) }, () => {
    const value = pickText(random, [...world.pool.list('sku'), ...world.pool.list('cursor')]);
    return `${random.pick(QUERY_NAMES)}=${encode(value)}`;
  }).join('&');
  const path = /^\/(?!\/)/.test(mutated) ? mutated : ROOT;
  const target = query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
  const method = random.below(12) === 0 ? random.pick(['HEAD', 'OPTIONS', 'PUT', 'DELETE']) : 'GET';
  const glances = target.includes('/live');
  return {
    label: `${method} ${isLink ? findPattern(path) : patternOf(route)}`, method, isPage: true,
    from: pickAddress(random), until: glances ? 'glance' : 'answer',
    bytes: formatRequest(random, { method, target, fields: makeFields(random, world) }),
  };
}

function fillPath(random: Random, { pool }: World, pattern: string): string {
  if (pattern === '/') return ROOT;
  return ROOT + pattern.replace(/\{(\w+)\}/g, (_, name: string) => {
    const kind = random.below(5) === 0 ? 'foreign' : name;
    return encode(random.below(4) === 0
      ? pickText(random, pool.list(name)) : pool.pick(random, kind, 'prd_1'));
  });
}

function makeFields(random: Random, { session, pool }: World): Field[] {
  const fields: Field[] = [['host', '127.0.0.1']];
  const { cookie } = session;
  switch (random.below(14)) {
    case 0: break;
    case 1: fields.push(['cookie', mutateText(random, cookie)]); break;
    case 2: fields.push(['cookie', `${cookie}; ${cookie}`]); break;
    case 3: fields.push(['cookie', `${pickText(random)}=${pickText(random)}; ${cookie}`]); break;
    case 4: fields.push(['cookie', `${cookie}; __Host-device=${pickText(random)}`]); break;
    case 5: fields.push(['cookie', `${cookie}; __Host-second-step=${pickText(random)}`]); break;
    case 6: fields.push(['cookie', `__Host-visit=${pickText(random)}`]); break;
    default: fields.push(['cookie', cookie]);
  }
  if (random.below(6) === 0) {
    fields.push(['accept-language', pickText(random, ['de-CH, en;q=0.5', 'ar-EG', 'x-y', '*'])]);
  }
  if (random.below(8) === 0) fields.push(['accept-encoding', pickText(random, ['gzip', 'br'])]);
  if (random.below(8) === 0) fields.push(['user-agent', pickText(random)]);
  if (random.below(10) === 0) {
    fields.push(['if-none-match', pickText(random, ['*', ...pool.list('tag')])]);
  }
  if (random.below(40) === 0) fields[0] = ['host', pickText(random, ['localhost', '[::1]:80'])];
  return fields;
}

function makePost(random: Random, world: World, route: PageRoute): Case {
  const { path: below } = route;
  const pattern = new RegExp(`^${ROOT}${below.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  const forms = world.pool.formsFor(pattern);
  const form = forms.length > 0 && random.below(8) > 0 ? random.pick(forms) : undefined;
  const path = form?.action ?? fillPath(random, world, below);
  const names = [...form?.names ?? ['name', 'url', 'email', 'file', 'once', 'revision']];
  const values = form?.values ?? [];
  const fields = names.flatMap((name): Field[] => {
    if (random.below(25) === 0) return [];
    return [[name, pickValue(random, world, name, values)]];
  });
  if (random.below(15) === 0) fields.push([pickText(random, names), pickText(random)]);
  const content = route.access === 'upload'
    ? makeUpload(random, world, fields) : encodeFields(random, fields);
  const origin: Field = random.below(15) > 0 ? ['sec-fetch-site', 'same-origin']
    : ['sec-fetch-site', pickText(random, ['cross-site', 'none'])];
  const head = [...makeFields(random, world), origin, ['content-type', content.type] as const];
  return {
    label: `POST ${ROOT}${below}`, method: 'POST', isPage: true,
    from: pickAddress(random), until: 'answer',
    bytes: formatRequest(random, {
      method: 'POST', target: path, fields: head, body: content.body,
      isChunked: random.below(6) === 0,
    }),
  };
}

function pickValue(
  random: Random, { session, password, pool }: World, name: string, shown: readonly Field[],
): string {
  const [, own = ''] = random.pick(shown.filter(([other]) => other === name).concat([[name, '']]));
  if (name === 'csrf' && random.below(20) > 0) return session.csrf;
  if (name === 'current_password' && random.below(4) > 0) return password;
  // A loopback address on a port where nothing listens.
  if (name === 'url') return random.pick(['http://127.0.0.1:9/p', '', 'x', 'http://[::1]:9/', own]);
  if (/email|password/.test(name)) return random.pick([...TEXTS, own]);
  if (random.below(3) > 0 && own !== '') return own;
  if (name === 'once') return `${random.below(1e9)}-4b7c-4c55-9c5e-6b6b9d2f7a11`;
  return pickText(random, [own, '1', '24h', 'active', 'disabled', ...pool.list('sku').slice(0, 3)]);
}

interface Content {
  readonly type: string;
  readonly body: Buffer;
}

function encodeFields(random: Random, fields: readonly Field[]): Content {
  const type = random.below(30) === 0
    ? pickText(random, ['multipart/form-data', 'text/plain']) : 'application/x-www-form-urlencoded';
  const text = fields.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  const isPlain = random.below(20) > 0 || text.includes('127.0.0.1');
  return { type, body: isPlain ? Buffer.from(text) : mutateBytes(random, Buffer.from(text)) };
}

function makeUpload(random: Random, { pool }: World, fields: readonly Field[]): Content {
  const boundary = random.below(10) === 0 ? pickText(random, ['x', 'a b', '"']) : 'fuzz-7f3a';
  const file = random.below(3) === 0 ? makeProductLines(random, pool) : makeCsv(random, pool);
  const name = pickText(random, ['a.csv', 'a.ndjson', '../../a.csv', 'a";x="b.csv']);
  const parts = fields.filter(([field]) => field !== 'file').map(([field, value]) => Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`));
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"`;
  const body = Buffer.concat([
    ...parts, Buffer.from(`${head}\r\n\r\n`), file, Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: random.below(6) === 0 ? mutateBytes(random, body) : body,
  };
}

/** The route of a link; empty if no route matches, as for some corrupted links. */
function findPattern(link: string): string {
  try {
    return patternOf(router.find('GET', link.slice(ROOT.length).split('?')[0] || '/').route);
  } catch {
    return '';
  }
}

function patternOf({ path }: PageRoute): string {
  return path === '/' ? ROOT : ROOT + path;
}

/** The paths of all pages without parameters. */
export function listPages(): readonly string[] {
  return routes.filter(({ method, path }) => method === 'GET' && !path.includes('{')
    && path !== '/live').map(patternOf);
}
