/**
 * `revert`: restores the products of a running server to their state before an import, or before a
 * range of changes. Exit status 1 means that products were left alone.
 */
import { randomUUID } from 'node:crypto';
import type { RevertedProduct, RevertSelection, RevertSummary } from '../../client/index.ts';
import { REVERT_CONFLICTS } from '../../store/revert-store.ts';
import { CommandFailure, type Input, UsageError } from '../command.ts';
import { formatCounted, formatCounts } from '../format.ts';
import { RETRY_POLICY } from './limits.ts';
import { printable } from '../printable.ts';
import { withInterrupt } from '../progress.ts';
import { readPosition } from '../settings.ts';
import { asMembers, withRetries } from './api-error.ts';
import { openClient, remoteCommand } from './client.ts';
import { followImport } from './imports.ts';

export const revertChanges = remoteCommand({
  summary: 'Restores products to their state before an import, or before a range of changes.',
  operands: ['[IMPORT_ID]'],
  flags: {
    after: { value: 'POSITION', help: 'revert the changes after this position, with --up-to' },
    'up-to': { value: 'POSITION', help: 'revert the changes up to this position' },
    key: { value: 'KEY_ID', help: 'of these changes, only those that this key made' },
    source: { value: 'NAME', help: 'of these changes, only those from this system' },
    force: { help: 'also restore products that something else changed since; sales stay' },
    'dry-run': { help: 'change nothing, but report what would change' },
    'idempotency-key': { value: 'KEY', help: 'continue an interrupted run, which printed it' },
  },
  isStream: true,
  async run(input) {
    const { flags, isJson, out, note } = input;
    const isDryRun = flags['dry-run'] !== undefined;
    const summary = await send(input, isDryRun);
    if (isJson) out(JSON.stringify({ summary }));
    else {
      const prefix = isDryRun ? 'Dry run, nothing was changed' : 'Reverted';
      const name = summary.import === undefined ? '' : ` (${printable(summary.import)})`;
      out(`${prefix}: ${formatCounts(asMembers(summary))}${name}.`);
    }
    if (summary.conflicts === 0) return;
    if (!isJson && summary.advice !== undefined) note(printable(summary.advice));
    const predicate = isDryRun ? 'would be left alone' : 'were left alone';
    throw new CommandFailure(`${formatCounted(summary.conflicts, 'product')} ${predicate}.`);
  },
});

/** Prints each product once, even if the report breaks off and is repeated. */
async function send(input: Input, isDryRun: boolean): Promise<RevertSummary> {
  const { flags, note } = input;
  const selection = readSelection(input);
  const client = openClient(input);
  const { 'idempotency-key': idempotencyKey = randomUUID() } = flags;
  const options = { force: flags['force'] !== undefined, dryRun: isDryRun, idempotencyKey };
  const printed = new Set<string>();
  const resume = 'What was restored stays. To continue, run the command again within 48 hours'
    + ` with --idempotency-key ${idempotencyKey}`;
  const revert = (signal: AbortSignal) => withRetries(async () => {
    const report = await client.imports.revert(selection, { ...options, signal });
    for await (const product of report) {
      if (!printed.has(product.id)) print(input, product);
      printed.add(product.id);
    }
    return await report.summary();
  }, RETRY_POLICY, note);
  const describeWritten = isDryRun ? undefined
    : followImport(client, ({ kind }) => kind === 'revert');
  try {
    return await withInterrupt(input.io, revert, async () => (describeWritten
      ? `Interrupted. ${await describeWritten()}${resume}` : 'Interrupted. Nothing was changed.'));
  } catch (error) {
    if (!(error instanceof CommandFailure) || isDryRun || printed.size === 0) throw error;
    throw new CommandFailure(`${error.message} ${resume}`, { cause: error });
  }
}

function readSelection({ flags, operands: [id] }: Input): RevertSelection {
  const { after, 'up-to': upTo, key, source } = flags;
  if (id !== undefined) {
    const other = ['after', 'up-to', 'key', 'source'].find((name) => flags[name] !== undefined);
    if (other === undefined) return { import: id };
    throw new UsageError(`--${other} does not combine with an IMPORT_ID.`);
  }
  if (after === undefined || upTo === undefined) {
    throw new UsageError('Give an IMPORT_ID ("imports list" shows them), or --after and --up-to.');
  }
  return {
    after: readPosition(flags, 'after'),
    up_to: readPosition(flags, 'up-to'),
    ...(key !== undefined && { key_id: key }), ...(source !== undefined && { source }),
  };
}

/** Every product with --json, and otherwise those that are left alone. */
function print({ isJson, out }: Input, product: RevertedProduct): void {
  if (isJson) return out(JSON.stringify(product));
  const { sku, id, status, conflict } = product;
  if (status !== 'conflict' || conflict === undefined) return;
  // A newer server may know more conflicts.
  const reason = Object.hasOwn(REVERT_CONFLICTS, conflict) ? REVERT_CONFLICTS[conflict]
    : printable(conflict);
  out(`Left alone: ${printable(sku ?? id)} (${reason})`);
}
