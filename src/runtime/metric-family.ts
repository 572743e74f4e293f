/** A metric as Prometheus scrapes it; `features/telemetry` writes it as text. */

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** Suffix to the family's name: `_bucket`, `_sum` or `_count`. */
  readonly suffix?: string;
  readonly labels?: Labels;
  readonly value: number;
}

export interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

type CreateFamily =
  (name: string, help: string, samples: number | readonly Sample[]) => MetricFamily;

/** `samples` may be a number: the value of a family with one sample. */
export const counter: CreateFamily = (name, help, samples) =>
  ({ name, type: 'counter', help, samples: listSamples(samples) });

export const gauge: CreateFamily = (name, help, samples) =>
  ({ name, type: 'gauge', help, samples: listSamples(samples) });

/** A sample for each value of one label. */
export function samplesBy(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

function listSamples(samples: number | readonly Sample[]): readonly Sample[] {
  return typeof samples === 'number' ? [{ value: samples }] : samples;
}
