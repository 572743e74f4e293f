/** API requests of the last 24 hours, including the current hour, by hour and by key. */
import { formatKeyId, type KeyId, type SellerId } from '../../../domain/id.ts';
import { LIVE_KEYS_PER_SELLER_LIMIT } from '../../../domain/limits.ts';
import { HOUR_MS } from '../../../domain/time.ts';
import type { KeyUsage } from '../../../store/access-store.ts';
import { barChart } from '../html/chart.ts';
import { card, numeric, table } from '../html/elements.ts';
import type { Format } from '../html/format.ts';
import { html, type Html } from '../html/html.ts';
import { readKeyNames } from '../keys/key-names.ts';
import type { PageRequest, Portal } from '../route.ts';

const DAY_HOURS = 24;
const KEYS_SHOWN = 10;
export const USAGE_TITLE = `API requests, last ${DAY_HOURS} hours`;

export type Usage = Pick<KeyUsage, 'requests' | 'refusals'>;

type DayUsage = Awaited<ReturnType<typeof readDayUsage>>;

/**
 * From the first hour on, in hours since 1970: by hour and by key, without those that had no
 * requests.
 * @param only Undefined for all keys.
 */
export async function readDayUsage(
  { store, clock }: Pick<Portal, 'store' | 'clock'>, sellerId: SellerId, only?: KeyId,
) {
  const since = Math.floor(clock() / HOUR_MS) - DAY_HOURS + 1;
  const limit = DAY_HOURS * LIVE_KEYS_PER_SELLER_LIMIT;
  const byHour = new Map<number, Usage>();
  const byKey = new Map<KeyId, Usage>();
  for (const usage of await store.readUsage(sellerId, { since, limit })) {
    if (only !== undefined && usage.keyId !== only) continue;
    byHour.set(usage.hour, add(byHour.get(usage.hour), usage));
    byKey.set(usage.keyId, add(byKey.get(usage.keyId), usage));
  }
  return { since, byHour, byKey };
}

function add(sum: Usage | undefined, { requests, refusals }: Usage): Usage {
  return { requests: requests + (sum?.requests ?? 0), refusals: refusals + (sum?.refusals ?? 0) };
}

/** For owners. */
export async function renderRequestStats(request: PageRequest, portal: Portal): Promise<Html> {
  const { account: { sellerId }, format, link } = request;
  const usage = await readDayUsage(portal, sellerId);
  const { byKey } = usage;
  const busiest = [...byKey].sort(([, one], [, other]) => other.requests - one.requests)
    .slice(0, KEYS_SHOWN);
  if (busiest.length === 0) {
    return card('requests', USAGE_TITLE, html`<p>No requests in this period.
      <a href="${link('/keys')}">View your API keys</a>.</p>
      <p><a href="${link('/leaked')}">Was a key leaked?</a></p>`);
  }
  const names = await readKeyNames(portal.store, sellerId, busiest.map(([keyId]) => keyId));
  return card('requests', USAGE_TITLE, html`
    ${renderUsagePlot(format, usage, link('/reports/requests'))}
    ${table({
    caption: 'Requests by key',
    columns: ['Key', numeric('Requests'), numeric('Rejected')],
    rows: busiest.map(([keyId, { requests, refusals }]) => [
      html`<a href="${link(`/keys/${formatKeyId({ sellerId, keyId })}`)}">${names.get(keyId)}</a>`,
      format.number(requests), format.number(refusals),
    ]),
  })}
    <p><a href="${link('/leaked')}">Was a key leaked?</a></p>`);
}

/** Requests by hour. */
export function renderUsagePlot(format: Format, { since, byHour }: DayUsage, csv: string): Html {
  const bars = Array.from({ length: DAY_HOURS }, (_, index) => {
    const { requests = 0, refusals = 0 } = byHour.get(since + index) ?? {};
    const label = format.hour((since + index) * HOUR_MS);
    return { label, up: requests - refusals, down: refusals };
  });
  return barChart({
    title: USAGE_TITLE, unit: 'Hour', names: { up: 'Succeeded', down: 'Rejected' }, bars,
    number: format.number, csv,
  });
}
