/** Verification of webhook messages. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  verifyWebhook, WebhookVerificationError,
} from '../../src/client/verify-webhook.ts';
import {
  generateWebhookSecret, signMessage, type WebhookSecret,
} from '../../src/domain/webhooks/webhook-signature.ts';

const AT = Date.UTC(2026, 10, 22);
const SECRET = generateWebhookSecret();
const BODY = '{"type":"test","timestamp":"2026-11-22T00:00:00.000Z","data":{"webhook_id":"whk_1"}}';
const HEADERS = signMessage({ id: 'msg_1', at: AT, body: BODY }, [SECRET]);
const clock = () => AT + 1_000;

describe('returns the message if the secret signed it', () => {
  for (const [name, body, headers, secrets] of [
    ['text', BODY, HEADERS, SECRET],
    ['bytes', Buffer.from(BODY), HEADERS, SECRET],
    ['a Headers object', BODY, new Headers(HEADERS), SECRET],
    ['two secrets', BODY, HEADERS, [generateWebhookSecret(), SECRET]],
    ['a message signed twice', BODY, signMessage({ id: 'msg_1', at: AT, body: BODY },
      [generateWebhookSecret(), SECRET]), SECRET],
  ] as const) {
    test(name, () => {
      const event = verifyWebhook(body, headers, secrets, { clock });
      assert.equal(event.type, 'test');
      assert.equal(event.data.webhook_id, 'whk_1');
    });
  }
});

test('verifies the example of the Standard Webhooks specification', () => {
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const event: unknown = verifyWebhook('{"test": 2432232314}', headers, secret,
    { clock: () => 1_614_265_330_000 });
  assert.deepEqual(event, { test: 2_432_232_314 });
});

describe('rejects', () => {
  const changed = BODY.replace('whk_1', 'whk_2');
  for (const [name, body, headers, secret] of [
    ['a changed body', changed, HEADERS, SECRET],
    ['another secret', BODY, HEADERS, generateWebhookSecret()],
    ['another id', BODY, { ...HEADERS, 'webhook-id': 'msg_2' }, SECRET],
    ['another time', BODY, { ...HEADERS, 'webhook-timestamp': `${AT / 1000 + 1}` }, SECRET],
    ['no signature', BODY, { ...HEADERS, 'webhook-signature': undefined }, SECRET],
    ['an empty signature', BODY, { ...HEADERS, 'webhook-signature': '' }, SECRET],
    ['a signature of another version', BODY, {
      ...HEADERS, 'webhook-signature': HEADERS['webhook-signature']?.replace('v1,', 'v2,'),
    }, SECRET],
    ['a malformed time', BODY, { ...HEADERS, 'webhook-timestamp': 'NaN' }, SECRET],
  ] as const) {
    test(name, () => {
      assert.throws(() => verifyWebhook(body, headers, secret, { clock }),
        WebhookVerificationError);
    });
  }
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    test(`a message without exactly one ${name}, and says so`, () => {
      for (const value of [undefined, [HEADERS[name] ?? '']]) {
        assert.throws(() => verifyWebhook(BODY, { ...HEADERS, [name]: value }, SECRET, { clock }),
          { name: 'WebhookVerificationError', message: /header field is missing/ });
      }
    });
  }
  test('a time that is no number, before it compares signatures', () => {
    const headers = { ...HEADERS, 'webhook-timestamp': 'NaN' };
    assert.throws(() => verifyWebhook(BODY, headers, SECRET, { clock }), /too far/);
  });
  test('a message older than five minutes', () => {
    const late = () => AT + 301_000;
    assert.throws(() => verifyWebhook(BODY, HEADERS, SECRET, { clock: late }), /too far/);
    assert.ok(verifyWebhook(BODY, HEADERS, SECRET, { clock: late, toleranceMs: 400_000 }));
  });
  test('no message within five minutes of the clock', () => {
    for (const ms of [-300_000, 300_000]) {
      assert.doesNotThrow(() => verifyWebhook(BODY, HEADERS, SECRET, { clock: () => AT + ms }));
    }
  });
});

test('throws a TypeError for a malformed secret', () => {
  const sized = [23, 65].map(makeSecret);
  for (const secret of ['', 'whsec_', 'secret', 'whsec_AAAA', ...sized]) {
    assert.throws(() => verifyWebhook(BODY, HEADERS, secret, { clock }), TypeError);
  }
});

test('accepts secrets of 24 to 64 bytes', () => {
  for (const secret of [24, 64].map(makeSecret)) {
    const headers = signMessage({ id: 'msg_1', at: AT, body: BODY }, [secret]);
    assert.ok(verifyWebhook(BODY, headers, secret, { clock }));
  }
});

function makeSecret(bytes: number): WebhookSecret {
  // The cast: this is the format of secrets.
  return `whsec_${Buffer.alloc(bytes, 7).toString('base64')}` as WebhookSecret;
}
