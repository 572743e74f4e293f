/**
 * Runs the features in the process of `serve`: reads their settings, loads those that are switched
 * on, and starts and stops their workers. Knows none of them; `src/features.ts` lists them.
 */
import { AppError } from '../../domain/error.ts';
import type { LoadedFeature, Operator, RunningServer, Settings } from '../../feature.ts';
import { type AppOptions, features } from '../../features.ts';
import { safeErrorReporter } from '../../http/response/problem.ts';
import type { MetricFamily } from '../../runtime/metric-family.ts';
import type { Store } from '../../store/store.ts';
import { type Flags, type Input, UsageError } from '../command.ts';
import { readNumber, readSettingFile, readSwitch } from '../settings.ts';

export const featureFlags: Flags = Object.assign({}, ...features.map(({ server }) =>
  server?.settings));

type FeatureOptions = Partial<AppOptions>;

/** The features that are switched on. */
interface ServedFeatures {
  readonly operator: Operator;
  /** Starts their workers. */
  start(store: Store): RunningFeatures;
}

interface RunningFeatures {
  /** For `createApp`. */
  readonly options: FeatureOptions;
  listMetrics(): readonly MetricFamily[];
  /** Call it once the server accepts connections. @throws CommandFailure, AppError */
  observe(server: RunningServer): Promise<void>;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

/** @throws UsageError, CommandFailure */
export async function loadFeatures(
  input: Input, baseUrl: string | undefined,
): Promise<ServedFeatures> {
  const settings = readSettings(input, baseUrl);
  const plain = plainOperator(input);
  const loaded: LoadedFeature<FeatureOptions>[] = [];
  for (const { server } of features) {
    const feature = await server?.load(settings, plain).catch(explainSetting);
    if (feature) loaded.push(feature);
  }
  const operator = loaded.find((feature) => feature.operator)?.operator ?? plain;
  return { operator, start: (store) => start(loaded, store, operator) };
}

function start(
  loaded: readonly LoadedFeature<FeatureOptions>[], store: Store, operator: Operator,
): RunningFeatures {
  const running = loaded.flatMap((feature) => feature.start?.(store, operator) ?? []);
  let stopped: Promise<unknown> | undefined;
  return {
    options: Object.assign({}, ...running.map(({ options }) => options)),
    listMetrics: () => running.flatMap((feature) => feature.listMetrics?.() ?? []),
    async observe(server) {
      for (const feature of running) await feature.observe?.(server);
    },
    async stop() {
      stopped ??= Promise.all(running.map((feature) => feature.stop?.()));
      await stopped;
    },
  };
}

function readSettings({ flags, dataFolder }: Input, baseUrl: string | undefined): Settings {
  return {
    dataFolder,
    baseUrl,
    readText: (name) => flags[name],
    readSwitch: (name) => readSwitch(flags, name),
    readNumber: (name, limit) =>
      (flags[name] === undefined ? undefined : readNumber(flags, name, 0, limit)),
    readFile(name) {
      const path = flags[name];
      return path === undefined ? undefined : readSettingFile(path).text;
    },
  };
}

/** Prints notices in plain words, and each error as a line of JSON. */
function plainOperator({ note }: Input): Operator {
  return { note, warn: note, report: safeErrorReporter(undefined) };
}

/** A setting with a wrong value is a mistake in the command line. */
function explainSetting(error: unknown): never {
  if (error instanceof AppError && error.code === 'invalid_data') {
    throw new UsageError(error.message);
  }
  throw error;
}
