/**
 * The portal's port in SQLite. Secrets are encrypted and decrypted here, in the thread that serves;
 * the writer thread gets only encrypted ones.
 */
import { formatSellerId, type SellerId } from '../../../domain/id.ts';
import type { TotpSecret } from '../../../domain/access/totp.ts';
import type { AccountStore } from '../../account-store.ts';
import type { Reader } from '../engine/reader.ts';
import type { ServerKey } from '../../rules/server-key.ts';
import type { Writer } from '../engine/writer.ts';

interface PortalStoreOptions {
  readonly key: ServerKey;
  readonly writer: Writer;
  readonly reader: Reader;
  readonly clock: () => number;
}

export function accountStore({ key, writer, reader, clock }: PortalStoreOptions): AccountStore {
  return {
    ...totpMethods(writer, reader, key),
    createInvitation: (hash, invitation) => writer.run('createInvitation', { hash, invitation }),
    findInvitation: async (hash) => reader.snapshot().findInvitation(hash, clock()),
    register: (registration) => writer.run('register', registration),
    findAccount: async (sellerId) => reader.snapshot().findAccount(sellerId),
    findCredentials: async (email) => reader.snapshot().findCredentials(email),
    removeAccount: (sellerId) => writer.run('removeAccount', { sellerId }),
    setAccountSettings: (sellerId, { locale, timeZone, lowStock }, address) => writer.run(
      'setAccountSettings', { sellerId, settings: { locale, timeZone, lowStock }, address },
    ),
    setEmail: (sellerId, email, address) =>
      writer.run('setEmail', { sellerId, email, address }),
    setPassword: (sellerId, passwordHash, kept, address) =>
      writer.run('setPassword', { sellerId, passwordHash, kept, address }),
    resetPassword: (sellerId, passwordHash) =>
      writer.run('resetPassword', { sellerId, passwordHash }),
    createSession: (sellerId, session, { passwordHash, hasTotp }) =>
      writer.run('createSession', { sellerId, session, verified: { passwordHash, hasTotp } }),
    findSignedInSession: async (sessionHash) => reader.snapshot().findSignedInSession(sessionHash),
    noteSessionSeen: (sellerId, id) => writer.run('noteSessionSeen', { sellerId, id }),
    listSessions: async (sellerId, limit) => reader.snapshot().listSessions(sellerId, limit),
    endSessions: (sellerId, which, event) =>
      writer.run('endSessions', { sellerId, which, event }),
    noteAuditEvent: (event) => writer.run('noteAuditEvent', event),
    listAuditEvents: async (sellerId, query) => reader.snapshot().listAuditEvents(sellerId, query),
    encrypt: async (text, context) => key.encrypt(text, `portal ${context}`).toString('base64url'),
    decrypt: async (sealed, context) =>
      key.decrypt(Buffer.from(sealed, 'base64url'), `portal ${context}`),
  };
}

function totpMethods(writer: Writer, reader: Reader, key: ServerKey): Pick<AccountStore,
  | 'findTotp' | 'enableTotp' | 'disableTotp' | 'resetTotp' | 'setRecoveryCodes' | 'takeTotpStep'
  | 'takeRecoveryCode'
> {
  return {
    findTotp: async (sellerId) => {
      const found = reader.snapshot().findTotp(sellerId);
      if (!found) return undefined;
      const { sealed, step, recoveryCodes } = found;
      // The cast: only secrets are encrypted in this context.
      const secret = key.decrypt(sealed, contextOfTotp(sellerId)) as TotpSecret | undefined;
      return { secret, step, recoveryCodes };
    },
    enableTotp: async (sellerId, { secret, step, recoveryHashes }, address) => {
      const sealed = key.encrypt(secret, contextOfTotp(sellerId)).toString('base64');
      await writer.run('enableTotp', { sellerId, sealed, step, recoveryHashes, address });
    },
    disableTotp: (sellerId, address) => writer.run('disableTotp', { sellerId, address }),
    resetTotp: (sellerId) => writer.run('resetTotp', { sellerId }),
    setRecoveryCodes: (sellerId, hashes, address) =>
      writer.run('setRecoveryCodes', { sellerId, hashes, address }),
    takeTotpStep: (sellerId, step) => writer.run('takeTotpStep', { sellerId, step }),
    takeRecoveryCode: (sellerId, hash, address) =>
      writer.run('takeRecoveryCode', { sellerId, hash, address }),
  };
}

/** The context that an account's secret is bound to (AEAD); persisted. */
export function contextOfTotp(sellerId: SellerId): string {
  return `totp secret ${formatSellerId(sellerId)}`;
}
