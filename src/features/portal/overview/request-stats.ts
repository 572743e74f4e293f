/** The requests to the API in the last 24 hours: hour by hour, and key by key. */
import { formatKeyId, type KeyId } from '../../../domain/id.ts';
import { HOUR_MS } from '../../../domain/time.ts';
import { barPlot } from '../html/bar-plot.ts';
import { DAY_HOURS, readDayUsage, type Usage } from './day-usage.ts';
import { html, type Html } from '../html/html.ts';
import { readKeyNames } from '../keys/key-names.ts';
import { headCell, numberCell, table } from '../html/list.ts';
import type { Portal, PageRequest } from '../route.ts';

const KEYS_SHOWN = 10;

export async function renderRequests(request: PageRequest, portal: Portal): Promise<Html> {
  const { account: { sellerId }, format, link } = request;
  const usage = await readDayUsage(portal, sellerId);
  const bars = Array.from({ length: DAY_HOURS }, (_, index) => {
    const hour = usage.since + index;
    const { requests = 0, refusals = 0 } = usage.byHour.get(hour) ?? {};
    return { label: format.hour(hour * HOUR_MS), up: requests - refusals, down: refusals };
  });
  return html`<section class="card" aria-labelledby="requests">
    <h2 id="requests">Requests in 24 hours</h2>
    ${barPlot({
    title: 'Requests to the API in 24 hours', unit: 'Hour',
    names: { up: 'Done', down: 'Refused' }, bars, number: format.number,
  })}
    ${usage.byKey.size === 0
    ? html`<p>No key was used. <a href="${link('/keys')}">Look at your API keys</a>.</p>`
    : await renderKeys(request, portal, usage.byKey)}
  </section>`;
}

async function renderKeys(
  { account: { sellerId }, format, link }: PageRequest, { store }: Portal,
  byKey: ReadonlyMap<KeyId, Usage>,
): Promise<Html> {
  const busiest = [...byKey].sort(([, one], [, other]) => other.requests - one.requests)
    .slice(0, KEYS_SHOWN);
  const names = await readKeyNames(store, sellerId, busiest.map(([keyId]) => keyId));
  return table({
    caption: 'Requests by key',
    columns: [
      { label: 'Key' }, { label: 'Requests', isNumber: true }, { label: 'Refused', isNumber: true },
    ],
    rows: busiest.map(([keyId, { requests, refusals }]) => {
      const href = link(`/keys/${formatKeyId({ sellerId, keyId })}`);
      return [
        headCell(html`<a href="${href}">${names.get(keyId)}</a>`),
        numberCell(format.number(requests)),
        numberCell(format.number(refusals)),
      ];
    }),
    empty: undefined,
  });
}
