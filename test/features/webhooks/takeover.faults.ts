/** Servers that share a data folder: one delivers, and another takes over after a `kill -9`. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { countTo } from '../../store/contract/fixture.ts';
import type { Serving } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { assertGapless } from './gapless.ts';
import { OK, positionsOf, startReceiver } from './receiver.ts';
import { create, createWebhook, prepareSeller, serve } from './serving.ts';

const ROUNDS = 3;
const CHANGES = 20;

test('delivers from one of two servers, and from the other after kill -9', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const key = await prepareSeller(t, folder);
  const receiver = await startReceiver(t);
  let delivering = await serve(t, folder);
  await createWebhook(delivering, key, receiver.url);
  let position = 0;
  const write = async (...servings: readonly Serving[]): Promise<void> => {
    for (const n of countTo(CHANGES)) {
      const answer = await create(servings[n % servings.length] ?? delivering, key);
      position = answer?.json().position;
    }
    await receiver.until((received) => positionsOf(received).includes(position));
  };
  await write(delivering);
  for (let round = 0; round < ROUNDS; round += 1) {
    const other = await serve(t, folder);
    const before = receiver.received.length;
    await write(delivering, other);
    const sent = positionsOf(receiver.received.slice(before));
    assert.equal(new Set(sent).size, sent.length, 'both servers sent a change');
    receiver.answer = () => {}; // leaves the next message in flight when its sender is killed
    await create(other, key);
    await receiver.until((received) => positionsOf(received).includes(position + 1));
    const interrupted = receiver.received.at(-1);
    receiver.answer = OK;
    const { length } = receiver.received;
    assert.equal(await delivering.stop('SIGKILL'), null);
    await write(other);
    assert.equal(receiver.received[length]?.id, interrupted?.id);
    assert.equal(receiver.received[length]?.text, interrupted?.text);
    delivering = other;
  }
  assertGapless(receiver.received, position);
  assert.equal(await delivering.stop('SIGTERM'), 0);
});
