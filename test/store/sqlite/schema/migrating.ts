/** A process that migrates a database: `node migrating.ts DATABASE MIGRATION...` */
import { readFileSync } from 'node:fs';
import { openWriter } from '../../../../src/store/sqlite/engine/connection.ts';
import { migrate } from '../../../../src/store/sqlite/schema/migrate.ts';

const [file = '', ...migrations] = process.argv.slice(2);
using db = openWriter(file);
migrate(db, { migrations: migrations.map((path) => readFileSync(path, 'utf8')) });
