/**
 * `export`: writes the catalogue of a running server, at one position, to a file or to standard
 * output. The file is named FILE.ID.part until it is complete. An existing path that is not a
 * regular file, such as a device, is rejected, since renaming would replace it.
 */
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { RETRY_POLICY } from '../remote/limits.ts';
import { isSystemError } from '../../runtime/system-error.ts';
import { AtomicFile } from '../../store/sqlite/files/atomic-file.ts';
import type { ExportOptions, SellerClient } from '../../client/index.ts';
import { RowCounter } from '../../client/lines.ts';
import { PRODUCT_FIELD_NAMES } from '../../domain/catalogue/product-fields.ts';
import { SORT_KEYS } from '../../domain/catalogue/product-query.ts';
import { STOCK_LIMIT } from '../../domain/limits.ts';
import {
  CommandFailure, type CommandIo, type Flag, type Flags, type Input, UsageError,
} from '../command.ts';
import { formatCount } from '../../domain/wording.ts';
import { Progress, withInterrupt } from '../progress.ts';
import { explainFailure, TemporaryFailure, withRetries } from '../remote/api-error.ts';
import { openClient, remoteCommand } from '../remote/client.ts';
import { splitAssignment } from '../settings.ts';
import { findFormat, FORMAT_FLAG } from './source-file.ts';

interface ExportTask {
  readonly client: SellerClient;
  readonly options: ExportOptions;
  /** Where to show progress, which must not mix with rows on the same terminal. */
  readonly progressStream: CommandIo['stderr'] | undefined;
}

export const AT_FLAG = {
  value: 'MOMENT', help: 'as of this position, or this time (RFC 3339)',
};

export const FIELDS_FLAG: Flag = {
  value: 'LIST', choices: PRODUCT_FIELD_NAMES, isList: true,
  help: 'only these members, comma-separated',
};

const STOCK_RANGE = [0, STOCK_LIMIT] as const;

/** Flags sent to the server as query parameters. */
export const FILTERS: Flags = {
  at: AT_FLAG,
  q: { value: 'TEXT', help: 'only products with this text in name, SKU, category or barcode' },
  category: { value: 'NAME', help: 'only products in this category' },
  sku: { value: 'SKU', help: 'only the product with this SKU' },
  barcode: { value: 'GTIN', help: 'only products with this barcode' },
  metadata: {
    value: 'NAME=VALUE', isRepeated: true, help: 'only products with this pair of metadata',
  },
  archived: {
    choices: ['false', 'true', 'any'], help: 'true: only archived products; any: all products',
  },
  'price-min': { value: 'PRICE', help: 'only products with at least this price' },
  'price-max': { value: 'PRICE', help: 'only products with at most this price' },
  'stock-min': { value: 'N', range: STOCK_RANGE, help: 'only products with at least this stock' },
  'stock-max': { value: 'N', range: STOCK_RANGE, help: 'only products with at most this stock' },
  'updated-since': { value: 'TIME', help: 'only products changed since this time (RFC 3339)' },
  'changed-since': { value: 'POSITION', help: 'only products changed after this position' },
  sort: {
    value: 'MEMBER', choices: SORT_KEYS.flatMap((key) => [key, `-${key}`]),
    help: 'by this member; --sort=-price is in descending order',
  },
  fields: FIELDS_FLAG,
};

const INCOMPLETE = 'The output is incomplete.';

export const exportProducts = remoteCommand({
  summary: 'Exports the catalogue of a running server to a file, or to standard output.',
  operands: ['[FILE|-]'],
  flags: {
    ...FILTERS,
    format: FORMAT_FLAG,
    force: { help: 'replace FILE if it exists' },
  },
  async run(input) {
    const { flags, operands: [operand], io, isJson, out, note } = input;
    const path = operand === '-' ? undefined : operand; // by convention, - is standard output
    const client = openClient(input, { retries: 0 }); // `withRetries` repeats the whole export
    if (path === undefined && isJson) throw new UsageError('--json needs a FILE for the products.');
    const isForced = flags['force'] !== undefined;
    const file = path === undefined ? undefined : new AtomicFile(resolveFile(path, isForced));
    const { format, isCompressed } = findFormat(path ?? '.csv', flags['format']);
    const progressStream = file !== undefined || !io.stdout.isTTY ? io.stderr : undefined;
    const task = { client, options: { ...readFilters(flags), format }, progressStream };
    const attempt = () => (file ? writeFile(task, file, isCompressed)
      : runExport(task, (body) => writeOut(body, io.stdout)));
    const exporting = () => withRetries(attempt, RETRY_POLICY, note);
    const { rows, position } = await withInterrupt(io, exporting, () => {
      file?.discard();
      return file ? `Interrupted: ${path} was not written.` : `Interrupted. ${INCOMPLETE}`;
    });
    const text = `${formatCount(rows)} products at position ${position}`;
    if (path === undefined) note(`Exported ${text}.`);
    else if (isJson) out(JSON.stringify({ rows, position, file: path }));
    else out(`Exported ${text} to ${path}.`);
  },
});

/** The server parses the texts. @throws UsageError */
export function readFilters({ metadata, ...flags }: Input['flags']): Omit<ExportOptions, 'format'> {
  const filters = Object.fromEntries(Object.keys(FILTERS).flatMap((name) =>
    (flags[name] === undefined ? [] : [[toCamelCase(name), flags[name]]])));
  const pairs = metadata?.split('\n').map(splitAssignment);
  return { ...filters, ...(pairs && { metadata: Object.fromEntries(pairs) }) };
}

function toCamelCase(flag: string): string {
  return flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Passes the rows to `write` and shows progress. */
async function runExport(
  { client, options, progressStream }: ExportTask,
  write: (body: AsyncIterable<Uint8Array>) => Promise<void>,
) {
  const file = await client.products.export(options);
  const counter = new RowCounter(options.format);
  await write(watch(file, counter, progressStream));
  return { rows: counter.rows, position: file.position };
}

async function* watch(
  chunks: AsyncIterable<Uint8Array>, counter: RowCounter,
  progressStream: CommandIo['stderr'] | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  using progress = progressStream && new Progress(progressStream);
  let bytes = 0;
  for await (const chunk of chunks) {
    counter.add(chunk);
    bytes += chunk.length;
    progress?.show({ rows: counter.rows, bytes });
    yield chunk;
  }
  progress?.end({ rows: counter.rows, bytes });
}

async function writeOut(
  body: AsyncIterable<Uint8Array>, stdout: CommandIo['stdout'],
): Promise<void> {
  try {
    await pipeline(body, stdout, { end: false });
  } catch (error) {
    const failure = explainFailure(error);
    if (failure instanceof TemporaryFailure) {
      throw new CommandFailure(`${failure.message} ${INCOMPLETE}`);
    }
    if (!isSystemError(error, 'EPIPE')) throw error;
    throw new CommandFailure('The reader of the output closed it early.');
  }
}

/** Each attempt writes the file from its start, since an export has one position. */
async function writeFile(task: ExportTask, target: AtomicFile, isCompressed: boolean) {
  target.begin();
  const file = await open(target.tempPath, 'r+');
  try {
    const outcome = await runExport(task, (body) => {
      const fileStream = file.createWriteStream({ flush: true });
      return isCompressed ? pipeline(body, createGzip(), fileStream) : pipeline(body, fileStream);
    });
    target.overwrite();
    return outcome;
  } catch (error) {
    await file.close();
    target.discard();
    throw error;
  }
}

/** The file to write; for a symbolic link its target, so that the link stays. */
function resolveFile(path: string, isForced: boolean): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  const isBroken = !stats && lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (stats?.isDirectory()) throw new UsageError(`${path} is a folder. Name a file in it.`);
  if (isBroken || (stats && !stats.isFile())) {
    throw new UsageError(`${path} is not a file. Leave out FILE and redirect standard output.`);
  }
  if (!existsSync(dirname(path))) throw new CommandFailure(`There is no folder ${dirname(path)}.`);
  if (!stats) return path;
  if (!isForced) throw new UsageError(`${path} already exists. Replace it with --force.`);
  return realpathSync(path);
}
