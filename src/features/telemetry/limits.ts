/** Limits of logs and metrics. */

/** Log lines buffered for a slow reader; more are dropped, so memory is bounded. */
export const LOG_BUFFER_LIMIT_CHARACTERS = 1024 * 1024;
/** How long a stopping server waits for its log to be written; a pipe may be stuck. */
export const LOG_CLOSE_TIMEOUT_MS = 1_000;

/** Histogram buckets of request durations: the Prometheus defaults, and finer ones. */
export const REQUEST_DURATION_BUCKETS_SECONDS: readonly number[] =
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Interval of event-loop delay samples; this timer has no measurable cost. */
export const EVENT_LOOP_DELAY_SAMPLE_INTERVAL_MS = 20;
/** Histogram buckets of event-loop delay; no delay should exceed the largest bucket. */
export const EVENT_LOOP_DELAY_BUCKETS_SECONDS: readonly number[] =
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

/** How long metrics wait for the database server's answer; Prometheus waits 10 s for all. */
export const METRICS_QUERY_TIMEOUT_MS = 2_000;

/** Listen address of `--metrics-port`; other machines cannot reach it. */
export const METRICS_HOST = '127.0.0.1';
/** Minimum length of the metrics token; shorter ones can be guessed. */
export const METRICS_TOKEN_MIN_CHARACTERS = 20;
/** Failed sign-ins and denied roles in the log, per minute; an attacker must not fill the disk. */
export const LOGGED_SECURITY_EVENTS_PER_MINUTE = 60;
