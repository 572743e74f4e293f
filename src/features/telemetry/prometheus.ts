/**
 * Formats metrics in the Prometheus text format, version 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/).
 */
import type { HistogramSnapshot } from '../../runtime/histogram.ts';
import type { Labels, MetricFamily, Sample } from '../../runtime/metric-family.ts';

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function formatFamilies(families: readonly MetricFamily[]): string {
  return families.map(formatFamily).join('');
}

/** One histogram per set of labels. Buckets are cumulative. */
export function histogram(
  name: string, help: string,
  ...snapshots: readonly (HistogramSnapshot & { readonly labels?: Labels })[]
): MetricFamily {
  const samples = snapshots.flatMap(({ labels = {}, buckets, count, sum }): Sample[] => [
    ...[...buckets, { atMost: Infinity, count }].map((bucket) => ({
      suffix: '_bucket', labels: { ...labels, le: formatValue(bucket.atMost) },
      value: bucket.count,
    })),
    { suffix: '_sum', labels, value: sum },
    { suffix: '_count', labels, value: count },
  ]);
  return { name, type: 'histogram', help, samples };
}

function formatFamily({ name, type, help, samples }: MetricFamily): string {
  if (samples.length === 0) return '';
  const lines = samples.map(({ suffix = '', labels = {}, value }) =>
    `${name}${suffix}${formatLabels(labels)} ${formatValue(value)}\n`);
  const text = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${text}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function formatValue(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}
