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

/** A family of one sample. */
export function single(
  name: string, type: 'counter' | 'gauge', help: string, value: number,
): MetricFamily {
  return { name, type, help, samples: [{ value }] };
}
