/** `webhook list` and `webhook test`: the webhooks of a running server. */
import { CommandFailure } from '../command.ts';
import { listResult } from '../format.ts';
import { printable } from '../printable.ts';
import { openClient, remoteCommand } from './client.ts';

export const listWebhooks = remoteCommand({
  summary: 'Lists the webhooks and whether they are active.',
  async run(input) {
    const all = await Array.fromAsync(openClient(input).webhooks.list());
    const hint = 'There is no webhook yet. To try one: webhook listen';
    if (input.isJson) return listResult('webhooks', all.map((webhook) => ({ ...webhook })), hint);
    return listResult('webhooks', all.map(({ id, url, status, position, failing_since }) =>
      ({ id, url, status, position, failing_since })), hint);
  },
});

export const testWebhook = remoteCommand({
  summary: 'Sends a test message to a webhook now, and prints the response.',
  operands: ['WEBHOOK_ID'],
  async run(input) {
    const [id = ''] = input.operands;
    const attempt = await openClient(input).webhooks.test(id);
    const { outcome, status, duration_ms: durationMs } = attempt;
    const response = status === null ? outcome : `${outcome}, status ${status}`;
    if (outcome === 'delivered') {
      return { document: attempt, text: printable(`${id}: ${response}, after ${durationMs} ms`) };
    }
    if (input.isJson) input.out(JSON.stringify(attempt));
    throw new CommandFailure(`${id}: ${response}.`);
  },
});
