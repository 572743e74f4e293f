/** What a feature of servers that tests start is. */
import type { ErrorReport } from '../../src/http/response/problem.ts';
import type { Store } from '../../src/store/store.ts';

export interface TestFeature<Options = object> {
  /** Starts the feature, if the options of the server name it. */
  start(options: Options, server: TestContextOfServer): Promise<StartedTestFeature>;
}

interface TestContextOfServer {
  readonly store: Store;
  report(entry: ErrorReport): void;
  readonly clock?: (() => number) | undefined;
  readonly baseUrl?: string | undefined;
}

interface StartedTestFeature {
  /** For `createApp`. */
  readonly options: object;
  close?(): Promise<void>;
}
