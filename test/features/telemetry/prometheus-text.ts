/** Parses version 0.0.4 of the Prometheus text format, and validates every line. */
import assert from 'node:assert/strict';

export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface ReadFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly series: Series[];
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,|$)/y;

/** The families by name. Fails on everything that Prometheus would reject or misread. */
export function parseMetrics(text: string): ReadonlyMap<string, ReadFamily> {
  assert.ok(text.endsWith('\n'), 'no newline after the last line');
  const families = new Map<string, ReadFamily>();
  const seen = new Set<string>();
  let help: readonly [name: string, text: string] | undefined;
  let family: ReadFamily | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      assert.match(rest, /^(?:[^\\]|\\\\|\\n)*$/, line);
      help = [name, rest];
    } else if (kind === 'TYPE') {
      assert.equal(help?.[0], name, `no help before: ${line}`);
      assert.match(rest, /^(?:counter|gauge|histogram)$/, line);
      assert.ok(!families.has(name), `duplicate family: ${line}`);
      family = { name, help: help?.[1] ?? '', type: rest, series: [] };
      families.set(name, family);
    } else {
      const series = parseSeries(line);
      const key = JSON.stringify([series.name, Object.entries(series.labels).sort()]);
      assert.ok(!seen.has(key), `duplicate series: ${line}`);
      seen.add(key);
      assert.ok(family && isOf(series.name, family), `outside its family: ${line}`);
      family.series.push(series);
    }
  }
  for (const one of families.values()) check(one);
  return families;
}

function parseSeries(line: string): Series {
  const [, name, text, number = ''] = SAMPLE.exec(line) ?? [];
  assert.ok(name !== undefined, `no sample: ${line}`);
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (text !== undefined && LABEL.lastIndex < text.length) {
    const [, label, value = ''] = LABEL.exec(text) ?? [];
    assert.ok(label !== undefined && !Object.hasOwn(labels, label), `bad labels: ${line}`);
    labels[label] = value.replaceAll(/\\(.)/g, (_, mark) => (mark === 'n' ? '\n' : mark));
  }
  const value = number === '+Inf' ? Infinity : Number(number);
  assert.ok(/^[-+]?(?:Inf|[\d.]+(?:e[-+]?\d+)?)$/.test(number) && !Number.isNaN(value), line);
  return { name, labels, value };
}

function isOf(name: string, family: ReadFamily): boolean {
  if (family.type !== 'histogram') return name === family.name;
  return ['_bucket', '_sum', '_count'].some((suffix) => name === family.name + suffix);
}

function check({ name, type, series }: ReadFamily): void {
  assert.ok(series.length > 0, `${name} is empty`);
  if (type === 'histogram') checkHistogram(name, series);
  else assert.ok(series.every(({ labels }) => !('le' in labels)), name);
  if (type === 'gauge') return;
  assert.equal(type === 'counter', name.endsWith('_total'), name);
  assert.ok(series.every(({ value }) => value >= 0), name);
}

function checkHistogram(name: string, series: readonly Series[]): void {
  const groups = Map.groupBy(series, ({ labels: { le, ...rest } }) => JSON.stringify(rest));
  for (const [labels, group] of groups) {
    const what = `${name}${labels}`;
    const find = (suffix: string): Series[] => group.filter((one) => one.name === name + suffix);
    const buckets = find('_bucket');
    const bounds = buckets.map(({ labels: { le = '' } }) => (le === '+Inf' ? Infinity : +le));
    assert.deepEqual(bounds, [...bounds].sort((a, b) => a - b), what);
    assert.equal(bounds.at(-1), Infinity, what);
    const counts = buckets.map(({ value }) => value);
    assert.deepEqual(counts, [...counts].sort((a, b) => a - b), what);
    assert.deepEqual(find('_count').map(({ value }) => value), [counts.at(-1)], what);
    assert.equal(find('_sum').length, 1, what);
  }
}
