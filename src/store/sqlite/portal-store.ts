/** The part of the adapter that keeps what the portal needs. */
import type { PortalStore } from '../portal-store.ts';
import type { Reader } from './reader.ts';
import type { Writer } from './writer.ts';

export function portalStore(writer: Writer, reader: Reader, clock: () => number): PortalStore {
  return {
    createInvitation: (hash, invitation) => writer.run('createInvitation', { hash, invitation }),
    findInvitation: async (hash) => reader.snapshot().findInvitation(hash, clock()),
    joinPortal: (joining) => writer.run('joinPortal', joining),
    findAccount: async (sellerId) => reader.snapshot().findAccount(sellerId),
    findCredentials: async (email) => reader.snapshot().findCredentials(email),
    setAccountSettings: (sellerId, { locale, timeZone, lowStock }, address) => writer.run(
      'setAccountSettings', { sellerId, settings: { locale, timeZone, lowStock }, address },
    ),
    setPassword: (sellerId, passwordHash, kept, address) =>
      writer.run('setPassword', { sellerId, passwordHash, kept, address }),
    createSession: (sellerId, session) => writer.run('createSession', { sellerId, session }),
    findVisitor: async (sessionHash) => reader.snapshot().findVisitor(sessionHash),
    noteSessionSeen: (sellerId, id) => writer.run('noteSessionSeen', { sellerId, id }),
    listSessions: async (sellerId, limit) => reader.snapshot().listSessions(sellerId, limit),
    endSessions: (sellerId, which, event) =>
      writer.run('endSessions', { sellerId, which, event }),
    noteAuditEvent: (event) => writer.run('noteAuditEvent', event),
    listAuditEvents: async (sellerId, query) => reader.snapshot().listAuditEvents(sellerId, query),
  };
}
