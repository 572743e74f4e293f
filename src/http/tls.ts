/**
 * TLS of the server itself: nothing older than 1.2 (RFC 8996), otherwise what Node recommends. It
 * reads no files: whoever has the certificate gives it, and may give another one later.
 */
import type { RequestListener, Server as PlainServer, ServerOptions } from 'node:http';
import { createServer, Server } from 'node:https';
import { HANDSHAKE_TIMEOUT_MS } from './limits.ts';
import { formatStrictTransport } from './strict-transport.ts';

/** A certificate, with those that lead to its authority after it, and its private key; as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

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

/** Said in full each time: a new context knows nothing of the one before. */
function describeContext({ cert, key }: Certificate) {
  return { cert, key, minVersion: 'TLSv1.2' } as const;
}
