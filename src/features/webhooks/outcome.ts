/**
 * Why an attempt failed, for the seller to read: the kind of the failure, and nothing of the server
 * or its network that an error may name.
 */

const KINDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection broke off',
  EPIPE: 'the connection broke off',
  ETIMEDOUT: 'no connection: it does not answer',
  EHOSTUNREACH: 'no connection: it cannot be reached',
  ENETUNREACH: 'no connection: it cannot be reached',
  EADDRNOTAVAIL: 'no connection: it cannot be reached',
  ENOTFOUND: 'its name is not found',
  EAI_AGAIN: 'its name cannot be looked up now',
  EPROTO: 'TLS failed',
  CERT_HAS_EXPIRED: 'certificate: it has expired',
  CERT_NOT_YET_VALID: 'certificate: it is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate: it is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate: it is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate: its chain ends in an unknown root',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate: its issuer is unknown',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate: its chain is not complete',
};

/** By the code of the error, which Node and OpenSSL choose from lists of their own. */
export function describeFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = KINDS[code];
  if (known !== undefined) return known;
  if (code.startsWith('HPE_')) return 'the answer is not HTTP';
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) return 'TLS failed';
  if (code.includes('CERT')) return `certificate: ${code.toLowerCase().replaceAll('_', ' ')}`;
  if (/^[A-Z][A-Z0-9_]{2,60}$/.test(code)) return `failed with ${code}`;
  return 'the connection was closed without an answer';
}
