/** Names of all files that this server creates in a data folder. */

export const KEY_FILE_NAME = 'server.key';
export const UPLOADS = 'uploads';

/** Foreign files that a data folder may have: those of the project's `data/`, and of a volume. */
export const ALLOWED_FOREIGN_FILES = /^(?:\..*|README\.md|sample-.*|lost\+found)$/;

/** Databases, replaced ones, and locks (also databases), with SQLite's files beside them. */
export const LASTING_FILES = new RegExp(
  '^(?:(?:catalogue|search)\\.db|catalogue\\.db\\.replaced-\\d{8}T\\d{6}Z'
  + '|(?:search\\.db|webhooks|backups)\\.lock)(?:-wal|-shm|-journal)?$'
  + '|^(?:server\\.key|high-water\\.json)$',
);
/** The catalogue until `move-to` has copied and proven all of it. */
export const MOVING_FILE_NAME = 'catalogue.db.moving';
/** Temporary file names; a killed process leaves such files behind. */
export const UNFINISHED_FILES = new RegExp('^(?:(?:catalogue\\.db|server\\.key)\\.[\\da-f-]+\\.part'
  + '|catalogue\\.db\\.moving)(?:-wal|-shm|-journal|\\.lock)?$');
/** Includes an operator's copies, such as `catalogue.db.old`. */
const BESIDE_OURS =
  /^(?:(?:catalogue|search)\.db|server\.key|(?:webhooks|backups)\.lock|high-water\.json)/;

/** Whether a folder with this file may be a data folder whose catalogue was removed. */
export function mayBeBeside(name: string): boolean {
  return ALLOWED_FOREIGN_FILES.test(name) || name === UPLOADS || BESIDE_OURS.test(name);
}
