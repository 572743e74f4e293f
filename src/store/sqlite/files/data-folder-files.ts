/** The names of all files that this server creates in a data folder, now or in earlier versions. */

export const KEY_FILE_NAME = 'server.key';
export const UPLOADS = 'uploads';

/** What others may leave in a data folder: the files of the project's `data/`, and of a volume. */
export const ALLOWED_FOREIGN_FILES = /^(?:\..*|README\.md|sample-.*|lost\+found)$/;

/**
 * Databases, what a restore has set aside, and locks, which are databases, too: all with what
 * SQLite keeps beside them.
 */
const LASTING = new RegExp('^(?:(?:catalogue|search)\\.db|catalogue\\.db\\.replaced-\\d{8}T\\d{6}Z'
  + '|(?:search\\.db|webhooks|backups)\\.lock)(?:-wal|-shm|-journal)?$|^server\\.key$');
/** Files that are first written under another name; a killed process leaves them. */
const UNFINISHED = new RegExp('^(?:catalogue\\.db|server\\.key)\\.[\\da-f-]+\\.(?:new|part)'
  + '(?:-wal|-shm|-journal|\\.lock)?$');
/** Also what an operator has put beside a file of ours, such as `catalogue.db.old`. */
const BESIDE_OURS = /^(?:catalogue\.db|search\.db|server\.key|webhooks\.lock|backups\.lock)/;

export function isLasting(name: string): boolean {
  return LASTING.test(name);
}

export function isUnfinished(name: string): boolean {
  return UNFINISHED.test(name);
}

/** Whether a folder that has it may be a data folder whose catalogue was taken away. */
export function mayBeBeside(name: string): boolean {
  return ALLOWED_FOREIGN_FILES.test(name) || name === UPLOADS || BESIDE_OURS.test(name);
}
