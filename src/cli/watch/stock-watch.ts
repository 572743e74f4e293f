/**
 * `stock sync --watch`: sends each file that is put into a folder, one at a time, and publishes it
 * in done/ or rejected/ with a report. A file is claimed, and its attempt recorded, before it is
 * sent; if this process is killed, the next one continues with the same Idempotency-Key. While the
 * server is unreachable or fails, the watch waits: a file is published as rejected only for an
 * error in the file itself.
 */
import { ApiError, ConnectionError, type SellerClient } from '../../client/index.ts';
import { BLOCKED_PORT } from '../../client/response.ts';
import { formatTime } from '../../domain/time.ts';
import { retryDelayMs } from '../../runtime/backoff.ts';
import { type Clock, hasEnded, makeLivedTime, termFrom } from '../../runtime/clock.ts';
import { CommandFailure, type Input } from '../command.ts';
import { formatCounts } from '../format.ts';
import { REPORTED_ROWS_LIMIT, RESEND_LIMIT_MS, RETRY_POLICY } from '../remote/limits.ts';
import { printable } from '../printable.ts';
import { asMembers, explainFailure, findProblem, TemporaryFailure } from '../remote/api-error.ts';
import { readTexts, sendFile } from '../transfer/file-run.ts';
import { RejectedRowsFile } from '../transfer/rejected-rows-file.ts';
import { openSource, UnreadableFile } from '../transfer/source-file.ts';
import { adaptOptions, createStockRun, type StockOptions } from '../transfer/stock-file.ts';
import type { Attempt, Claim, ClaimReport, Published } from './claim.ts';
import type { WatchedFolder } from './watched-folder.ts';

interface StockWatch {
  readonly folder: Pick<WatchedFolder, 'next' | 'publish'>;
  /** Without retries of its own. */
  readonly client: SellerClient;
  /** For files that were not sent before. */
  readonly options: StockOptions;
  /** Of all files; undefined to derive it from each name. */
  readonly format: string | undefined;
  readonly input: Pick<Input, 'io' | 'note' | 'out' | 'isJson'>;
  /** Ends the watch after the current file, or while it waits. */
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly clock: Clock;
  /** Time between two scans of the folder. */
  readonly intervalMs: number;
  /** Resolves early at the signal. */
  readonly wait: (ms: number) => Promise<void>;
}

/** Errors in the file. Others are due to the server, the key or the command. */
const REJECTIONS: ReadonlySet<string> = new Set([
  'invalid_data', 'invalid_json', 'sync_refused', 'idempotency_mismatch', 'body_too_large',
  'bad_request',
]);
/** Statuses after which the server may accept the same file later, as after those from 500. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 429]);
/** Codes of errors that can occur only before any byte is sent. */
const NOT_SENT: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

const CHANGED = 'The file changed while it was sent: compare it with what was applied. Write files'
  + ' under a temporary name, and rename them when they are complete.';

/** @throws CommandFailure for a problem that would affect every file */
export async function watchStock(watch: StockWatch): Promise<void> {
  const { folder, signal } = watch;
  while (!signal.aborted) {
    const claim = folder.next();
    if (!claim) await watch.wait(watch.intervalMs);
    else if (claim.isFinished || await sendUntilAnswered(watch, claim)) {
      print(watch.input, folder.publish(claim));
    }
  }
}

/** Returns false if the signal came first. */
async function sendUntilAnswered(watch: StockWatch, claim: Claim): Promise<boolean> {
  const isTooOld = prepareIsTooOld(watch.clock);
  for (let failures = 0; ; failures += 1) {
    const { attempt } = claim;
    if (attempt && isTooOld(attempt)) {
      claim.finish(describeUnknown(claim, attempt, watch.clock()));
      return true;
    }
    try {
      await send(watch, claim, attempt);
      return true;
    } catch (error) {
      const failure = explainFailure(error);
      if (!(failure instanceof Error)) throw error;
      if (isRejection(error)) {
        claim.finish(describeRejection(claim, failure, watch.clock()));
        return true;
      }
      if (!isTemporary(error)) throw stopWith(failure, claim);
      const isNotSent = error instanceof ConnectionError && NOT_SENT.has(error.code ?? '');
      if (!attempt && isNotSent) claim.discardAttempt();
      if (watch.signal.aborted) return false;
      const retryAfterMs = failure instanceof TemporaryFailure ? failure.retryAfterMs : 0;
      const waitMs = retryDelayMs(RETRY_POLICY, failures, { retryAfterMs });
      const seconds = Math.ceil(waitMs / 1000);
      watch.input.note(`${failure.message} Retrying ${claim.name} in ${seconds} s.`);
      await watch.wait(waitMs);
      if (watch.signal.aborted) return false;
    }
  }
}

/** By the clock, or by the time since it was seen first, whichever says so. */
function prepareIsTooOld(clock: Clock): (attempt: Attempt) => boolean {
  const lived = makeLivedTime(clock);
  let term: ReturnType<typeof termFrom> | undefined;
  return ({ started_at }) => {
    const now = lived.now();
    const ageMs = Math.max(0, now.wall - Date.parse(started_at));
    term ??= termFrom(now, RESEND_LIMIT_MS - ageMs);
    return hasEnded(term, now);
  };
}

/** Sends the file once, with the options of its first attempt, and records the outcome. */
async function send(
  { client, options: currentOptions, format, input: { io }, clock }: StockWatch, claim: Claim,
  attempt: Attempt | undefined,
): Promise<void> {
  const source = await openSource(claim.path, format, io);
  const version = claim.readVersion();
  const { options, started_at } = attempt
    ?? { options: adaptOptions(claim.name, currentOptions), started_at: formatTime(clock()) };
  if (!attempt) claim.beginAttempt({ started_at, options });
  const rejected = new RejectedRowsFile(source, 'stock', {
    ...options, path: claim.prepareRejectedPath(source.format),
  });
  const run = createStockRun(client, source, rejected, { ...options, idempotencyKey: claim.id });
  const outcome = await sendFile({
    ...run, shownLimit: REPORTED_ROWS_LIMIT,
    progressStream: io.stderr.isTTY ? io.stderr : undefined,
  }).catch(async (error: unknown) => {
    await rejected.discard();
    throw error;
  });
  const { summary, shownRows, rejectedFile } = outcome;
  claim.finish({
    file: claim.name, status: 'applied', started_at, finished_at: formatTime(clock()),
    idempotency_key: claim.id, options, summary,
    ...(claim.readVersion() !== version && { warning: CHANGED }),
    rejected_rows: shownRows.map(({ line, sku, reason }) => ({ line, sku, reason })),
  }, rejectedFile);
}

function isRejection(error: unknown): boolean {
  if (error instanceof UnreadableFile) return true;
  if (!(error instanceof ApiError)) return false;
  // Other files may have the columns of --map, and --sheet. Other errors in them are the command's.
  const lacksNames = error.code === 'invalid_query' && error.issues.some(({ parameter, code }) =>
    (parameter === 'map' || parameter === 'sheet') && code === 'unknown');
  return lacksNames || REJECTIONS.has(error.code);
}

function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.code !== BLOCKED_PORT;
  return error instanceof ApiError && (error.status >= 500 || TEMPORARY.has(error.status));
}

/** A flag that the server rejects is a usage error; an unexpected error is a bug. */
function stopWith(failure: Error, claim: Claim): Error {
  if (!(failure instanceof CommandFailure)) return failure;
  const hint = `The file stays at ${claim.path}, and the next start continues with it.`;
  return new CommandFailure(`${failure.message} ${hint}`, { cause: failure });
}

function describeRejection(claim: Claim, failure: Error, now: number): ClaimReport {
  return {
    file: claim.name, status: 'rejected', finished_at: formatTime(now),
    idempotency_key: claim.id, options: claim.attempt?.options,
    error: { detail: printable(failure.message), problem: findProblem(failure) },
  };
}

/** Sending the file again could apply it twice: the server may have removed its key. */
function describeUnknown(claim: Claim, { started_at, options }: Attempt, now: number): ClaimReport {
  const detail = `It was sent at ${started_at}, and no response arrived. It is too late to retry:`
    + ' the server could apply its changes a second time. Look for them in the stock ledger. If'
    + ' they are missing, move the file back into the folder.';
  return {
    file: claim.name, status: 'unknown', started_at, finished_at: formatTime(now),
    idempotency_key: claim.id, options, error: { detail },
  };
}

function print({ isJson, out, note }: StockWatch['input'], published: Published): void {
  const { report, path, rejectedPath } = published;
  const { file, status, summary, error, warning } = report;
  if (isJson) return out(JSON.stringify({ ...report, path, rejected_file: rejectedPath ?? null }));
  if (status === 'applied') {
    out(printable(`${file}: ${formatCounts(asMembers(summary))}. It is now ${path}.`));
    for (const sentence of readTexts(asMembers(summary)['notes'])) note(`${file}: ${sentence}`);
    if (warning !== undefined) note(`${file}: ${printable(warning)}`);
    if (rejectedPath !== undefined) note(`The rejected rows of ${file} are in ${rejectedPath}.`);
  } else {
    const predicate = status === 'rejected' ? 'was rejected' : 'may not have been applied';
    note(`${file} ${predicate}: ${asMembers(error)['detail']} It is now ${path}.`);
  }
}
