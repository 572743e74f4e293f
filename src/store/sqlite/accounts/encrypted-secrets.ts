/** Whether the secrets of a copy are those that the `server.key` of a folder has sealed. */
import { countTotpSecrets, countWebhookSecrets } from '../check/secrets.ts';
import { openReader } from '../engine/connection.ts';
import { findServerKey } from '../files/server-key.ts';

/** Of webhooks, and of the one-time codes of accounts. */
export interface SealedSecrets {
  readonly sealed: number;
  readonly opened: number;
}

/** The first version of the schema with webhooks. */
const WEBHOOKS_VERSION = 4;
/** The first one with accounts of the portal, and their sessions. */
export const PORTAL_VERSION = 5;

export function countSealed(file: string, version: number, keyFolder: string): SealedSecrets {
  const db = openReader(file);
  try {
    const key = findServerKey(keyFolder);
    const counts = [
      ...(version < WEBHOOKS_VERSION ? [] : [countWebhookSecrets(db, key)]),
      ...(version < PORTAL_VERSION ? [] : [countTotpSecrets(db, key)]),
    ];
    const sealed = counts.reduce((sum, { all }) => sum + all, 0);
    return { sealed, opened: counts.reduce((sum, { closed }) => sum - closed, sealed) };
  } finally {
    db.close();
  }
}
