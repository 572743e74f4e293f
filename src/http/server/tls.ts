/**
 * TLS of the server itself: 1.3, and 1.2 only with forward secrecy and authenticated encryption
 * (RFC 8996, RFC 9325 section 4.2). It reads no files: the caller has the certificate, and may
 * replace it later.
 */
import { constants } from 'node:crypto';
import type { RequestListener, Server as PlainServer, ServerOptions } from 'node:http';
import { createServer, Server } from 'node:https';
import { HANDSHAKE_TIMEOUT_MS } from '../limits.ts';
import { formatStrictTransport } from './strict-transport.ts';

/** A certificate, with those that lead to its authority after it, and its private key; as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Suites of TLS 1.3, then those of 1.2 with ephemeral ECDH and an AEAD. */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** A server that does not listen yet. */
export function createTlsServer(certificate: Certificate, options: ServerOptions): Server {
  const context = describeContext(certificate);
  const server = createServer({ ...options, ...context, handshakeTimeout: HANDSHAKE_TIMEOUT_MS });
  // Without TLS there is no way to answer; Node takes it for a request that cannot be parsed.
  return server.prependListener('tlsClientError', (_, socket) => socket.destroy());
}

/** Has all answers ask browsers for TLS from then on. */
export function withStrictTransport(handle: RequestListener): RequestListener {
  return (request, response) => {
    const fields = formatStrictTransport(request.headers.host ?? '');
    for (const [name, value] of Object.entries(fields)) response.setHeader(name, value);
    handle(request, response);
  };
}

/** What connections that begin from now on get. Nothing where the server does not speak TLS. */
export function renewCertificate(server: PlainServer, certificate: Certificate): void {
  if (server instanceof Server) server.setSecureContext(describeContext(certificate));
}

/** Complete each time: a new context inherits nothing from the previous one. */
function describeContext({ cert, key }: Certificate) {
  return {
    cert, key, minVersion: 'TLSv1.2', ciphers: CIPHERS, honorCipherOrder: true, ecdhCurve: 'auto',
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  } as const;
}
