/**
 * Loaded by tests before the program (`NODE_OPTIONS=--import`), into every thread of it: changes
 * the SQL that connections are opened with, so that a test can make a server less careful, or
 * busier, than any setting of it allows.
 */
import { DatabaseSync } from 'node:sqlite';

const [wanted = '', replacement = ''] = JSON.parse(process.env['TEST_REWRITE_SQL'] ?? '[]');
const exec = DatabaseSync.prototype.exec;
DatabaseSync.prototype.exec = function (sql) {
  exec.call(this, sql.replace(new RegExp(wanted), replacement));
};
