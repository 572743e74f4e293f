/**
 * A receiver that fails, hangs and recovers, and a server that `kill -9` ends under load in every
 * round: the receiver gets every change, in order and without gaps.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Serving } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { assertGapless } from './gapless.ts';
import { type Answering, OK, type Received, type Receiver, startReceiver } from './receiver.ts';
import { create, createWebhook, prepareSeller, serve } from './serving.ts';

const WRITERS = 4;

/** The receiver's responses in each round, and the number of messages before the kill. */
const ROUNDS: readonly (readonly [answering: Answering, messages: number])[] = [
  [OK, 20], [() => {}, 1], [failThird(OK), 6], [OK, 5], [failThird(() => {}), 4], [OK, 30],
];

/** Answers 500 to the third message, as the first may be a retry; the next ones go to `then`. */
function failThird(then: Answering): Answering {
  let count = 0;
  return (response, received) => {
    count += 1;
    if (count < 3) OK(response, received);
    else if (count === 3) response.writeHead(500).end();
    else then(response, received);
  };
}

test('loses no change when a receiver fails, hangs and recovers, nor by kill -9', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const key = await prepareSeller(t, folder);
  const receiver = await startReceiver(t);
  const accepted = new Set<Received>();
  for (const [round, [answering, messages]] of ROUNDS.entries()) {
    receiver.answer = (response, received) => {
      answering(response, received);
      if (response.writableEnded && response.statusCode < 300) accepted.add(received);
    };
    const serving = await serve(t, folder);
    if (round === 0) await createWebhook(serving, key, receiver.url);
    const until = receiver.received.length + messages;
    await killUnderLoad(serving, key, receiver, until);
  }
  const serving = await serve(t, folder);
  const position: number = (await create(serving, key))?.json().position;
  await receiver.until((received) =>
    received.at(-1)?.body.data.last_position === position);
  assertGapless(receiver.received, position);
  assertGapless([...accepted], position);
  assertSameUnderOneId(receiver.received);
  const { length } = receiver.received;
  t.diagnostic(`${ROUNDS.length} kills, ${length} messages, ${position} changes`);
  assert.equal(await serving.stop('SIGTERM'), 0);
});

/** Creates products, and kills the server once the receiver has this many messages. */
async function killUnderLoad(
  serving: Serving, key: string, receiver: Receiver, messages: number,
): Promise<void> {
  let isKilled = false;
  const write = async (): Promise<void> => {
    while (!isKilled) if (!await create(serving, key)) return;
  };
  const writing = Promise.all(Array.from({ length: WRITERS }, write));
  await receiver.until(({ length }) => length >= messages);
  isKilled = true;
  assert.equal(await serving.stop('SIGKILL'), null);
  await writing;
}

function assertSameUnderOneId(received: readonly Received[]): void {
  const texts = new Map<string, string>();
  for (const { id, text } of received) {
    assert.equal(text, texts.get(id) ?? text);
    texts.set(id, text);
  }
  assert.ok(texts.size < received.length, 'no message was repeated, so the kills tested nothing');
}
