/**
 * What a feature contributes to the composition (`features.ts`): API routes, pages, settings of
 * `serve`, workers and metrics. The core knows nothing else about features and imports none. A
 * feature may import the core but no other feature; only the portal, which shows the others, may.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  ApiDescription, PathParameter, WebhookOperation,
} from './api/description/operation.ts';
import { schemas } from './api/description/schemas.ts';
import type { Route, Services } from './api/route.ts';
import { productPathParameters } from './api/products/product-operations.ts';
import { routes } from './api/routes.ts';
import type { Parse } from './domain/arguments.ts';
import type { ConnectionMetrics } from './http/server/connections.ts';
import type { AccessLogEntry, RequestRecord } from './http/request-record.ts';
import type { ErrorReport } from './http/response/problem.ts';
import type { Reply } from './http/response/reply.ts';
import type { Target } from './http/request/target.ts';
import type { MetricFamily } from './runtime/metric-family.ts';
import type { Store } from './store/store.ts';

/**
 * `Options` are the members of `AppOptions` that belong to the feature, and `ShopOptions` those of
 * the options of `createShop`.
 */
export interface Feature<Options = object, ShopOptions = object> {
  /** They exist even if the feature is switched off: their handlers then respond with 404. */
  readonly routes?: readonly Route[];
  /** The JSON Schemas that its routes refer to, by name. */
  readonly schemas?: ApiDescription<Route>['schemas'];
  /** The requests that it sends to clients. */
  readonly webhooks?: readonly WebhookOperation[];
  /** The path parameters of its routes, unless the core describes them. */
  readonly pathParameters?: readonly PathParameter[];
  /** Connects the feature to one app, with the options passed to `createApp`. */
  connect?(services: Services, options: Options): Pages | undefined;
  /** Its part of `serve`; undefined if it has no settings, workers or metrics. */
  readonly server?: ServerPart<Options>;
  /** Its part of `createShop`; undefined if there is nothing to set or start. */
  readonly embed?: EmbedPart<Options, ShopOptions>;
}

interface EmbedPart<Options, ShopOptions> {
  /** Parsers of `ShopOptions`. */
  readonly options: Readonly<Record<string, Parse<unknown>>>;
  start?(options: ShopOptions, context: EmbedContext): Promise<EmbeddedFeature<Options>>;
}

/** What `createShop` was given, or made. */
interface EmbedContext {
  readonly store: Store;
  readonly baseUrl?: string;
  readonly clock?: () => number;
  readonly report?: (entry: ErrorReport) => void;
}

interface EmbeddedFeature<Options> {
  /** For `createApp`. */
  readonly options: Options;
  /** Ends what `start` started. */
  close?(): Promise<void>;
}

/** Pages beside the API. They need no API key; each decides who may see it. */
export interface Pages {
  /** Whether a path belongs to these pages, even if no page exists there. */
  isFor(path: string): boolean;
  /** Sorted; empty if the path does not exist. */
  findMethods(path: string): Promise<readonly string[]>;
  /** @throws AppError, which the app answers with a problem document */
  answer(request: PagesRequest, services: Services): Promise<Reply>;
  /** Stops background work. */
  close?(): Promise<void>;
}

/** A request for a page, as it was received. */
export interface PagesRequest extends Target {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The client's address. */
  readonly address: string;
  /** Collects facts about the request for the access log. */
  readonly record: RequestRecord;
  /** Like `disconnectSignal` of an API request. */
  disconnectSignal(): AbortSignal;
}

/** How a feature runs in the process of `serve`. */
interface ServerPart<Options> {
  readonly settings: Readonly<Record<string, Setting>>;
  /**
   * Reads the settings, and loads the feature's code unless it is switched off.
   * @throws AppError `invalid_data` for an invalid setting
   */
  load(settings: Settings, operator: Operator): Promise<LoadedFeature<Options> | undefined>;
}

/** A setting of `serve`: a command-line flag or an environment variable `SELLER_API_...`. */
interface Setting {
  /** Placeholder of the value in the help; a setting without one is a switch. */
  readonly value?: string;
  readonly help: string;
  /** The values that it takes, if there are no others. */
  readonly choices?: readonly string[];
  /** The least and the largest whole number that it takes, if it takes a number. */
  readonly range?: readonly [least: number, largest: number];
  readonly isSetting: true;
}

/** The given settings, by name. Each method throws for an invalid value. */
export interface Settings {
  /** Undefined if the catalogue is in a database. */
  readonly dataFolder: string | undefined;
  /** Undefined if clients find the server at the address of each request. */
  readonly baseUrl: string | undefined;
  readText(name: string): string | undefined;
  readSwitch(name: string): boolean;
  /** The number of a setting with a `range`; undefined if it is not given. */
  readNumber(name: string): number | undefined;
  /** The text of the file that the setting names. */
  readFile(name: string): string | undefined;
}

/** Reports from the server to its operator. */
export interface Operator {
  note(text: string): void;
  /** For problems that the operator may have to act on. */
  warn(text: string): void;
  /** For errors that no client caused. */
  report(entry: ErrorReport): void;
  /** Called for each completed request; undefined while nobody reads the access log. */
  readonly onRequestComplete?: ((entry: AccessLogEntry) => void) | undefined;
  readonly onSecurityEvent?: ((record: RequestRecord) => void) | undefined;
  /** Called last. */
  close?(): Promise<void>;
}

export interface LoadedFeature<Options> {
  /** Replaces the server's operator. */
  readonly operator?: Operator;
  /** Called once the store is open, before the app exists. */
  start?(store: Store, operator: Operator): RunningFeature<Options>;
}

interface RunningFeature<Options> {
  /** For `createApp`. */
  readonly options?: Options;
  listMetrics?(): readonly MetricFamily[];
  /**
   * What `serve` prints for an empty database, in place of what it prints without the feature.
   * @param commands The steps on the command line.
   */
  firstSteps?(url: string, commands: string): Promise<string>;
  /** Called once the server accepts connections. */
  observe?(server: RunningServer): Promise<void>;
  /** Called as soon as the server stops, or after it failed to start. */
  stop?(): Promise<void>;
}

/** What a feature can measure of a server. */
export interface RunningServer {
  readonly store: Store;
  /** What runs now: requests; among them streams, those that wait for changes, and imports. */
  readLoad(): { readonly requests: number; readonly streams: number; readonly imports: number };
  readConnections(): ConnectionMetrics;
  /** Metrics of the features and of the server's own jobs. */
  listMetrics(): readonly MetricFamily[];
}

/** All routes of the core and of these features, with the schemas and parameters they refer to. */
export function describeRoutes<Options>(
  features: readonly Feature<Options>[],
): ApiDescription<Route> {
  return {
    routes: [...routes, ...features.flatMap((feature) => feature.routes ?? [])],
    schemas: Object.assign({}, schemas, ...features.map((feature) => feature.schemas)),
    webhooks: features.flatMap((feature) => feature.webhooks ?? []),
    pathParameters: [
      ...productPathParameters, ...features.flatMap((feature) => feature.pathParameters ?? []),
    ],
  };
}
