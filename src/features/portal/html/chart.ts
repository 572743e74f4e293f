/**
 * Charts as inline SVG, without scripts. The labels of the axes are HTML beside the drawing, so
 * that the drawing stretches with the page and they keep the size of text. Each chart has a text
 * alternative, and a table with the same values.
 */
import { numeric, table } from './elements.ts';
import { type Content, html, type Html } from './html.ts';

interface Chart {
  /** The text alternative. */
  readonly label: string;
  /** Evenly spaced, from top to bottom. */
  readonly yLabels: readonly string[];
  /** At the start, in the middle and at the end; a single one is at the start. */
  readonly xLabels: readonly string[];
  /** SVG in a frame of `CHART_WIDTH` and `CHART_HEIGHT`, which is stretched. */
  readonly drawing: Content;
}

export const [CHART_WIDTH, CHART_HEIGHT] = [600, 200];
/** Grid lines above the axis, about. */
const TICKS = 4;
const GAP_SHARE = 0.2;
const LEAST_BAR = 2;

export function renderChart({ label, yLabels, xLabels, drawing }: Chart): Html {
  const lines = yLabels.length - 1;
  return html`<div class="chart"><div class="y" aria-hidden="true">${yLabels.map((text) => html`
      <span>${text}</span>`)}</div>
    <svg class="plot" viewBox="0 0 ${CHART_WIDTH} ${CHART_HEIGHT}" preserveAspectRatio="none"
      role="img" aria-label="${label}">${yLabels.map((_, index) => {
  const y = round(CHART_HEIGHT * index / lines);
  return html`<line class="axis" x1="0" x2="${CHART_WIDTH}" y1="${y}" y2="${y}"/>`;
})}${drawing}</svg>
    <div class="x" aria-hidden="true">${xLabels.map((text) => html`<span>${text}</span>`)}</div>
  </div>`;
}

interface BarChart {
  readonly title: string;
  /** The unit of time of one bar, such as `Day`. */
  readonly unit: string;
  readonly names: { readonly up: string; readonly down: string };
  /** Values are zero or more; both series share one scale. */
  readonly bars: readonly { readonly label: string; readonly up: number; readonly down: number }[];
  readonly number: (value: number) => string;
  /** The link to the same values as CSV. */
  readonly csv: string;
}

/** Two series over days or hours: one above the axis, the other one below it. */
export function barChart({ title, unit, names, bars, number, csv }: BarChart): Html {
  const [ups, downs] = [bars.map(({ up }) => up), bars.map(({ down }) => down)];
  const [mostUp, mostDown] = [Math.max(...ups), Math.max(...downs)];
  if (mostUp + mostDown === 0) return html`<p class="quiet">No activity in this period.</p>`;
  const [sumUp, sumDown] = [ups, downs].map((values) =>
    number(values.reduce((sum, value) => sum + value, 0)));

  const step = findStep(mostUp + mostDown);
  const [above, below] = [Math.ceil(mostUp / step), Math.ceil(mostDown / step)];
  const scale = CHART_HEIGHT / (above + below) / step;
  const axis = above * step * scale;
  const width = CHART_WIDTH / bars.length;
  // A value above zero stays visible.
  const rectangle = (name: 'in' | 'out', index: number, value: number): Content => {
    const height = Math.max(value * scale, LEAST_BAR);
    return value > 0 && html`<rect class="${name}" x="${round(index * width)}" y="${
      round(name === 'in' ? axis - height : axis)}" width="${
      round(width * (1 - GAP_SHARE))}" height="${round(height)}"/>`;
  };
  return html`<p class="row middle quiet">
      <span><span class="key in"></span> ${names.up}: ${sumUp}</span>
      <span><span class="key out"></span> ${names.down}: ${sumDown}</span></p>
    ${renderChart({
    label: `${title}: ${names.up} ${sumUp}, ${names.down} ${sumDown}`,
    yLabels: Array.from({ length: above + below + 1 }, (_, n) =>
      number(Math.abs(above - n) * step)),
    xLabels: threeOf(bars.map(({ label }) => label)),
    drawing: bars.map(({ label, up, down }, index) => (up + down > 0) && html`<g>${
      rectangle('in', index, up)}${rectangle('out', index, down)}<title>${label}: ${
      number(up)}, ${number(down)}</title></g>`),
  })}
    ${chartTable({
    title, csv, columns: [unit, names.up, names.down],
    rows: bars.filter(({ up, down }) => up + down > 0).map(({ label, up, down }) =>
      [label, number(up), number(down)]),
  })}`;
}

interface LineChart {
  readonly title: string;
  /** In the order of time, evenly spaced. */
  readonly points: readonly { readonly label: string; readonly value: number }[];
  readonly describe: (value: number) => string;
  /** Short, for the axis. */
  readonly compact: (value: number) => string;
}

/** One series over time, from zero. */
export function lineChart({ title, points, describe, compact }: LineChart): Html {
  if (points.length === 0) {
    return html`<p class="quiet">The history of this period was removed.</p>`;
  }
  const values = points.map(({ value }) => value);
  const ticks = findTicks(Math.max(...values, 0));
  const top = ticks.at(-1) ?? 1;
  const width = CHART_WIDTH / points.length;
  const x = (index: number): number => round((index + 0.5) * width);
  const y = (value: number): number => round(CHART_HEIGHT * (1 - value / top));
  const line = values.map((value, index) => `${index === 0 ? 'M' : 'L'}${x(index)} ${y(value)}`);
  const [first, last] = [points[0], points.at(-1)];
  return renderChart({
    label: `${title}: ${describe(first?.value ?? 0)} on ${first?.label}, ${
      describe(last?.value ?? 0)} on ${last?.label}, minimum ${describe(Math.min(...values))
    }, maximum ${describe(Math.max(...values))}`,
    yLabels: ticks.map(compact).toReversed(),
    xLabels: threeOf(points.map(({ label }) => label)),
    drawing: html`<path class="line" d="${line.join('')}"/>${points.map(({ label, value }, index) =>
      html`<rect class="spot" x="${round(index * width)}" y="0" width="${round(width)}"
        height="${CHART_HEIGHT}"><title>${label}: ${describe(value)}</title></rect>`)}`,
  });
}

interface ChartTable {
  readonly title: string;
  readonly columns: readonly [string, ...string[]];
  readonly rows: readonly (readonly Content[])[];
  /** The link to the same values as CSV. */
  readonly csv: string;
}

/** The values of a chart, under it. */
export function chartTable({ title, columns: [first, ...others], rows, csv }: ChartTable): Html {
  return html`<details><summary>View as table</summary>${table({
    caption: `${title}, as table`, columns: [first, ...others.map(numeric)], rows,
  })}</details>${csvLink(csv)}`;
}

/** The link to the values of a chart, under it or its table. */
export function csvLink(path: string): Html {
  return html`<p class="small"><a href="${path}">Download as CSV</a></p>`;
}

/** From 0 to at least the maximum, in round steps. */
export function findTicks(most: number): readonly number[] {
  const step = findStep(most);
  return Array.from({ length: Math.ceil(Math.max(most, 1) / step) + 1 }, (_, n) => n * step);
}

/** A round step, so that a few of them reach the maximum. */
function findStep(most: number): number {
  const rough = Math.max(most, 1) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((value) => value >= rough);
  return Math.max(1, Math.ceil(step ?? rough));
}

/** The labels at the start, in the middle and at the end. */
function threeOf(labels: readonly string[]): readonly string[] {
  if (labels.length < 3) return labels;
  return [0, Math.floor(labels.length / 2), labels.length - 1].map((index) => labels[index] ?? '');
}

/** More than one decimal makes no visible difference. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
