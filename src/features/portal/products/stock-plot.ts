/** Plots a product's stock over time; the stock ledger on the same page is its text equivalent. */
import type { Change } from '../../../domain/catalogue/change.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { DAY_MS, MINUTE_MS } from '../../../domain/time.ts';
import type { Format } from '../html/format.ts';
import { html, type Html } from '../html/html.ts';
import { axisLine, measureLabel, round } from '../html/bar-plot.ts';

/** The stock from a time on, in milliseconds since 1970. */
interface Step {
  readonly at: number;
  readonly stock: number;
}

/** A product and its movements, newest first. */
interface StockHistory {
  readonly product: Pick<Product, 'createdAt'>;
  readonly movements: readonly Pick<Change, 'at' | 'movement'>[];
  readonly now: number;
}

const RECENT_MS = 30 * DAY_MS;
/** With fewer recent movements, the plot shows all of them. */
const RECENT_MIN = 3;
const SPAN_MIN_MS = MINUTE_MS;

const [WIDTH, HEIGHT] = [400, 190];
const [TOP, RIGHT, BOTTOM] = [12, 12, 26];
const TICKS = 4;

/** Undefined without stock movements. */
export function stockPlot(history: StockHistory, format: Format): Html | undefined {
  const steps = findSteps(history);
  const [first] = steps;
  const last = steps.at(-1);
  if (!first || !last) return undefined;
  const end = Math.max(history.now, last.at, first.at + SPAN_MIN_MS);
  const stocks = steps.map(({ stock }) => stock);
  const ticks = findTicks(Math.max(...stocks));
  const top = ticks.at(-1) ?? 1;
  const left = Math.max(...ticks.map((tick) => measureLabel(format.number(tick))));
  const bottom = HEIGHT - BOTTOM;
  const x = (at: number): number =>
    round(left + (WIDTH - RIGHT - left) * (at - first.at) / (end - first.at));
  const y = (stock: number): number => round(bottom - (bottom - TOP) * stock / top);
  const line = steps.map(({ at, stock }, index) =>
    index === 0 ? `M${x(at)} ${y(stock)}` : `H${x(at)}V${y(stock)}`).join('') + `H${x(end)}`;
  const [least, most] = [Math.min(...stocks), Math.max(...stocks)].map(format.number);
  return html`<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"
    aria-labelledby="plot-title plot-text">
    <title id="plot-title">Stock over time</title>
    <desc id="plot-text">From ${format.time(first.at)} to ${format.time(end)}: minimum ${least},
      maximum ${most}, ${format.number(last.stock)} at the end.
      Each movement is in the table.</desc>
    ${ticks.map((tick) => html`${axisLine(left, WIDTH - RIGHT, y(tick))}
      <text x="${left - 6}" y="${y(tick) + 4}" text-anchor="end">${format.number(tick)}</text>`)}
    ${renderTimes(first.at, end, WIDTH - RIGHT - left, format).map(([at, text, anchor]) =>
    html`<text x="${x(at)}" y="${HEIGHT - 8}" text-anchor="${anchor}">${text}</text>`)}
    <path class="line" d="${line}"/>
  </svg>`;
}

/** The last 30 days if they have enough movements, otherwise all movements. */
function findSteps({ product, movements, now }: StockHistory): readonly Step[] {
  const recent = movements.filter(({ at }) => at >= now - RECENT_MS);
  const isRecent = recent.length >= RECENT_MIN && recent.length < movements.length;
  const plotted = isRecent ? recent : movements;
  const oldest = plotted.at(-1);
  if (!oldest) return [];
  const steps = plotted.map(({ at, movement }) => ({ at, stock: movement.after })).reverse();
  const since = Math.max(now - RECENT_MS, product.createdAt);
  return isRecent ? [{ at: since, stock: oldest.movement.before }, ...steps] : steps;
}

/** From 0 to at least the maximum, in round steps. */
function findTicks(most: number): readonly number[] {
  const rough = Math.max(most, 1) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const found = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  const step = Math.max(1, Math.ceil(found ?? rough));
  return Array.from({ length: Math.ceil(Math.max(most, 1) / step) + 1 }, (_, n) => n * step);
}

/** Time labels at both ends and in the middle, where they fit. */
function renderTimes(
  start: number, end: number, room: number, format: Format,
): readonly (readonly [at: number, text: string, anchor: string])[] {
  const write = end - start < 3 * DAY_MS ? format.minute : format.day;
  const middle = (start + end) / 2;
  const [first, between, last] = [write(start), write(middle), write(end)];
  const [firstWidth, lastWidth] = [measureLabel(first), measureLabel(last)];
  if (firstWidth + lastWidth > room) return [[start, first, 'start']];
  // The middle label is centred, so the longer end label limits its width on both sides.
  const isShown = between !== first && between !== last
    && measureLabel(between) <= room - 2 * Math.max(firstWidth, lastWidth);
  return [
    [start, first, 'start'],
    ...isShown ? [[middle, between, 'middle'] as const] : [],
    [end, last, 'end'],
  ];
}
