/**
 * The files whose guards are weakened: the core of `src/README.md`, and others that keep promises.
 */
import { globSync } from 'node:fs';
import { readCoreList } from '../audit/core-list.ts';
import { ROOT } from '../audit/places.ts';

/** Beside the core. */
const OTHERS = [
  'src/http-api-request.ts',
  'src/client/verify-webhook.ts',
  'src/cli/watch/{claim,watched-folder}.ts',
  'src/domain/precondition.ts',
  'src/domain/access/{account,password,totp}.ts', 'src/domain/access/webauthn/*.ts',
  'src/domain/webhooks/webhook-signature.ts',
  'src/features/{changes,imports,webhooks}/feature.ts',
  'src/features/portal/{origin,page-request,page-routes,portal,portal-pages}.ts',
  'src/features/portal/*/pages.ts',
  'src/features/portal/account/credentials.ts',
  'src/features/portal/forms/{csrf,draft}.ts',
  'src/features/portal/sign-in/*.ts',
  'src/features/telemetry/operator.ts',
  'src/features/webhooks/{deliver,ssrf-guard}.ts',
  'src/store/rules/review.ts',
  'src/store/sql/{idempotency,product-filter,product-rows}.ts',
  'src/store/sql/{access,accounts,history,webhooks}/*.ts',
  'src/store/sqlite/backup/restore.ts',
  'src/store/sqlite/{catalogue,engine,files,history,webhooks}/*.ts',
  'src/store/sqlite/search/{catalogue-reader,projected-products,projection}.ts',
];

/** Paths from the root of the project, sorted. */
export function listGuardFiles(): string[] {
  const core = readCoreList().files.map(({ path }) => path);
  return [...new Set([...core, ...globSync(OTHERS, { cwd: ROOT })])].sort();
}

/** The part of the source that a file belongs to: `src/api`, `src/store/sqlite`. */
export function roomOf(path: string): string {
  const parts = path.split('/').slice(0, -1);
  return parts.slice(0, ['store', 'features'].includes(parts[1] ?? '') ? 3 : 2).join('/');
}
