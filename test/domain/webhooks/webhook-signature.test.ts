/** Signatures of Standard Webhooks 1.0.0. */
import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import { test } from 'node:test';
import {
  generateWebhookSecret, signMessage, type WebhookSecret,
} from '../../../src/domain/webhooks/webhook-signature.ts';

test('signs as the libraries of Standard Webhooks do', () => {
  // The test vector of those libraries.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' as WebhookSecret;
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', at: 1_614_265_330_999, body: '{"test": 2432232314}',
  };
  assert.deepEqual(signMessage(message, [secret]), {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('signs with every valid secret, and agrees with Web Crypto', async () => {
  const secrets = [generateWebhookSecret(), generateWebhookSecret()];
  const body = '{"name":"Täßchen 🧾"}';
  const fields = signMessage({ id: 'msg_1', at: 5_000, body }, secrets);
  const expected = await Promise.all(secrets.map(async (secret) => {
    const bytes = Uint8Array.from(atob(secret.slice(6)), (character) => character.charCodeAt(0));
    assert.equal(bytes.length, 32);
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const key = await webcrypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
    const content = new TextEncoder().encode(`msg_1.5.${body}`);
    const signature = await webcrypto.subtle.sign('HMAC', key, content);
    return `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`;
  }));
  assert.equal(fields['webhook-signature'], expected.join(' '));
});
