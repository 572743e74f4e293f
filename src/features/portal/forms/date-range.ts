/**
 * The filter for a range of days, both inclusive, in the account's time zone; and links that choose
 * a recent range.
 */
import { DAY_MS, parseTime } from '../../../domain/time.ts';
import { html, type Html } from '../html/html.ts';
import type { PageRequest, Portal } from '../route.ts';
import type { Field } from './fields.ts';
import type { Form } from './form.ts';
import { findEndOfDay } from './typed-values.ts';

export const DATE_FIELDS: readonly Field[] = [
  { name: 'from', label: 'From', type: 'date' }, { name: 'to', label: 'To', type: 'date' },
];

const PRESETS: readonly (readonly [label: string, days: number])[] = [
  ['Today', 1], ['Last 7 days', 7], ['Last 30 days', 30],
];

/**
 * The chosen range without its invalid ends, whose errors are added: milliseconds since 1970,
 * inclusive; undefined without a limit.
 */
export function readTimeRange(form: Form, timeZone: string, errors: Map<string, string>) {
  const readDay = (name: string): number | undefined => {
    const text = form.get(name);
    const day = /^\d{4}-\d\d-\d\d$/.test(text) ? parseTime(`${text}T00:00:00Z`) : undefined;
    if (text !== '' && day === undefined) errors.set(name, 'Must be a date such as 2026-01-31.');
    return day;
  };
  const [from, to] = [readDay('from'), readDay('to')];
  if (from !== undefined && to !== undefined && from > to) {
    errors.set('to', 'Must not be before the first day.');
    return { since: undefined, until: undefined };
  }
  const end = to === undefined ? undefined : findEndOfDay(formatDay(to), timeZone);
  return {
    since: from === undefined ? undefined : findEndOfDay(formatDay(from - DAY_MS), timeZone),
    until: end === undefined ? undefined : end - 1,
  };
}

/** @param linkTo The page with these filters. */
export function renderPresets(
  { account: { timeZone } }: PageRequest, { clock }: Pick<Portal, 'clock'>, form: Form,
  linkTo: (filters: URLSearchParams) => string,
): Html {
  // This locale writes dates as the form's field does.
  const today = new Intl.DateTimeFormat('en-CA', { timeZone }).format(clock());
  const day = parseTime(`${today}T00:00:00Z`) ?? 0;
  return html`<p class="actions">${PRESETS.map(([label, days]) => {
    const from = formatDay(day - (days - 1) * DAY_MS);
    const isChosen = form.get('from') === from && form.get('to') === today;
    const filters = new URLSearchParams(form);
    filters.set('from', from);
    filters.set('to', today);
    return html`<a class="button small" href="${linkTo(filters)}"${
      isChosen && html` aria-current="true"`}>${label}</a> `;
  })}</p>`;
}

/** As a date field has it, in UTC. */
export function formatDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
