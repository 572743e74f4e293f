/** Telemetry: the log, and the metrics that Prometheus scrapes. */
import type { Feature } from '../../feature.ts';
import { DEFAULT_LOG_LEVEL, LOG_LEVELS } from './log.ts';
import { METRICS_HOST } from './limits.ts';
import type { TelemetryOption } from './operator.ts';

export const telemetry: Feature<TelemetryOption> = {
  connect: (_services, { metrics }) => metrics,
  server: {
    settings: {
      log: {
        value: 'LEVEL', choices: LOG_LEVELS, isSetting: true,
        help: `log level (default: ${DEFAULT_LOG_LEVEL}, with plain notices)`,
      },
      'metrics-port': {
        value: 'N', range: [0, 65_535], isSetting: true,
        help: `serve metrics at http://${METRICS_HOST}:N/metrics; 0 picks a free port`,
      },
      'metrics-token-file': {
        value: 'FILE', isSetting: true,
        help: 'serve metrics at /metrics to clients that send the token in this file',
      },
    },
    load: async (settings, operator) =>
      (await import('./operator.ts')).startTelemetry(settings, operator),
  },
};
