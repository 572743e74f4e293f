/**
 * Reads the files of `--tls-cert` and `--tls-key` and checks them before use, so that an error is
 * explained and does not affect a running server. Rejects a key that every user can access.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { CERTIFICATE_EXPIRY_WARNING_DAYS } from '../limits.ts';
import { DAY_MS } from '../../domain/time.ts';
import { CommandFailure } from '../command.ts';
import { readSettingFile } from '../settings.ts';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export type ReadCertificate = ReturnType<typeof readCertificate>;

/**
 * @param host The host that clients connect to, if known.
 * @param now Milliseconds since 1970.
 * @throws CommandFailure
 */
export function readCertificate(
  { certFile, keyFile }: CertificateFiles, host: string | undefined, now: number,
) {
  const { text: cert } = readSettingFile(certFile);
  const { text: key, isOpenToAll } = readSettingFile(keyFile);
  if (isOpenToAll) {
    throw new CommandFailure(`Every user of this machine can access the key ${keyFile}.`
      + ' Revoke that access (chmod o= FILE), and replace the key if you do not trust all users.');
  }
  const x509 = parseCertificate(cert, certFile);
  if (!x509.checkPrivateKey(parseKey(key, keyFile))) {
    throw new CommandFailure(`The key ${keyFile} does not belong to the certificate ${certFile}.`);
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`The certificate ${certFile} cannot be used: ${reason}.`);
  }
  const until = x509.validToDate.toISOString().slice(0, 10);
  return {
    cert, key,
    /** Milliseconds since 1970. */
    expiresAt: x509.validToDate.getTime(),
    /** Its subject and expiry. */
    description: `${x509.subject.replaceAll('\n', ', ') || 'a certificate without a subject'},`
      + ` valid until ${until}`,
    /** Problems that do not prevent using it. */
    warnings: [...listTimeWarnings(x509, now), ...listHostWarnings(x509, host)],
  };
}

/** The first certificate in the file is the server's own. @throws CommandFailure */
function parseCertificate(pem: string, path: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new CommandFailure(`${path} is not a certificate in PEM (-----BEGIN CERTIFICATE-----).`);
  }
}

/** @throws CommandFailure */
function parseKey(pem: string, path: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new CommandFailure(pem.includes('ENCRYPTED')
      ? `The key ${path} has a passphrase. Use a key without one.`
      : `${path} is not a private key in PEM (-----BEGIN PRIVATE KEY-----).`);
  }
}

function listTimeWarnings({ validFromDate, validToDate }: X509Certificate, now: number): string[] {
  if (now < validFromDate.getTime()) {
    return [`The certificate is not valid before ${validFromDate.toISOString()}.`];
  }
  if (now > validToDate.getTime()) {
    return [`The certificate expired on ${validToDate.toISOString()}. Clients will reject it.`];
  }
  const days = Math.floor((validToDate.getTime() - now) / DAY_MS);
  if (days >= CERTIFICATE_EXPIRY_WARNING_DAYS) return [];
  return [`The certificate expires in ${days} days. Renew it, and send SIGHUP to this process.`];
}

function listHostWarnings(x509: X509Certificate, host: string | undefined): string[] {
  if (host === undefined) return [];
  const address = host.replace(/^\[|\]$/g, '');
  const isFor = isIP(address) ? x509.checkIP(address) : x509.checkHost(address);
  return isFor ? [] : [`The certificate is not valid for ${host}, the host of --base-url.`];
}
