/**
 * What can be left out of this project, and the files that say what is there: each has one import
 * and one entry for each room, and is written whole. With all rooms they are equal to the committed
 * ones, which `test/minimal/minimal.test.ts` checks.
 */

/** What `make minimal` leaves out unless `WITH` names it. */
export const ROOMS = [
  'changes', 'client', 'embed', 'imports', 'openapi', 'portal', 'postgres', 'telemetry', 'webhooks',
  'workbooks',
] as const;

export type Room = (typeof ROOMS)[number];
export type Selection = ReadonlySet<Room>;

interface ComposedFile {
  readonly path: string;
  write(selection: Selection): string;
}

/** An entry of a list in a composed file, with the import of its name. */
interface Entry {
  readonly name: string;
  readonly from: string;
  /** It is there if all of these are. */
  readonly rooms: readonly Room[];
}

const FEATURES: readonly (Entry & {
  /** The types of its options, for `createApp` and for `createShop`. */
  readonly options?: string;
  readonly shopOptions?: string;
  /** The file of the type of its options, unless it is the one of the feature. */
  readonly optionsFrom?: string;
})[] = [
  feature('imports'),
  feature('changes'),
  { ...feature('openapi'), options: 'OpenApiOptions', shopOptions: 'OpenApiOptions' },
  { ...feature('webhooks'), options: 'WebhooksOption', shopOptions: 'WebhooksShopOption' },
  { ...feature('portal'), options: 'PortalOption', shopOptions: 'PortalShopOption' },
  {
    ...feature('telemetry'), options: 'TelemetryOption',
    optionsFrom: './features/telemetry/operator.ts',
  },
];

/** In the order of the navigation. */
const PORTAL_PARTS: readonly Entry[] = [
  { name: 'cataloguePages', from: './portal-pages.ts', rooms: [] },
  { name: 'importPages', from: './imports/pages.ts', rooms: ['imports'] },
  { name: 'changePages', from: './changes/pages.ts', rooms: ['changes'] },
  { name: 'accessPages', from: './portal-pages.ts', rooms: [] },
  { name: 'webhookPages', from: './webhooks/pages.ts', rooms: ['webhooks'] },
  { name: 'apiPages', from: './openapi/pages.ts', rooms: ['openapi'] },
  { name: 'teamPages', from: './portal-pages.ts', rooms: [] },
];

const ENGINES: readonly Entry[] = [
  { name: 'postgres', from: './postgres/adapter.ts', rooms: ['postgres'] },
];

/** What the servers of tests can start. */
const TEST_FEATURES: readonly (Entry & { readonly options: string })[] = [
  { name: 'portal', from: './portal.ts', options: 'PortalTestOptions', rooms: ['portal'] },
  { name: 'webhooks', from: './webhooks.ts', options: 'WebhooksTestOptions', rooms: ['webhooks'] },
];

/** Commands in the order of the help: name, file, export, and the rooms that each needs. */
const COMMANDS: readonly (readonly [name: string, file: string, name: string, ...Room[]])[] = [
  ['serve', 'serve/serve', 'serve'],
  ['seller create', 'admin/seller', 'createSeller'],
  ['seller invite', 'admin/invite', 'inviteSeller', 'portal'],
  ['seller list', 'admin/seller', 'listSellers'],
  ['seller disable', 'admin/seller', 'disableSeller'],
  ['seller enable', 'admin/seller', 'enableSeller'],
  ['seller delete', 'admin/seller', 'deleteSeller'],
  ['seller reset-password', 'admin/account', 'resetPassword', 'portal'],
  ['seller reset-totp', 'admin/account', 'resetTotp', 'portal'],
  ['key create', 'admin/key', 'createKey'],
  ['key list', 'admin/key', 'listKeys'],
  ['key rotate', 'admin/key', 'rotateKey'],
  ['key revoke', 'admin/key', 'revokeKey'],
  ['import', 'transfer/import', 'importProducts', 'client', 'imports'],
  ['export', 'transfer/export', 'exportProducts', 'client'],
  ['products list', 'remote/products', 'listProducts', 'client'],
  ['products get', 'remote/products', 'getProduct', 'client'],
  ['products lookup', 'remote/products', 'lookUpProducts', 'client'],
  ['products set', 'remote/products', 'setProduct', 'client'],
  ['products delete', 'remote/products', 'deleteProducts', 'client'],
  ['stock sync', 'transfer/stock-sync', 'syncStock', 'client'],
  ['stock set', 'remote/stock', 'setStock', 'client'],
  ['stock movements', 'remote/stock', 'listMovements', 'client', 'changes'],
  ['imports list', 'remote/imports', 'listImports', 'client', 'imports'],
  ['imports show', 'remote/imports', 'showImport', 'client', 'imports'],
  ['revert', 'remote/revert', 'revertChanges', 'client', 'imports'],
  ['changes tail', 'remote/changes', 'tailChanges', 'client', 'changes'],
  ['webhook list', 'remote/webhook', 'listWebhooks', 'client', 'webhooks'],
  ['webhook create', 'remote/webhook', 'createWebhook', 'client', 'webhooks'],
  ['webhook delete', 'remote/webhook', 'deleteWebhook', 'client', 'webhooks'],
  ['webhook deliveries', 'remote/webhook', 'listDeliveries', 'client', 'webhooks'],
  ['webhook retry', 'remote/webhook', 'retryWebhook', 'client', 'webhooks'],
  ['webhook resend', 'remote/webhook', 'resendDelivery', 'client', 'webhooks'],
  ['webhook listen', 'remote/webhook-listen', 'listenForWebhooks', 'client', 'webhooks'],
  ['webhook test', 'remote/webhook', 'testWebhook', 'client', 'webhooks'],
  ['status', 'remote/status', 'showStatus', 'client'],
  ['open', 'remote/portal', 'openPortal', 'client', 'portal'],
  ['openapi', 'remote/openapi', 'printOpenApi', 'client', 'embed', 'openapi'],
  ['profile add', 'remote/profile', 'addProfile', 'client'],
  ['profile list', 'remote/profile', 'listProfiles', 'client'],
  ['profile remove', 'remote/profile', 'removeProfile', 'client'],
  ['migrate', 'admin/migrate', 'migrate', 'postgres'],
  ['doctor', 'admin/doctor', 'doctor'],
  ['backup', 'backup/backup', 'backupCatalogue'],
  ['restore', 'backup/backup', 'restoreCatalogue'],
  ['move-to', 'admin/move-to', 'moveTo', 'postgres'],
  ['demo', 'serve/demo', 'demo', 'client', 'imports', 'portal'],
  ['completion', 'completion', 'createCompletion(commands)', 'client'],
];

/** What programs import, and the room of each. */
const EXPORTS: readonly (readonly [name: string, path: string, room: Room])[] = [
  ['.', './src/index.ts', 'embed'],
  ['./client', './src/client/index.ts', 'client'],
  ['./webhooks', './src/client/verify-webhook.ts', 'client'],
];

/** In the header of each. */
const NOTE = 'Written by `.toolchain/composition.ts`; in `make minimal`, with fewer rooms.';

export const COMPOSITION: readonly ComposedFile[] = [
  { path: 'src/features.ts', write: writeFeatures },
  { path: 'src/features/portal/routes.ts', write: writePortalRoutes },
  { path: 'src/store/engines.ts', write: writeEngines },
  { path: 'src/transfer/workbooks.ts', write: writeWorkbooks },
  { path: 'src/cli/commands.ts', write: writeCommands },
  { path: 'test/support/features.ts', write: writeTestFeatures },
];

/** The files that run, or that programs import; they import everything else. */
export function listEntries(selection: Selection): readonly string[] {
  const exports = EXPORTS.filter(([, , room]) => selection.has(room)).map(([, path]) => path);
  return ['./src/seller-api.js', ...exports].map((path) => path.slice('./'.length));
}

/** The members of `package.json` that depend on the selection. */
export function listExports(selection: Selection): Readonly<Record<string, string>> {
  return Object.fromEntries(EXPORTS.filter(([, , room]) => selection.has(room))
    .map(([name, path]) => [name, path]));
}

/** The names of commands that are not in a selection. */
export function listMissingCommands(selection: Selection): readonly string[] {
  return COMMANDS.filter(([, , , ...rooms]) => rooms.some((room) => !selection.has(room)))
    .map(([name]) => name);
}

function feature(room: Room): Entry {
  return { name: room, from: `./features/${room}/feature.ts`, rooms: [room] };
}

function select<Selected extends { readonly rooms: readonly Room[] }>(
  entries: readonly Selected[], selection: Selection,
): readonly Selected[] {
  return entries.filter(({ rooms }) => rooms.every((room) => selection.has(room)));
}

function writeFeatures(selection: Selection): string {
  const selected = select(FEATURES, selection);
  const options = selected.flatMap((entry) => entry.options ?? []).sort();
  const shopOptions = selected.flatMap((entry) => entry.shopOptions ?? []).sort();
  const imports = [
    "import { type App, composeApp } from './app.ts';",
    "import type { CoreOptions } from './app-context.ts';",
    "import type { Feature } from './feature.ts';",
    ...selected.toSorted((a, b) => a.name.localeCompare(b.name)).flatMap((entry) => {
      const { name, from, options: type, shopOptions: shopType, optionsFrom } = entry;
      const types = [...new Set([type, shopType])].flatMap((one) => one ?? []);
      if (optionsFrom === undefined) {
        return formatImport([name, ...types.map((one) => `type ${one}`)], from);
      }
      const fromOptions = `import type { ${types.join(', ')} } from '${optionsFrom}';`;
      return [formatImport([name], from), fromOptions];
    }),
  ];
  return `/**
 * The composition: one import and one entry for each feature of this server.
 * ${NOTE}
 */
${imports.join('\n')}

export const features: readonly Feature<FeatureOptions, FeatureShopOptions>[] = ${
  formatList('[', selected.map(({ name }) => name), ']')};

/** The options of the features, one line each. */
type FeatureOptions = All<${formatList('[', options, ']')}>;
/** The options of the features, for \`createShop\`. */
export type FeatureShopOptions = All<${formatList('[', shopOptions, ']')}>;
/** All of these options. */
type All<Options> = Options extends [infer First, ...infer Rest] ? First & All<Rest> : object;

export type AppOptions = CoreOptions & FeatureOptions;

/** The Seller Product API as a request handler for \`node:http\` and compatible frameworks. */
export function createApp(options: AppOptions): App {
  return composeApp(features, options);
}
`;
}

function writePortalRoutes(selection: Selection): string {
  const parts = select(PORTAL_PARTS, selection);
  const imports = Map.groupBy(parts, ({ from }) => from);
  const lines = [...imports].map(([from, entries]) => ({
    from, line: formatImport(entries.map(({ name }) => name).sort(), from),
  }));
  const fixed = [
    { from: './filters/saved-filters.ts', line:
      "import { filterHandlers } from './filters/saved-filters.ts';" },
    { from: './page-routes.ts', line:
      "import { editorPost, type PortalPart } from './page-routes.ts';" },
    { from: './route.ts', line: "import type { PageRoute } from './route.ts';" },
  ];
  const sorted = [...lines, ...fixed].sort((a, b) => (a.from < b.from ? -1 : 1));
  return `/**
 * The composition of the portal: its own pages, and those of each feature in the folder with its
 * name; paths are below \`/portal\`. Each page names the least role that it needs: reading the
 * catalogue viewer; changing it editor; keys, webhooks, people and activity owner. Each handler
 * documents its statuses. Before it runs, \`portal.ts\` may redirect to the sign-in (303) or reject
 * the request (403, 404, 405, 429; a form also with 400, 408, 413, 415). \`draft\` shows a form
 * again if its session ended while the user was filling it in.
 * ${NOTE}
 */
${sorted.map(({ line }) => line).join('\n')}

/** In the order of the navigation. */
export const parts: readonly PortalPart[] = ${formatList('[', parts.map(({ name }) => name), ']')};

const filters = filterHandlers(Object.assign({}, ...parts.map((part) => part.filters)));

export const routes: readonly PageRoute[] = [
  ...parts.flatMap((part) => part.routes),
  { ...editorPost, path: '/filters', handle: filters.save },
  { ...editorPost, path: '/filters/delete', handle: filters.delete },
];
`;
}

function writeEngines(selection: Selection): string {
  const engines = select(ENGINES, selection);
  return `/**
 * The composition of the store: the adapters beside the one for SQLite, which is always there; one
 * at most.
 * ${NOTE}
 */
import type { DatabaseEngine } from './database-engine.ts';
${engines.map(({ name, from }) => `${formatImport([name], from)}\n`).join('')}
export const engines: readonly DatabaseEngine[] = ${
  formatList('[', engines.map(({ name }) => name), ']')};
`;
}

function writeWorkbooks(selection: Selection): string {
  const open = `async (file, options) =>
  (await import('./workbook/workbook-reader.ts')).openSheet(file, options)`;
  return `/**
 * How workbooks (.xlsx) are read; undefined in a server that does not read them.
 * ${NOTE}
 */
import type { OpenWorkbook } from './file-options.ts';

export const openWorkbook: OpenWorkbook | undefined = ${
  selection.has('workbooks') ? open : 'undefined'};
`;
}

function writeCommands(selection: Selection): string {
  const commands = COMMANDS.filter(([, , , ...rooms]) =>
    rooms.every((room) => selection.has(room)));
  const lines = commands.map(([name, file, exported]) => {
    const key = name.includes(' ') || name.includes('-') ? `'${name}'` : name;
    return `${key}: async () => (await import('./${file}.ts')).${exported}`;
  });
  const explainers = selection.has('client')
    ? ["async () => (await import('./remote/api-error.ts')).apiErrors"] : [];
  return `/**
 * The composition of the command line: one entry for each command, whose file has its flags and its
 * help; it is loaded when it is needed.
 * ${NOTE}
 */
import type { Command, CommandTable, FailureExplainer } from './command.ts';

export const commands: CommandTable = new Map<string, () => Promise<Command>>(Object.entries(${
  formatList('{', lines, '}')}));

/** What explains errors of commands; it is loaded when one fails. */
export const explainers: readonly (() => Promise<FailureExplainer>)[] = ${
  formatList('[', explainers, ']')};
`;
}

function writeTestFeatures(selection: Selection): string {
  const features = select(TEST_FEATURES, selection);
  const imports = features.map(({ name, options, from }) =>
    `${formatImport([name, `type ${options}`], from)}\n`);
  return `/**
 * The composition of the servers that tests start: features with options of their own.
 * ${NOTE}
 */
import type { TestFeature } from './test-feature.ts';
${imports.join('')}
export type FeatureTestOptions = object${
  features.map(({ options }) => `\n  & ${options}`).join('')};

export const testFeatures: readonly TestFeature<FeatureTestOptions>[] = ${
  formatList('[', features.map(({ name }) => name), ']')};
`;
}

/** A list with one entry on each line. */
function formatList(open: string, entries: readonly string[], close: string): string {
  if (entries.length === 0) return `${open}${close}`;
  return `${open}\n${entries.map((entry) => `  ${entry},\n`).join('')}${close}`;
}

/** On one line, unless it is too long. */
function formatImport(names: readonly string[], from: string): string {
  const line = `import { ${names.join(', ')} } from '${from}';`;
  return line.length <= 100 ? line : `import {\n  ${names.join(', ')},\n} from '${from}';`;
}
