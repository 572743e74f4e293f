/** How failures are told: by their kind, and by nothing that would tell of the network. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFailure } from '../../../src/features/webhooks/outcome.ts';

for (const [code, outcome] of [
  ['ECONNREFUSED', 'connection refused'],
  ['ETIMEDOUT', 'no connection: it does not answer'],
  ['HPE_INVALID_CONSTANT', 'the answer is not HTTP'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'TLS failed'],
  ['ERR_TLS_HANDSHAKE_TIMEOUT', 'TLS failed'],
  ['CERT_HAS_EXPIRED', 'certificate: it has expired'],
  ['CERT_REVOKED', 'certificate: cert revoked'],
  ['UNABLE_TO_GET_CRL', 'failed with UNABLE_TO_GET_CRL'],
  [undefined, 'the connection was closed without an answer'],
] as const) {
  test(`tells of ${code ?? 'an error without a code'}: ${outcome}`, () => {
    const error = Object.assign(new Error('connect 10.1.2.3:443 intranet.example'), { code });
    assert.equal(describeFailure(error), outcome);
  });
}

test('tells of what is no error, too', () => {
  assert.equal(describeFailure('10.1.2.3'), 'the connection was closed without an answer');
});
