/**
 * Counts requests by route. There are as many figures as there are routes, methods and statuses,
 * whatever clients send: none is counted by seller, key or address.
 */
import { REQUEST_DURATION_BUCKETS_SECONDS } from './limits.ts';
import { Histogram } from '../../runtime/histogram.ts';
import type { AccessLogEntry } from '../../http/request-record.ts';
import type { MetricFamily } from '../../runtime/metric-family.ts';
import { listSamples } from './prometheus.ts';

interface Counted {
  readonly labels: { readonly method: string; readonly route: string; readonly status: string };
  value: number;
}

interface RouteMetrics {
  readonly durations: Histogram;
  readonly requests: Map<string, Counted>;
  sentBytes: number;
  incomplete: number;
}

export class RequestMetrics {
  readonly #routes = new Map<string, RouteMetrics>();

  note({ method, route, status, durationMs, sentBytes, isComplete }: AccessLogEntry): void {
    const figures = this.#find(route);
    figures.durations.add(durationMs / 1_000);
    figures.sentBytes += sentBytes;
    if (!isComplete) figures.incomplete += 1;
    const name = `${method}${status}`;
    const counted = figures.requests.get(name);
    if (counted) counted.value += 1;
    else {
      const labels = { method, route, status: String(status) };
      figures.requests.set(name, { labels, value: 1 });
    }
  }

  list(): MetricFamily[] {
    const routes = [...this.#routes];
    const each = (find: (figures: RouteMetrics) => number) =>
      routes.map(([route, figures]) => ({ labels: { route }, value: find(figures) }));
    return [
      {
        name: 'http_requests_total', type: 'counter', help: 'Requests that were answered.',
        samples: routes.flatMap(([, { requests }]) => [...requests.values()]),
      },
      {
        name: 'http_request_duration_seconds', type: 'histogram',
        help: 'From the headers of a request to the end of its answer; of a live stream, its life.',
        samples: routes.flatMap(([route, { durations }]) =>
          listSamples(durations.read(), { route })),
      },
      {
        name: 'http_response_body_bytes_total', type: 'counter',
        help: 'Bytes of the bodies of answers.', samples: each(({ sentBytes }) => sentBytes),
      },
      {
        name: 'http_requests_incomplete_total', type: 'counter',
        help: 'Requests whose client was gone before its answer was sent.',
        samples: each(({ incomplete }) => incomplete),
      },
    ];
  }

  #find(route: string): RouteMetrics {
    const known = this.#routes.get(route);
    if (known) return known;
    const durations = new Histogram(REQUEST_DURATION_BUCKETS_SECONDS);
    const made = { durations, requests: new Map(), sentBytes: 0, incomplete: 0 };
    this.#routes.set(route, made);
    return made;
  }
}
