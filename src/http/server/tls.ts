/**
 * The server's own TLS: 1.3, and 1.2 only with forward secrecy and authenticated encryption (RFC
 * 8996, RFC 9325 section 4.2), with Strict-Transport-Security (RFC 6797). Reads no files: the
 * caller passes the certificate and may replace it later.
 */
import { constants } from 'node:crypto';
import type { RequestListener, Server as PlainServer, ServerOptions } from 'node:http';
import { createServer, Server } from 'node:https';
import { HANDSHAKE_TIMEOUT_MS } from '../limits.ts';

/** A certificate followed by its intermediates, and its private key, both in PEM. */
export interface Certificate {
  /** The certificate, followed by its intermediates: PEM. */
  readonly cert: string;
  /** The private key: PEM. */
  readonly key: string;
}

/** The TLS 1.3 suites, then those of TLS 1.2 with ephemeral ECDH and an AEAD. */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

const LOOPBACK_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

/** Creates a server that does not listen yet. */
export function createTlsServer(certificate: Certificate, options: ServerOptions): Server {
  const context = toSecureContext(certificate);
  const server = createServer({ ...options, ...context, handshakeTimeout: HANDSHAKE_TIMEOUT_MS });
  // There is no way to respond without TLS, and Node would report an unparsable request.
  return server.prependListener('tlsClientError', (_, socket) => socket.destroy());
}

/** Adds Strict-Transport-Security to every response. */
export function withStrictTransport(handle: RequestListener): RequestListener {
  return (request, response) => {
    response.setHeaders(new Map(Object.entries(formatStrictTransport(request.headers.host ?? ''))));
    handle(request, response);
  };
}

/**
 * The header field that keeps browsers on TLS for a year. Omitted for a loopback host: browsers
 * would demand TLS from everything else on their machine.
 */
export function formatStrictTransport(host: string): Readonly<Record<string, string>> {
  return isLoopbackHost(host) ? {} : { 'strict-transport-security': 'max-age=31536000' };
}

/** Whether a `Host` value names the client's own machine. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_HOST.test(host);
}

/** Uses another certificate for new connections; does nothing on a server without TLS. */
export function renewCertificate(server: PlainServer, certificate: Certificate): void {
  if (server instanceof Server) server.setSecureContext(toSecureContext(certificate));
}

/** Always complete: a new context inherits nothing from the previous one. */
function toSecureContext({ cert, key }: Certificate) {
  return {
    cert, key, minVersion: 'TLSv1.2', ciphers: CIPHERS, honorCipherOrder: true, ecdhCurve: 'auto',
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  } as const;
}
