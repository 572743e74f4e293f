/**
 * The files of `--tls-cert` and `--tls-key`: read and checked before they are used, so that a
 * mistake is told in words and, where a server runs already, changes nothing. Refuses a key that
 * every user of the machine could read.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { CERTIFICATE_EXPIRY_WARNING_DAYS } from '../limits.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { Certificate } from '../../http/server/tls.ts';
import { CommandFailure } from '../command.ts';
import { readSettingFile } from './setting-file.ts';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface ReadCertificate extends Certificate {
  /** Whose it is, and until when it is good. */
  readonly description: string;
  /** What is wrong with it, though it can be used. */
  readonly warnings: readonly string[];
}

/**
 * `host` is the one that clients come to, if it is known; `now` is in milliseconds since 1970.
 * @throws CommandFailure
 */
export function readCertificate(
  { certFile, keyFile }: CertificateFiles, host: string | undefined, now: number,
): ReadCertificate {
  const { text: cert } = readSettingFile(certFile);
  const { text: key, isOpenToAll } = readSettingFile(keyFile);
  if (isOpenToAll) {
    throw new CommandFailure(`Every user of this machine can get at the key ${keyFile}.`
      + ' Close it to them (chmod o= FILE), and get a new one if they are not to be trusted.');
  }
  const x509 = parseCertificate(cert, certFile);
  if (!x509.checkPrivateKey(parseKey(key, keyFile))) {
    throw new CommandFailure(`The key ${keyFile} is not the one of the certificate ${certFile}.`);
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new CommandFailure(`The certificate ${certFile} cannot be used: ${describe(error)}.`);
  }
  const until = x509.validToDate.toISOString().slice(0, 10);
  return {
    cert, key,
    description: `${x509.subject.replaceAll('\n', ', ') || 'a certificate without a subject'},`
      + ` good until ${until}`,
    warnings: [...listTimeWarnings(x509, now), ...listHostWarnings(x509, host)],
  };
}

/** The first of the file, which is the server's own. @throws CommandFailure */
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
      ? `The key ${path} is locked by a passphrase. Give one without it.`
      : `${path} is not a private key in PEM (-----BEGIN PRIVATE KEY-----).`);
  }
}

function listTimeWarnings({ validFromDate, validToDate }: X509Certificate, now: number): string[] {
  const [from, until] = [validFromDate.getTime(), validToDate.getTime()];
  if (now < from) {
    return [`The certificate is good only from ${validFromDate.toISOString()} on.`];
  }
  if (now > until) {
    return [`The certificate has expired on ${validToDate.toISOString()}: clients refuse it.`];
  }
  const days = Math.floor((until - now) / DAY_MS);
  if (days >= CERTIFICATE_EXPIRY_WARNING_DAYS) return [];
  return [`The certificate expires in ${days} days. Renew it, and send SIGHUP to this process.`];
}

function listHostWarnings(x509: X509Certificate, host: string | undefined): string[] {
  if (host === undefined) return [];
  const address = host.replace(/^\[|\]$/g, '');
  const isFor = isIP(address) ? x509.checkIP(address) : x509.checkHost(address);
  return isFor ? [] : [`The certificate is not for ${host}, where clients are told to come.`];
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
