/** A metric as Prometheus scrapes it; `features/telemetry` writes it as text. */

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** What follows the name of its family: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string;
  readonly labels?: Labels;
  readonly value: number;
}

/** All samples of one name. */
export interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** A counter with one sample. */
export function counter(name: string, help: string, value: number): MetricFamily {
  return { name, type: 'counter', help, samples: [{ value }] };
}

/** A gauge with one sample. */
export function gauge(name: string, help: string, value: number): MetricFamily {
  return { name, type: 'gauge', help, samples: [{ value }] };
}
