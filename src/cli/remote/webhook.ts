/** `webhook list`, `create`, `delete`, `deliveries`, `resend`, `retry` and `test`. */
import type { WebhookAttempt, WebhookDelivery, WebhookType } from '../../client/index.ts';
import { WEBHOOK_TYPE_NAMES } from '../../domain/webhooks/webhook-type.ts';
import { WEBHOOK_DELIVERIES } from '../../domain/webhooks/webhook.ts';
import { CommandFailure, type Input, type Result, UsageError } from '../command.ts';
import { confirm, YES_FLAG } from '../confirm.ts';
import { listResult } from '../format.ts';
import { printable } from '../printable.ts';
import { splitList } from '../settings.ts';
import { LIMIT_FLAG, openClient, remoteCommand, takeRows } from './client.ts';

export const TYPES_FLAG = {
  types: {
    value: 'LIST', choices: WEBHOOK_TYPE_NAMES, isList: true, help: 'only these types',
  },
};

export const listWebhooks = remoteCommand({
  summary: 'Lists the webhooks and whether they are active.',
  async run(input) {
    const all = await Array.fromAsync(openClient(input).webhooks.list());
    const hint = 'There is no webhook yet. Create one: webhook create URL';
    return listResult('webhooks', all, hint, ({ id, url, status, position, failing_since }) =>
      ({ id, url, status, position, failing_since }));
  },
});

export const createWebhook = remoteCommand({
  summary: 'Sends every change from now on to an address, and prints the secret once.',
  operands: ['URL'],
  flags: {
    ...TYPES_FLAG,
    delivery: {
      choices: WEBHOOK_DELIVERIES,
      help: 'up to 100 changes in a message (default), or one, as Zapier, Make and n8n need',
    },
    description: { value: 'TEXT', help: 'what it is for' },
  },
  async run(input) {
    const { operands: [url = ''], flags } = input;
    const webhook = await openClient(input).webhooks.create({
      url, description: flags['description'], types: readTypes(flags),
      // The cast: these are its choices.
      delivery: flags['delivery'] as WebhookDelivery | undefined,
    });
    return {
      document: webhook,
      note: `Created webhook ${printable(webhook.id)}. Copy its secret, it is not shown again:`,
      text: printable(webhook.secret),
    };
  },
});

export const deleteWebhook = remoteCommand({
  summary: 'Deletes a webhook: nothing more is sent. Asks to confirm on a terminal.',
  operands: ['WEBHOOK_ID'],
  flags: YES_FLAG,
  async run(input) {
    const { operands: [id = ''] } = input;
    const { webhooks } = openClient(input);
    const webhook = await webhooks.get(id);
    await confirm(input, `Delete webhook ${id}, which sends to ${webhook.url}?`);
    await webhooks.delete(id);
    return { document: webhook, text: printable(`Deleted webhook ${id}.`) };
  },
});

export const listDeliveries = remoteCommand({
  summary: 'Lists the latest attempts of a webhook, newest first.',
  operands: ['WEBHOOK_ID'],
  flags: { limit: LIMIT_FLAG },
  async run(input) {
    const { operands: [id = ''] } = input;
    const { webhooks } = openClient(input);
    const attempts = await takeRows(input, (limit) => webhooks.deliveries(id, { limit }));
    const hint = `The webhook has sent nothing yet. To try it: webhook test ${printable(id)}`;
    return listResult('deliveries', attempts, hint, ({ message_id: _, ...attempt }) => attempt);
  },
});

export const retryWebhook = remoteCommand({
  summary: 'Makes the next attempt of a failing webhook due now; a disabled one becomes active.',
  operands: ['WEBHOOK_ID'],
  async run(input) {
    const { operands: [id = ''] } = input;
    const webhook = await openClient(input).webhooks.retry(id);
    const text = `${id} is ${webhook.status}. See the outcome: webhook deliveries ${id}`;
    return { document: webhook, text: printable(text) };
  },
});

export const resendDelivery = remoteCommand({
  summary: 'Sends the message of an attempt again, with the same id, and prints the response.',
  operands: ['WEBHOOK_ID', 'N'],
  async run(input) {
    const { operands: [id = '', n = ''] } = input;
    if (!/^[1-9]\d{0,14}$/.test(n)) {
      throw new UsageError(`"${n}" is not the number of an attempt. "webhook deliveries" has it.`);
    }
    return describeAttempt(input, await openClient(input).webhooks.resend(id, Number(n)));
  },
});

export const testWebhook = remoteCommand({
  summary: 'Sends a test message to a webhook now, and prints the response.',
  operands: ['WEBHOOK_ID'],
  async run(input) {
    const { operands: [id = ''] } = input;
    return describeAttempt(input, await openClient(input).webhooks.test(id));
  },
});

/** Undefined for all changes. */
export function readTypes({ types }: Input['flags']): readonly WebhookType[] | undefined {
  // The cast: these are its choices.
  return types === undefined ? undefined : splitList(types) as WebhookType[];
}

/** @throws CommandFailure if it was not delivered */
function describeAttempt({ isJson, out, operands: [id] }: Input, attempt: WebhookAttempt): Result {
  const { outcome, status, duration_ms: durationMs } = attempt;
  const response = `${id}: ${outcome}${status === null ? '' : `, status ${status}`}`;
  if (outcome === 'delivered') {
    return { document: attempt, text: printable(`${response}, after ${durationMs} ms`) };
  }
  if (isJson) out(JSON.stringify(attempt));
  throw new CommandFailure(`${response}.`);
}
