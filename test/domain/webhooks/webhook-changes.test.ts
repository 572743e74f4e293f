/** The rules for changing webhooks, which every store applies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SellerId, WebhookId } from '../../../src/domain/id.ts';
import { WEBHOOKS_PER_SELLER_LIMIT } from '../../../src/domain/limits.ts';
import type { Webhook } from '../../../src/domain/webhooks/webhook.ts';
import {
  assertWebhookRoom, formatAuditSubject, isReconfigured, needsAttention, patchWebhook, replayFrom,
  retryWebhook,
} from '../../../src/domain/webhooks/webhook-changes.ts';

const NOW = 9_000;
const FAILING: Webhook = {
  // The casts: any positive integer is an id.
  sellerId: 5 as SellerId, id: 7 as WebhookId, url: 'https://shop.example/secret-path',
  description: '', types: null, delivery: 'batch', status: 'active',
  disabledReason: undefined, position: 3,
  message: { id: 'msg_1', first: 4, last: 6, at: 1, types: null }, failures: 2, failingSince: 1_000,
  failingLivedSince: 10, nextAttemptAt: 50_000, createdBy: undefined, createdAt: 1, updatedAt: 1,
};
const DUE_NOW = {
  failures: 0, failingSince: undefined, failingLivedSince: undefined, nextAttemptAt: NOW,
};

test('makes the next attempt due immediately for a new URL and for `active`', () => {
  const url = 'https://other.example/';
  assert.deepEqual(patchWebhook(FAILING, { url }, NOW),
    { ...FAILING, url, ...DUE_NOW, updatedAt: NOW });
  assert.deepEqual(patchWebhook(FAILING, { status: 'active' }, NOW),
    { ...FAILING, ...DUE_NOW, updatedAt: NOW });
  assert.deepEqual(patchWebhook(FAILING, { description: 'x' }, NOW),
    { ...FAILING, description: 'x', updatedAt: NOW });
});

test('drops the message in flight only if the types change', () => {
  const types = ['stock'] as const;
  assert.deepEqual(patchWebhook(FAILING, { types }, NOW),
    { ...FAILING, types, message: undefined, updatedAt: NOW });
  const same = patchWebhook({ ...FAILING, types }, { types: ['stock'] }, NOW);
  assert.deepEqual(same.message, FAILING.message);
});

test('sets a reason when it disables, keeps an earlier one, and removes it when active', () => {
  const disabled = patchWebhook(FAILING, { status: 'disabled' }, NOW);
  assert.equal(disabled.disabledReason, 'It was disabled by a request.');
  const given = { ...disabled, disabledReason: 'Five days.' };
  assert.equal(patchWebhook(given, { status: 'disabled' }, NOW).disabledReason, 'Five days.');
  assert.equal(patchWebhook(given, { description: 'x' }, NOW).disabledReason, 'Five days.');
  assert.equal(patchWebhook(given, { status: 'active' }, NOW).disabledReason, undefined);
});

test('retries now without resetting failures, and activates a disabled webhook', () => {
  assert.deepEqual(retryWebhook(FAILING, NOW), { ...FAILING, nextAttemptAt: NOW });
  const disabled: Webhook = { ...FAILING, status: 'disabled', disabledReason: 'Five days.' };
  assert.deepEqual(retryWebhook(disabled, NOW), { ...FAILING, ...DUE_NOW, updatedAt: NOW });
});

test('needs attention while it fails, and if it was disabled automatically', () => {
  assert.ok(needsAttention(FAILING));
  assert.ok(!needsAttention({ ...FAILING, ...DUE_NOW }));
  assert.ok(needsAttention({ ...FAILING, status: 'disabled', disabledReason: 'Five days.' }));
  assert.ok(!needsAttention(patchWebhook(FAILING, { status: 'disabled' }, NOW)));
});

test('detects changes to the configuration, but not to the state', () => {
  for (const patch of [
    { url: 'https://other.example/' }, { description: 'x' }, { types: ['stock'] as const },
    { status: 'disabled' } as const,
  ]) assert.ok(isReconfigured(FAILING, patchWebhook(FAILING, patch, NOW)));
  assert.ok(!isReconfigured(FAILING, patchWebhook(FAILING, { types: null }, NOW)));
  assert.ok(!isReconfigured(FAILING, replayFrom(FAILING, 0, NOW)));
});

test('replays from a position without the message in flight', () => {
  assert.deepEqual(replayFrom(FAILING, 1, NOW),
    { ...FAILING, position: 1, message: undefined, ...DUE_NOW, updatedAt: NOW });
});

test('names the host in the audit log, and not the path', () => {
  assert.match(formatAuditSubject(FAILING), /^whk_[0-9a-z]+ shop\.example$/);
});

test('limits the webhooks of a seller', () => {
  assertWebhookRoom(WEBHOOKS_PER_SELLER_LIMIT - 1);
  assert.throws(() => assertWebhookRoom(WEBHOOKS_PER_SELLER_LIMIT), { code: 'limit_reached' });
});
