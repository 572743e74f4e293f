/**
 * The passkey parsers on corrupted input: they return or throw an AppError `invalid_data`, read
 * nothing beyond their bytes, and accept CBOR only in the canonical encoding of its value.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  parseAttestationObject, parseAuthenticatorData,
} from '../../../../src/domain/access/webauthn/authenticator-data.ts';
import { type CborValue, parseCbor } from '../../../../src/domain/access/webauthn/cbor.ts';
import { verifyAssertion } from '../../../../src/domain/access/webauthn/ceremony.ts';
import { parseCoseKey } from '../../../../src/domain/access/webauthn/cose-key.ts';
import { AppError } from '../../../../src/domain/error.ts';
import { type Algorithm, SoftwareAuthenticator } from '../../../support/authenticator.ts';
import { type Encodable, encodeCbor } from '../../../support/cbor.ts';
import { forRandom, makeRandom, type Random } from '../../random.ts';

const RUNS = 6_000;
const CEREMONY = { challenge: 'Y2hhbGxlbmdl', origin: 'https://shop.example' };
/** Heads of CBOR items with every type and length, and boundary values. */
const HEADS = [
  0x00, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1f, 0x20, 0x3b, 0x40, 0x58, 0x59, 0x5b, 0x5f, 0x60, 0x7b,
  0x7f, 0x80, 0x81, 0x9a, 0x9b, 0x9f, 0xa0, 0xa1, 0xbb, 0xbf, 0xc0, 0xd8, 0xf4, 0xf6, 0xf7, 0xf9,
  0xfb, 0xff,
];

const authenticators = (['ES256', 'EdDSA', 'RS256'] satisfies readonly Algorithm[])
  .map((algorithm) => new SoftwareAuthenticator(algorithm));
const attestations = authenticators.map((one) => one.create(CEREMONY).attestationObject);
const answers = authenticators.map((one) => one.get(CEREMONY));
const values = makeRandom(1);
const samples: readonly Buffer[] = [
  ...attestations, ...answers.map(({ authenticatorData }) => authenticatorData),
  ...authenticators.map(({ publicKey }) => publicKey),
  ...attestations.map((bytes) => bytes.subarray(bytes.indexOf('authData') + 10)),
  ...Array.from({ length: 20 }, () => encodeCbor(makeValue(values, 0))),
];

test('reads or rejects corrupted CBOR, keys, authenticator data and attestation objects', () => {
  let accepted = 0;
  forRandom(RUNS, (random) => {
    const bytes = corrupt(random, random.pick(samples));
    for (const parse of [parseCbor, parseCoseKey, parseAuthenticatorData, parseAttestationObject]) {
      const outcome = attempt(() => parse(bytes));
      if (outcome !== undefined) accepted += 1;
      assert.deepEqual(attempt(() => parse(withSurroundings(random, bytes))), outcome, parse.name);
    }
    const value = attempt(() => parseCbor(bytes));
    if (value !== undefined) {
      // The cast: a value that was read from CBOR can be encoded.
      assert.ok(encodeCbor(value as CborValue as Encodable).equals(bytes));
    }
  });
  assert.ok(accepted > RUNS / 100, 'nearly all input is rejected: the fuzzer reaches too little');
});

test('rejects every corrupted response to a challenge', () => {
  forRandom(RUNS / 4, (random) => {
    const which = random.below(answers.length);
    const [answer, authenticator] = [answers[which], authenticators[which]];
    assert.ok(answer && authenticator);
    const name = random.pick(['clientDataJson', 'authenticatorData', 'signature'] as const);
    const corrupted = corrupt(random, answer[name]);
    if (corrupted.equals(answer[name])) return;
    const sent = { ...answer, [name]: corrupted };
    const { publicKey } = authenticator;
    assert.equal(attempt(() => verifyAssertion(CEREMONY, publicKey, sent)), undefined);
  });
});

/** The result, or undefined if the input was rejected. */
function attempt<Result>(parse: () => Result): Result | undefined {
  try {
    return parse();
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, 'invalid_data');
    return undefined;
  }
}

/** The same bytes within a larger buffer, whose other bytes must not matter. */
function withSurroundings(random: Random, bytes: Buffer): Buffer {
  const [before, after] = [random.below(9), random.below(9)];
  const all = Buffer.alloc(before + bytes.length + after, random.below(256));
  bytes.copy(all, before);
  return all.subarray(before, before + bytes.length);
}

function corrupt(random: Random, sample: Buffer): Buffer {
  let bytes: Buffer = Buffer.from(sample);
  for (let n = random.below(4); n >= 0; n -= 1) {
    const at = random.below(bytes.length + 1);
    const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
    const byte = Buffer.from([random.below(2) === 0 ? random.pick(HEADS) : random.below(256)]);
    const other = random.pick(samples);
    const start = random.below(other.length);
    bytes = Buffer.concat(random.pick([
      [head, byte, tail.subarray(1)], [head, byte, tail], [head, tail.subarray(1)], [head],
      [head, other.subarray(start, start + random.below(40)), tail],
      [head, Buffer.from([(tail[0] ?? 0) ^ (1 << random.below(8))]), tail.subarray(1)],
    ]));
  }
  return bytes;
}

function makeValue(random: Random, depth: number): Encodable {
  const kind = random.below(depth > 3 ? 5 : 7);
  const size = random.below(6);
  switch (kind) {
    case 0: return random.below(2 ** random.below(50));
    case 1: return -1 - random.below(2 ** random.below(50));
    case 2: return Buffer.alloc(random.below(300), size);
    case 3: return 'é'.repeat(random.below(30));
    case 4: return random.pick([true, false, null]);
    case 5: return Array.from({ length: size }, () => makeValue(random, depth + 1));
    default: return new Map<number | string, Encodable>(Array.from({ length: size }, (_, index) =>
      [index % 2 === 0 ? index : `k${index}`, makeValue(random, depth + 1)]));
  }
}
